/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/alert.h"
#include "common/strv.h"

static const char *const kind_table[_ALERT_KIND_MAX] = {
        [ALERT_VIOLATION] = "violation", [ALERT_UPDATE] = "update", [ALERT_LOSS] = "loss",
        [ALERT_SUMMARY] = "summary",     [ALERT_TEST] = "test",
};

static const char *const severity_table[_SEVERITY_MAX] = {
        [SEVERITY_INFO] = "info",       [SEVERITY_OPENED] = "opened",
        [SEVERITY_CREATED] = "created", [SEVERITY_MODIFIED] = "modified",
        [SEVERITY_REMOVED] = "removed",
};

static int value_of(const char *const *table, size_t n, const char *word) {
        for (size_t i = 0; word && i < n; i++)
                if (strcmp(table[i], word) == 0)
                        return (int) i;
        return -EINVAL;
}

const char *alert_kind_to_string(AlertKind kind) {
        return (size_t) kind < ELEMENTSOF(kind_table) ? kind_table[kind] : NULL;
}

int alert_kind_from_string(const char *s) {
        return value_of(kind_table, ELEMENTSOF(kind_table), s);
}

const char *severity_to_string(Severity severity) {
        return (size_t) severity < ELEMENTSOF(severity_table) ? severity_table[severity] : NULL;
}

int severity_from_string(const char *s) {
        return value_of(severity_table, ELEMENTSOF(severity_table), s);
}

void alert_done(Alert *a) {
        for (size_t i = 0; i < a->n_chain; i++) {
                free(a->chain[i].exe);
                (void) strv_free(a->chain[i].cmdline);
        }
        free(a->chain);
        free(a->session);
        free(a->label);
        free(a->user);
        free(a->watch);
        (void) strv_free(a->paths);
        free(a->cwd);
        free(a->test);
        free(a->reason);
        free(a->next);
        *a = (Alert){};
}
