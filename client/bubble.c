/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "client/bubble.h"
#include "client/terminal.h"
#include "common/loss_reason.h"
#include "common/path_text.h"
#include "common/strv.h"
#include "common/utf8.h"

#define TITLE_COLUMNS 90
#define LINE_COLUMNS 80
#define COMMAND_COLUMNS 60
#define LINES_MAX 10
#define PATHS_MAX 4 /* of an alert: a report has the rest */

static const struct {
        const char *key, *label;
} button_table[_BUTTON_MAX] = {
        [BUTTON_REPORT] = {"report", "Show report"},
        [BUTTON_ALLOW] = {"allow", "Allow once"},
        [BUTTON_DENY] = {"deny", "Deny"},
        [BUTTON_KILL] = {"kill", "Kill"},
        [BUTTON_THAW] = {"thaw", "Thaw"},
        [BUTTON_KILL_SESSION] = {"kill-session", "Kill"},
};

const char *button_key(Button button) {
        return button_table[button].key;
}

const char *button_label(Button button) {
        return button_table[button].label;
}

int button_from_key(const char *key) {
        for (Button b = 0; b < _BUTTON_MAX; b++)
                if (str_equal(button_table[b].key, key))
                        return (int) b;
        return -EINVAL;
}

Bubble *bubble_free(Bubble *b) {
        if (!b)
                return NULL;
        free(b->session);
        free(b->watch);
        free(b->title);
        free(b->text);
        free(b->trouble);
        free(b);
        return NULL;
}

/* The bus takes nothing but UTF-8, and shortening cuts characters in two in a locale that has none. */
static char *clip(const char *line, unsigned columns) {
        char *s = text_shorten_middle(line, columns, "…"), *safe;

        if (!s || utf8_is_valid(s, strlen(s)))
                return s;
        safe = path_to_utf8(s);
        free(s);
        return safe;
}

/* The first lines, each of bounded length. */
static char *clip_lines(const char *text) {
        _cleanup_free_ char *copy = strdup(text), *lines = NULL;
        char *rest = copy, *line;
        size_t size, n = 0;
        bool failed = false;
        FILE *f = copy ? open_memstream(&lines, &size) : NULL;

        if (!f)
                return NULL;
        while ((line = strsep(&rest, "\n")) && n < LINES_MAX) {
                _cleanup_free_ char *s = clip(line, LINE_COLUMNS);

                failed |= !s;
                if (s && *s)
                        fprintf(f, "%s%s", n++ > 0 ? "\n" : "", s);
        }
        if (line)
                fputs("\n…", f);
        if (fclose(f) != 0 || failed)
                return NULL;
        return TAKE_PTR(lines);
}

/* Consumes both; NULL is lack of memory. */
static int set_texts(Bubble *b, char *title, char *text) {
        _cleanup_free_ char *whole_title = title, *whole_text = text, *t = NULL, *s = NULL;

        if (title && text) {
                t = clip(title, TITLE_COLUMNS);
                s = clip_lines(text);
        }
        if (!t || !s)
                return -ENOMEM;
        free(b->title);
        free(b->text);
        b->title = TAKE_PTR(t);
        b->text = TAKE_PTR(s);
        return 0;
}

/* Text of somebody else on a line of its own. */
static void put_line(FILE *f, const char *before, const char *s, bool *failed) {
        _cleanup_free_ char *text = s ? path_to_text(s) : NULL;

        if (text)
                fprintf(f, "%s%s\n", before, text);
        *failed |= s && !text;
}

static void put_paths(FILE *f, const Alert *a, bool *failed) {
        uint64_t n = 0;

        for (; n < PATHS_MAX && a->paths && a->paths[n]; n++)
                put_line(f, "", a->paths[n], failed);
        if (n > 0 && a->fresh > n)
                fprintf(f, "and %" PRIu64 " more\n", a->fresh - n);
}

static void put_counts(FILE *f, const Alert *a) {
        if (a->total > a->fresh && a->kind != ALERT_SUMMARY)
                fprintf(f, "%" PRIu64 " changes so far\n", a->total);
        if (a->refused > 0 && a->refused < a->total)
                fprintf(f, "%" PRIu64 " of %" PRIu64 " did not happen\n", a->refused, a->total);
        if (a->preserved > 0)
                fprintf(f, "'mountwatch undo' can put %" PRIu64 " of them back\n", a->preserved);
        if (!a->complete)
                fputs("This may not be all: something was not seen.\n", f);
}

/* Its beginning: unlike a path, it says most there. */
static char *command_of(char *const *cmdline) {
        _cleanup_free_ char *whole = text_of_command(cmdline);

        return whole ? text_shorten_end(whole, COMMAND_COLUMNS, "…") : NULL;
}

static void put_author(FILE *f, const Alert *a, bool *failed) {
        _cleanup_free_ char *command = NULL;

        if (a->n_chain == 0)
                return;
        command = command_of(a->chain[0].cmdline);
        if (command && *command)
                fprintf(f, "by: %s\n", command);
        *failed |= !command;
}

/* What a glance takes in: alert_text() has all of it, and a report has more. */
static void put_evidence(FILE *f, const Alert *a, bool *failed) {
        switch (a->kind) {
        case ALERT_TEST:
                fputs("Somebody asked for it. Nothing has happened.\n", f);
                break;
        case ALERT_LOSS:
                if (a->reason)
                        put_line(f, "", loss_reason_to_text(a->reason), failed);
                break;
        case ALERT_VIOLATION:
        case ALERT_UPDATE:
        case ALERT_SUMMARY:
        case _ALERT_KIND_MAX:
                put_paths(f, a, failed);
                put_author(f, a, failed);
                put_line(f, "test: ", a->test, failed);
                put_counts(f, a);
        }
        put_line(f, "next: ", a->next, failed);
}

int bubble_tell_alert(Bubble *b, const Alert *a) {
        char *text = NULL;
        bool failed = false;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return -ENOMEM;
        put_evidence(f, a, &failed);
        if (fclose(f) != 0 || failed) {
                free(text);
                return -ENOMEM;
        }
        return set_texts(b, alert_title(a), text);
}

static const char *base_name(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash && slash[1] ? slash + 1 : path;
}

static const char *verb_of(const char *op) {
        static const char *const verbs[_OP_MAX] = {
                [OP_CREATE] = "create",
                [OP_MODIFY] = "change",
                [OP_DELETE] = "remove",
                [OP_RENAME] = "rename",
                [OP_METADATA] = "change the attributes of",
        };
        int o = op_type_from_string(op);

        return o >= 0 ? verbs[o] : "change";
}

int bubble_tell_held(Bubble *b, const HeldView *h, char *const *cmdline) {
        bool known = cmdline && cmdline[0] && *cmdline[0];
        _cleanup_free_ char *who = path_to_text(known ? base_name(cmdline[0]) : "a process"),
                            *what = path_to_text(base_name(h->path)), *path = path_to_text(h->path),
                            *watch = path_to_text(h->watch), *command = command_of(cmdline);
        char *title = NULL, *text = NULL;

        if (!who || !what || !path || !watch || !command)
                return -ENOMEM;
        if (asprintf(&title, "%s wants to %s %s on %s", who, verb_of(h->op), what, watch) < 0)
                title = NULL;
        if (asprintf(&text,
                     "%s\nby: %s (pid %d)\nIt waits for your answer.\n"
                     "next: mountwatch decide %" PRId64 " allow-once",
                     path, known ? command : "?", (int) h->pid, h->id) < 0)
                text = NULL;
        return set_texts(b, title, text);
}

int bubble_tell_frozen(Bubble *b) {
        char *title = NULL, *text = NULL;

        if (asprintf(&title, "session %s is frozen", b->session) < 0)
                title = NULL;
        if (asprintf(&text,
                     "A policy has stopped its processes where they are.\n"
                     "next: mountwatch session thaw %s",
                     b->session) < 0)
                text = NULL;
        return set_texts(b, title, text);
}

int bubble_tell_more(Bubble *b, size_t n) {
        char *title = NULL;

        if (asprintf(&title, "and %zu more %s", n, n == 1 ? "call waits" : "calls wait") < 0)
                title = NULL;
        return set_texts(b, title, strdup("'mountwatch decide' lists all of them."));
}

int bubble_tell_missed(Bubble *b, uint64_t n) {
        char *title = NULL;

        if (asprintf(&title, "%" PRIu64 " %s lost on the way to the desktop", n,
                     n == 1 ? "alert was" : "alerts were") < 0)
                title = NULL;
        return set_texts(b, title,
                         strdup("Nothing is missing from the reports: 'mountwatch session list "
                                "--all' shows the sessions."));
}

Urgency bubble_urgency(const Bubble *b) {
        if (b->kind == BUBBLE_HELD || b->kind == BUBBLE_FROZEN || b->frozen)
                return URGENCY_CRITICAL;
        if (b->kind != BUBBLE_ALERT)
                return URGENCY_NORMAL;
        if (b->decided) /* no news for who has answered */
                return URGENCY_LOW;
        switch (b->severity) {
        case SEVERITY_INFO:
        case SEVERITY_OPENED:
                return URGENCY_LOW;
        case SEVERITY_CREATED:
        case SEVERITY_MODIFIED:
                return URGENCY_NORMAL;
        case SEVERITY_REMOVED:
        case _SEVERITY_MAX:
                break;
        }
        return URGENCY_CRITICAL;
}

size_t bubble_buttons(const Bubble *b, Button ret[static BUBBLE_BUTTONS_MAX]) {
        size_t n = 0;

        switch (b->kind) {
        case BUBBLE_HELD:
                ret[n++] = BUTTON_ALLOW;
                ret[n++] = BUTTON_DENY;
                ret[n++] = BUTTON_KILL;
                break;
        case BUBBLE_ALERT:
        case BUBBLE_LOSS:
        case BUBBLE_FROZEN:
                if (b->session)
                        ret[n++] = BUTTON_REPORT;
                if (b->session && (b->frozen || b->kind == BUBBLE_FROZEN)) {
                        ret[n++] = BUTTON_THAW;
                        ret[n++] = BUTTON_KILL_SESSION;
                }
                break;
        case BUBBLE_MORE:
        case BUBBLE_MISSED:
                break;
        }
        return n;
}

static void put_escaped(FILE *f, const char *s) {
        for (; *s; s++)
                switch (*s) {
                case '&':
                        fputs("&amp;", f);
                        break;
                case '<':
                        fputs("&lt;", f);
                        break;
                case '>':
                        fputs("&gt;", f);
                        break;
                case '"':
                        fputs("&quot;", f);
                        break;
                case '\'':
                        fputs("&apos;", f);
                        break;
                default:
                        fputc(*s, f);
                }
}

/* Without the line that tells the command to type. */
static size_t end_before_next(const char *text) {
        const char *last = strrchr(text, '\n');

        return last && strncmp(last + 1, "next: ", 6) == 0 ? (size_t) (last - text) : strlen(text);
}

char *bubble_body(const Bubble *b, bool markup, bool buttons) {
        Button ignored[BUBBLE_BUTTONS_MAX];
        _cleanup_free_ char *plain = NULL, *body = NULL;
        bool has_buttons = buttons && bubble_buttons(b, ignored) > 0;
        int n = (int) (has_buttons ? end_before_next(b->text) : strlen(b->text));
        size_t size;
        FILE *f;

        if (asprintf(&plain, "%s%s%.*s", b->trouble ? b->trouble : "", b->trouble ? "\n" : "", n,
                     b->text) < 0) {
                plain = NULL;
                return NULL;
        }
        if (!markup)
                return TAKE_PTR(plain);
        f = open_memstream(&body, &size);
        if (!f)
                return NULL;
        put_escaped(f, plain);
        return fclose(f) == 0 ? TAKE_PTR(body) : NULL;
}
