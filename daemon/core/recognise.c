/* SPDX-License-Identifier: MIT */
#include "daemon/core/recognise.h"
#include "common/macro.h"
#include "daemon/core/policy.h"

#include <fnmatch.h>

#define LINE_MAX_BYTES 4096 /* of a command line that is looked at */

static const char *base(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

static bool is_interpreter(const char *program) {
        static const char *const names[] = {"python*", "pypy*", "node", "nodejs", "ruby*",
                                            "perl*",   "bash",  "sh",   "dash",   "zsh"};

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (fnmatch(names[i], base(program), 0) == 0)
                        return true;
        return false;
}

static bool matches_program(const char *pattern, const char *program) {
        return program && program[0] &&
                (glob_match(pattern, program) || glob_match(pattern, base(program)));
}

/* The first argument that is no option; an option such as -c or -m means that there is no script. */
static const char *script_of(char *const *cmdline) {
        for (size_t i = 1; cmdline[i]; i++) {
                if (str_equal(cmdline[i], "-c") || str_equal(cmdline[i], "-m"))
                        return NULL;
                if (cmdline[i][0] != '-')
                        return cmdline[i];
        }
        return NULL;
}

static void join(char *const *cmdline, char line[static LINE_MAX_BYTES]) {
        size_t n = 0;

        for (size_t i = 0; cmdline[i] && n < LINE_MAX_BYTES - 1; i++) {
                const char *word = i == 0 ? base(cmdline[i]) : cmdline[i];

                if (i > 0)
                        line[n++] = ' ';
                for (; *word && n < LINE_MAX_BYTES - 1; word++)
                        line[n++] = *word;
        }
        line[n] = 0;
}

const char *recognise_command(char *const *patterns, const char *exe, char *const *cmdline) {
        const char *first = cmdline ? cmdline[0] : NULL, *script = NULL;
        char line[LINE_MAX_BYTES] = "";

        if (first) {
                join(cmdline, line);
                if (is_interpreter(first))
                        script = script_of(cmdline);
        }
        for (size_t i = 0; patterns[i]; i++) {
                const char *p = patterns[i];

                if (strchr(p, ' ') ? line[0] && fnmatch(p, line, 0) == 0
                                   : matches_program(p, exe) || matches_program(p, first) ||
                                    matches_program(p, script))
                        return p;
        }
        return NULL;
}
