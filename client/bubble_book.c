/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include <utlist.h>

#include "client/bubble_book.h"
#include "common/strv.h"

void bubble_book_done(BubbleBook *k) {
        Bubble *b, *next;

        DL_FOREACH_SAFE (k->bubbles, b, next) {
                DL_DELETE(k->bubbles, b);
                (void) bubble_free(b);
        }
        k->frozen = strv_free(k->frozen);
        for (size_t i = 0; i < BOOK_ANSWERED_MAX; i++)
                free(k->answered[i].session);
}

static uint64_t *find_answered(BubbleBook *k, const char *session) {
        for (size_t i = 0; session && i < BOOK_ANSWERED_MAX; i++)
                if (str_equal(k->answered[i].session, session))
                        return &k->answered[i].n;
        return NULL;
}

int bubble_book_answer(BubbleBook *k, const Bubble *b) {
        uint64_t *n = find_answered(k, b->session);
        char *copy;

        if (n) {
                ++*n;
                return 0;
        }
        copy = b->session ? strdup(b->session) : NULL;
        if (!copy)
                return -ENOMEM;
        free(k->answered[k->next_answered].session);
        k->answered[k->next_answered].session = copy;
        k->answered[k->next_answered].n = 1;
        k->next_answered = (k->next_answered + 1) % BOOK_ANSWERED_MAX;
        return 0;
}

static Bubble *find(const BubbleBook *k, BubbleKind kind, const char *session, const char *watch) {
        Bubble *b;

        DL_FOREACH (k->bubbles, b)
                if (!b->over && b->kind == kind && str_equal(b->session, session) &&
                    str_equal(b->watch, watch))
                        return b;
        return NULL;
}

static int add(BubbleBook *k, BubbleKind kind, const char *session, const char *watch,
               Bubble **ret) {
        _cleanup_(bubble_freep) Bubble *b = calloc(1, sizeof *b);

        if (!b)
                return -ENOMEM;
        b->kind = kind;
        b->session = session ? strdup(session) : NULL;
        b->watch = watch ? strdup(watch) : NULL;
        if ((session && !b->session) || (watch && !b->watch))
                return -ENOMEM;
        DL_APPEND(k->bubbles, b);
        *ret = TAKE_PTR(b);
        return 0;
}

static bool is_of_alert(const Bubble *b) {
        return !b->over && (b->kind == BUBBLE_ALERT || b->kind == BUBBLE_LOSS);
}

/* One that waits for a person stays. */
static void close_oldest(BubbleBook *k) {
        Bubble *b, *oldest = NULL;
        size_t n = 0;

        DL_FOREACH (k->bubbles, b) {
                if (!is_of_alert(b) || b->frozen)
                        continue;
                if (n++ == 0)
                        oldest = b;
        }
        if (n > BOOK_ALERTS_MAX)
                oldest->over = true;
}

/* ---- alerts ---- */

/* It waits for an answer: the call itself has a bubble, with buttons. */
static bool is_a_question(const Alert *a) {
        return (a->kind == ALERT_VIOLATION || a->kind == ALERT_UPDATE) &&
                a->action == ACTION_HELD && a->refused == a->total;
}

/* Somebody here has answered all there was. */
static bool is_decided(BubbleBook *k, const Alert *a) {
        const uint64_t *n = find_answered(k, a->session);

        return n && a->kind != ALERT_LOSS && a->total <= *n;
}

static bool is_news(BubbleBook *k, const Alert *a) {
        if (a->kind == ALERT_SUMMARY)
                return a->total > 0 || a->verdict != VERDICT_CLEAN;
        return !is_a_question(a) && !is_decided(k, a);
}

/* The summary takes the place of one of them, and the others have said all they had to. */
static Bubble *take_over_session(BubbleBook *k, const char *session) {
        Bubble *b, *first = NULL;

        DL_FOREACH (k->bubbles, b) {
                bool theirs = !b->over && (b->kind == BUBBLE_ALERT || b->kind == BUBBLE_FROZEN) &&
                        session && str_equal(b->session, session);

                if (!theirs)
                        continue;
                if (!first) {
                        first = b;
                        continue;
                }
                b->over = true;
                first->total += b->total;
                first->severity = MAX(first->severity, b->severity);
                first->dismissed = first->dismissed && b->dismissed;
        }
        if (first && first->watch) {
                free(first->watch);
                first->watch = NULL;
        }
        return first;
}

static Bubble *find_for_alert(BubbleBook *k, const Alert *a, BubbleKind kind) {
        Bubble *b;

        if (a->kind == ALERT_SUMMARY)
                return take_over_session(k, a->session);
        b = find(k, kind, a->session, a->watch);
        if (!b && kind == BUBBLE_ALERT && a->session)
                b = find(k, BUBBLE_FROZEN, a->session, NULL);
        return b;
}

/* What somebody has closed comes back when it has become graver, or when the session ends and more has happened. */
static bool is_worth_showing(const Bubble *b, const Alert *a) {
        if (!b->dismissed || a->severity > b->severity)
                return true;
        return a->kind == ALERT_SUMMARY && a->total > b->total;
}

static int set_watch(Bubble *b, const char *watch) {
        char *copy = watch ? strdup(watch) : NULL;

        if (watch && !copy)
                return -ENOMEM;
        free(b->watch);
        b->watch = copy;
        return 0;
}

int bubble_book_take_alert(BubbleBook *k, const Alert *a) {
        BubbleKind kind = a->kind == ALERT_LOSS ? BUBBLE_LOSS : BUBBLE_ALERT;
        Bubble *b;
        int r;

        if (!is_news(k, a))
                return 0;
        b = find_for_alert(k, a, kind);
        r = b ? set_watch(b, a->watch) : add(k, kind, a->session, a->watch, &b);
        if (r < 0)
                return r;
        r = bubble_tell_alert(b, a);
        if (r < 0) {
                b->over = true;
                return r;
        }
        b->kind = kind;
        free(b->trouble);
        b->trouble = NULL;
        if (is_worth_showing(b, a)) {
                b->stale = true;
                b->dismissed = false;
        }
        b->severity = MAX(b->severity, a->severity);
        b->total = a->total;
        b->summary = a->kind == ALERT_SUMMARY;
        b->decided = is_decided(k, a);
        b->frozen = a->session && strv_contains(k->frozen, a->session);
        close_oldest(k);
        return 0;
}

int bubble_book_take_missed(BubbleBook *k, uint64_t n) {
        Bubble *b = find(k, BUBBLE_MISSED, NULL, NULL);
        int r = b ? 0 : add(k, BUBBLE_MISSED, NULL, NULL, &b);

        if (r < 0)
                return r;
        b->total += n;
        b->stale = true;
        r = bubble_tell_missed(b, b->total);
        b->over = r < 0;
        return r;
}

/* ---- calls that wait ---- */

static const HeldView *find_call(const HeldView *held, size_t n, int64_t id) {
        for (size_t i = 0; i < n; i++)
                if (held[i].id == id && str_equal(held[i].policy, "ask"))
                        return &held[i];
        return NULL;
}

static Bubble *find_held(const BubbleBook *k, int64_t id) {
        Bubble *b;

        DL_FOREACH (k->bubbles, b)
                if (!b->over && b->kind == BUBBLE_HELD && b->held == id)
                        return b;
        return NULL;
}

static int add_held(BubbleBook *k, const HeldView *h, char **(*cmdline_of)(pid_t pid)) {
        _cleanup_(strv_freep) char **cmdline = cmdline_of(h->pid);
        Bubble *b;
        int r = add(k, BUBBLE_HELD, h->session, h->watch, &b);

        if (r < 0)
                return r;
        b->held = h->id;
        b->stale = true;
        r = bubble_tell_held(b, h, cmdline);
        b->over = r < 0;
        return r;
}

static int tell_more(BubbleBook *k, size_t n) {
        Bubble *b = find(k, BUBBLE_MORE, NULL, NULL);
        int r = 0;

        if (n == 0) {
                if (b)
                        b->over = true;
                return 0;
        }
        if (b && b->total == n)
                return 0;
        if (!b)
                r = add(k, BUBBLE_MORE, NULL, NULL, &b);
        if (r < 0)
                return r;
        b->total = n;
        b->stale = !b->dismissed;
        r = bubble_tell_more(b, n);
        b->over = r < 0;
        return r;
}

int bubble_book_take_held(BubbleBook *k, const HeldView *held, size_t n,
                          char **(*cmdline_of)(pid_t pid)) {
        size_t shown = 0, more = 0;
        Bubble *b;
        int r = 0;

        DL_FOREACH (k->bubbles, b) {
                if (b->over || b->kind != BUBBLE_HELD)
                        continue;
                b->over = !find_call(held, n, b->held);
                shown += !b->over && !b->dismissed;
        }
        for (size_t i = 0; i < n && r >= 0; i++) {
                if (!str_equal(held[i].policy, "ask") || find_held(k, held[i].id))
                        continue;
                if (shown >= BOOK_HELD_MAX) {
                        more++;
                        continue;
                }
                r = add_held(k, &held[i], cmdline_of);
                shown++;
        }
        return r < 0 ? r : tell_more(k, more);
}

/* ---- frozen sessions ---- */

static bool has_bubble(const BubbleBook *k, const char *session) {
        Bubble *b;

        DL_FOREACH (k->bubbles, b)
                if (!b->over && (b->kind == BUBBLE_ALERT || b->kind == BUBBLE_FROZEN) &&
                    str_equal(b->session, session))
                        return true;
        return false;
}

static int add_frozen(BubbleBook *k, const char *session) {
        Bubble *b;
        int r = add(k, BUBBLE_FROZEN, session, NULL, &b);

        if (r < 0)
                return r;
        b->frozen = b->stale = true;
        r = bubble_tell_frozen(b);
        b->over = r < 0;
        return r;
}

int bubble_book_take_frozen(BubbleBook *k, char **sessions) {
        Bubble *b;
        int r = 0;

        (void) strv_free(k->frozen);
        k->frozen = sessions;
        DL_FOREACH (k->bubbles, b) {
                bool frozen = b->session && strv_contains(sessions, b->session);

                if (b->over || (b->kind != BUBBLE_ALERT && b->kind != BUBBLE_FROZEN) ||
                    b->frozen == frozen)
                        continue;
                b->frozen = frozen;
                b->over = b->kind == BUBBLE_FROZEN && !frozen;
                /* the buttons come, or go from what is there */
                b->stale = frozen || b->stale || b->pending || b->id != 0;
                if (frozen)
                        b->dismissed = false;
        }
        for (size_t i = 0; sessions && sessions[i] && r >= 0; i++)
                if (!has_bubble(k, sessions[i]))
                        r = add_frozen(k, sessions[i]);
        return r;
}

/* ---- what comes and goes around us ---- */

void bubble_book_lose_daemon(BubbleBook *k) {
        Bubble *b;

        DL_FOREACH (k->bubbles, b)
                if (b->kind == BUBBLE_HELD || b->kind == BUBBLE_MORE)
                        b->over = true;
}

void bubble_book_lose_screen(BubbleBook *k) {
        Bubble *b;

        DL_FOREACH (k->bubbles, b) {
                bool waits = b->kind == BUBBLE_HELD || b->kind == BUBBLE_MORE || b->frozen;

                b->id = 0;
                b->stale = b->stale || (waits && !b->dismissed);
        }
}

Bubble *bubble_book_find(const BubbleBook *k, uint32_t id) {
        Bubble *b;

        DL_FOREACH (k->bubbles, b)
                if (id != 0 && b->id == id)
                        return b;
        return NULL;
}

void bubble_book_closed(BubbleBook *k, Bubble *b, unsigned reason) {
        b->id = 0;
        if (reason == CLOSED_BY_PERSON && !b->stale)
                b->dismissed = true;
}

int bubble_book_answer_failed(BubbleBook *k, Bubble *b, const char *trouble) {
        char *copy;

        if (!trouble) {
                b->over = true;
                return 0;
        }
        copy = strdup(trouble);
        if (!copy)
                return -ENOMEM;
        free(b->trouble);
        b->trouble = copy;
        b->dismissed = false;
        b->stale = true;
        return 0;
}

/* Of an ended session nothing more comes: when it is off the screen it need not be known. */
static bool is_spent(const Bubble *b) {
        bool shown = b->id != 0 || b->stale;

        return b->over || (!shown && (b->summary || b->kind == BUBBLE_MISSED));
}

void bubble_book_sweep(BubbleBook *k) {
        Bubble *b, *next;

        DL_FOREACH_SAFE (k->bubbles, b, next)
                if (is_spent(b) && b->id == 0 && !b->pending) {
                        DL_DELETE(k->bubbles, b);
                        (void) bubble_free(b);
                }
}
