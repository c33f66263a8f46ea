/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/chain_text.h"
#include "client/loss_text.h"
#include "client/report_changes.h"
#include "client/report_groups.h"
#include "client/report_text.h"
#include "client/report_undo.h"
#include "common/path_text.h"

#define MEMBERS_MAX 10

static Style style_of(Verdict verdict) {
        switch (verdict) {
        case VERDICT_CLEAN:
                return STYLE_GOOD;
        case VERDICT_DIRTY:
                return STYLE_BAD;
        case VERDICT_INCOMPLETE:
        case _VERDICT_MAX:
                break;
        }
        return STYLE_DOUBT;
}

/* The first word in colour. */
static int put_verdict(const Terminal *t, const ReportModel *m, const char *prefix) {
        _cleanup_free_ char *text = report_verdict_text(m);
        size_t n;

        if (!text)
                return -ENOMEM;
        n = strcspn(text, " ");
        fprintf(t->file, "%s%s%.*s%s%s\n", prefix, terminal_style(t, style_of(m->session.verdict)),
                (int) n, text, terminal_reset(t), text + n);
        return 0;
}

static int put_session(const Terminal *t, const SessionView *s) {
        _cleanup_free_ char *label = path_to_text(s->label ? s->label : ""),
                            *command = text_of_command(s->command), *shown = NULL,
                            *cwd = path_to_text(s->cwd ? s->cwd : "");
        char started[TERMINAL_TIME_MAX], stopped[TERMINAL_TIME_MAX] = "";

        if (!label || !command || !cwd)
                return -ENOMEM;
        shown = text_shorten_end(command, t->width > 40 ? t->width - 10 : 0, terminal_ellipsis(t));
        if (!shown)
                return -ENOMEM;
        fprintf(t->file, "session %s%s%s%s, %s", s->id, *label ? " \"" : "", label,
                *label ? "\"" : "", session_state_to_string(s->state));
        fprintf(t->file, ", started %s%s%s\n", terminal_time(s->started, started),
                s->stopped ? ", ended " : "", s->stopped ? terminal_time(s->stopped, stopped) : "");
        if (*shown)
                fprintf(t->file, "command %s\n", shown);
        if (*cwd)
                fprintf(t->file, "in      %s\n", cwd);
        return 0;
}

static int put_losses(const Terminal *t, const SessionView *s) {
        if (s->n_losses == 0)
                return 0;
        fprintf(t->file, "\n%snot seen%s\n", terminal_style(t, STYLE_DOUBT), terminal_reset(t));
        for (size_t i = 0; i < s->n_losses; i++) {
                _cleanup_free_ char *text = loss_to_text(&s->losses[i]);

                if (!text)
                        return -ENOMEM;
                fprintf(t->file, "  %s\n", text);
        }
        return 0;
}

static int put_unready(const Terminal *t, const WatchViews *watches) {
        bool any = false;

        for (size_t i = 0; i < watches->n; i++) {
                const WatchView *w = &watches->items[i];
                _cleanup_free_ char *name = NULL, *path = NULL, *reason = NULL;

                if (watch_view_is_ready(w))
                        continue;
                name = path_to_text(w->name);
                path = path_to_text(w->path);
                reason = path_to_text(w->reason ? w->reason : w->state);
                if (!name || !path || !reason)
                        return -ENOMEM;
                if (!any)
                        fprintf(t->file, "\n%snot watched now%s\n", terminal_style(t, STYLE_DOUBT),
                                terminal_reset(t));
                any = true;
                fprintf(t->file, "  watch %s (%s): %s\n", name, path, reason);
        }
        return 0;
}

static int put_members(const Terminal *t, const SessionView *s) {
        size_t n = MIN(s->n_members, (size_t) MEMBERS_MAX);

        if (n == 0 || !session_view_is_live(s))
                return 0;
        fprintf(t->file, "\n%sstill running, and still watched%s\n", terminal_style(t, STYLE_BOLD),
                terminal_reset(t));
        for (size_t i = 0; i < n; i++) {
                const Member *member = &s->members[i];
                _cleanup_free_ char *text = image_to_text(member->cmdline, member->exe),
                                    *shown = NULL;

                shown = text ? text_shorten_end(text, t->width > 40 ? t->width - 20 : 0,
                                                terminal_ellipsis(t))
                             : NULL;
                if (!shown)
                        return -ENOMEM;
                fprintf(t->file, "  pid %-8d %s\n", (int) member->pid, shown);
        }
        if (n < s->n_members)
                fprintf(t->file, "  %s and %zu more\n", terminal_ellipsis(t), s->n_members - n);
        return 0;
}

static void put_untagged(const Terminal *t, const ReportModel *m) {
        size_t n = m->untagged ? report_n_rows(m->untagged) : 0;

        if (n > 0)
                fprintf(t->file,
                        "\nmeanwhile, processes outside every session made %zu %s to watched paths "
                        "(--json lists them)\n",
                        n, n == 1 ? "change" : "changes");
}

/* The gravest change is the one to ask about. */
static int put_blame(const Terminal *t, const ReportModel *m) {
        _cleanup_(groups_done) Groups groups = {};
        _cleanup_free_ char *path = NULL;
        int r;

        if (!report_has_violations(m->own))
                return 0;
        r = groups_new(m->own, GROUPS_VIOLATIONS, &groups);
        if (r < 0)
                return r;
        path = text_of_command((char *[]){groups.items[0].rows[0].op->path, NULL});
        if (!path)
                return -ENOMEM;
        fprintf(t->file, "  mountwatch blame %s\n", path);
        return 0;
}

static void put_undo(const Terminal *t, const SessionView *s, size_t undoable, size_t all) {
        fprintf(t->file, "  mountwatch undo %s      (", s->id);
        if (undoable < all)
                fprintf(t->file, "%zu of %zu changes can be undone)\n", undoable, all);
        else
                fprintf(t->file, "%s can be undone)\n", all == 1 ? "the change" : "all changes");
}

static int put_next(const Terminal *t, const ReportModel *m, bool left_out, bool brief) {
        const SessionView *s = &m->session;
        const bool live = session_view_is_live(s);
        size_t undoable, all;
        int r = report_count_undoable(m->own, &undoable, &all);

        if (r < 0 || (!left_out && !live && undoable == 0 && !report_has_violations(m->own)))
                return r;
        fprintf(t->file, "\n%snext%s\n", terminal_style(t, STYLE_BOLD), terminal_reset(t));
        if (left_out || brief)
                fprintf(t->file, "  mountwatch report %s%s\n", s->id, left_out ? " --all" : "");
        if (live)
                fprintf(t->file, "  mountwatch session stop %s\n", s->id);
        else if (undoable > 0)
                put_undo(t, s, undoable, all);
        return put_blame(t, m);
}

static bool is_quiet(const ReportModel *m) {
        for (size_t i = 0; i < m->watches.n; i++)
                if (!watch_view_is_ready(&m->watches.items[i]))
                        return false;
        return m->session.verdict == VERDICT_CLEAN && m->session.n_members == 0;
}

int report_text_write(const Terminal *t, const ReportModel *m, const ReportTextOptions *options) {
        bool left_out = false, all = options->all, quiet = options->brief && is_quiet(m);
        int r;

        r = put_verdict(t, m, options->prefix);
        if (r < 0 || quiet)
                return r;
        if (!options->brief)
                r = put_session(t, &m->session);
        /* what is allowed is no news right after a run */
        if (r >= 0 && (!options->brief || m->session.verdict == VERDICT_DIRTY)) {
                r = report_changes_write(t, m, all, &left_out);
                r = r < 0 ? r : report_authors_write(t, m, all, &left_out);
        }
        r = r < 0 ? r : put_losses(t, &m->session);
        r = r < 0 ? r : put_unready(t, &m->watches);
        r = r < 0 ? r : put_members(t, &m->session);
        if (r < 0)
                return r;
        put_untagged(t, m);
        return put_next(t, m, left_out, options->brief);
}
