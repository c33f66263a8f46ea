/* SPDX-License-Identifier: MIT */
/* mountwatch top: sessions live on the whole screen, and what can be done to them by a key. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <time.h>

#include "client/top_link.h"
#include "client/top_pager.h"
#include "client/top_view.h"
#include "client/verb.h"
#include "common/path_text.h"

#define NOTICE_USEC (6 * USEC_PER_SEC)

typedef struct Top {
        const Context *context;
        TopModel *model;
        TopLink *link;
        TopScreen *screen;
        TopState state;
        char *notice;
        usec_t notice_until;
        sigset_t mask; /* as it was */
        int signals;   /* signalfd */
        int status;    /* to end with; -1: go on */
        bool changed;
} Top;

static usec_t wall_clock(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_REALTIME, &t);
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / NSEC_PER_USEC;
}

static nsec_t steady_clock(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (nsec_t) t.tv_sec * NSEC_PER_SEC + (nsec_t) t.tv_nsec;
}

/* Consumes `text`; NULL takes the old one away. */
static void say(Top *t, char *text) {
        free(t->notice);
        t->notice = text;
        t->notice_until = wall_clock() + NOTICE_USEC;
        t->changed = true;
}

/* ---- what is done to sessions ---- */

/* Consumes `parameters` and `done`. */
static void wish(Top *t, const char *method, json_object *parameters, char *done) {
        int r = -ENOMEM;

        if (parameters && done)
                r = top_link_call(t->link, method, parameters, done);
        else
                json_object_put(parameters);
        free(done);
        if (r == -EBUSY)
                say(t, strdup("the daemon has not answered yet"));
        else if (r == -ENOTCONN)
                say(t, strdup("there is no daemon to ask"));
        else if (r < 0)
                say(t, strdup("out of memory"));
}

static void act(Top *t, const char *method, const char *id, const char *done) {
        json_object *o = json_object_new_object();

        if (o && json_add_text(o, "id", id) < 0) {
                json_object_put(o);
                o = NULL;
        }
        wish(t, method, o, strdup(done));
}

static void act_on_selected(Top *t, const char *method, const char *done) {
        const TopSession *s = top_model_selected(t->model);

        if (!s || s->ended)
                say(t, strdup(s ? "that session has ended" : "there is no session"));
        else
                act(t, method, s->view.id, done);
}

static void ask_for_kill(Top *t) {
        const TopSession *s = top_model_selected(t->model);

        if (!s || s->ended) {
                say(t, strdup(s ? "that session has ended" : "there is no session"));
                return;
        }
        free(t->state.target);
        t->state.target = strdup(s->view.id);
        if (t->state.target)
                t->state.mode = TOP_MODE_KILL;
}

static void show_report(Top *t) {
        const TopSession *s = top_model_selected(t->model);
        _cleanup_free_ char *id = s ? strdup(s->view.id) : NULL;
        struct signalfd_siginfo signal;
        int r;

        if (!id) {
                say(t, strdup("there is no session"));
                return;
        }
        top_screen_leave(t->screen);
        r = top_pager_show(t->context->socket, id, t->screen->columns, &t->mask);
        /* Ctrl-C and the like were typed for the pager */
        while (read(t->signals, &signal, sizeof(signal)) == (ssize_t) sizeof(signal))
                if (signal.ssi_signo == SIGTERM || signal.ssi_signo == SIGHUP)
                        t->status = STATUS_SIGNAL + (int) signal.ssi_signo;
        top_screen_return(t->screen);
        if (r < 0)
                say(t, strdup("the pager cannot be started"));
}

/* ---- held calls ---- */

static size_t held_index(const Top *t) {
        size_t n = top_model_n_held(t->model);

        for (size_t i = 0; i < n; i++)
                if (top_model_held_at(t->model, i)->id == t->state.held)
                        return i;
        return n;
}

static void open_decide(Top *t) {
        if (top_model_n_held(t->model) == 0) {
                say(t, strdup("nothing waits for an answer"));
                return;
        }
        t->state.mode = TOP_MODE_DECIDE;
        t->state.held = top_model_held_at(t->model, 0)->id;
        say(t, NULL);
}

static void move_held(Top *t, long lines) {
        size_t n = top_model_n_held(t->model), i = held_index(t);

        if (n == 0)
                return;
        if (i == n)
                i = 0; /* none was chosen */
        else if (lines < 0)
                i -= MIN(i, (size_t) -lines);
        else
                i = MIN(i + (size_t) lines, n - 1);
        t->state.held = top_model_held_at(t->model, i)->id;
}

/* The answer is for the call that was shown, and for no other that has taken its place; then the next one is shown. */
static void answer(Top *t, const char *word, const char *text) {
        json_object *o = json_object_new_object();
        size_t n = top_model_n_held(t->model), i = held_index(t);
        char *done = NULL;

        if (i == n) {
                json_object_put(o);
                say(t, strdup("choose a call first"));
                return;
        }
        if (o &&
            (json_add_int(o, "id", t->state.held) < 0 || json_add_text(o, "answer", word) < 0)) {
                json_object_put(o);
                o = NULL;
        }
        if (asprintf(&done, "call %" PRId64 ": %s", t->state.held, text) < 0)
                done = NULL;
        wish(t, "Decide", o, done);
        i = i + 1 < n ? i + 1 : 0;
        t->state.held = n > 1 ? top_model_held_at(t->model, i)->id : 0;
        if (n == 1)
                t->state.mode = TOP_MODE_LIST;
}

/* ---- keys ---- */

static bool is_move(int key, size_t page, long *ret) {
        switch (key) {
        case TOP_KEY_UP:
        case 'k':
                *ret = -1;
                return true;
        case TOP_KEY_DOWN:
        case 'j':
                *ret = 1;
                return true;
        case TOP_KEY_PAGE_UP:
                *ret = -(long) page;
                return true;
        case TOP_KEY_PAGE_DOWN:
                *ret = (long) page;
                return true;
        case TOP_KEY_HOME:
                *ret = -INT32_MAX;
                return true;
        case TOP_KEY_END:
                *ret = INT32_MAX;
                return true;
        default:
                return false;
        }
}

static void on_list_key(Top *t, int key) {
        switch (key) {
        case 'f':
                act_on_selected(t, "FreezeSession", "froze");
                break;
        case 't':
                act_on_selected(t, "ThawSession", "thawed");
                break;
        case 'K':
                ask_for_kill(t);
                break;
        case 'd':
                open_decide(t);
                break;
        case 'r':
                show_report(t);
                break;
        case '?':
        case 'h':
                t->state.mode = TOP_MODE_HELP;
                break;
        case 'q':
                t->status = STATUS_DONE;
                break;
        default:
                break;
        }
}

static void on_kill_key(Top *t, int key) {
        t->state.mode = TOP_MODE_LIST;
        if (key == 'y' || key == 'Y')
                act(t, "KillSession", t->state.target, "killed");
        else
                say(t, strdup("not killed"));
}

static void on_decide_key(Top *t, int key) {
        switch (key) {
        case 'a':
                answer(t, "allow_once", "allowed once");
                break;
        case 's':
                answer(t, "allow_session", "allowed for the whole session");
                break;
        case 'n':
                answer(t, "deny", "denied");
                break;
        case 'x':
                answer(t, "kill", "killed");
                break;
        case 'q':
        case TOP_KEY_ESCAPE:
                t->state.mode = TOP_MODE_LIST;
                break;
        default:
                break;
        }
}

static void on_key(Top *t, int key) {
        size_t page = t->screen->lines / 2;
        TopMode mode = t->state.mode;
        long lines;

        t->changed = true;
        if (mode != TOP_MODE_KILL)
                say(t, NULL);
        if (mode == TOP_MODE_LIST && is_move(key, page, &lines))
                top_model_move(t->model, lines);
        else if (mode == TOP_MODE_DECIDE && is_move(key, page, &lines))
                move_held(t, lines);
        else if (mode == TOP_MODE_LIST)
                on_list_key(t, key);
        else if (mode == TOP_MODE_KILL)
                on_kill_key(t, key);
        else if (mode == TOP_MODE_DECIDE)
                on_decide_key(t, key);
        else
                t->state.mode = TOP_MODE_LIST;
}

/* ---- the loop ---- */

static void on_signals(Top *t) {
        struct signalfd_siginfo signal;

        while (read(t->signals, &signal, sizeof(signal)) == (ssize_t) sizeof(signal)) {
                t->changed = true;
                switch (signal.ssi_signo) {
                case SIGWINCH:
                        top_screen_resize(t->screen);
                        break;
                case SIGTSTP:
                        top_screen_leave(t->screen);
                        (void) raise(SIGSTOP);
                        top_screen_return(t->screen);
                        break;
                default:
                        t->status = STATUS_SIGNAL + (int) signal.ssi_signo;
                }
        }
}

static void take_notices(Top *t) {
        char *text = top_link_take_notice(t->link);

        if (text)
                say(t, text);
        if (t->notice && wall_clock() >= t->notice_until)
                say(t, NULL);
}

static int msec_to_next_second(void) {
        return 1000 - (int) (wall_clock() % USEC_PER_SEC / 1000);
}

static int wait_for_something(Top *t) {
        enum {
                KEYS = TOP_LINK_FDS,
                SIGNALS,
                N
        };
        struct pollfd fds[N];
        int timeout = MIN(msec_to_next_second(), top_link_timeout(t->link, steady_clock())), key;

        top_link_poll(t->link, fds);
        fds[KEYS] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        fds[SIGNALS] = (struct pollfd){.fd = t->signals, .events = POLLIN};
        if (poll(fds, N, timeout) < 0 && errno != EINTR)
                return -errno;
        if (fds[SIGNALS].revents)
                on_signals(t);
        while (t->status < 0 && (key = top_screen_key(t->screen)) != TOP_KEY_NONE)
                on_key(t, key);
        /* the terminal is gone */
        if (t->status < 0 && (fds[KEYS].revents & (POLLHUP | POLLERR | POLLNVAL)))
                t->status = STATUS_SIGNAL + SIGHUP;
        return 0;
}

/* Draws when something has changed, and once a second for the ages. */
static void draw(Top *t, usec_t *drawn, uint64_t *generation) {
        const char *trouble = top_link_trouble(t->link);
        usec_t now = wall_clock();

        if (!t->changed && now / USEC_PER_SEC == *drawn / USEC_PER_SEC &&
            *generation == top_model_generation(t->model) && trouble == t->state.trouble)
                return;
        t->state.now = now;
        t->state.trouble = trouble;
        t->state.notice = t->notice;
        top_view_draw(t->screen, t->model, &t->state);
        *drawn = now;
        *generation = top_model_generation(t->model);
        t->changed = false;
}

static int loop(Top *t) {
        uint64_t generation = 0;
        usec_t drawn = 0;

        for (;;) {
                int r = top_link_work(t->link, t->model, steady_clock(), wall_clock());

                if (r < 0)
                        return r;
                take_notices(t);
                draw(t, &drawn, &generation);
                r = wait_for_something(t);
                if (r < 0)
                        return r;
                if (t->status >= 0)
                        return 0;
        }
}

static int open_signals(Top *t) {
        static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
        sigset_t set;

        sigemptyset(&set);
        for (size_t i = 0; i < ELEMENTSOF(taken); i++)
                sigaddset(&set, taken[i]);
        if (sigprocmask(SIG_BLOCK, &set, &t->mask) < 0)
                return -errno;
        t->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
        return t->signals < 0 ? -errno : 0;
}

static int check_terminal(void) {
        if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
                return STATUS_DONE;
        complain("'top' needs a terminal; 'mountwatch session list' prints the same once");
        return STATUS_NO;
}

static int run(Top *t) {
        int r = open_signals(t);

        r = r < 0 ? r : top_model_new(&t->model);
        r = r < 0 ? r : top_link_new(t->context->socket, &t->link);
        if (r >= 0)
                r = top_screen_new(&t->screen);
        if (r == -ENOTTY) {
                const char *term = getenv("TERM");
                _cleanup_free_ char *name = path_to_text(term ? term : "");

                complain(
                        "'top' cannot use this terminal (TERM=%s); 'mountwatch session list' prints "
                        "the same once",
                        name ? name : "");
                return STATUS_NO;
        }
        r = r < 0 ? r : loop(t);
        t->screen = top_screen_free(t->screen);
        if (r == -ENOMEM)
                return complain_memory();
        if (r < 0) {
                complain("'top' cannot go on: %s", strerror(-r));
                return STATUS_NO;
        }
        return t->status;
}

int verb_top(const Context *context, const Options *options) {
        Top t = {.context = context, .signals = -1, .status = -1};
        Connection *c;
        int r;

        r = check_terminal();
        if (r == STATUS_DONE)
                r = verb_connect(context, &c);
        if (r != STATUS_DONE)
                return r;
        (void) connection_free(c);
        r = run(&t);
        (void) top_link_free(t.link);
        (void) top_model_free(t.model);
        safe_close(t.signals);
        free(t.state.target);
        free(t.notice);
        return r;
}
