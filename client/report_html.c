/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <time.h>

#include "client/chain_text.h"
#include "client/html_next.h"
#include "client/html_processes.h"
#include "client/html_sheet.h"
#include "client/html_timeline.h"
#include "client/html_tree.h"
#include "client/html_watches.h"
#include "client/loss_text.h"
#include "client/report_changes.h"
#include "client/report_html.h"
#include "client/report_tally.h"
#include "client/report_text.h"
#include "client/user_name.h"
#include "common/version.h"

#define LOSSES_MAX 200
#define MEMBERS_MAX 100

/* Belt and braces: whatever a name manages to be, a browser runs and fetches nothing. */
#define CONTENT_POLICY \
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

static void put_meta(Html *h, const char *key, const char *name, const char *content) {
        html_void(h, "meta");
        html_attribute(h, key, name);
        html_attribute(h, "content", content);
}

static void put_head(Html *h, const ReportModel *m) {
        const SessionView *s = &m->session;

        html_begin(h, "head");
        html_void(h, "meta");
        html_attribute(h, "charset", "utf-8");
        put_meta(h, "http-equiv", "Content-Security-Policy", CONTENT_POLICY);
        put_meta(h, "name", "viewport", "width=device-width, initial-scale=1");
        put_meta(h, "name", "referrer", "no-referrer");
        put_meta(h, "name", "generator", "mountwatch " MOUNTWATCH_VERSION);
        html_begin(h, "title");
        html_format(h, "%s: %s - mountwatch", verdict_to_string(s->verdict),
                    s->label ? s->label : s->id);
        html_end(h);
        html_style(h, html_sheet);
        html_end(h);
}

/* "DIRTY - the command …" as a word in colour and a sentence of its own. */
static int put_verdict(Html *h, const ReportModel *m) {
        _cleanup_free_ char *text = report_verdict_text(m);
        char *sentence, class[32];

        if (!text)
                return -ENOMEM;
        sentence = strstr(text, " - ");
        if (!sentence)
                return -EINVAL;
        *sentence = '\0';
        sentence += strlen(" - ");
        if (*sentence >= 'a' && *sentence <= 'z')
                *sentence = (char) (*sentence - 'a' + 'A');
        snprintf(class, sizeof(class), "verdict %s", verdict_to_string(m->session.verdict));
        html_begin(h, "h1");
        html_element(h, "span", class, text);
        html_format(h, "%s.", sentence);
        html_end(h);
        return 0;
}

static int put_header(Html *h, const ReportModel *m, const Tally *tally) {
        const SessionView *s = &m->session;
        int r;

        html_begin(h, "header");
        html_begin_class(h, "div", "top");
        html_format(h, "mountwatch report%s%s", s->label ? " · " : "", s->label ? s->label : "");
        html_end(h);
        r = put_verdict(h, m);
        r = r < 0 ? r : html_next_write(h, m, tally);
        html_end(h);
        return r;
}

static void put_tile(Html *h, const char *class, size_t n, const char *text) {
        html_begin_class(h, "div", class);
        html_begin(h, "b");
        html_format(h, "%zu", n);
        html_end(h);
        html_text(h, text);
        html_end(h);
}

static void put_tiles(Html *h, const ReportModel *m, const Tally *t) {
        html_begin_class(h, "div", "tiles");
        put_tile(h, t->changed > 0 ? "grave" : NULL, t->changed,
                 t->changed == 1 ? "path changed" : "paths changed");
        if (t->deleted > 0)
                put_tile(h, "grave", t->deleted, "of them deleted");
        if (t->replaced > 0)
                put_tile(h, "grave", t->replaced, "of them replaced");
        if (t->refused > 0)
                put_tile(h, "refused", t->refused, "refused");
        if (t->allowed > 0)
                put_tile(h, NULL, t->allowed, "changed as allowed");
        put_tile(h, NULL, m->watches.n, m->watches.n == 1 ? "watch" : "watches");
        if (m->session.n_losses > 0)
                put_tile(h, NULL, m->session.n_losses,
                         m->session.n_losses == 1 ? "gap in sight" : "gaps in sight");
        html_end(h);
}

static void put_fact(Html *h, const char *name, const char *tag, const char *value) {
        if (!value || !*value)
                return;
        html_element(h, "dt", NULL, name);
        html_begin(h, "dd");
        html_element(h, tag, NULL, value);
        html_end(h);
}

/* With the zone: the page may be read elsewhere. */
static void put_time(Html *h, const char *name, usec_t at) {
        char text[TERMINAL_TIME_MAX], zone[64] = "";
        time_t seconds = (time_t) (at / USEC_PER_SEC);
        struct tm tm;

        if (at == 0)
                return;
        if (localtime_r(&seconds, &tm))
                (void) strftime(zone, sizeof(zone), tm.tm_gmtoff == 0 ? "%Z" : "%Z, %z", &tm);
        html_element(h, "dt", NULL, name);
        html_begin(h, "dd");
        html_format(h, "%s (%s)", terminal_time(at, text), zone);
        html_end(h);
}

static int put_session(Html *h, const SessionView *s) {
        _cleanup_free_ char *command = text_of_command(s->command), *user = NULL;

        user = s->user ? strdup(s->user) : user_name_of(s->uid);
        if (!command || !user)
                return -ENOMEM;
        html_begin(h, "dl");
        put_fact(h, "command", "code", command);
        put_fact(h, "in", "code", s->cwd);
        put_fact(h, "session", "code", s->id);
        put_fact(h, "label", "span", s->label);
        put_fact(h, "user", "span", user);
        put_fact(h, "state", "span", session_state_to_string(s->state));
        put_fact(h, "policy", "span", s->policy);
        put_time(h, "started", s->started);
        put_time(h, "ended", s->stopped);
        if (s->exit_status >= 0) {
                html_element(h, "dt", NULL, "exit status");
                html_begin(h, "dd");
                html_format(h, "%d", s->exit_status);
                html_end(h);
        }
        html_end(h);
        return 0;
}

static void put_unready(Html *h, const WatchViews *watches) {
        for (size_t i = 0; i < watches->n; i++) {
                const WatchView *w = &watches->items[i];

                if (watch_view_is_ready(w))
                        continue;
                html_begin(h, "li");
                html_format(h, "watch %s (%s) is not watched now: %s", w->name, w->path,
                            w->reason ? w->reason : w->state);
                html_end(h);
        }
}

static bool all_ready(const WatchViews *watches) {
        for (size_t i = 0; i < watches->n; i++)
                if (!watch_view_is_ready(&watches->items[i]))
                        return false;
        return true;
}

static int put_unseen(Html *h, const ReportModel *m) {
        const SessionView *s = &m->session;
        size_t n = MIN(s->n_losses, (size_t) LOSSES_MAX);

        if (s->n_losses == 0 && all_ready(&m->watches))
                return 0;
        html_begin(h, "section");
        html_element(h, "h2", NULL, "What was not seen");
        html_begin_class(h, "div", "unseen");
        html_begin(h, "ul");
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *text = loss_to_text(&s->losses[i]);

                if (!text)
                        return -ENOMEM;
                html_element(h, "li", NULL, text);
        }
        if (n < s->n_losses) {
                html_begin_class(h, "li", "more");
                html_format(h, "and %zu more, see report --json", s->n_losses - n);
                html_end(h);
        }
        put_unready(h, &m->watches);
        html_end(h);
        html_end(h);
        html_end(h);
        return 0;
}

static size_t count_allowed(const Report *report) {
        size_t n = 0;

        for (size_t i = 0; i < report_n_rows(report); i++)
                n += !report_row(report, i)->violation;
        return n;
}

/* What is allowed stands behind what is not, and folded. */
static int put_changes(Html *h, const ReportModel *m, const Tally *tally) {
        const size_t rows = report_n_rows(m->own), allowed = count_allowed(m->own);
        int r;

        html_begin(h, "section");
        html_element(h, "h2", NULL,
                     tally->refused > 0 && tally->changed + tally->allowed == 0 ? "What was tried"
                                                                                : "What changed");
        if (rows == 0)
                html_element(h, "p", NULL, "Nothing that was seen.");
        r = html_tree_write(h, m, m->own, allowed < rows ? GROUPS_VIOLATIONS : GROUPS_ALL);
        if (r >= 0 && allowed > 0 && allowed < rows) {
                html_begin(h, "details");
                html_begin(h, "summary");
                html_format(h, "Also %zu %s that the watches allow", allowed,
                            allowed == 1 ? "change" : "changes");
                html_end(h);
                r = html_tree_write(h, m, m->own, GROUPS_ALLOWED);
                html_end(h);
        }
        html_end(h);
        return r;
}

static int put_untagged(Html *h, const ReportModel *m) {
        size_t n = m->untagged ? report_n_rows(m->untagged) : 0;
        int r;

        if (n == 0)
                return 0;
        html_begin(h, "section");
        html_element(h, "h2", NULL, "Meanwhile, by others");
        html_begin(h, "details");
        html_begin(h, "summary");
        html_format(h, "%zu %s to watched paths by processes outside every session", n,
                    n == 1 ? "change" : "changes");
        html_end(h);
        r = html_tree_write(h, m, m->untagged, GROUPS_ALL);
        html_end(h);
        html_end(h);
        return r;
}

static int put_members(Html *h, const SessionView *s) {
        size_t n = MIN(s->n_members, (size_t) MEMBERS_MAX);

        if (n == 0 || !session_view_is_live(s))
                return 0;
        html_begin(h, "section");
        html_element(h, "h2", NULL, "Still running, and still watched");
        html_begin_class(h, "ul", "processes");
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *text = image_to_text(s->members[i].cmdline, s->members[i].exe);

                if (!text)
                        return -ENOMEM;
                html_begin(h, "li");
                html_element(h, "code", NULL, text);
                html_begin_class(h, "span", "by");
                html_format(h, " pid %d", (int) s->members[i].pid);
                html_end(h);
                html_end(h);
        }
        if (n < s->n_members) {
                html_begin_class(h, "li", "more");
                html_format(h, "and %zu more", s->n_members - n);
                html_end(h);
        }
        html_end(h);
        html_end(h);
        return 0;
}

/* Nothing at all when nothing happened: there is neither a time nor a process to show. */
static int put_part(Html *h, const ReportModel *m, const char *heading,
                    int (*write)(Html *h, const ReportModel *m)) {
        int r;

        if (report_n_rows(m->own) == 0)
                return 0;
        html_begin(h, "section");
        html_element(h, "h2", NULL, heading);
        r = write(h, m);
        html_end(h);
        return r;
}

static int put_watches(Html *h, const ReportModel *m) {
        int r;

        html_begin(h, "section");
        html_element(h, "h2", NULL, "What was watched");
        if (m->watches.n == 0)
                html_element(h, "p", NULL, "Nothing.");
        r = html_watches_write(h, m);
        html_end(h);
        return r;
}

static int put_main(Html *h, const ReportModel *m, const Tally *tally) {
        int r;

        html_begin(h, "main");
        put_tiles(h, m, tally);
        r = put_unseen(h, m);
        r = r < 0 ? r : put_changes(h, m, tally);
        r = r < 0 ? r : put_part(h, m, "Who did it", html_processes_write);
        r = r < 0 ? r : put_part(h, m, "When", html_timeline_write);
        r = r < 0 ? r : put_members(h, &m->session);
        r = r < 0 ? r : put_untagged(h, m);
        if (r < 0)
                return r;
        html_begin(h, "section");
        html_element(h, "h2", NULL, "The session");
        r = put_session(h, &m->session);
        html_end(h);
        r = r < 0 ? r : put_watches(h, m);
        html_end(h);
        return r;
}

static void put_footer(Html *h, const ReportModel *m) {
        html_begin(h, "footer");
        html_format(h, "mountwatch %s. All of it for machines: ", MOUNTWATCH_VERSION);
        html_begin(h, "code");
        html_format(h, "mountwatch report %s --json", m->session.id);
        html_end(h);
        html_end(h);
}

int report_html_write(FILE *f, const ReportModel *m) {
        Tally tally;
        Html h;
        int r, written;

        r = tally_report(m->own, &tally);
        if (r < 0)
                return r;
        html_init(&h, f);
        html_begin(&h, "html");
        html_attribute(&h, "lang", "en");
        put_head(&h, m);
        html_begin(&h, "body");
        r = put_header(&h, m, &tally);
        r = r < 0 ? r : put_main(&h, m, &tally);
        put_footer(&h, m);
        written = html_finish(&h);
        return r < 0 ? r : written;
}
