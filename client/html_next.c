/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/html_next.h"
#include "client/report_changes.h"
#include "client/report_groups.h"
#include "client/report_undo.h"
#include "client/terminal.h"

static void put_step(Html *h, const char *sentence, const char *command) {
        html_begin(h, "p");
        html_text(h, sentence);
        if (command)
                html_element(h, "code", NULL, command);
        html_end(h);
}

static int put_command(Html *h, const char *sentence, const char *verb, const char *argument) {
        _cleanup_free_ char *text = NULL, *command = NULL;

        text = text_of_command((char *[]){(char *) argument, NULL});
        if (!text || asprintf(&command, "mountwatch %s %s", verb, text) < 0)
                return -ENOMEM;
        put_step(h, sentence, command);
        return 0;
}

static int put_undo(Html *h, const SessionView *s, size_t undoable, size_t all) {
        char sentence[160];

        if (undoable < all)
                snprintf(
                        sentence, sizeof(sentence),
                        "Put it back: %zu of the %zu changes can be undone. With --dry-run it only says how.",
                        undoable, all);
        else
                snprintf(sentence, sizeof(sentence),
                         "Put it back: %s can be undone. With --dry-run it only says how.",
                         all == 1 ? "the change" : "all changes");
        return put_command(h, sentence, "undo", s->id);
}

/* The gravest change is the one to ask about. */
static int put_blame(Html *h, const ReportModel *m) {
        _cleanup_(groups_done) Groups groups = {};
        int r;

        r = groups_new(m->own, GROUPS_VIOLATIONS, &groups);
        if (r < 0 || groups.n == 0)
                return r;
        return put_command(h, "Ask for the whole story of one path, such as the gravest:", "blame",
                           groups.items[0].rows[0].op->path);
}

static int put_dirty(Html *h, const ReportModel *m, const Tally *tally, bool live) {
        size_t undoable, all;
        int r = report_count_undoable(m->own, &undoable, &all);

        if (r < 0)
                return r;
        if (tally->changed == 0 && tally->refused > 0)
                put_step(
                        h,
                        "Nothing was changed: there is nothing to put back. What tried it is named below.",
                        NULL);
        else if (undoable > 0 && !live)
                r = put_undo(h, &m->session, undoable, all);
        else if (!live)
                put_step(h, "None of it can be undone by mountwatch: restore it from a backup.",
                         NULL);
        return r < 0 ? r : put_blame(h, m);
}

int html_next_write(Html *h, const ReportModel *m, const Tally *tally) {
        const SessionView *s = &m->session;
        const bool live = session_view_is_live(s);
        char class[32];
        int r = 0;

        snprintf(class, sizeof(class), "next %s", verdict_to_string(s->verdict));
        html_begin_class(h, "div", class);
        if (live)
                r = put_command(
                        h, "The session still runs. Stop watching it, for the last word on it:",
                        "session stop", s->id);
        if (r >= 0 && s->verdict == VERDICT_DIRTY)
                r = put_dirty(h, m, tally, live);
        if (!s->complete)
                put_step(
                        h,
                        "Not everything was seen (see below), so there may be more. Look at what can be seen here:",
                        "mountwatch doctor");
        if (!live && s->verdict == VERDICT_CLEAN)
                put_step(h, "There is nothing to do.", NULL);
        html_end(h);
        return r;
}
