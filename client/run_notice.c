/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <termios.h>

#include "client/chain_text.h"
#include "client/run_notice.h"
#include "client/terminal.h"
#include "common/alert.h"
#include "common/alert_json.h"
#include "common/json_member.h"
#include "common/path_text.h"

#define INDENT 14 /* "mountwatch:   " */
#define COMMAND_COLUMNS_MIN 20

struct RunNotice {
        Connection *connection;
        char *session;
        char *text; /* what is to be told, when the terminal is free for it */
};

RunNotice *run_notice_free(RunNotice *n) {
        if (!n)
                return NULL;
        (void) connection_free(n->connection);
        free(n->session);
        free(n->text);
        free(n);
        return NULL;
}

RunNotice *run_notice_new(const Context *context, const char *session) {
        _cleanup_(run_notice_freep) RunNotice *n = NULL;
        _cleanup_json_ json_object *lists = NULL;
        bool continues;

        if (!isatty(STDERR_FILENO))
                return NULL;
        n = calloc(1, sizeof(*n));
        if (!n || !(n->session = strdup(session)))
                return NULL;
        /* when the lists have come, so will every alert */
        if (connection_new(context->socket, &n->connection) < 0 ||
            connection_call_more(n->connection, "FollowAlerts", NULL, /* patient= */ false) < 0 ||
            connection_next(n->connection, &lists, &continues) != 0 || !continues)
                return NULL;
        return TAKE_PTR(n);
}

/* ---- the text ---- */

/* ", by rm -f x (pid 42)", the command no wider than what is left of the line. "" when nobody is known. */
static char *author_text(const Terminal *t, const Alert *a, unsigned used) {
        _cleanup_free_ char *whole = NULL, *command = NULL;
        const AlertProcess *p = a->chain;
        unsigned left;
        char *text;

        if (a->n_chain == 0)
                return strdup("");
        used += (unsigned) strlen(", by  (pid 1234567)");
        left = t->width > used + COMMAND_COLUMNS_MIN ? t->width - used : COMMAND_COLUMNS_MIN;
        whole = image_to_text(p->cmdline, p->exe);
        if (whole)
                command = text_shorten_end(whole, t->width > 0 ? left : 0, terminal_ellipsis(t));
        if (!command || asprintf(&text, ", by %s (pid %d)", command, (int) p->pid) < 0)
                return NULL;
        return text;
}

static char *details_text(const Terminal *t, const Alert *a) {
        _cleanup_free_ char *path = path_to_text(a->paths && a->paths[0] ? a->paths[0] : "?"),
                            *author = NULL;
        char *text;

        if (path)
                author = author_text(t, a, INDENT + text_width(path));
        if (!author || asprintf(&text, "mountwatch:   %s%s", path, author) < 0)
                return NULL;
        return text;
}

/* What has to be done for the command to go on. "" for nothing. */
static char *next_text(const Alert *a) {
        const char *why = a->action == ACTION_HELD ? "it waits for an answer"
                : a->action == ACTION_FROZEN       ? "it goes on with"
                                                   : NULL;
        char *text;

        if (!why || !a->next)
                return strdup("");
        return asprintf(&text, "mountwatch:   %s: %s\n", why, a->next) < 0 ? NULL : text;
}

static char *notice_text(const Alert *a) {
        _cleanup_free_ char *whole = alert_title(a), *title = NULL, *details = NULL, *next = NULL;
        Terminal t;
        char *text;

        terminal_init(&t, stderr);
        details = details_text(&t, a);
        next = next_text(a);
        if (whole)
                title = text_shorten_end(whole, t.width > 12 ? t.width - 12 : 0,
                                         terminal_ellipsis(&t));
        if (!title || !details || !next ||
            asprintf(&text, "mountwatch: %s%s%s\n%s\n%s", terminal_style(&t, STYLE_BAD), title,
                     terminal_reset(&t), details, next) < 0)
                return NULL;
        return text;
}

/* ---- telling ---- */

/* Not while a program with a screen of its own, or a line editor, has the terminal, nor while its output is stopped. */
static bool terminal_is_free(void) {
        struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
        struct termios settings;

        if (tcgetattr(STDERR_FILENO, &settings) < 0 || !(settings.c_lflag & ICANON) ||
            !(settings.c_oflag & OPOST))
                return false;
        return poll(&p, 1, 0) > 0 && (p.revents & POLLOUT);
}

/* With SIGTTOU blocked the write of a background process is let, whatever `stty tostop` says. */
static void tell(const char *text) {
        sigset_t set, before;

        sigemptyset(&set);
        sigaddset(&set, SIGTTOU);
        (void) sigprocmask(SIG_BLOCK, &set, &before);
        fputs(text, stderr);
        (void) fflush(stderr);
        (void) sigprocmask(SIG_SETMASK, &before, NULL);
}

static int take_alert(RunNotice *n, json_object *reply) {
        json_object *o;
        Alert a = {};
        int r = json_get(reply, "alert", json_type_object, &o);

        r = r <= 0 ? r : alert_from_json(o, &a);
        if (r < 0)
                return r;
        if (a.kind == ALERT_VIOLATION && str_equal(a.session, n->session) &&
            !(n->text = notice_text(&a)))
                r = -ENOMEM;
        alert_done(&a);
        return r;
}

static int look(RunNotice *n) {
        while (!n->text) {
                _cleanup_json_ json_object *reply = NULL;
                bool continues = true;
                int r = connection_try_next(n->connection, &reply, &continues);

                r = r != 0 ? r : take_alert(n, reply);
                if (r != 0 || !continues)
                        return r != 0 ? r : -ECONNRESET;
        }
        return 0;
}

static LaunchWish ready(void *userdata) {
        RunNotice *n = userdata;
        int r = look(n);

        if (r == -EAGAIN)
                return LAUNCH_ON;
        if (r != 0)
                return LAUNCH_OVER;
        if (!terminal_is_free())
                return LAUNCH_SOON;
        tell(n->text);
        return LAUNCH_OVER;
}

LaunchSide run_notice_side(RunNotice *n) {
        return (LaunchSide){connection_fd(n->connection), ready, n};
}
