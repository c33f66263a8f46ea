/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "client/chain_text.h"
#include "client/operation_line.h"
#include "client/report_groups.h"
#include "client/top_layout.h"
#include "client/top_text.h"
#include "client/top_view.h"
#include "client/user_name.h"
#include "common/path_text.h"

#define WIDE 80   /* columns from which a change names its process */
#define NARROW 60 /* below that there is no room for decoration */

/* ---- first line and last ---- */

static void draw_top_line(TopScreen *v, const TopModel *m, const TopState *state) {
        char clock[TOP_NUMBER_MAX], text[160];
        size_t live = top_model_n_live(m), held = top_model_n_held(m);

        if (state->trouble) {
                (void) snprintf(text, sizeof(text), "mountwatch: %s", state->trouble);
                top_screen_put_line(v, 0, STYLE_BAD, text);
        } else {
                (void) snprintf(text, sizeof(text), "%s%zu %s",
                                v->columns < NARROW ? "" : "mountwatch  ", live,
                                live == 1 ? "session" : "sessions");
                top_screen_put_line(v, 0, STYLE_BOLD, text);
                if (held > 0) {
                        unsigned column = text_width(text) + 2;

                        (void) snprintf(text, sizeof(text), "%zu %s", held,
                                        held == 1 ? "call waits" : "calls wait");
                        top_screen_put(v, 0, column, text_width(text), STYLE_DOUBT, TOP_CUT_END,
                                       text);
                }
        }
        top_screen_put_right(v, 0, v->columns - 8, 8, STYLE_PLAIN,
                             top_clock_text(state->now, clock));
}

typedef struct KeyHint {
        const char *text;
        bool wanted; /* first where not all fit */
} KeyHint;

static bool hint_is_shown(const KeyHint *hints, size_t n, size_t i, unsigned columns,
                          unsigned gap) {
        unsigned needed = 0;

        for (size_t k = 0; k < n; k++) {
                bool comes_first = hints[k].wanted == hints[i].wanted ? k <= i : hints[k].wanted;

                if (comes_first)
                        needed += text_width(hints[k].text) + (needed > 0 ? gap : 0);
        }
        return needed <= columns;
}

static void draw_hints(TopScreen *v, const KeyHint *hints, size_t n) {
        unsigned line = v->lines - 1, column = 0, gap = v->columns < NARROW ? 1 : 2;

        top_screen_put_line(v, line, STYLE_PLAIN, "");
        for (size_t i = 0; i < n; i++) {
                const char *text = hints[i].text;

                if (!hint_is_shown(hints, n, i, v->columns, gap))
                        continue;
                top_screen_put(v, line, column, text_width(text), STYLE_PLAIN, TOP_CUT_END, text);
                top_screen_embolden(v, line, column, (unsigned) strcspn(text, " "));
                column += text_width(text) + gap;
        }
}

static void draw_kill_question(TopScreen *v, const TopModel *m, const TopState *state) {
        _cleanup_free_ char *name = NULL, *text = NULL;
        const TopSession *s = NULL;
        unsigned line = v->lines - 1;

        for (size_t i = 0; i < top_model_count(m); i++)
                if (str_equal(top_model_at(m, i)->view.id, state->target))
                        s = top_model_at(m, i);
        name = s ? top_session_name(&s->view) : NULL;
        if (asprintf(&text, "kill %zu %s of %s", s ? s->view.n_members : 0,
                     s && s->view.n_members == 1 ? "process" : "processes",
                     name ? name : state->target) < 0)
                text = NULL;
        top_screen_put(v, line, 0, v->columns - 10, STYLE_BAD, TOP_CUT_END, text);
        top_screen_put(v, line, MIN(text ? text_width(text) : 0, v->columns - 10), 10, STYLE_BAD,
                       TOP_CUT_END, "? (y or n)");
}

static void draw_bottom_line(TopScreen *v, const TopModel *m, const TopState *state) {
        const KeyHint list[] = {
                {"f freeze", false}, {"t thaw", false},
                {"K kill", false},   {"d decide", top_model_n_held(m) > 0},
                {"r report", false}, {"? help", true},
                {"q quit", true},
        };
        const KeyHint decide[] = {
                {"a allow once", true}, {"s session", true}, {"n deny", true},
                {"x kill", false},      {"Esc back", false},
        };

        if (state->mode == TOP_MODE_KILL)
                draw_kill_question(v, m, state);
        else if (state->notice)
                top_screen_put_line(v, v->lines - 1, STYLE_DOUBT, state->notice);
        else if (state->mode == TOP_MODE_DECIDE)
                draw_hints(v, decide, ELEMENTSOF(decide));
        else
                draw_hints(v, list, ELEMENTSOF(list));
}

/* ---- the table ---- */

static const struct {
        const char *title;
        bool right;
} column_table[_TOP_COLUMN_MAX] = {
        [TOP_NAME] = {"SESSION", false},   [TOP_ID] = {"ID", false},
        [TOP_USER] = {"USER", false},      [TOP_AGE] = {"AGE", true},
        [TOP_STATE] = {"STATE", false},    [TOP_PROCESSES] = {"PROC", true},
        [TOP_CHANGES] = {"CHANGES", true}, [TOP_RATE] = {"CHG/S", true},
        [TOP_VIOLATIONS] = {"VIOL", true}, [TOP_HELD] = {"HELD", true},
};

static char *cell_text(const TopSession *s, TopColumn column, unsigned width, usec_t now) {
        char buffer[TOP_NUMBER_MAX];
        usec_t until = s->ended ? s->ended : now;

        switch (column) {
        case TOP_NAME:
                return top_session_name(&s->view);
        case TOP_ID:
                return strndup(s->view.id, width);
        case TOP_USER:
                return s->view.user ? path_to_text(s->view.user) : user_name_of(s->view.uid);
        case TOP_AGE:
                return strdup(top_age_text(until > s->view.started ? until - s->view.started : 0,
                                           buffer));
        case TOP_STATE:
                return strdup(s->ended ? "ended" : session_view_state(&s->view));
        case TOP_PROCESSES:
                return strdup(top_count_text(s->ended ? 0 : s->view.n_members, width, buffer));
        case TOP_CHANGES:
                return strdup(top_count_text(s->view.operations, width, buffer));
        case TOP_RATE:
                return strdup(top_rate_text(s->rate, buffer));
        case TOP_VIOLATIONS:
                return strdup(top_count_text(s->view.violations, width, buffer));
        case TOP_HELD:
                return strdup(s->n_held > 0 ? top_count_text(s->n_held, width, buffer) : "");
        case _TOP_COLUMN_MAX:
                break;
        }
        return NULL;
}

static Style cell_style(const TopSession *s, TopColumn column) {
        if (s->ended)
                return STYLE_DIM;
        if (column == TOP_VIOLATIONS && s->view.violations > 0)
                return STYLE_BAD;
        if ((column == TOP_HELD && s->n_held > 0) || (column == TOP_STATE && s->view.frozen))
                return STYLE_DOUBT;
        return STYLE_PLAIN;
}

static void draw_row(TopScreen *v, unsigned line, const unsigned widths[static _TOP_COLUMN_MAX],
                     const TopSession *s, usec_t now) {
        unsigned at = 0;

        top_screen_put_line(v, line, STYLE_PLAIN, "");
        for (TopColumn c = 0; c < _TOP_COLUMN_MAX; c++) {
                _cleanup_free_ char *text = NULL;

                if (widths[c] == 0)
                        continue;
                text = s ? cell_text(s, c, widths[c], now) : strdup(column_table[c].title);
                if (column_table[c].right)
                        top_screen_put_right(v, line, at, widths[c],
                                             s ? cell_style(s, c) : STYLE_BOLD, text ? text : "");
                else
                        top_screen_put(v, line, at, widths[c], s ? cell_style(s, c) : STYLE_BOLD,
                                       TOP_CUT_END, text);
                at += widths[c] + 1;
        }
}

static void draw_sessions(TopScreen *v, const TopModel *m, TopState *state, const TopBand *band) {
        unsigned widths[_TOP_COLUMN_MAX];
        size_t selected = top_model_selected_index(m), n = top_model_count(m);

        top_columns(v->columns, widths);
        draw_row(v, band->top - 1, widths, NULL, 0);
        if (n == 0) {
                top_screen_put_line(v, band->top, STYLE_PLAIN,
                                    state->trouble ? "" : "no session is running");
                return;
        }
        state->first = top_scroll(state->first, selected, n, band->lines);
        for (unsigned i = 0; i < band->lines && state->first + i < n; i++) {
                v->reverse = state->first + i == selected;
                draw_row(v, band->top + i, widths, top_model_at(m, state->first + i), state->now);
                v->reverse = false;
        }
}

/* ---- the selected session ---- */

static void draw_selected(TopScreen *v, const TopSession *s, unsigned line) {
        _cleanup_free_ char *command = text_of_command(s->view.command), *name = NULL,
                            *test = s->view.test ? path_to_text(s->view.test) : NULL;

        if (s->view.label)
                name = path_to_text(s->view.label);
        top_screen_put_headingf(v, line, STYLE_BOLD, "%s%s%s%s%s%s%s%s%s", s->view.id,
                                name ? "  " : "", name ? name : "",
                                s->view.policy ? "  policy " : "",
                                s->view.policy ? s->view.policy : "", test ? "  test " : "",
                                test ? test : "", command && *command ? "  " : "",
                                command ? command : "");
}

static void draw_held_row(TopScreen *v, unsigned line, const HeldView *h, usec_t now) {
        _cleanup_free_ char *path = path_to_text(h->path), *text = NULL;
        char age[TOP_NUMBER_MAX];

        (void) top_age_text(now > h->since ? now - h->since : 0, age);
        if (asprintf(&text, "%4" PRId64 " %4s %-8s ", h->id, age, h->op) < 0)
                text = NULL;
        top_screen_put(v, line, 0, 19, STYLE_DOUBT, TOP_CUT_END, text);
        top_screen_put(v, line, 19, v->columns - 19, STYLE_PLAIN, TOP_CUT_MIDDLE, path);
}

static void draw_held(TopScreen *v, const TopModel *m, const TopState *state, const TopBand *band) {
        size_t n = top_model_n_held(m);

        if (band->lines == 0)
                return;
        if (n > band->lines)
                top_screen_put_headingf(v, band->top - 1, STYLE_DOUBT, "held calls (%u of %zu)",
                                        band->lines, n);
        else
                top_screen_put_heading(v, band->top - 1, STYLE_DOUBT, "held calls");
        for (unsigned i = 0; i < band->lines; i++)
                draw_held_row(v, band->top + i, top_model_held_at(m, i), state->now);
}

static void draw_processes(TopScreen *v, const TopSession *s, const TopBand *band) {
        if (band->lines == 0)
                return;
        if (s->view.n_members > band->lines)
                top_screen_put_headingf(v, band->top - 1, STYLE_PLAIN, "processes (%u of %zu)",
                                        band->lines, s->view.n_members);
        else
                top_screen_put_heading(v, band->top - 1, STYLE_PLAIN, "processes");
        for (unsigned i = 0; i < band->lines; i++) {
                const Member *p = &s->view.members[i];
                _cleanup_free_ char *text = image_to_text(p->cmdline, p->exe);
                char pid[TOP_NUMBER_MAX];

                (void) snprintf(pid, sizeof(pid), "%8d", (int) p->pid);
                top_screen_put(v, band->top + i, 0, 9, STYLE_PLAIN, TOP_CUT_END, pid);
                top_screen_put(v, band->top + i, 9, v->columns - 9, STYLE_PLAIN, TOP_CUT_END, text);
        }
}

static void draw_operation(TopScreen *v, const TopModel *m, unsigned line, const Operation *op) {
        const char *action = operation_outcome(op), *what = weight_to_string(operation_weight(op));
        _cleanup_free_ char *names = top_operation_names(&v->terminal, op), *by = NULL,
                            *author = NULL;
        const ProcessInfo *p = process_source_find(top_model_processes(m), op->process_id);
        bool wide = v->columns >= WIDE;
        unsigned at, left;
        char clock[TOP_NUMBER_MAX];

        top_screen_put(v, line, 0, 9, STYLE_PLAIN, TOP_CUT_END, top_clock_text(op->last, clock));
        top_screen_put(v, line, 9, 9, op->violation ? STYLE_BAD : STYLE_PLAIN, TOP_CUT_END,
                       *action && !wide ? action : what);
        at = 18;
        if (wide) {
                top_screen_put(v, line, at, 8, STYLE_DOUBT, TOP_CUT_END, action);
                at += 8;
        }
        left = v->columns - at;
        if (!wide) {
                top_screen_put(v, line, at, left, STYLE_PLAIN, TOP_CUT_MIDDLE, names);
                return;
        }
        author = process_to_text(&v->terminal, p, 0);
        if (author && asprintf(&by, "  %s", author) < 0)
                by = NULL;
        top_screen_put(v, line, at, left * 3 / 5, STYLE_PLAIN, TOP_CUT_MIDDLE, names);
        top_screen_put(v, line, at + left * 3 / 5, left - left * 3 / 5, STYLE_DIM, TOP_CUT_END, by);
}

static void draw_operations(TopScreen *v, const TopModel *m, const TopBand *band) {
        uint64_t missed = top_model_missed(m);

        if (band->lines == 0)
                return;
        if (missed > 0)
                top_screen_put_headingf(v, band->top - 1, STYLE_PLAIN,
                                        "latest changes (%" PRIu64 " came too fast to be shown)",
                                        missed);
        else
                top_screen_put_heading(v, band->top - 1, STYLE_PLAIN, "latest changes");
        for (unsigned i = 0; i < band->lines; i++)
                draw_operation(v, m, band->top + i, top_model_operation_at(m, i));
}

static void draw_list(TopScreen *v, const TopModel *m, TopState *state) {
        const TopSession *selected = top_model_selected(m);
        TopContent content = {
                .sessions = top_model_count(m),
                .held = top_model_n_held(m),
                .processes = selected && !selected->ended ? selected->view.n_members : 0,
                .operations = top_model_n_operations(m),
        };
        TopLayout layout;

        if (!top_layout(v->lines, v->columns, &content, &layout)) {
                top_screen_put_line(v, 0, STYLE_PLAIN, "too small: 40x10 is needed");
                return;
        }
        draw_top_line(v, m, state);
        v->dim = state->trouble != NULL;
        draw_sessions(v, m, state, &layout.sessions);
        if (selected && layout.selected > 0)
                draw_selected(v, selected, layout.selected);
        draw_held(v, m, state, &layout.held);
        if (selected)
                draw_processes(v, selected, &layout.processes);
        draw_operations(v, m, &layout.operations);
        v->dim = false;
        draw_bottom_line(v, m, state);
}

/* ---- deciding ---- */

static const Member *find_member(const SessionView *s, pid_t pid) {
        for (size_t i = 0; i < s->n_members; i++)
                if (s->members[i].pid == pid)
                        return &s->members[i];
        return NULL;
}

/* Who waits: the session, and the process where it is known. */
static void draw_held_author(TopScreen *v, unsigned line, const TopModel *m, const HeldView *h) {
        _cleanup_free_ char *name = NULL, *command = NULL, *text = NULL;

        for (size_t i = 0; i < top_model_count(m); i++) {
                const SessionView *s = &top_model_at(m, i)->view;
                const Member *p = find_member(s, h->pid);

                if (str_equal(s->id, h->session) && !name)
                        name = top_session_name(s);
                if (p && !command)
                        command = image_to_text(p->cmdline, p->exe);
        }
        if (asprintf(&text, "by %s (pid %d)", command ? command : "?", (int) h->pid) < 0)
                text = NULL;
        top_screen_put_line(v, line, STYLE_PLAIN, text);
        free(text);
        if (asprintf(&text, "in session %s  %s", h->session, name ? name : "") < 0)
                text = NULL;
        top_screen_put_line(v, line + 1, STYLE_PLAIN, text);
}

static void draw_held_details(TopScreen *v, unsigned line, const TopModel *m, const HeldView *h) {
        _cleanup_free_ char *path = h ? path_to_text(h->path) : NULL, *text = NULL;

        if (!h) {
                top_screen_put_line(v, line + 1, STYLE_PLAIN, "choose one with the arrow keys");
                return;
        }
        top_screen_put_headingf(v, line, STYLE_DOUBT, "call %" PRId64 ", policy %s", h->id,
                                h->policy);
        if (asprintf(&text, "%s ", h->op) < 0)
                text = NULL;
        top_screen_put(v, line + 1, 0, v->columns, STYLE_BOLD, TOP_CUT_END, text);
        if (text)
                top_screen_put(v, line + 1, text_width(text), v->columns - text_width(text),
                               STYLE_BOLD, TOP_CUT_MIDDLE, path);
        draw_held_author(v, line + 2, m, h);
}

static void draw_decide(TopScreen *v, const TopModel *m, TopState *state) {
        const HeldView *h = state->held ? top_model_held_find(m, state->held) : NULL;
        size_t n = top_model_n_held(m), chosen = 0;
        unsigned lines = (unsigned) MIN(n, (size_t) v->lines - 7);

        draw_top_line(v, m, state);
        if (n == 0) {
                top_screen_put_line(v, 2, STYLE_GOOD, "nothing waits for an answer");
                draw_bottom_line(v, m, state);
                return;
        }
        top_screen_put_headingf(v, 1, STYLE_BOLD, "%zu %s for an answer", n,
                                n == 1 ? "call waits" : "calls wait");
        for (size_t i = 0; i < n; i++)
                if (top_model_held_at(m, i) == h)
                        chosen = i;
        state->first_held = top_scroll(state->first_held, chosen, n, lines);
        for (unsigned i = 0; i < lines; i++) {
                const HeldView *row = top_model_held_at(m, state->first_held + i);

                v->reverse = row == h;
                draw_held_row(v, 2 + i, row, state->now);
                v->reverse = false;
        }
        draw_held_details(v, 2 + lines, m, h);
        draw_bottom_line(v, m, state);
}

/* ---- help ---- */

static void draw_help(TopScreen *v) {
        static const char *const lines[] = {
                "arrows, j k    select a session",
                "f              freeze all its processes",
                "t              let them go on",
                "K              kill them (asks first)",
                "d              decide about a held call",
                "r              its report, in $PAGER",
                "q              quit",
                "any key        back to the list",
        };

        top_screen_put_line(v, 0, STYLE_BOLD, "mountwatch top");
        for (unsigned i = 0; i < ELEMENTSOF(lines); i++)
                top_screen_put_line(v, 1 + i, STYLE_PLAIN, lines[i]);
}

void top_view_draw(TopScreen *v, const TopModel *m, TopState *state) {
        top_screen_clear(v);
        if (state->mode == TOP_MODE_HELP)
                draw_help(v);
        else if (state->mode == TOP_MODE_DECIDE && v->lines >= TOP_LINES_MIN)
                draw_decide(v, m, state);
        else
                draw_list(v, m, state);
        top_screen_show(v);
}
