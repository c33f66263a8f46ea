/* SPDX-License-Identifier: MIT */
/* mountwatch reload: the daemon reads its configuration again, or keeps what it has and says why. */
#include "client/verb.h"
#include "common/json_member.h"

int verb_reload(const Context *context, const Options *options) {
        _cleanup_json_ json_object *reply = NULL;
        int r;

        r = verb_call(context, "Reload", NULL, &reply);
        if (r != STATUS_DONE)
                return r;
        (void) verb_print_warnings(reply);
        puts("the new configuration is in use");
        return verb_flush();
}
