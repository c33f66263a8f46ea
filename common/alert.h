/* SPDX-License-Identifier: MIT */
/*
 * An alert: what people are told, in the journal, on the desktop, through webhooks and in the terminal. Daemon and client share
 * it. Plain struct, no JSON here (alert_json.h), no system calls.
 *
 * Paths are bytes; texts for people are made with path_to_text().
 */
#ifndef MOUNTWATCH_COMMON_ALERT_H
#define MOUNTWATCH_COMMON_ALERT_H

#include "common/operation.h"

#define ALERT_PATHS_MAX 10 /* further ones are only counted */
#define ALERT_CHAIN_MAX 8  /* processes: the author, then its parents upwards */

typedef enum AlertKind {
        ALERT_VIOLATION, /* the first of a session on a watch */
        ALERT_UPDATE,    /* more of them, some time later */
        ALERT_LOSS,      /* something was not, or may not have been, seen */
        ALERT_SUMMARY,   /* the session has ended */
        ALERT_TEST,      /* asked for by `mountwatch alert test` */
        _ALERT_KIND_MAX,
} AlertKind;

/* Ordered: the gravest thing that was done, or was tried and refused. */
typedef enum Severity {
        SEVERITY_INFO,   /* nothing was changed */
        SEVERITY_OPENED, /* opened for writing, mode or owner or times set: no content lost */
        SEVERITY_CREATED,
        SEVERITY_MODIFIED,
        SEVERITY_REMOVED, /* removed, or replaced by a rename */
        _SEVERITY_MAX,
} Severity;

typedef struct AlertProcess {
        pid_t pid;
        char *exe;      /* NULL: unknown */
        char **cmdline; /* NULL-terminated, or NULL: unknown */
} AlertProcess;

typedef struct Alert {
        char id[32]; /* the same wherever and however often it is sent; no '.' in it */
        AlertKind kind;
        Severity severity;
        usec_t at;

        char *session; /* NULL: by a process outside every session, or of no session */
        char *label;   /* NULL: none */
        uid_t uid;     /* whose session; (uid_t) -1: unknown */
        char *user;    /* name of uid, or NULL */
        char *watch;   /* NULL: of all watches (summary, some losses) */

        uint64_t
                total; /* violations of the session on the watch up to now; summary: on all watches */
        uint64_t fresh; /* of them since the alert before */
        uint64_t count
                [_OP_MAX]; /* total by kind of operation; a refused attempt counts as what it tried */
        uint64_t refused;   /* of the total: did not happen */
        uint64_t preserved; /* of the total: what was there before is kept for undo */
        char **paths; /* some of the fresh ones, gravest first, at most ALERT_PATHS_MAX; NULL-terminated or NULL */

        AlertProcess *chain; /* of the gravest fresh one */
        size_t n_chain;
        char *cwd, *test;
        Action action; /* the strongest thing that was done about the fresh ones */

        char *reason;    /* of a loss: its word */
        Verdict verdict; /* of a summary */
        int exit_status; /* of a summary: as a shell shows it; -1: not known */
        bool complete;   /* nothing is known to be missing so far */

        char *next; /* the command to type now, or NULL */
} Alert;

const char *alert_kind_to_string(AlertKind kind);
int alert_kind_from_string(const char *s); /* -EINVAL */
const char *severity_to_string(Severity severity);
int severity_from_string(const char *s);

/* Releases what is inside, not the struct. */
void alert_done(Alert *a);

/* One line without a newline, for a title: "pytest removed 3 files on nas". And what follows it: evidence, one fact on each line.
 * The caller's to free; NULL for lack of memory. Bytes that are not UTF-8, and control characters, are \xNN. */
char *alert_title(const Alert *a);
char *alert_text(const Alert *a);

#endif
