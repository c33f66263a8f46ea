/* SPDX-License-Identifier: MIT */
/* A process, and the chain that leads to it, in one line for people. All allocated; NULL: no memory. */
#ifndef MOUNTWATCH_CLIENT_CHAIN_TEXT_H
#define MOUNTWATCH_CLIENT_CHAIN_TEXT_H

#include "client/process_source.h"
#include "client/terminal.h"

/* The command line, or where there is none the program, or "?". */
char *image_to_text(char *const *cmdline, const char *exe);

/* The same, no wider than `columns` (0: no limit); "unknown process" for NULL. */
char *process_to_text(const Terminal *t, const ProcessInfo *p, unsigned columns);

/* "pytest tests/ › sh -c … › rm -rf x": from the session's root (root_pid 0: from as far up as is known) to process `id`,
 * each no wider than `columns`. */
char *chain_to_text(const Terminal *t, ProcessSource processes, int64_t id, pid_t root_pid,
                    unsigned columns);

#endif
