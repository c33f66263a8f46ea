/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/strv.h"
#include "daemon/core/watch.h"

static const char *const untagged_table[_UNTAGGED_MAX] = {
        [UNTAGGED_IGNORE] = "ignore",
        [UNTAGGED_RECORD] = "record",
        [UNTAGGED_ALERT] = "alert",
};

static const char *const kill_scope_table[_KILL_SCOPE_MAX] = {
        [KILL_SCOPE_PROCESS] = "process",
        [KILL_SCOPE_SESSION] = "session",
};

int watch_spec_new(const char *name, WatchSpec **ret) {
        _cleanup_(watch_spec_unrefp) WatchSpec *w = calloc(1, sizeof *w);

        if (!w)
                return -ENOMEM;
        w->n_ref = 1;
        w->policy = POLICY_ALERT;
        w->name = strdup(name);
        w->allow = calloc(1, sizeof *w->allow);
        w->ignore = calloc(1, sizeof *w->ignore);
        w->writers = calloc(1, sizeof *w->writers);
        if (!w->name || !w->allow || !w->ignore || !w->writers)
                return -ENOMEM;
        *ret = TAKE_PTR(w);
        return 0;
}

WatchSpec *watch_spec_ref(WatchSpec *w) {
        w->n_ref++;
        return w;
}

WatchSpec *watch_spec_unref(WatchSpec *w) {
        if (!w || --w->n_ref > 0)
                return NULL;
        free(w->name);
        free(w->path);
        (void) strv_free(w->allow);
        (void) strv_free(w->ignore);
        (void) strv_free(w->writers);
        free(w);
        return NULL;
}

static int word_find(const char *const *words, size_t n, const char *s) {
        for (size_t i = 0; i < n; i++)
                if (str_equal(words[i], s))
                        return (int) i;
        return -EINVAL;
}

const char *untagged_to_string(Untagged u) {
        return untagged_table[u];
}

int untagged_from_string(const char *s) {
        return word_find(untagged_table, ELEMENTSOF(untagged_table), s);
}

const char *kill_scope_to_string(KillScope k) {
        return kill_scope_table[k];
}

int kill_scope_from_string(const char *s) {
        return word_find(kill_scope_table, ELEMENTSOF(kill_scope_table), s);
}
