/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/operation_json.h"
#include "daemon/config_problem.h"

/* Takes `reason`, on failure too. */
static int problem_add(ConfigProblems *p, const char *file, unsigned line, bool fatal,
                       char *reason) {
        _cleanup_free_ char *raw = reason, *text = reason ? path_to_text(reason) : NULL;
        _cleanup_free_ char *name = strdup(file);
        ConfigProblem *grown;

        grown = text && name ? realloc(p->items, (p->n + 1) * sizeof *grown) : NULL;
        if (!grown)
                return -ENOMEM;
        p->items = grown;
        p->items[p->n++] = (ConfigProblem){
                .file = TAKE_PTR(name), .line = line, .reason = TAKE_PTR(text), .fatal = fatal};
        return 0;
}

int config_problem_add(ConfigProblems *p, const char *file, unsigned line, bool fatal,
                       const char *format, ...) {
        char *reason = NULL;
        va_list ap;

        p->fatal = p->fatal || fatal;
        if (p->n > CONFIG_PROBLEMS_MAX)
                return 0;
        if (p->n == CONFIG_PROBLEMS_MAX)
                return problem_add(p, file, line, fatal, strdup("more problems follow"));
        va_start(ap, format);
        if (vasprintf(&reason, format, ap) < 0)
                reason = NULL;
        va_end(ap);
        return problem_add(p, file, line, fatal, reason);
}

void config_problems_done(ConfigProblems *p) {
        for (size_t i = 0; i < p->n; i++) {
                free(p->items[i].file);
                free(p->items[i].reason);
        }
        free(p->items);
        *p = (ConfigProblems){};
}
