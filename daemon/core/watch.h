/* SPDX-License-Identifier: MIT */
/* What the configuration says of one watch. Immutable once loaded; a reload makes new ones. */
#ifndef MOUNTWATCH_CORE_WATCH_H
#define MOUNTWATCH_CORE_WATCH_H

#include "common/operation.h"

typedef enum Untagged {
        UNTAGGED_IGNORE,
        UNTAGGED_RECORD,
        UNTAGGED_ALERT,
        _UNTAGGED_MAX,
} Untagged;

typedef enum KillScope {
        KILL_SCOPE_PROCESS,
        KILL_SCOPE_SESSION,
        _KILL_SCOPE_MAX,
} KillScope;

typedef struct WatchSpec {
        unsigned n_ref;
        char *name;
        char *path; /* as configured, absolute, without a trailing slash */
        Policy policy;
        char **allow;  /* globs relative to path, NULL-terminated; never NULL itself */
        char **ignore; /* the same */
        bool preserve;
        uint64_t preserve_max; /* bytes for each file */
        uint64_t
                snapshot_max; /* bytes of a watch that is kept whole for sessions without a guard */
        Untagged untagged;
        char **writers; /* executables whose untagged changes are fine */
        KillScope kill_scope;
} WatchSpec;

int watch_spec_new(const char *name, WatchSpec **ret);
WatchSpec *watch_spec_ref(WatchSpec *w);
WatchSpec *watch_spec_unref(WatchSpec *w);
DEFINE_CLEANUP(WatchSpec *, watch_spec_unref)

const char *untagged_to_string(Untagged u);
int untagged_from_string(const char *s);
const char *kill_scope_to_string(KillScope k);
int kill_scope_from_string(const char *s);

#endif
