/* SPDX-License-Identifier: MIT */
/*
 * The report for people: the verdict in a sentence, what changed by watch and directory, who did it, what others changed meanwhile,
 * what was not seen, and what to type next. Whatever a file name or a command line contains, it cannot speak to the terminal.
 */
#ifndef MOUNTWATCH_CLIENT_REPORT_TEXT_H
#define MOUNTWATCH_CLIENT_REPORT_TEXT_H

#include "client/report_model.h"
#include "client/terminal.h"

typedef struct ReportTextOptions {
        const char *
                prefix; /* before the verdict: "mountwatch: " beside other programs' output, else "" */
        bool all;       /* every row, nothing folded or shortened */
        bool brief; /* after a run: no more than the verdict when there is nothing to worry about */
} ReportTextOptions;

/* Errors of the file are found by the caller with ferror(). -ENOMEM. */
int report_text_write(const Terminal *t, const ReportModel *m, const ReportTextOptions *options);

/* The verdict alone: "DIRTY - the command succeeded, but it changed 17 paths …" without colour. NULL: no memory. */
char *report_verdict_text(const ReportModel *m);

#endif
