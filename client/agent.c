/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include <utlist.h>

#include "client/agent.h"
#include "client/agent_calls.h"
#include "client/bubble_book.h"
#include "client/feed.h"
#include "client/notifier.h"
#include "client/report_opener.h"
#include "common/alert_json.h"
#include "common/operation_json.h"
#include "common/strv.h"

#define BUS_NAME "io.mountwatch.Agent"
/* what is on its way to the screen when we end may be closed until then */
#define LEAVE_USEC (500 * 1000ULL)

typedef struct Agent {
        const Context *context;
        sd_event *event;
        sd_bus *bus;
        Notifier *notifier;
        Feed *feed;
        AgentCalls *calls;
        BubbleBook book;
        bool leaving;
} Agent;

static void agent_done(Agent *a) {
        (void) feed_free(a->feed);
        (void) agent_calls_free(a->calls);
        (void) notifier_free(a->notifier);
        (void) sd_bus_flush_close_unref(a->bus);
        bubble_book_done(&a->book);
        (void) sd_event_unref(a->event);
}

/* ---- the screen follows the book ---- */

static void show(Agent *a, Bubble *b) {
        int r = notifier_show(a->notifier, b);

        if (r < 0)
                complain("cannot show a notification: %s", strerror(-r));
        b->pending = r >= 0;
        b->stale = false;
}

static void follow_book(Agent *a) {
        bool waiting = false;
        Bubble *b;

        DL_FOREACH (a->book.bubbles, b) {
                if (b->pending)
                        continue;
                if (b->over && b->id != 0) {
                        notifier_close(a->notifier, b->id);
                        b->id = 0;
                } else if (b->stale && !b->over) {
                        if (notifier_is_there(a->notifier))
                                show(a, b);
                        else
                                waiting = true;
                }
        }
        bubble_book_sweep(&a->book);
        if (waiting)
                notifier_seek(a->notifier);
        if (a->leaving && !a->book.bubbles)
                (void) sd_event_exit(a->event, STATUS_DONE);
}

static void took(Agent *a, int r) {
        if (r < 0)
                complain("cannot show all that the daemon says: %s", strerror(-r));
        follow_book(a);
}

static void on_came(void *userdata) {
        follow_book(userdata);
}

static void on_went(void *userdata) {
        Agent *a = userdata;

        bubble_book_lose_screen(&a->book);
        follow_book(a);
}

static void on_shown(void *userdata, Bubble *b, uint32_t id) {
        Agent *a = userdata;

        b->pending = false;
        b->id = id;
        /* there is a service that did not take it: it would not take it again */
        if (id == 0 && !notifier_is_there(a->notifier))
                b->stale = true;
        follow_book(a);
}

static void on_closed(void *userdata, uint32_t id, unsigned reason) {
        Agent *a = userdata;
        Bubble *b = bubble_book_find(&a->book, id);

        if (!b)
                return;
        bubble_book_closed(&a->book, b, reason);
        follow_book(a);
}

/* ---- buttons ---- */

static void on_answered(void *userdata, const AgentCall *call, const char *trouble) {
        Agent *a = userdata;
        Bubble *b;
        int r = 0;

        DL_FOREACH (a->book.bubbles, b)
                if (!b->over &&
                    (call->held > 0 ? b->kind == BUBBLE_HELD && b->held == call->held
                                    : b->frozen && str_equal(b->session, call->session)))
                        r = MIN(r, bubble_book_answer_failed(&a->book, b, trouble));
        took(a, r);
}

static void on_pressed(void *userdata, uint32_t id, const char *key) {
        Agent *a = userdata;
        Bubble *b = bubble_book_find(&a->book, id);
        int button = button_from_key(key), r;

        if (!b || b->over || button < 0)
                return;
        if (button == BUTTON_REPORT)
                r = b->session ? report_open(a->context->program, a->context->socket, b->session)
                               : -EINVAL;
        else {
                r = b->kind == BUBBLE_HELD ? bubble_book_answer(&a->book, b) : 0;
                r = r < 0 ? r : agent_calls_make(a->calls, (Button) button, b);
        }
        if (r < 0)
                complain("cannot do what was asked for: %s", strerror(-r));
}

/* ---- the daemon ---- */

/* The process waits, so the number is its own. NULL: it may not be read. */
static char **cmdline_of(pid_t pid) {
        _cleanup_(strv_freep) char **words = NULL;
        _cleanup_close_ int fd = -1;
        char path[32], data[4096];
        ssize_t n;

        (void) snprintf(path, sizeof path, "/proc/%d/cmdline", (int) pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? -1 : read(fd, data, sizeof data - 1);
        if (n <= 0)
                return NULL;
        data[n] = '\0';
        for (ssize_t i = 0; i < n; i += (ssize_t) strlen(data + i) + 1)
                if (!strv_append(&words, data + i))
                        return NULL;
        return TAKE_PTR(words);
}

static int take_alert(Agent *a, json_object *parameters) {
        _cleanup_(alert_done) Alert alert = {};
        json_object *o;
        int r = json_get(parameters, "alert", json_type_object, &o);

        if (r <= 0)
                return r;
        r = alert_from_json(o, &alert);
        return r < 0 ? r : bubble_book_take_alert(&a->book, &alert);
}

static int take_held(Agent *a, json_object *parameters) {
        HeldView *held = NULL;
        size_t n, parsed = 0;
        json_object *array;
        int r = json_get(parameters, "held", json_type_array, &array);

        if (r <= 0)
                return r;
        n = json_object_array_length(array);
        held = calloc(n + 1, sizeof *held);
        r = held ? 0 : -ENOMEM;
        while (r >= 0 && parsed < n) {
                r = held_view_from_json(json_object_array_get_idx(array, parsed), &held[parsed]);
                parsed += r >= 0;
        }
        if (r >= 0)
                r = bubble_book_take_held(&a->book, held, n, cmdline_of);
        while (parsed > 0)
                held_view_done(&held[--parsed]);
        free(held);
        return r;
}

static int take_frozen(Agent *a, json_object *parameters) {
        char **sessions = NULL;
        json_object *array;
        int r = json_get(parameters, "frozen", json_type_array, &array);

        if (r > 0)
                r = strv_from_json(array, &sessions);
        if (r < 0 || (r == 0 && !sessions))
                return r;
        return bubble_book_take_frozen(&a->book, sessions);
}

static int take_missed(Agent *a, json_object *parameters) {
        int64_t missed = 0;
        int r = json_get_int(parameters, "missed", 0, INT64_MAX, &missed);

        return r < 0 || missed == 0 ? r : bubble_book_take_missed(&a->book, (uint64_t) missed);
}

static void on_taken(void *userdata, json_object *parameters) {
        Agent *a = userdata;
        int r;

        if (a->leaving)
                return;
        /* what is frozen first: the alert that comes with it has the buttons then */
        r = take_frozen(a, parameters);
        r = MIN(r, take_alert(a, parameters));
        r = MIN(r, take_held(a, parameters));
        r = MIN(r, take_missed(a, parameters));
        took(a, r);
}

static void on_lost(void *userdata, const char *text) {
        Agent *a = userdata;

        if (text)
                complain("%s; waiting for it", text);
        bubble_book_lose_daemon(&a->book);
        follow_book(a);
}

static void on_found(void *userdata) {
        complain("connected to the daemon");
}

/* ---- beginning and end ---- */

static int on_late(sd_event_source *s, uint64_t usec, void *userdata) {
        return sd_event_exit(sd_event_source_get_event(s), STATUS_DONE);
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *info, void *userdata) {
        Agent *a = userdata;
        Bubble *b;
        int r;

        if (a->leaving)
                return sd_event_exit(a->event, STATUS_DONE);
        a->leaving = true;
        r = sd_event_add_time_relative(a->event, NULL, CLOCK_MONOTONIC, LEAVE_USEC, 0, on_late, a);
        if (r < 0)
                return sd_event_exit(a->event, STATUS_DONE);
        DL_FOREACH (a->book.bubbles, b)
                b->over = true;
        follow_book(a);
        return 0;
}

static int connect_bus(Agent *a) {
        int r = sd_bus_open_user_with_description(&a->bus, "session");

        if (r >= 0)
                r = sd_bus_attach_event(a->bus, a->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_bus_set_exit_on_disconnect(a->bus, 1);
        if (r < 0) {
                complain(
                        "cannot talk to the bus of this session: %s (the agent belongs into a desktop session)",
                        strerror(-r));
                return STATUS_NO;
        }
        return STATUS_DONE;
}

/* STATUS_DONE and *ret_first, or a status. */
static int take_name(Agent *a, bool *ret_first) {
        int r = sd_bus_request_name(a->bus, BUS_NAME, 0);

        if (r < 0 && r != -EEXIST) {
                complain("cannot take the name " BUS_NAME " on the bus: %s", strerror(-r));
                return STATUS_NO;
        }
        *ret_first = r >= 0;
        return STATUS_DONE;
}

static int build(Agent *a) {
        static const NotifierHandler screen = {
                .came = on_came,
                .went = on_went,
                .shown = on_shown,
                .pressed = on_pressed,
                .closed = on_closed,
        };
        static const FeedHandler daemon = {.taken = on_taken, .lost = on_lost, .found = on_found};
        /* nobody asks how the viewer of a report has ended */
        const struct sigaction no_zombies = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
        int r = sigaction(SIGCHLD, &no_zombies, NULL) < 0 ? -errno : 0;

        if (r >= 0)
                r = sd_event_add_signal(a->event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK,
                                        on_signal, a);
        if (r >= 0)
                r = sd_event_add_signal(a->event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK,
                                        on_signal, a);
        if (r >= 0)
                r = notifier_new(a->bus, &screen, a, &a->notifier);
        if (r >= 0)
                r = agent_calls_new(a->event, a->context->socket, on_answered, a, &a->calls);
        if (r >= 0)
                r = feed_new(a->event, a->context->socket, &daemon, a, &a->feed);
        if (r < 0)
                complain("cannot start: %s", strerror(-r));
        return r < 0 ? STATUS_NO : STATUS_DONE;
}

int agent_run(const Context *context) {
        _cleanup_(agent_done) Agent a = {.context = context};
        bool first = false;
        int r;

        if (sd_event_new(&a.event) < 0)
                return complain_memory();
        r = connect_bus(&a);
        if (r == STATUS_DONE)
                r = take_name(&a, &first);
        if (r != STATUS_DONE)
                return r;
        if (!first) {
                complain("an agent runs already in this desktop session");
                return STATUS_DONE;
        }
        r = build(&a);
        if (r != STATUS_DONE)
                return r;
        r = sd_event_loop(a.event);
        if (r != STATUS_DONE && !a.leaving)
                complain("the bus of this session has gone");
        return r == STATUS_DONE || a.leaving ? STATUS_DONE : STATUS_NO;
}
