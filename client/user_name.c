/* SPDX-License-Identifier: MIT */
#include <pwd.h>
#include <stdio.h>

#include "client/user_name.h"
#include "common/macro.h"

char *user_name_of(uid_t uid) {
        const struct passwd *user = getpwuid(uid);
        char *text;

        if (user)
                return strdup(user->pw_name);
        return asprintf(&text, "%lu", (unsigned long) uid) < 0 ? NULL : text;
}
