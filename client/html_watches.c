/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/html_watches.h"

static size_t count_rows(const Report *report, const char *watch) {
        size_t n = 0;

        for (size_t i = 0; i < report_n_rows(report); i++)
                n += (size_t) str_equal(report_row(report, i)->watch, watch);
        return n;
}

static const char *scope_text(Scope scope) {
        switch (scope) {
        case SCOPE_FILESYSTEM:
                return "the whole filesystem";
        case SCOPE_SUBTREE:
                return "a folder and what is below it";
        case SCOPE_FILE:
                return "one file";
        case _SCOPE_MAX:
                break;
        }
        return "?";
}

static void put_fact(Html *h, const char *name, const char *value) {
        html_element(h, "dt", NULL, name);
        html_element(h, "dd", NULL, value);
}

static void put_policy(Html *h, Policy own, Policy in_force) {
        html_element(h, "dt", NULL, "policy");
        html_begin(h, "dd");
        html_text(h, policy_to_string(in_force));
        if (in_force != own)
                html_format(h, " in this session, %s by itself", policy_to_string(own));
        html_end(h);
}

static int put_watch(Html *h, const ReportModel *m, const WatchView *w) {
        _cleanup_free_ char *seen = coverage_seen_text(&w->coverage),
                            *refused = coverage_refused_text(&w->coverage);
        const size_t n = count_rows(m->own, w->name);

        if (!seen || !refused)
                return -ENOMEM;
        html_begin_class(h, "article", watch_view_is_ready(w) ? NULL : "unready");
        html_begin(h, "h3");
        html_format(h, "%s", w->name);
        html_element(h, "bdi", "name", w->path);
        html_end(h);
        html_begin(h, "dl");
        put_policy(h, w->policy, report_model_policy(m, w));
        html_element(h, "dt", NULL, "changes");
        html_begin(h, "dd");
        html_format(h, "%zu in this session", n);
        html_end(h);
        html_element(h, "dt", NULL, "covers");
        html_begin(h, "dd");
        html_format(h, "%s%s%s", scope_text(w->scope), w->fstype ? " on " : "",
                    w->fstype ? w->fstype : "");
        html_end(h);
        put_fact(h, "seen", seen);
        put_fact(h, "refused", refused);
        if (!watch_view_is_ready(w))
                put_fact(h, "not watched now", w->reason ? w->reason : w->state);
        html_end(h);
        html_end(h);
        return 0;
}

int html_watches_write(Html *h, const ReportModel *m) {
        const size_t n = MIN(m->watches.n, (size_t) WATCHES_MAX);
        int r = 0;

        html_begin_class(h, "div", "watches");
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = put_watch(h, m, &m->watches.items[i]);
        html_end(h);
        if (n < m->watches.n) {
                html_begin_class(h, "div", "more");
                html_format(h, "and %zu more, see report --json", m->watches.n - n);
                html_end(h);
        }
        return r;
}
