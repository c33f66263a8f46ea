/* SPDX-License-Identifier: MIT */
#include "daemon/follow.h"
#include "daemon/method.h"

void method_follow_alerts(ApiCall *call, const Peer *peer, json_object *parameters,
                          void *userdata) {
        int r;

        r = follow_begin(userdata, call, peer->privileged ? (uid_t) -1 : peer->uid);
        if (r < 0)
                answer_errno(call, r);
}
