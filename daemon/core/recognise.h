/* SPDX-License-Identifier: MIT */
/* Recognises a test runner by its command line, for the [AutoSession] rules. */
#ifndef MOUNTWATCH_CORE_RECOGNISE_H
#define MOUNTWATCH_CORE_RECOGNISE_H

#include <stdbool.h>

/*
 * A pattern without a blank is compared with the program's path and its last component; for an interpreter (python3, node, sh …)
 * also with the script it was given. * and ? stop at '/', ** does not, as in Allow=.
 *
 * A pattern with blanks is compared with the whole command line, arguments joined by a blank and the directory of the first
 * one left out; here * takes everything.
 *
 * Returns the pattern that matches, or NULL. `exe` and `cmdline` may be NULL.
 */
const char *recognise_command(char *const *patterns, const char *exe, char *const *cmdline);

#endif
