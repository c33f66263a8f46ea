/* SPDX-License-Identifier: MIT */
/* mountwatch.conf and its drop-ins: parsed whole, then used; a broken file changes nothing. */
#ifndef MOUNTWATCH_CONFIG_H
#define MOUNTWATCH_CONFIG_H

#include "daemon/core/watch.h"
#include "daemon/sinks/webhook_body.h"

#define CONFIG_WATCHES_MAX 64
#define CONFIG_WEBHOOKS_MAX 32

typedef struct AutoSession {
        char *name;
        char **match; /* patterns, NULL-terminated */
} AutoSession;

typedef struct Webhook {
        char *name;
        char *url,
                *url_file; /* of a loaded configuration url is set, also when it comes from the file */
        WebhookFormat format;
        char *secret_file, *ca_file, *client_cert_file, *client_key_file;
        bool follow_redirects;
        Severity min_severity;
        unsigned rate_limit; /* messages a minute */
        usec_t timeout;
        usec_t retry; /* the first pause */
        char *secret; /* what was in secret_file; NULL: none. Not for logs */
} Webhook;

/* Who refuses: the kernel itself (BPF-LSM) in sessions without a guard, the seccomp guard in those of mountwatch run. */
typedef enum GuardEngine {
        GUARD_ENGINE_AUTO, /* both, where they are to be had */
        GUARD_ENGINE_BPF, /* the kernel, in every session; the seccomp guard only where the kernel cannot */
        GUARD_ENGINE_SECCOMP, /* the seccomp guard alone */
        GUARD_ENGINE_NONE,
        _GUARD_ENGINE_MAX,
} GuardEngine;

typedef struct Config {
        char *group; /* NULL: "mountwatch" */
        unsigned retain_days;
        GuardEngine guard_engine;
        usec_t hold_deadline;    /* how long a call is held at most */
        usec_t alert_interval;   /* from the first alert to the first update */
        uint64_t preserve_total; /* bytes of preserved files, over all sessions */
        WatchSpec **watches;
        size_t n_watches;
        AutoSession *auto_sessions;
        size_t n_auto_sessions;
        Webhook *webhooks;
        size_t n_webhooks;
} Config;

/* One thing that is wrong, or odd, in a file. */
typedef struct ConfigProblem {
        char *file;
        unsigned line; /* 0: the file as a whole */
        char *reason;  /* "unknown key 'Pfad' in [Watch nas] (did you mean 'Path'?)" */
        bool fatal; /* false for unknown keys and sections: a warning at start, an error in `config check` */
} ConfigProblem;

typedef struct ConfigProblems {
        ConfigProblem *items;
        size_t n;
        bool fatal; /* any of them */
} ConfigProblems;

/* Reads `file` and, sorted, every *.conf of the folder `file`.d. 0 and a config when nothing fatal was found (warnings in `problems` all the
 * same), -EINVAL when something was, another errno when a file cannot be read. A missing `file` is -ENOENT. */
int config_load(const char *file, Config **ret, ConfigProblems *problems);
/* The same for text (tests, fuzzing); `name` stands for the file in problems. */
int config_parse(const char *name, const char *text, Config **ret, ConfigProblems *problems);
Config *config_free(Config *c);
DEFINE_CLEANUP(Config *, config_free)
void config_problems_done(ConfigProblems *p);

#endif
