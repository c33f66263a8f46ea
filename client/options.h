/* SPDX-License-Identifier: MIT */
/*
 * The options of all verbs in one table: an option means the same wherever it is taken, and --help is printed from
 * what is parsed. A verb says with a mask which of them it takes.
 */
#ifndef MOUNTWATCH_CLIENT_OPTIONS_H
#define MOUNTWATCH_CLIENT_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/macro.h"

typedef enum OptionId {
        OPTION_LABEL,
        OPTION_POLICY,
        OPTION_PID,
        OPTION_WAIT,
        OPTION_FAIL_ON,
        OPTION_JSON,      /* flag: print JSON */
        OPTION_JSON_FILE, /* the same name with a file */
        OPTION_JUNIT,
        OPTION_HTML,
        OPTION_NO_GUARD,
        OPTION_ALL_SESSIONS, /* --all of `session list` */
        OPTION_ALL_ROWS,     /* --all of `report` */
        OPTION_ALL_ITEMS,    /* --all of `quarantine purge` */
        OPTION_DRY_RUN,
        OPTION_FORCE,
        OPTION_WRITE,
        OPTION_YES,
        OPTION_CONFIG,
        OPTION_FOLLOW,
        OPTION_SESSION,
        OPTION_WATCH,
        OPTION_SINCE,
        OPTION_PROMETHEUS,
        OPTION_OUTPUT,
        OPTION_SOCKET,
        OPTION_HELP,
        OPTION_VERSION,
        _OPTION_MAX,
} OptionId;

#define OPTION_BIT(id) (1U << (id))
/* What every verb takes. */
#define OPTIONS_COMMON (OPTION_BIT(OPTION_SOCKET) | OPTION_BIT(OPTION_HELP))

typedef struct OptionInfo {
        char letter; /* 0: none */
        const char *name;
        const char *argument; /* what stands for it in the help; NULL: a flag */
        const char *help;
} OptionInfo;

const OptionInfo *option_info(OptionId id);

typedef struct Options {
        const char *value[_OPTION_MAX]; /* NULL: not given; "" for a flag. Borrowed from argv. */
        char **arguments;               /* what is left; borrowed from argv, NULL-terminated */
        int n_arguments;
} Options;

static inline bool options_has(const Options *o, OptionId id) {
        return o->value[id] != NULL;
}

/* Parses argv[1…]. `ends_at_argument`: what follows the first argument belongs to somebody else (the command of `run`);
 * otherwise options and arguments may be mixed, and argv is put in order. Values given already in *o stay unless
 * they are given again. -EINVAL and a sentence (the caller's to free) for a usage error. */
int options_parse(Options *o, unsigned taken, bool ends_at_argument, int argc, char **argv,
                  char **ret_problem);

void options_print_help(FILE *f, unsigned taken);

#endif
