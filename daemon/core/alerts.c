/* SPDX-License-Identifier: MIT */
/*
 * Owns topics and what is ready to be taken; borrows sessions for the length of a call only. Files: evidence.c, what is remembered.
 */
#include <errno.h>
#include <stdio.h>

#include "common/hash.h"
#include "common/strv.h"
#include "daemon/core/alerts.h"
#include "daemon/core/evidence.h"

#include <utlist.h>

/* The losses of a session by one reason, or its violations on one watch. */
typedef struct Topic {
        struct Topic *prev, *next;
        char *watch;  /* NULL: of all, or losses on several */
        char *reason; /* NULL: violations */
        Tally tally;
        Tally waiting; /* calls not decided yet; of the next alert only */
        uint64_t fresh;
        Evidence evidence; /* of what is fresh */
        bool told;
        usec_t interval; /* 0: the next one is the first */
        usec_t not_before;
        usec_t due; /* ALERT_NEVER: nothing is fresh */
} Topic;

/* What is known of a session while it lives; one with an empty id stands for everybody else. */
typedef struct Subject {
        UT_hash_handle hh;
        char id[17];
        char *label;
        uid_t uid;
        pid_t root;
        bool complete;
        Topic *topics;
        Tally tally; /* with those of inner sessions */
        Evidence evidence;
} Subject;

typedef struct Ready {
        struct Ready *prev, *next;
        Alert alert;
} Ready;

struct Alerts {
        usec_t first_interval, longest_interval;
        Subject *subjects; /* by id */
        size_t n_topics;
        usec_t due; /* not after the earliest of the topics */
        Ready *ready;
};

/* ---- topics and subjects ---- */

static void topic_free(Topic *t) {
        free(t->watch);
        free(t->reason);
        evidence_done(&t->evidence);
        free(t);
}

static Subject *subject_free(Subject *s) {
        Topic *t, *next;

        if (!s)
                return NULL;
        DL_FOREACH_SAFE (s->topics, t, next)
                topic_free(t);
        evidence_done(&s->evidence);
        free(s->label);
        free(s);
        return NULL;
}

DEFINE_CLEANUP(Subject *, subject_free)

static Subject *find_subject(const Alerts *a, const char *id) {
        Subject *s;

        HASH_FIND_STR(a->subjects, id, s);
        return s;
}

static int ensure_subject(Alerts *a, const Session *session, Subject **ret) {
        _cleanup_(subject_freep) Subject *s = NULL;
        Subject *found = find_subject(a, session ? session->id : "");

        if (!found) {
                s = calloc(1, sizeof *s);
                if (!s)
                        return -ENOMEM;
                s->uid = (uid_t) -1;
                if (session) {
                        memcpy(s->id, session->id, sizeof s->id);
                        s->uid = session->uid;
                        s->root = session->root_pid;
                        if (session->label && !(s->label = strdup(session->label)))
                                return -ENOMEM;
                }
                HASH_ADD_STR(a->subjects, id, s);
                if (!s->hh.tbl)
                        return -ENOMEM;
                found = TAKE_PTR(s);
        }
        found->complete = !session || session_is_complete(session);
        *ret = found;
        return 0;
}

static Topic *find_topic(const Subject *s, const char *watch, const char *reason) {
        Topic *t;

        DL_FOREACH (s->topics, t)
                if (reason ? str_equal(t->reason, reason)
                           : !t->reason && str_equal(t->watch, watch))
                        return t;
        return NULL;
}

static int add_topic(Alerts *a, Subject *s, const char *watch, const char *reason, Topic **ret) {
        Topic *t = calloc(1, sizeof *t);

        if (!t)
                return -ENOMEM;
        t->watch = watch ? strdup(watch) : NULL;
        t->reason = reason ? strdup(reason) : NULL;
        if ((watch && !t->watch) || (reason && !t->reason)) {
                topic_free(t);
                return -ENOMEM;
        }
        t->due = ALERT_NEVER;
        DL_APPEND(s->topics, t);
        a->n_topics++;
        *ret = t;
        return 0;
}

/* ---- telling ---- */

static int copy_string(const char *s, char **ret) {
        if (!s)
                return 0;
        *ret = strdup(s);
        return *ret ? 0 : -ENOMEM;
}

/* A name that a shell takes as it is inside quotes, and a terminal shows as it is. */
static bool is_typeable(const char *path) {
        for (; *path; path++)
                if ((unsigned char) *path < 0x20 || *path == '\'' || *path == 0x7f)
                        return false;
        return true;
}

static int set_next(Alert *a, bool waits) {
        int r;

        if (!a->session) {
                if (!a->paths || !is_typeable(a->paths[0]))
                        return 0;
                r = asprintf(&a->next, "mountwatch blame '%s'", a->paths[0]);
        } else if (waits)
                r = asprintf(&a->next, "mountwatch decide");
        else if (a->action == ACTION_FROZEN && a->kind != ALERT_SUMMARY)
                r = asprintf(&a->next, "mountwatch session thaw %s", a->session);
        else
                r = asprintf(&a->next, "mountwatch %s %s", a->preserved > 0 ? "undo" : "report",
                             a->session);
        if (r >= 0)
                return 0;
        a->next = NULL;
        return -ENOMEM;
}

static int tell_subject(const Subject *s, Alert *a) {
        a->uid = s->uid;
        a->complete = s->complete;
        a->exit_status = -1;
        if (s->id[0] && copy_string(s->id, &a->session) < 0)
                return -ENOMEM;
        return copy_string(s->label, &a->label);
}

static void tell_tally(const Tally *t, Alert *a) {
        a->total += t->total;
        for (OpType op = 0; op < _OP_MAX; op++)
                a->count[op] += t->count[op];
        a->refused += t->refused;
        a->preserved += t->preserved;
}

static int put_ready(Alerts *a, Alert *alert) {
        Ready *r = calloc(1, sizeof *r);

        if (!r)
                return -ENOMEM;
        r->alert = *alert;
        *alert = (Alert){};
        DL_APPEND(a->ready, r);
        return 0;
}

static int tell_topic(Alerts *a, const Subject *s, Topic *t) {
        _cleanup_(alert_done) Alert alert = {
                .kind = t->reason ? ALERT_LOSS
                        : t->told ? ALERT_UPDATE
                                  : ALERT_VIOLATION,
                .fresh = t->reason ? 0 : t->fresh,
        };
        int r;

        tell_tally(&t->tally, &alert);
        tell_tally(&t->waiting, &alert);
        r = tell_subject(s, &alert);
        if (r >= 0)
                r = evidence_tell(&t->evidence, s->root, &alert);
        if (r >= 0)
                r = copy_string(t->watch, &alert.watch);
        if (r >= 0)
                r = copy_string(t->reason, &alert.reason);
        if (r >= 0)
                r = set_next(&alert, t->waiting.total > 0);
        return r < 0 ? r : put_ready(a, &alert);
}

/* After this nothing is fresh, also for lack of memory: trying again at once would not help. */
static int topic_speak(Alerts *a, const Subject *s, Topic *t, usec_t now) {
        int r = tell_topic(a, s, t);

        evidence_done(&t->evidence);
        t->fresh = 0;
        t->waiting = (Tally){};
        t->interval =
                t->interval == 0 ? a->first_interval : MIN(t->interval * 2, a->longest_interval);
        t->not_before = now + t->interval;
        t->told = true;
        t->due = ALERT_NEVER;
        return r;
}

static int topic_freshen(Alerts *a, const Subject *s, Topic *t, usec_t now) {
        t->fresh++;
        if (now >= t->not_before) {
                /* it has been quiet for so long that this is like the first */
                if (t->told && now - t->not_before >= a->longest_interval)
                        t->interval = 0;
                return topic_speak(a, s, t, now);
        }
        t->due = t->not_before;
        a->due = MIN(a->due, t->due);
        return 0;
}

/* ---- what comes in ---- */

/* There is no room for another topic: once for all who would want one. */
static int tell_limit(Alerts *a, usec_t now) {
        Subject *s;
        Topic *t;
        int r;

        r = ensure_subject(a, NULL, &s);
        if (r < 0)
                return r;
        t = find_topic(s, NULL, "alert-limit");
        r = t ? 0 : add_topic(a, s, NULL, "alert-limit", &t);
        return r < 0 ? r : topic_freshen(a, s, t, now);
}

/* NULL: at the limit, which is told. */
static int ensure_topic(Alerts *a, Subject *s, const char *watch, const char *reason, usec_t now,
                        Topic **ret) {
        *ret = find_topic(s, watch, reason);
        if (*ret)
                return 0;
        if (a->n_topics >= ALERT_TOPICS_MAX)
                return tell_limit(a, now);
        return add_topic(a, s, watch, reason, ret);
}

/* The summaries of the session and of those around it. */
static int count_for_summaries(Alerts *a, const Session *session, const Operation *op,
                               Image *author) {
        for (; session; session = session->outer) {
                Subject *s;
                int r;

                r = ensure_subject(a, session, &s);
                if (r >= 0)
                        r = evidence_add(&s->evidence, op, author);
                if (r < 0)
                        return r;
                tally_add(&s->tally, op);
        }
        return 0;
}

static int take_violation(Alerts *a, const Session *session, const Operation *op, Image *author,
                          bool waiting, usec_t now) {
        Subject *s;
        Topic *t = NULL;
        int r;

        r = ensure_subject(a, session, &s);
        if (r >= 0)
                r = ensure_topic(a, s, op->watch, NULL, now, &t);
        if (r < 0 || !t)
                return r;
        r = evidence_add(&t->evidence, op, author);
        tally_add(waiting ? &t->waiting : &t->tally, op);
        if (r >= 0)
                r = topic_freshen(a, s, t, now);
        return r;
}

int alerts_violation(Alerts *a, const Session *s, const Operation *op, Image *author, usec_t now) {
        int r = count_for_summaries(a, s, op, author);
        int q = take_violation(a, s, op, author, /* waiting= */ false, now);

        return r < 0 ? r : q;
}

int alerts_waiting(Alerts *a, const Session *s, const Operation *op, Image *author, usec_t now) {
        return take_violation(a, s, op, author, /* waiting= */ true, now);
}

int alerts_loss(Alerts *a, const Session *session, const char *reason, const char *watch,
                usec_t now) {
        Subject *s;
        Topic *t = NULL;
        int r;

        r = ensure_subject(a, session, &s);
        if (r >= 0)
                r = ensure_topic(a, s, watch, reason, now, &t);
        if (r < 0 || !t)
                return r;
        if (!str_equal(t->watch, watch))
                free(TAKE_PTR(t->watch));
        return topic_freshen(a, s, t, now);
}

static int tell_summary(Alerts *a, const Subject *s, const Session *session) {
        _cleanup_(alert_done) Alert alert = {.kind = ALERT_SUMMARY};
        Topic *t;
        int r;

        r = tell_subject(s, &alert);
        tell_tally(&s->tally, &alert);
        /* what was there before the daemon started is in the session's count only */
        alert.total = MAX(alert.total, session->violations);
        DL_FOREACH (s->topics, t)
                alert.fresh += t->reason ? 0 : t->fresh;
        alert.verdict = session_verdict(session);
        alert.exit_status = session->exit_status;
        if (r >= 0)
                r = evidence_tell(&s->evidence, s->root, &alert);
        if (r >= 0)
                r = set_next(&alert, /* waits= */ false);
        return r < 0 ? r : put_ready(a, &alert);
}

int alerts_session_ended(Alerts *a, const Session *session, usec_t now) {
        Subject *s = find_subject(a, session->id);
        Topic *t;
        int r;

        if (!s && session_verdict(session) == VERDICT_CLEAN)
                return 0;
        r = ensure_subject(a, session, &s);
        if (r < 0)
                return r;
        r = tell_summary(a, s, session);
        DL_FOREACH (s->topics, t)
                a->n_topics--;
        HASH_DEL(a->subjects, s);
        (void) subject_free(s);
        return r;
}

/* ---- time ---- */

usec_t alerts_due(const Alerts *a) {
        return a->due;
}

int alerts_tick(Alerts *a, usec_t now) {
        Subject *s, *next;
        Topic *t;
        int r = 0;

        if (now < a->due)
                return 0;
        a->due = ALERT_NEVER;
        HASH_ITER (hh, a->subjects, s, next)
                DL_FOREACH (s->topics, t) {
                        if (t->due <= now) {
                                int q = topic_speak(a, s, t, now);

                                r = r < 0 ? r : q;
                        }
                        a->due = MIN(a->due, t->due);
                }
        return r;
}

bool alerts_take(Alerts *a, Alert *ret) {
        Ready *r = a->ready;

        if (!r)
                return false;
        DL_DELETE(a->ready, r);
        *ret = r->alert;
        free(r);
        return true;
}

/* ---- life ---- */

void alerts_set_interval(Alerts *a, usec_t first_interval, usec_t longest_interval) {
        a->first_interval = first_interval;
        a->longest_interval = MAX(first_interval, longest_interval);
}

int alerts_new(usec_t first_interval, usec_t longest_interval, Alerts **ret) {
        Alerts *a = calloc(1, sizeof *a);

        if (!a)
                return -ENOMEM;
        a->due = ALERT_NEVER;
        alerts_set_interval(a, first_interval, longest_interval);
        *ret = a;
        return 0;
}

Alerts *alerts_free(Alerts *a) {
        Subject *s, *next;
        Alert alert;

        if (!a)
                return NULL;
        HASH_ITER (hh, a->subjects, s, next) {
                HASH_DEL(a->subjects, s);
                (void) subject_free(s);
        }
        while (alerts_take(a, &alert))
                alert_done(&alert);
        free(a);
        return NULL;
}

/* ---- the journal ---- */

static bool ends_with(const char *s, const char *end) {
        const size_t n = strlen(s), m = strlen(end);

        return n >= m && strcmp(s + n - m, end) == 0;
}

static bool is_journal_file(const char *path) {
        /* ~: one that was not closed properly is set aside under that name (journal-file.c of systemd) */
        return path && (ends_with(path, ".journal") || ends_with(path, ".journal~"));
}

bool alerts_is_journal_at_work(const Operation *op, const Image *author) {
        if (op->session || !author || author->uid != 0 || !author->program || !author->program->exe)
                return false;
        return ends_with(author->program->exe, "/lib/systemd/systemd-journald") &&
                is_journal_file(op->path) && (!op->from || is_journal_file(op->from));
}
