/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "common/alert.h"
#include "common/loss_reason.h"
#include "common/path_text.h"

#define COMMAND_TEXT_MAX 300 /* bytes of a command line that are shown */

/* Gravest first. */
static const struct {
        OpType op;
        const char *did, *to_do, *done;
} deeds[_OP_MAX] = {
        {OP_DELETE, "removed", "remove", "removed"},
        {OP_MODIFY, "changed", "change", "changed"},
        {OP_RENAME, "renamed", "rename", "renamed"},
        {OP_CREATE, "created", "create", "created"},
        {OP_METADATA, "changed the attributes of", "change the attributes of", "of attributes"},
};

/* Text of somebody else: NULL, when memory is short, becomes a failure of the stream's caller. */
static void put_text(FILE *f, const char *s, bool *failed) {
        _cleanup_free_ char *text = path_to_text(s);

        if (text)
                fputs(text, f);
        else
                *failed = true;
}

static const char *base_name(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash && slash[1] ? slash + 1 : path;
}

/* ---- title ---- */

static void put_who(FILE *f, const Alert *a, bool *failed) {
        const char *exe = a->n_chain > 0 ? a->chain[0].exe : NULL;

        if (a->label)
                put_text(f, a->label, failed);
        else if (a->kind != ALERT_SUMMARY && exe)
                put_text(f, base_name(exe), failed);
        else if (a->session) {
                fputs("session ", f);
                put_text(f, a->session, failed);
        } else
                fputs(a->kind == ALERT_LOSS ? "mountwatch" : "an unknown process", f);
        if (!a->session && a->kind != ALERT_LOSS)
                fputs(", outside every session,", f);
}

static size_t count_kinds(const Alert *a) {
        size_t n = 0;

        for (OpType op = 0; op < _OP_MAX; op++)
                n += a->count[op] > 0;
        return n;
}

/* "removed a.txt", "tried to remove 3 files, create 2" */
static void put_deeds(FILE *f, const Alert *a, bool *failed) {
        const bool tried = a->refused > 0 && a->refused == a->total;
        /* a rename or a creation on top of what was there */
        const bool replaced = a->severity == SEVERITY_REMOVED && a->count[OP_DELETE] == 0;
        const bool one = a->total == 1 && a->paths && a->paths[0];
        const char *separator = "";

        fputs(!tried ? " " : a->action == ACTION_HELD ? " waits to " : " tried to ", f);
        if (one && replaced)
                fputs(tried ? "replace " : "replaced ", f);
        for (size_t i = 0; i < ELEMENTSOF(deeds); i++) {
                const uint64_t n = a->count[deeds[i].op];

                if (n == 0)
                        continue;
                fputs(separator, f);
                if (!one || !replaced)
                        fprintf(f, "%s ", tried ? deeds[i].to_do : deeds[i].did);
                if (one)
                        put_text(f, base_name(a->paths[0]), failed);
                else
                        fprintf(f, "%" PRIu64 "%s", n,
                                *separator       ? ""
                                        : n == 1 ? " file"
                                                 : " files");
                separator = ", ";
        }
        if (count_kinds(a) == 0)
                fputs(tried ? "change something" : "changed something", f);
        if (a->watch) {
                fputs(" on ", f);
                put_text(f, a->watch, failed);
        }
        if (!one && replaced)
                fputs(tried ? ", in place of what is there" : ", in place of what was there", f);
}

static void put_outcome(FILE *f, const Alert *a) {
        if (a->action == ACTION_KILLED)
                fputs("; killed", f);
        else if (a->action == ACTION_FROZEN)
                fputs("; frozen", f);
        else if (a->action == ACTION_DENIED && a->refused == a->total)
                fputs("; refused", f);
}

static void put_title(FILE *f, const Alert *a, bool *failed) {
        if (a->kind == ALERT_TEST) {
                fputs("test alert of mountwatch", f);
                return;
        }
        put_who(f, a, failed);
        switch (a->kind) {
        case ALERT_SUMMARY:
                fprintf(f, " ended %s", verdict_to_string(a->verdict));
                if (a->total > 0) {
                        fputs(":", f);
                        put_deeds(f, a, failed);
                }
                break;
        case ALERT_LOSS:
                fputs(": changes may have been missed", f);
                if (a->watch) {
                        fputs(" on ", f);
                        put_text(f, a->watch, failed);
                }
                if (a->reason) {
                        fputs(" (", f);
                        put_text(f, a->reason, failed);
                        fputs(")", f);
                }
                break;
        default:
                put_deeds(f, a, failed);
                put_outcome(f, a);
        }
}

/* ---- text ---- */

static void put_paths(FILE *f, const Alert *a, bool *failed) {
        uint64_t n = 0;

        for (; a->paths && a->paths[n]; n++) {
                put_text(f, a->paths[n], failed);
                fputc('\n', f);
        }
        if (n > 0 && a->fresh > n)
                fprintf(f, "and %" PRIu64 " more\n", a->fresh - n);
}

static void put_counts(FILE *f, const Alert *a) {
        const char *separator = ": ";

        if (a->total == 0)
                return;
        fprintf(f, "changes: %" PRIu64, a->total);
        if (a->fresh < a->total && a->kind != ALERT_SUMMARY)
                fprintf(f, ", %" PRIu64 " of them new", a->fresh);
        for (size_t i = 0; i < ELEMENTSOF(deeds); i++)
                if (a->count[deeds[i].op] > 0) {
                        fprintf(f, "%s%" PRIu64 " %s", separator, a->count[deeds[i].op],
                                deeds[i].done);
                        separator = ", ";
                }
        if (a->refused > 0)
                fprintf(f, "; %" PRIu64 " did not happen", a->refused);
        if (a->preserved > 0)
                fprintf(f, "; of %" PRIu64 " the old state is kept", a->preserved);
        fputc('\n', f);
}

static char *command_line(const AlertProcess *p) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        for (size_t i = 0; p->cmdline && p->cmdline[i]; i++)
                fprintf(f, "%s%s", i > 0 ? " " : "", p->cmdline[i]);
        if (!p->cmdline || !p->cmdline[0])
                fputs(p->exe ? p->exe : "?", f);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}

/* Cuts at a byte: half a character becomes escapes. */
static void put_process(FILE *f, const AlertProcess *p, const char *role, bool *failed) {
        _cleanup_free_ char *command = command_line(p);
        bool cut;

        if (!command) {
                *failed = true;
                return;
        }
        cut = strlen(command) > COMMAND_TEXT_MAX;
        if (cut)
                command[COMMAND_TEXT_MAX] = 0;
        fprintf(f, "%s: ", role);
        put_text(f, command, failed);
        fprintf(f, "%s (pid %d)\n", cut ? " ..." : "", (int) p->pid);
}

static void put_fact(FILE *f, const char *name, const char *value, bool *failed) {
        if (!value)
                return;
        fprintf(f, "%s: ", name);
        put_text(f, value, failed);
        fputc('\n', f);
}

static void put_session(FILE *f, const Alert *a, bool *failed) {
        if (!a->session)
                return;
        fputs("session: ", f);
        put_text(f, a->session, failed);
        if (a->label) {
                fputc(' ', f);
                put_text(f, a->label, failed);
        }
        if (a->user) {
                fputs(", of ", f);
                put_text(f, a->user, failed);
        } else if (a->uid != (uid_t) -1)
                fprintf(f, ", of uid %u", (unsigned) a->uid);
        fputc('\n', f);
}

static void put_body(FILE *f, const Alert *a, bool *failed) {
        if (a->kind == ALERT_TEST)
                fputs("Somebody asked for it with 'mountwatch alert test'. Nothing has happened.\n",
                      f);
        if (a->kind == ALERT_LOSS && a->reason)
                put_fact(f, "why", loss_reason_to_text(a->reason), failed);
        put_paths(f, a, failed);
        put_counts(f, a);
        for (size_t i = 0; i < a->n_chain; i++)
                put_process(f, &a->chain[i], i == 0 ? "by" : "  started by", failed);
        put_fact(f, "in", a->cwd, failed);
        put_fact(f, "test", a->test, failed);
        put_session(f, a, failed);
        if (a->kind == ALERT_VIOLATION || a->kind == ALERT_UPDATE)
                put_fact(f, "done about it", action_to_string(a->action), failed);
        if (a->kind == ALERT_SUMMARY && a->exit_status >= 0)
                fprintf(f, "exit status: %d\n", a->exit_status);
        if (!a->complete && a->kind != ALERT_TEST && a->kind != ALERT_LOSS)
                fputs("this may not be all: something was not seen\n", f);
        put_fact(f, "next", a->next, failed);
}

static char *print(const Alert *a, void (*put)(FILE *, const Alert *, bool *)) {
        char *text = NULL;
        bool failed = false;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        put(f, a, &failed);
        if (fclose(f) == 0 && !failed)
                return text;
        free(text);
        return NULL;
}

char *alert_title(const Alert *a) {
        return print(a, put_title);
}

char *alert_text(const Alert *a) {
        return print(a, put_body);
}
