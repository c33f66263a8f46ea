/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "client/loss_text.h"
#include "client/terminal.h"
#include "common/loss_reason.h"
#include "common/path_text.h"

/* ", from A to B" with the date only once; "" when no time is known. */
static void format_span(const Loss *l, char buffer[static 96]) {
        char from[TERMINAL_TIME_MAX], to[TERMINAL_TIME_MAX];
        const char *end = to;

        buffer[0] = '\0';
        if (l->at == 0)
                return;
        terminal_time(l->at, from);
        if (l->until == 0) {
                snprintf(buffer, 96, ", from %s on", from);
                return;
        }
        terminal_time(l->until, to);
        if (str_equal(from, to)) {
                snprintf(buffer, 96, ", at %s", from);
                return;
        }
        if (strlen(from) > 11 && strncmp(from, to, 11) == 0)
                end = to + 11;
        snprintf(buffer, 96, ", from %s to %s", from, end);
}

char *loss_to_text(const Loss *l) {
        _cleanup_free_ char *reason = path_to_text(loss_reason_to_text(l->reason)),
                            *watch = path_to_text(l->watch ? l->watch : "");
        char span[96], count[48] = "", *text;

        if (!reason || !watch)
                return NULL;
        format_span(l, span);
        if (l->count > 0)
                snprintf(count, sizeof(count), " (at least %" PRIu64 ")", l->count);
        if (asprintf(&text, "%s%s%s%s%s", reason, l->watch ? " on watch " : "", watch, span,
                     count) < 0)
                return NULL;
        return text;
}
