/* SPDX-License-Identifier: MIT */
/* Collects what is wrong with a configuration. */
#ifndef MOUNTWATCH_CONFIG_PROBLEM_H
#define MOUNTWATCH_CONFIG_PROBLEM_H

#include "common/macro.h"
#include "daemon/config.h"

#define CONFIG_PROBLEMS_MAX 100 /* a file of random bytes has one in each line */

/* Bytes of the reason that are not printable UTF-8 become \xNN. Above CONFIG_PROBLEMS_MAX, one last problem says that there are
 * more. -ENOMEM; `fatal` of the whole is set all the same. */
int config_problem_add(ConfigProblems *p, const char *file, unsigned line, bool fatal,
                       const char *format, ...) _printf_(5, 6);

#endif
