/* SPDX-License-Identifier: MIT */
#include "daemon/sinks/journal.h"
#include "common/path_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#define FIELDS_MAX 64

static const char *const message_ids[_ALERT_KIND_MAX] = {
        [ALERT_VIOLATION] = JOURNAL_ID_VIOLATION, [ALERT_UPDATE] = JOURNAL_ID_UPDATE,
        [ALERT_LOSS] = JOURNAL_ID_LOSS,           [ALERT_SUMMARY] = JOURNAL_ID_SUMMARY,
        [ALERT_TEST] = JOURNAL_ID_TEST,
};

/* ---- the line ---- */

static void put_text(FILE *f, const char *s) {
        _cleanup_free_ char *text = path_to_text(s);

        fputs(text ? text : "?", f);
}

static const char *first_operation(const Alert *a) {
        for (OpType op = 0; op < _OP_MAX; op++)
                if (a->count[op] > 0)
                        return op_type_to_string(op);
        return "change";
}

static void put_subject(FILE *f, const Alert *a) {
        if (!a->session)
                return;
        fputs("session ", f);
        put_text(f, a->session);
        if (a->label) {
                fputc(' ', f);
                put_text(f, a->label);
        }
}

static void put_evidence(FILE *f, const Alert *a) {
        const AlertProcess *p = a->n_chain > 0 ? &a->chain[0] : NULL;

        if (a->paths && a->paths[0]) {
                fputs(a->kind == ALERT_VIOLATION ? " '" : ", '", f);
                put_text(f, a->paths[0]);
                fputc('\'', f);
        }
        fputs(" by ", f);
        put_text(f, p && p->exe ? p->exe : "an unknown program");
        if (p)
                fprintf(f, " (pid %d)", (int) p->pid);
}

static void put_violation(FILE *f, const Alert *a) {
        const bool tried = a->refused > 0 && a->refused == a->total;

        put_subject(f, a);
        if (!a->session)
                fputs("change outside every session on watch '", f);
        else
                fputs(tried ? " tries to change watch '" : " changes watch '", f);
        put_text(f, a->watch ? a->watch : "?");
        if (a->kind == ALERT_UPDATE)
                fprintf(f, "': %" PRIu64 " changes, %" PRIu64 " of them new", a->total, a->fresh);
        else
                fprintf(f, "': %s of", first_operation(a));
        put_evidence(f, a);
}

static void put_summary(FILE *f, const Alert *a) {
        put_subject(f, a);
        fprintf(f, " ended %s: %" PRIu64 " violations", verdict_to_string(a->verdict), a->total);
        if (a->refused > 0)
                fprintf(f, ", %" PRIu64 " of them did not happen", a->refused);
}

char *journal_line(const Alert *a) {
        char *text = NULL;
        size_t size;
        FILE *f;

        if (a->kind == ALERT_LOSS || a->kind == ALERT_TEST)
                return alert_title(a);
        f = open_memstream(&text, &size);
        if (!f)
                return NULL;
        if (a->kind == ALERT_SUMMARY)
                put_summary(f, a);
        else
                put_violation(f, a);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}

int journal_priority(const Alert *a) {
        switch (a->kind) {
        case ALERT_LOSS:
                return LOG_WARNING;
        case ALERT_SUMMARY:
                return a->verdict == VERDICT_CLEAN ? LOG_INFO : LOG_NOTICE;
        case ALERT_TEST:
                return LOG_NOTICE;
        case ALERT_VIOLATION:
        case ALERT_UPDATE:
        case _ALERT_KIND_MAX:
                break;
        }
        switch (a->severity) {
        case SEVERITY_REMOVED:
                return LOG_ERR;
        case SEVERITY_MODIFIED:
                return LOG_WARNING;
        case SEVERITY_CREATED:
        case SEVERITY_OPENED:
                return LOG_NOTICE;
        case SEVERITY_INFO:
        case _SEVERITY_MAX:
                break;
        }
        return LOG_INFO;
}

/* ---- the entry ---- */

static _printf_(2, 3) int add(JournalEntry *e, const char *format, ...) {
        char *text;
        va_list ap;
        int n;

        if (e->n == FIELDS_MAX)
                return -E2BIG;
        va_start(ap, format);
        n = vasprintf(&text, format, ap);
        va_end(ap);
        if (n < 0)
                return -ENOMEM;
        e->fields[e->n++] = (struct iovec){text, (size_t) n};
        return 0;
}

/* NULL adds nothing. Bytes are passed as they are: journald keeps any. */
static int add_string(JournalEntry *e, const char *name, const char *value) {
        return value ? add(e, "%s=%s", name, value) : 0;
}

static int add_count(JournalEntry *e, const char *name, uint64_t value) {
        return add(e, "%s=%" PRIu64, name, value);
}

static int add_head(JournalEntry *e, const Alert *a) {
        _cleanup_free_ char *line = journal_line(a);
        int r;

        if (!line)
                return -ENOMEM;
        r = add_string(e, "MESSAGE", line);
        r = r < 0 ? r : add_string(e, "MESSAGE_ID", message_ids[a->kind]);
        r = r < 0 ? r : add(e, "PRIORITY=%d", journal_priority(a));
        r = r < 0 ? r : add_string(e, "SYSLOG_IDENTIFIER", "mountwatch");
        r = r < 0 ? r : add_string(e, "MOUNTWATCH_ALERT_ID", a->id);
        r = r < 0 ? r : add_string(e, "MOUNTWATCH_KIND", alert_kind_to_string(a->kind));
        return r < 0 ? r : add_string(e, "MOUNTWATCH_SEVERITY", severity_to_string(a->severity));
}

static int add_origin(JournalEntry *e, const Alert *a) {
        int r = add_string(e, "MOUNTWATCH_SESSION", a->session);

        r = r < 0 ? r : add_string(e, "MOUNTWATCH_LABEL", a->label);
        if (r >= 0 && a->uid != (uid_t) -1)
                r = add(e, "MOUNTWATCH_UID=%u", (unsigned) a->uid);
        r = r < 0 ? r : add_string(e, "MOUNTWATCH_USER", a->user);
        r = r < 0 ? r : add_string(e, "MOUNTWATCH_WATCH", a->watch);
        r = r < 0 ? r : add_string(e, "MOUNTWATCH_TEST", a->test);
        r = r < 0 ? r : add_string(e, "MOUNTWATCH_REASON", a->reason);
        return r < 0 ? r : add_string(e, "MOUNTWATCH_NEXT", a->next);
}

static int add_counts(JournalEntry *e, const Alert *a) {
        int r = 0;

        if (a->kind == ALERT_LOSS || a->kind == ALERT_TEST)
                return 0;
        for (OpType op = 0; r >= 0 && op < _OP_MAX; op++)
                if (a->count[op] > 0)
                        r = add_string(e, "MOUNTWATCH_OPERATION", op_type_to_string(op));
        r = r < 0 ? r : add_count(e, "MOUNTWATCH_TOTAL", a->total);
        r = r < 0 ? r : add_count(e, "MOUNTWATCH_FRESH", a->fresh);
        r = r < 0 ? r : add_count(e, "MOUNTWATCH_REFUSED", a->refused);
        r = r < 0 ? r : add_count(e, "MOUNTWATCH_PRESERVED", a->preserved);
        return r < 0 ? r : add_string(e, "MOUNTWATCH_ACTION", action_to_string(a->action));
}

static char *join(char *const *cmdline) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        for (size_t i = 0; cmdline[i]; i++)
                fprintf(f, "%s%s", i > 0 ? " " : "", cmdline[i]);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}

static int add_author(JournalEntry *e, const Alert *a) {
        const AlertProcess *p = a->chain;
        _cleanup_free_ char *command = NULL;
        int r;

        if (a->n_chain == 0)
                return 0;
        r = add(e, "MOUNTWATCH_PID=%d", (int) p->pid);
        r = r < 0 ? r : add_string(e, "MOUNTWATCH_EXE", p->exe);
        r = r < 0 ? r : add_string(e, "MOUNTWATCH_CWD", a->cwd);
        if (r < 0 || !p->cmdline || !p->cmdline[0])
                return r;
        command = join(p->cmdline);
        return command ? add_string(e, "MOUNTWATCH_CMDLINE", command) : -ENOMEM;
}

static int add_paths(JournalEntry *e, const Alert *a) {
        int r = 0;

        for (size_t i = 0; r >= 0 && a->paths && a->paths[i]; i++)
                r = add_string(e, "MOUNTWATCH_PATH", a->paths[i]);
        return r;
}

static int add_end(JournalEntry *e, const Alert *a) {
        int r;

        if (a->kind != ALERT_SUMMARY)
                return 0;
        r = add_string(e, "MOUNTWATCH_VERDICT", verdict_to_string(a->verdict));
        return r < 0 || a->exit_status < 0 ? r
                                           : add(e, "MOUNTWATCH_EXIT_STATUS=%d", a->exit_status);
}

int journal_entry_make(const Alert *a, JournalEntry *ret) {
        JournalEntry e = {.fields = calloc(FIELDS_MAX, sizeof *e.fields)};
        int r = e.fields ? 0 : -ENOMEM;

        r = r < 0 ? r : add_head(&e, a);
        r = r < 0 ? r : add_origin(&e, a);
        r = r < 0 ? r : add_counts(&e, a);
        r = r < 0 ? r : add_author(&e, a);
        r = r < 0 ? r : add_end(&e, a);
        r = r < 0 ? r : add_paths(&e, a);
        if (r < 0) {
                journal_entry_done(&e);
                return r;
        }
        *ret = e;
        return 0;
}

void journal_entry_done(JournalEntry *e) {
        for (size_t i = 0; i < e->n; i++)
                free(e->fields[i].iov_base);
        free(e->fields);
        *e = (JournalEntry){};
}

int journal_send(const Alert *a) {
        _cleanup_(journal_entry_done) JournalEntry e = {};
        int r;

        r = journal_entry_make(a, &e);
        return r < 0 ? r : sd_journal_sendv(e.fields, (int) e.n);
}
