/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "client/loss_text.h"
#include "client/terminal.h"
#include "common/path_text.h"

/* The reasons of docs/architecture.md. One that is not listed is shown as it is. */
static const struct {
        const char *reason, *text;
} loss_table[] = {
        {"overflow", "changes came faster than they could be read, and the kernel dropped some"},
        {"process-events",
         "the kernel dropped news of processes, so an author may be wrong or missing"},
        {"no-process-events",
         "the kernel gives no news of processes here, so an author may be missing"},
        {"not-watched", "the path was not watched"},
        {"watch-stalled", "the filesystem did not answer in time, so watching began late"},
        {"daemon-restart", "the daemon was not running"},
        {"daemon-gone", "the daemon went away and did not come back in time"},
        {"session-lost", "the daemon no longer knows this session"},
        {"unmounted", "the filesystem was unmounted"},
        {"mounted-over", "another filesystem was mounted over it"},
        {"root-gone", "the watched path itself was removed or moved away"},
        {"read-error", "events of the kernel could not be read"},
        {"unresolved", "events named directories that are not known"},
        {"mark-refused", "the kernel refused to watch a directory"},
        {"cannot-wait", "the kernel did not let the daemon wait for the path to appear"},
        {"memory", "the daemon had too little memory to note a change"},
        {"out-of-memory", "the daemon had too little memory to note a change"},
        {"process-limit", "the author of a change had ended too long before"},
        {"created-limit", "the session made more files than are remembered as its own"},
        {"not-enforced", "the policy could not be enforced: a change was let through"},
        {"not-preserved", "the old content of a file could not be kept for undo"},
        {"store", "the daemon could not write down what it saw"},
        {"reload", "the configuration was changed"},
        {"slow-reader", "this program read more slowly than changes came"},
};

static const char *words_of(const char *reason) {
        for (size_t i = 0; i < ELEMENTSOF(loss_table); i++)
                if (str_equal(loss_table[i].reason, reason))
                        return loss_table[i].text;
        return reason;
}

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
        _cleanup_free_ char *reason = path_to_text(words_of(l->reason)),
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
