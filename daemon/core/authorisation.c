/* SPDX-License-Identifier: MIT */
#include "daemon/core/authorisation.h"

static bool is_own(uid_t peer, bool privileged, uid_t owner) {
        /* (uid_t) -1 is "unknown" and nobody's */
        return privileged || (peer == owner && owner != (uid_t) -1);
}

bool authorise_see(uid_t peer, bool privileged, uid_t session_uid) {
        return is_own(peer, privileged, session_uid);
}

bool authorise_control(uid_t peer, bool privileged, uid_t session_uid) {
        return is_own(peer, privileged, session_uid);
}

bool authorise_tag(uid_t peer, bool privileged, uid_t process_uid) {
        return is_own(peer, privileged, process_uid);
}
