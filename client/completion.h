/* SPDX-License-Identifier: MIT */
/*
 * Completion for shells, made from the tables that --help is printed from: what an option or an argument completes to follows from the word
 * that stands for it there (FILE, POLICY, ID …). Pure, but for the FILE * that is written to.
 */
#ifndef MOUNTWATCH_CLIENT_COMPLETION_H
#define MOUNTWATCH_CLIENT_COMPLETION_H

#include "client/verb.h"

typedef enum CompletionKind {
        COMPLETION_NOTHING, /* only the person knows */
        COMPLETION_FILES,
        COMPLETION_COMMAND, /* a command line of its own */
        COMPLETION_WORDS,
        COMPLETION_VERBS,
        COMPLETION_LIST, /* what a command line prints, a candidate on each line */
} CompletionKind;

typedef struct Completion {
        CompletionKind kind;
        const char *
                words; /* COMPLETION_WORDS: separated by blanks; COMPLETION_LIST: the command line, which sh, zsh and fish understand */
        const char *list; /* COMPLETION_LIST: a name for it, of letters */
} Completion;

/* What `place`, a word such as FILE in the help of a verb, stands for. */
Completion completion_of(const Verb *verb, const char *place);

/* The places and words of the arguments of a verb, as its synopsis has them, each once: "ID", "last". NULL: no memory. */
char **completion_arguments(const Verb *verb);

/* All lists that there are; NULL behind the last. */
const Completion *completion_list(size_t i);

/* "session" of "session start" and its like, each once; NULL behind the last. */
const char *completion_family(const VerbTable *table, size_t i, size_t *ret_length);

int completion_write_bash(FILE *f, const VerbTable *table);
int completion_write_zsh(FILE *f, const VerbTable *table);
int completion_write_fish(FILE *f, const VerbTable *table);

#endif
