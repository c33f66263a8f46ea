/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a report when a session has ended: files for machines, text for people, and the exit status. Prints its errors.
 */
#ifndef MOUNTWATCH_CLIENT_OUTCOME_H
#define MOUNTWATCH_CLIENT_OUTCOME_H

#include "client/atomic_file.h"
#include "client/report_model.h"
#include "client/report_text.h"
#include "client/verb.h"

typedef enum FailOn {
        FAIL_ON_VIOLATION,
        FAIL_ON_INCOMPLETE,
        FAIL_ON_NEVER,
        _FAIL_ON_MAX,
} FailOn;

/* -EINVAL for a word that is none of them. */
int fail_on_from_string(const char *s);
/* Whether a session that ended so fails. */
bool fail_on_is_met(FailOn fail_on, const SessionView *s);

/* What --fail-on says, or `otherwise`. Returns an exit status. */
int fail_on_parse(const Options *options, FailOn otherwise, FailOn *ret);

/* The files of --json FILE, --junit FILE and --html FILE: opened before anything happens, so that a wrong name is told in time. */
typedef struct ReportFiles {
        FILE *json, *junit;                 /* NULL: not asked for */
        const char *json_name, *junit_name; /* borrowed */
        AtomicFile html;
        const char *html_name; /* borrowed; NULL: not asked for; "-": standard output */
} ReportFiles;

/* These return an exit status. "-" is taken only where `stdout_is_free`: nobody else, such as a command, prints there. */
int report_files_open(const Options *options, bool stdout_is_free, ReportFiles *ret);
int report_files_write(ReportFiles *files, ReportModel *m);
void report_files_close(ReportFiles *files);

/* Prints for people on `f` (stdout or stderr) in one write. */
int outcome_print(FILE *f, const ReportModel *m, const ReportTextOptions *options);

#endif
