/* SPDX-License-Identifier: MIT */
#include "daemon/core/change.h"

void change_done(Change *c) {
        free(c->path);
        free(c->from);
        free(c->to);
        *c = (Change){};
}
