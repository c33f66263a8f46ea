/* SPDX-License-Identifier: MIT */
/* Which keys each kind of section has, and how their values are read. */
#ifndef MOUNTWATCH_CONFIG_KEYS_H
#define MOUNTWATCH_CONFIG_KEYS_H

#include "daemon/config.h"

#define CONFIG_KEYS_MAX 16 /* of one kind of section */

typedef enum ConfigKind {
        CONFIG_DAEMON,       /* fills a Config */
        CONFIG_WATCH,        /* a WatchSpec */
        CONFIG_AUTO_SESSION, /* an AutoSession */
        CONFIG_WEBHOOK,      /* a Webhook */
        _CONFIG_KIND_MAX,
} ConfigKind;

typedef struct ConfigKey {
        const char *name;
        size_t offset; /* of the field */
        /* Sets the field, or for a list adds to it. -EINVAL and an allocated reason, without the name of the key; -ENOMEM. */
        int (*parse)(const char *value, void *field, char **ret_reason);
        bool list;
        bool required;
        const char *fallback; /* the value when there is none; NULL: the field stays NULL */
} ConfigKey;

/* "Watch" */
const char *config_kind_name(ConfigKind kind);
/* The kind, or -EINVAL. */
int config_kind_find(const char *name);
const ConfigKey *config_keys(ConfigKind kind, size_t *ret_n);
/* The name that was probably meant, or NULL. */
const char *config_key_suggest(ConfigKind kind, const char *name);
const char *config_kind_suggest(const char *name);

/* Sets a field to its fallback; a list is emptied. */
int config_key_reset(const ConfigKey *key, void *object);

#endif
