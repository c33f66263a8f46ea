/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "client/report_tally.h"
#include "client/report_text.h"
#include "common/path_text.h"

static const char *plural(size_t n, const char *one, const char *many) {
        return n == 1 ? one : many;
}

/* "the command succeeded, but it": what the change is said of. */
static void put_subject(FILE *f, const SessionView *s) {
        if (!s->command || !s->command[0])
                fputs(session_view_is_live(s) ? "the session, still running," : "the session", f);
        else if (s->exit_status < 0)
                fputs(session_view_is_live(s) ? "the command, still running," : "the command", f);
        else if (s->exit_status == 0)
                fputs("the command succeeded, but it", f);
        else if (s->exit_status > 128 && sigabbrev_np(s->exit_status - 128))
                fprintf(f, "the command ended with status %d (SIG%s), and it", s->exit_status,
                        sigabbrev_np(s->exit_status - 128));
        else
                fprintf(f, "the command failed with status %d, and it", s->exit_status);
}

static int put_watches(FILE *f, const ReportModel *m, const Tally *tally) {
        const WatchView *watch = watch_views_find(&m->watches, tally->watch);
        _cleanup_free_ char *name = NULL, *path = NULL;

        if (tally->n_watches != 1) {
                fprintf(f, "%zu watches", tally->n_watches);
                return 0;
        }
        name = path_to_text(tally->watch);
        path = watch ? path_to_text(watch->path) : NULL;
        if (!name || (watch && !path))
                return -1;
        fprintf(f, "watch %s", name);
        if (path)
                fprintf(f, " (%s)", path);
        return 0;
}

/* How grave the changes are, unless the verb has said it. */
static void put_gravity(FILE *f, const Tally *tally) {
        if (tally->deleted > 0 && tally->deleted < tally->changed)
                fprintf(f, ", %zu of them deleted", tally->deleted);
        if (tally->replaced > 0)
                fprintf(f, ", %zu%s replaced", tally->replaced,
                        tally->deleted > 0 ? "" : " of them");
        if (tally->refused > 0)
                fprintf(f, "; %zu more %s refused", tally->refused,
                        plural(tally->refused, "was", "were"));
}

static int put_dirty(FILE *f, const ReportModel *m, const Tally *tally) {
        bool changed = tally->changed > 0;
        size_t n = changed ? tally->changed : tally->refused;

        put_subject(f, &m->session);
        fprintf(f, " %s %zu %s on ",
                !changed                                   ? "tried to change"
                        : tally->deleted == tally->changed ? "deleted"
                                                           : "changed",
                n, plural(n, "path", "paths"));
        if (put_watches(f, m, tally) < 0)
                return -1;
        if (changed)
                put_gravity(f, tally);
        else
                fputs(", and was refused", f);
        return 0;
}

static size_t count_ready(const ReportModel *m) {
        size_t n = 0;

        for (size_t i = 0; i < m->watches.n; i++)
                n += watch_view_is_ready(&m->watches.items[i]);
        return n;
}

static void put_not_dirty(FILE *f, const ReportModel *m, const Tally *tally) {
        size_t n_ready = count_ready(m);

        if (tally->allowed > 0)
                fprintf(f, "%zu %s changed, and the watches allow it", tally->allowed,
                        plural(tally->allowed, "path was", "paths were"));
        else if (m->watches.n == 0)
                fputs(m->session.complete ? "no path is watched"
                                          : "nothing is known of what was changed",
                      f);
        else
                fprintf(f, "nothing on %zu watched %s was %s", n_ready,
                        plural(n_ready, "path", "paths"),
                        m->session.complete ? "changed" : "seen to change");
        if (!m->session.complete && m->watches.n > 0)
                fputs(", but not everything could be seen", f);
}

/* The daemon may know more violations than the rows that are here (when it went away in the middle, for instance). */
static int put_verdict(FILE *f, const ReportModel *m) {
        Tally tally;

        if (tally_report(m->own, &tally) < 0)
                return -1;
        switch (m->session.verdict) {
        case VERDICT_DIRTY:
                fputs("DIRTY - ", f);
                if (tally.n_watches > 0)
                        return put_dirty(f, m, &tally);
                put_subject(f, &m->session);
                fputs(" changed watched paths", f);
                return 0;
        case VERDICT_INCOMPLETE:
                fputs("INCOMPLETE - ", f);
                put_not_dirty(f, m, &tally);
                return 0;
        case VERDICT_CLEAN:
        case _VERDICT_MAX:
                break;
        }
        fputs("clean - ", f);
        put_not_dirty(f, m, &tally);
        return 0;
}

char *report_verdict_text(const ReportModel *m) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        int r;

        if (!f)
                return NULL;
        r = put_verdict(f, m);
        if (fclose(f) != 0 || r < 0) {
                free(text);
                return NULL;
        }
        return text;
}
