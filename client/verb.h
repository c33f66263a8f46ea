/* SPDX-License-Identifier: MIT */
/*
 * A verb: what main.c dispatches to, and what all verbs do in the same way: connect, call, complain, choose the exit status.
 * These functions print their errors on stderr; whoever calls them says nothing more.
 */
#ifndef MOUNTWATCH_CLIENT_VERB_H
#define MOUNTWATCH_CLIENT_VERB_H

#include "client/connection.h"
#include "client/options.h"

enum {
        STATUS_DONE = 0,
        STATUS_NO = 1, /* not found, refused */
        STATUS_USAGE = 2,
        STATUS_VIOLATION = 120,
        STATUS_NO_DAEMON = 125, /* and: `run` did not start the command */
        STATUS_CANNOT_EXECUTE = 126,
        STATUS_NOT_FOUND = 127,
        STATUS_SIGNAL = 128, /* and the number of the signal */
};

#define SOCKET_DEFAULT "/run/mountwatch/io.mountwatch"

typedef struct Context Context;

typedef struct Verb {
        const char *name; /* one or two words */
        const char *synopsis;
        const char *summary;
        const char *details;              /* more for --help, or NULL */
        unsigned options;                 /* mask; OPTIONS_COMMON comes on top */
        int min_arguments, max_arguments; /* max -1: any number */
        bool ends_at_argument;            /* what follows is a command */
        int (*run)(const Context *context, const Options *options);
} Verb;

typedef struct VerbTable {
        const Verb *verbs;
        size_t n;
} VerbTable;

struct Context {
        const char *program; /* argv[0] */
        const char *socket;
        const VerbTable *verbs; /* all that there are */
};

int verb_run(const Context *context, const Options *options);
int verb_session_start(const Context *context, const Options *options);
int verb_session_stop(const Context *context, const Options *options);
int verb_session_list(const Context *context, const Options *options);
int verb_session_mark(const Context *context, const Options *options);
int verb_session_kill(const Context *context, const Options *options);
int verb_session_freeze(const Context *context, const Options *options);
int verb_session_thaw(const Context *context, const Options *options);
int verb_report(const Context *context, const Options *options);
int verb_events(const Context *context, const Options *options);
int verb_top(const Context *context, const Options *options);
int verb_blame(const Context *context, const Options *options);
int verb_undo(const Context *context, const Options *options);
int verb_decide(const Context *context, const Options *options);
int verb_agent(const Context *context, const Options *options);
int verb_quarantine_list(const Context *context, const Options *options);
int verb_quarantine_restore(const Context *context, const Options *options);
int verb_quarantine_purge(const Context *context, const Options *options);
int verb_status(const Context *context, const Options *options);
int verb_alert_test(const Context *context, const Options *options);
int verb_metrics(const Context *context, const Options *options);
int verb_doctor(const Context *context, const Options *options);
int verb_watch_list(const Context *context, const Options *options);
int verb_config_check(const Context *context, const Options *options);
int verb_init(const Context *context, const Options *options);
int verb_completion(const Context *context, const Options *options);
int verb_reload(const Context *context, const Options *options);

/* "mountwatch: " and the message and a newline, on stderr, in one write. */
void complain(const char *format, ...) _printf_(1, 2);
/* The same, for lack of memory; returns STATUS_NO. */
int complain_memory(void);

/* These return an exit status; STATUS_DONE means that *ret is set. */
int verb_connect(const Context *context, Connection **ret);
/* Says what went wrong with a call: `r` is what connection_call() or connection_next() returned. */
int verb_failed(const Context *context, const Connection *c, int r);
/* The sentence alone for a CONNECTION_E_REFUSED. NULL: no memory. */
char *verb_refusal(const Connection *c);
/* Connects, calls, closes. Consumes `parameters`; `reply` may be NULL when nothing in it matters. */
int verb_call(const Context *context, const char *method, json_object *parameters,
              json_object **reply);

/* The member `warnings` of a reply, a line each on stderr. Returns an exit status. */
int verb_print_warnings(json_object *reply);
/* Whether --policy, when given, is a word that there is. */
int verb_check_policy(const Options *options);

/* Prints a value on stdout for --json, returns an exit status (a full disk is STATUS_NO). Consumes `o`. */
int verb_print_json(json_object *o);
/* Flushes stdout and says when that failed. Every verb that prints ends with it. */
int verb_flush(void);

#endif
