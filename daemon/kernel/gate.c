/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/gate.h"

Attempt *attempt_free(Attempt *a) {
        if (!a)
                return NULL;
        access_done(&a->access);
        free(a);
        return NULL;
}
