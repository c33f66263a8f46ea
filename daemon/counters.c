/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "daemon/counters.h"

static CountedReason *find_or_add(Counters *c, const char *reason) {
        for (size_t i = 0; i < c->n_losses; i++)
                if (strncmp(c->losses[i].reason, reason, sizeof c->losses[i].reason - 1) == 0)
                        return &c->losses[i];
        if (c->n_losses == COUNTED_REASONS_MAX)
                return NULL;
        if (c->n_losses == COUNTED_REASONS_MAX - 1)
                reason = "other";
        (void) snprintf(c->losses[c->n_losses].reason, sizeof c->losses[0].reason, "%s", reason);
        return &c->losses[c->n_losses++];
}

void counters_add_loss(Counters *c, const char *reason) {
        CountedReason *r = find_or_add(c, reason);

        if (!r)
                r = &c->losses[COUNTED_REASONS_MAX - 1];
        r->n++;
}
