/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>

#include "common/strv.h"
#include "daemon/config.h"
#include "daemon/config_value.h"
#include "daemon/core/url.h"
#include "daemon/core/watch.h"
#include "daemon/sinks/webhook_body.h"

#define RETAIN_DAYS_MAX 3650
#define HOLD_SECONDS_MAX 3600
#define RATE_MAX 6000
#define GROUP_NAME_MAX 32
#define Q "'%.200s'" /* a value in a message */

static int invalid(char **ret_reason, const char *format, ...) _printf_(2, 3);
static int invalid(char **ret_reason, const char *format, ...) {
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(ret_reason, format, ap);
        va_end(ap);
        if (r < 0) {
                *ret_reason = NULL;
                return -ENOMEM;
        }
        return -EINVAL;
}

/* Takes `s`. */
static int set_string(void *field, char *s) {
        if (!s)
                return -ENOMEM;
        free(*(char **) field);
        *(char **) field = s;
        return 0;
}

int config_parse_group(const char *value, void *field, char **ret_reason) {
        for (const char *p = value; *p; p++)
                if (!isascii(*p) || (!isalnum(*p) && !strchr("_.-", *p)) ||
                    (p == value && (isdigit(*p) || *p == '-')))
                        return invalid(ret_reason, Q " is not the name of a group", value);
        if (strlen(value) > GROUP_NAME_MAX)
                return invalid(ret_reason, Q " is too long for the name of a group", value);
        return set_string(field, strdup(value));
}

/* Writes the components of an absolute path, single slashes between them, "." left out. False: there is a "..". */
static bool normalise(const char *path, char *out) {
        while (*path) {
                size_t n;

                path += strspn(path, "/");
                n = strcspn(path, "/");
                if (n == 2 && strncmp(path, "..", 2) == 0)
                        return false;
                if (n > 0 && !(n == 1 && *path == '.')) {
                        *out++ = '/';
                        memcpy(out, path, n);
                        out += n;
                }
                path += n;
        }
        *out = 0;
        return true;
}

int config_parse_path(const char *value, void *field, char **ret_reason) {
        _cleanup_free_ char *path = NULL;

        if (*value != '/')
                return invalid(ret_reason, Q " is not an absolute path", value);
        if (strlen(value) >= PATH_MAX)
                return invalid(ret_reason, "the path is longer than %d bytes", PATH_MAX - 1);
        path = malloc(strlen(value) + 1);
        if (!path)
                return -ENOMEM;
        if (!normalise(value, path))
                return invalid(ret_reason, Q " has a '..' component", value);
        if (!*path)
                return invalid(ret_reason,
                               "the root folder as a whole cannot be used: name a "
                               "folder below it");
        return set_string(field, TAKE_PTR(path));
}

/* The address may be a secret: it is not quoted. */
int config_parse_url(const char *value, void *field, char **ret_reason) {
        if (!url_is_http(value))
                return invalid(ret_reason,
                               "is not an http or https address, in ASCII, without blanks");
        return set_string(field, strdup(value));
}

int config_parse_format(const char *value, void *field, char **ret_reason) {
        int k = webhook_format_from_string(value);

        if (k < 0)
                return invalid(ret_reason, Q " is none of json, slack, discord, ntfy", value);
        *(WebhookFormat *) field = (WebhookFormat) k;
        return 0;
}

int config_parse_severity(const char *value, void *field, char **ret_reason) {
        int k = severity_from_string(value);

        if (k < 0)
                return invalid(ret_reason, Q " is none of info, opened, created, modified, removed",
                               value);
        *(Severity *) field = (Severity) k;
        return 0;
}

/* ---- lists ---- */

/* Cuts the first word off: blanks end it unless they stand in double quotes; a backslash keeps its meaning for glob(7), and
 * takes that of the character behind it. 1 and a word, 0 at the end. */
static int next_word(const char **p, char **ret, char **ret_reason) {
        const char *s = *p + strspn(*p, " \t");
        _cleanup_free_ char *word = NULL;
        bool quoted = false;
        size_t n = 0;

        if (!*s)
                return 0;
        word = malloc(strlen(s) + 1);
        if (!word)
                return -ENOMEM;
        for (; *s && (quoted || (*s != ' ' && *s != '\t')); s++) {
                if (*s == '"') {
                        quoted = !quoted;
                        continue;
                }
                if (*s == '\\') {
                        if (!s[1])
                                return invalid(ret_reason, "ends with a backslash");
                        word[n++] = *s++;
                }
                word[n++] = *s;
        }
        if (quoted)
                return invalid(ret_reason, "a double quote is not closed");
        if (n == 0)
                return invalid(ret_reason, "an empty pattern");
        word[n] = 0;
        *p = s;
        *ret = TAKE_PTR(word);
        return 1;
}

/* Adds the words of `value` that `check` lets pass; all of them or none. */
static int add_words(const char *value, char ***list,
                     int (*check)(const char *word, char **ret_reason), char **ret_reason) {
        _cleanup_(strv_freep) char **words = NULL;
        char *word = NULL;
        int r;

        while ((r = next_word(&value, &word, ret_reason)) > 0) {
                r = check ? check(word, ret_reason) : 0;
                if (r >= 0 && !strv_take(&words, word))
                        r = -ENOMEM;
                if (r < 0) {
                        free(word);
                        return r;
                }
        }
        for (size_t i = 0; r >= 0 && words && words[i]; i++)
                if (!strv_append(list, words[i]))
                        r = -ENOMEM;
        return r;
}

static bool has_dots(const char *path) {
        for (size_t n; *path; path += n + (path[n] == '/')) {
                n = strcspn(path, "/");
                if ((n == 1 && path[0] == '.') || (n == 2 && path[0] == '.' && path[1] == '.'))
                        return true;
        }
        return false;
}

/* A pattern that can never match would cover nothing, or hide nothing, and look as if it did. */
static int check_glob(const char *word, char **ret_reason) {
        if (*word == '/')
                return invalid(ret_reason,
                               Q " begins with '/': patterns are relative to Path=", word);
        if (word[strlen(word) - 1] == '/')
                return invalid(ret_reason,
                               Q " ends with '/': what is in a folder is matched by '%.200s**'",
                               word, word);
        if (has_dots(word))
                return invalid(ret_reason, Q " has a '.' or '..' component", word);
        if (strstr(word, "//"))
                return invalid(ret_reason, Q " has an empty component", word);
        return 0;
}

static int check_program(const char *word, char **ret_reason) {
        if (*word != '/')
                return invalid(ret_reason, Q " is not the absolute path of a program", word);
        return 0;
}

int config_parse_globs(const char *value, void *field, char **ret_reason) {
        return add_words(value, field, check_glob, ret_reason);
}

int config_parse_programs(const char *value, void *field, char **ret_reason) {
        return add_words(value, field, check_program, ret_reason);
}

int config_parse_words(const char *value, void *field, char **ret_reason) {
        return add_words(value, field, NULL, ret_reason);
}

/* ---- numbers and words ---- */

/* The digits that `value` begins with. False: none, or too large a number. */
static bool parse_digits(const char **value, uint64_t *ret) {
        uint64_t n = 0;
        const char *p = *value;

        for (; *p >= '0' && *p <= '9'; p++)
                if (__builtin_mul_overflow(n, 10, &n) ||
                    __builtin_add_overflow(n, (uint64_t) (*p - '0'), &n))
                        return false;
        if (p == *value)
                return false;
        *value = p;
        *ret = n;
        return true;
}

int config_parse_days(const char *value, void *field, char **ret_reason) {
        const char *p = value;
        uint64_t n;

        if (!parse_digits(&p, &n) || *p || n < 1 || n > RETAIN_DAYS_MAX)
                return invalid(ret_reason, Q " is not a number of days from 1 to %d", value,
                               RETAIN_DAYS_MAX);
        *(unsigned *) field = (unsigned) n;
        return 0;
}

int config_parse_rate(const char *value, void *field, char **ret_reason) {
        const char *p = value;
        uint64_t n;

        if (!parse_digits(&p, &n) || *p || n < 1 || n > RATE_MAX)
                return invalid(ret_reason, Q " is not a number of messages a minute from 1 to %d",
                               value, RATE_MAX);
        *(unsigned *) field = (unsigned) n;
        return 0;
}

int config_parse_seconds(const char *value, void *field, char **ret_reason) {
        const char *p = value;
        uint64_t n;

        if (!parse_digits(&p, &n) || (*p && !str_equal(p, "s")) || n < 1 || n > HOLD_SECONDS_MAX)
                return invalid(ret_reason, Q " is not a number of seconds from 1 to %d", value,
                               HOLD_SECONDS_MAX);
        *(usec_t *) field = n * USEC_PER_SEC;
        return 0;
}

int config_parse_size(const char *value, void *field, char **ret_reason) {
        static const char units[] = "KMGT";
        const char *p = value, *unit;
        uint64_t n = 0;
        unsigned shift = 0;

        if (!parse_digits(&p, &n))
                return invalid(ret_reason, Q " is not a size in bytes, such as 256M", value);
        unit = *p ? strchr(units, *p) : NULL;
        if (unit) {
                shift = 10 * (unsigned) (unit - units + 1);
                p++;
        }
        if (*p)
                return invalid(ret_reason, Q " has an unknown unit (K, M, G, T)", value);
        if (n > UINT64_MAX >> shift || n << shift > INT64_MAX)
                return invalid(ret_reason, Q " is too large", value);
        *(uint64_t *) field = n << shift;
        return 0;
}

int config_parse_bool(const char *value, void *field, char **ret_reason) {
        static const struct {
                const char *word;
                bool value;
        } words[] = {{"yes", true}, {"true", true},   {"on", true},   {"1", true},
                     {"no", false}, {"false", false}, {"off", false}, {"0", false}};

        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                if (strcasecmp(words[i].word, value) == 0) {
                        *(bool *) field = words[i].value;
                        return 0;
                }
        }
        return invalid(ret_reason, Q " is neither yes nor no", value);
}

int config_parse_policy(const char *value, void *field, char **ret_reason) {
        int k = policy_from_string(value);

        if (k < 0)
                return invalid(ret_reason, Q " is none of record, alert, ask, deny, freeze, kill",
                               value);
        *(Policy *) field = (Policy) k;
        return 0;
}

int config_parse_untagged(const char *value, void *field, char **ret_reason) {
        int k = untagged_from_string(value);

        if (k < 0)
                return invalid(ret_reason, Q " is none of ignore, record, alert", value);
        *(Untagged *) field = (Untagged) k;
        return 0;
}

int config_parse_guard_engine(const char *value, void *field, char **ret_reason) {
        static const char *const words[_GUARD_ENGINE_MAX] = {
                [GUARD_ENGINE_AUTO] = "auto",
                [GUARD_ENGINE_BPF] = "bpf",
                [GUARD_ENGINE_SECCOMP] = "seccomp",
                [GUARD_ENGINE_NONE] = "none",
        };

        for (int i = 0; i < _GUARD_ENGINE_MAX; i++)
                if (str_equal(words[i], value)) {
                        *(GuardEngine *) field = (GuardEngine) i;
                        return 0;
                }
        return invalid(ret_reason, Q " is none of auto, bpf, seccomp, none", value);
}

int config_parse_kill_scope(const char *value, void *field, char **ret_reason) {
        int k = kill_scope_from_string(value);

        if (k < 0)
                return invalid(ret_reason, Q " is neither process nor session", value);
        *(KillScope *) field = (KillScope) k;
        return 0;
}
