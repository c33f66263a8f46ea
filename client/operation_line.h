/* SPDX-License-Identifier: MIT */
/* One operation in one line, for people: the lines of `events` and `blame`. */
#ifndef MOUNTWATCH_CLIENT_OPERATION_LINE_H
#define MOUNTWATCH_CLIENT_OPERATION_LINE_H

#include "client/process_source.h"
#include "client/terminal.h"

/* "2026-11-30 18:35:54  nas  deleted  /mnt/nas/x  by rm -rf x (pid 42)  session 0123…  test a". -ENOMEM. */
int operation_line_print(const Terminal *t, const Operation *op, ProcessSource processes);

/* What was done about it, for people: "refused", "held", "frozen", "killed", or "". */
const char *operation_outcome(const Operation *op);

#endif
