/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <strings.h>

#include "common/strv.h"
#include "daemon/config_keys.h"
#include "daemon/config_value.h"

static const ConfigKey daemon_keys[] = {
        {"Group", offsetof(Config, group), config_parse_group, .fallback = "mountwatch"},
        {"RetainDays", offsetof(Config, retain_days), config_parse_days, .fallback = "90"},
        {"GuardEngine", offsetof(Config, guard_engine), config_parse_guard_engine,
         .fallback = "auto"},
        {"HoldDeadline", offsetof(Config, hold_deadline), config_parse_seconds, .fallback = "60"},
        {"AlertInterval", offsetof(Config, alert_interval), config_parse_seconds, .fallback = "30"},
        {"PreserveTotal", offsetof(Config, preserve_total), config_parse_size, .fallback = "10G"},
};

static const ConfigKey watch_keys[] = {
        {"Path", offsetof(WatchSpec, path), config_parse_path, .required = true},
        {"Policy", offsetof(WatchSpec, policy), config_parse_policy, .fallback = "alert"},
        {"Allow", offsetof(WatchSpec, allow), config_parse_globs, .list = true},
        {"Ignore", offsetof(WatchSpec, ignore), config_parse_globs, .list = true},
        {"Preserve", offsetof(WatchSpec, preserve), config_parse_bool, .fallback = "no"},
        {"PreserveMax", offsetof(WatchSpec, preserve_max), config_parse_size, .fallback = "256M"},
        {"SnapshotMax", offsetof(WatchSpec, snapshot_max), config_parse_size, .fallback = "256M"},
        {"Untagged", offsetof(WatchSpec, untagged), config_parse_untagged, .fallback = "ignore"},
        {"Writers", offsetof(WatchSpec, writers), config_parse_programs, .list = true},
        {"KillScope", offsetof(WatchSpec, kill_scope), config_parse_kill_scope,
         .fallback = "process"},
};

static const ConfigKey auto_session_keys[] = {
        {"Match", offsetof(AutoSession, match), config_parse_words, .list = true, .required = true},
};

static const ConfigKey webhook_keys[] = {
        {"Url", offsetof(Webhook, url), config_parse_url},
        {"UrlFile", offsetof(Webhook, url_file), config_parse_path},
        {"Format", offsetof(Webhook, format), config_parse_format, .fallback = "json"},
        {"SecretFile", offsetof(Webhook, secret_file), config_parse_path},
        {"CaFile", offsetof(Webhook, ca_file), config_parse_path},
        {"ClientCertFile", offsetof(Webhook, client_cert_file), config_parse_path},
        {"ClientKeyFile", offsetof(Webhook, client_key_file), config_parse_path},
        {"FollowRedirects", offsetof(Webhook, follow_redirects), config_parse_bool,
         .fallback = "no"},
        {"MinSeverity", offsetof(Webhook, min_severity), config_parse_severity, .fallback = "info"},
        {"RateLimit", offsetof(Webhook, rate_limit), config_parse_rate, .fallback = "30"},
        {"TimeoutSec", offsetof(Webhook, timeout), config_parse_seconds, .fallback = "20"},
        {"RetrySec", offsetof(Webhook, retry), config_parse_seconds, .fallback = "5"},
};

static const struct {
        const char *name;
        const ConfigKey *keys;
        size_t n;
} kinds[_CONFIG_KIND_MAX] = {
        [CONFIG_DAEMON] = {"Daemon", daemon_keys, ELEMENTSOF(daemon_keys)},
        [CONFIG_WATCH] = {"Watch", watch_keys, ELEMENTSOF(watch_keys)},
        [CONFIG_AUTO_SESSION] = {"AutoSession", auto_session_keys, ELEMENTSOF(auto_session_keys)},
        [CONFIG_WEBHOOK] = {"Webhook", webhook_keys, ELEMENTSOF(webhook_keys)},
};

_Static_assert(ELEMENTSOF(watch_keys) <= CONFIG_KEYS_MAX &&
                       ELEMENTSOF(webhook_keys) <= CONFIG_KEYS_MAX,
               "the places of assignments have no room");

const char *config_kind_name(ConfigKind kind) {
        return kinds[kind].name;
}

int config_kind_find(const char *name) {
        for (int i = 0; i < _CONFIG_KIND_MAX; i++)
                if (str_equal(kinds[i].name, name))
                        return i;
        return -EINVAL;
}

const ConfigKey *config_keys(ConfigKind kind, size_t *ret_n) {
        *ret_n = kinds[kind].n;
        return kinds[kind].keys;
}

#define SUGGEST_LENGTH_MAX 32
#define SUGGEST_DISTANCE_MAX 3

/* How many letters must be put in, taken out or exchanged (Levenshtein), letter case aside. */
static size_t edit_distance(const char *a, const char *b) {
        size_t row[SUGGEST_LENGTH_MAX + 1], n = strlen(b);

        if (strlen(a) > SUGGEST_LENGTH_MAX || n > SUGGEST_LENGTH_MAX)
                return SIZE_MAX;
        for (size_t j = 0; j <= n; j++)
                row[j] = j;
        for (size_t i = 1; a[i - 1]; i++) {
                size_t diagonal = row[0];

                row[0] = i;
                for (size_t j = 1; j <= n; j++) {
                        size_t cost = diagonal +
                                (tolower((unsigned char) a[i - 1]) !=
                                 tolower((unsigned char) b[j - 1]));

                        diagonal = row[j];
                        row[j] = MIN(cost, MIN(row[j], row[j - 1]) + 1);
                }
        }
        return row[n];
}

/* Keeps the nearer one; a word of which nothing would be left is not near. */
static void consider(const char *name, const char *candidate, size_t *best, const char **ret) {
        size_t d = edit_distance(name, candidate);

        if (d <= SUGGEST_DISTANCE_MAX && d < strlen(candidate) && d < *best) {
                *best = d;
                *ret = candidate;
        }
}

const char *config_key_suggest(ConfigKind kind, const char *name) {
        const char *found = NULL;
        size_t best = SIZE_MAX;

        for (size_t i = 0; i < kinds[kind].n; i++)
                consider(name, kinds[kind].keys[i].name, &best, &found);
        return found;
}

const char *config_kind_suggest(const char *name) {
        const char *found = NULL;
        size_t best = SIZE_MAX;

        for (size_t i = 0; i < _CONFIG_KIND_MAX; i++)
                consider(name, kinds[i].name, &best, &found);
        return found;
}

int config_key_reset(const ConfigKey *key, void *object) {
        void *field = (char *) object + key->offset;
        _cleanup_free_ char *reason = NULL;
        char **empty;

        if (key->list) {
                empty = calloc(1, sizeof *empty);
                if (!empty)
                        return -ENOMEM;
                (void) strv_free(*(char ***) field);
                *(char ***) field = empty;
                return 0;
        }
        if (key->fallback)
                return key->parse(key->fallback, field, &reason);
        free(*(char **) field);
        *(char **) field = NULL;
        return 0;
}
