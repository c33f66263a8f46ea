/* SPDX-License-Identifier: MIT */
/* Who did it: the processes behind the rows of a report, with how much each of them did. */
#ifndef MOUNTWATCH_CLIENT_REPORT_AUTHORS_H
#define MOUNTWATCH_CLIENT_REPORT_AUTHORS_H

#include "client/process_source.h"
#include "client/report_groups.h"

#define AUTHOR_TESTS_MAX 3

typedef struct Author {
        int64_t process_id; /* of the gravest of them */
        size_t n_processes;
        size_t n_rows, n_violations, n_attempts;
        Weight worst;
        usec_t first;
        const char *tests[AUTHOR_TESTS_MAX]; /* borrowed; the first few different ones */
        size_t n_tests;                      /* all different ones that follow one another */
        const char *last_test;
} Author;

typedef struct Authors {
        Author *items; /* the gravest first, then by amount */
        size_t n;
} Authors;

int authors_new(const Report *report, bool violations_only, Authors *ret);
/* One for all processes that run the same program for the same parent: a loop of `rm` is one author. */
void authors_fold(Authors *a, ProcessSource processes);
void authors_done(Authors *a);

#endif
