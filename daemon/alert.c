/* SPDX-License-Identifier: MIT */
#include "daemon/alert.h"
#include "daemon/core/alerts.h"
#include "daemon/follow.h"
#include "daemon/intake.h"
#include "daemon/kernel/gate.h"
#include "daemon/live.h"
#include "daemon/log.h"
#include "daemon/sinks/journal.h"
#include "daemon/webhooks.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/random.h>

#define LONGEST_USEC (30 * 60 * USEC_PER_SEC)
#define ID_BYTES 12 /* of chance */

/* ---- what is told ---- */

static int make_id(Alert *a) {
        unsigned char chance[ID_BYTES];
        char *out = a->id;

        _Static_assert(sizeof "msg_" + (size_t) 2 * ID_BYTES <= sizeof a->id,
                       "the id does not fit");
        if (getrandom(chance, sizeof chance, 0) != sizeof chance)
                return -EIO;
        out += sprintf(out, "msg_");
        for (size_t i = 0; i < sizeof chance; i++)
                out += sprintf(out, "%02x", chance[i]);
        return 0;
}

/* From the file alone: a name service may sit on the network, and this is the event loop. */
static char *user_name(uid_t uid) {
        FILE *f = uid != (uid_t) -1 ? fopen("/etc/passwd", "re") : NULL;
        char *name = NULL;
        const struct passwd *pw;

        while (f && !name && (pw = fgetpwent(f)))
                if (pw->pw_uid == uid)
                        name = strdup(pw->pw_name);
        if (f)
                (void) fclose(f);
        return name;
}

static void tell_journal(const Alert *a) {
        _cleanup_free_ char *line = NULL;

        if (log_is_journal()) {
                (void) journal_send(a);
                return;
        }
        line = journal_line(a);
        log_message(journal_priority(a), "%s", line ? line : "an alert, and no memory to tell it");
}

static int tell_here(Manager *m, Alert *a) {
        int r = make_id(a);

        if (r < 0) {
                log_error("no chance for the id of an alert");
                return r;
        }
        a->at = manager_now(m);
        a->user = user_name(a->uid);
        m->counters.alerts[a->kind]++;
        tell_journal(a);
        follow_publish(m, a);
        return 0;
}

static void deliver(Manager *m, Alert *a) {
        if (tell_here(m, a) >= 0)
                webhooks_publish(m, a);
}

int alert_test(Manager *m, uid_t uid, Alert *ret) {
        Alert a = {.kind = ALERT_TEST, .uid = uid, .exit_status = -1, .complete = true};
        int r = tell_here(m, &a);

        if (r >= 0)
                *ret = a;
        return r;
}

static void set_timer(Manager *m) {
        const usec_t due = alerts_due(m->alerts);

        if (due == ALERT_NEVER) {
                (void) sd_event_source_set_enabled(m->alert_timer, SD_EVENT_OFF);
                return;
        }
        (void) sd_event_source_set_time(m->alert_timer, due);
        (void) sd_event_source_set_enabled(m->alert_timer, SD_EVENT_ONESHOT);
}

/* `r` is what the engine said. */
static void settle(Manager *m, int r) {
        Alert a;

        if (r < 0)
                log_error("no memory for an alert");
        while (alerts_take(m->alerts, &a)) {
                deliver(m, &a);
                alert_done(&a);
        }
        if (alerts_due(m->alerts) != m->alert_due) {
                m->alert_due = alerts_due(m->alerts);
                set_timer(m);
        }
}

static usec_t now_mono(Manager *m) {
        return manager_now_mono(m) / NSEC_PER_USEC;
}

static int on_due(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;

        m->alert_due = 0; /* the timer is off now, whatever is due next */
        settle(m, alerts_tick(m->alerts, now_mono(m)));
        return 0;
}

/* ---- what comes in ---- */

void alert_violation(Manager *m, Live *live, const Operation *op, Image *author) {
        if (alerts_is_journal_at_work(op, author))
                return;
        settle(m,
               alerts_violation(m->alerts, live ? live->session : NULL, op, author, now_mono(m)));
}

void alert_waiting(Manager *m, const Attempt *a) {
        Live *l = live_find(m, a->session);
        Process *p = process_table_find(m->processes, a->pid);
        /* borrowed for the length of the call */
        const Operation op = {
                .op = access_operation(a->access.type),
                .kind = a->access.kind,
                .watch = (char *) a->watch,
                .path = a->access.path,
                .replaced = a->access.replaces,
                .action = ACTION_HELD,
                .attempt = true,
                .test = l ? l->session->test : NULL,
        };

        if (l)
                settle(m,
                       alerts_waiting(m->alerts, l->session, &op, p ? p->image : NULL,
                                      now_mono(m)));
}

void alert_loss(Manager *m, Live *live, const char *reason, const char *watch) {
        if (!m->alerts) /* on the way down */
                return;
        settle(m, alerts_loss(m->alerts, live->session, reason, watch, now_mono(m)));
}

void alert_started(const Session *s) {
        const LogField fields[] = {
                {"MESSAGE_ID", JOURNAL_ID_SESSION_STARTED},
                {"MOUNTWATCH_SESSION", s->id},
                {"MOUNTWATCH_LABEL", s->label},
        };

        log_fields(LOG_DEBUG, fields, ELEMENTSOF(fields), "session %s: started for process %d",
                   s->id, (int) s->root_pid);
}

void alert_ended(Manager *m, const Session *s) {
        if (session_verdict(s) == VERDICT_CLEAN) {
                const LogField fields[] = {
                        {"MESSAGE_ID", JOURNAL_ID_SESSION_ENDED},
                        {"MOUNTWATCH_SESSION", s->id},
                        {"MOUNTWATCH_LABEL", s->label},
                        {"MOUNTWATCH_VERDICT", verdict_to_string(VERDICT_CLEAN)},
                };

                log_fields(LOG_INFO, fields, ELEMENTSOF(fields),
                           "session %s ended clean: %llu changes", s->id,
                           (unsigned long long) s->operations);
        }
        settle(m, alerts_session_ended(m->alerts, s, now_mono(m)));
}

/* ---- life ---- */

void alert_configure(Manager *m) {
        alerts_set_interval(m->alerts, m->config->alert_interval, LONGEST_USEC);
}

int alert_start(Manager *m) {
        int r;

        r = alerts_new(m->config->alert_interval, LONGEST_USEC, &m->alerts);
        if (r < 0)
                return r;
        m->alert_due = ALERT_NEVER;
        r = sd_event_add_time(m->event, &m->alert_timer, CLOCK_MONOTONIC, 0, 0, on_due, m);
        if (r < 0)
                return r;
        r = sd_event_source_set_enabled(m->alert_timer, SD_EVENT_OFF);
        return r < 0 ? r : follow_start(m);
}

void alert_stop(Manager *m) {
        follow_stop(m);
        m->alert_timer = sd_event_source_disable_unref(m->alert_timer);
        m->alerts = alerts_free(m->alerts);
}
