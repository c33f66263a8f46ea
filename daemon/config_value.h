/* SPDX-License-Identifier: MIT */
/* Readers of values, in the form that ConfigKey.parse has. `field` points to what the name says. */
#ifndef MOUNTWATCH_CONFIG_VALUE_H
#define MOUNTWATCH_CONFIG_VALUE_H

/* char * */
int config_parse_group(const char *value, void *field, char **ret_reason);
int config_parse_path(const char *value, void *field, char **ret_reason); /* normalised */
int config_parse_url(const char *value, void *field, char **ret_reason);

/* char ** */
int config_parse_globs(const char *value, void *field, char **ret_reason); /* relative to a path */
int config_parse_programs(const char *value, void *field, char **ret_reason);
int config_parse_words(const char *value, void *field, char **ret_reason);

int config_parse_days(const char *value, void *field, char **ret_reason);    /* unsigned */
int config_parse_seconds(const char *value, void *field, char **ret_reason); /* usec_t */
int config_parse_size(const char *value, void *field, char **ret_reason);    /* uint64_t */
int config_parse_bool(const char *value, void *field, char **ret_reason);    /* bool */
int config_parse_rate(const char *value, void *field, char **ret_reason);    /* unsigned */
int config_parse_format(const char *value, void *field, char **ret_reason);  /* WebhookFormat */
int config_parse_severity(const char *value, void *field, char **ret_reason);
int config_parse_policy(const char *value, void *field, char **ret_reason);
int config_parse_untagged(const char *value, void *field, char **ret_reason);
int config_parse_guard_engine(const char *value, void *field, char **ret_reason);
int config_parse_kill_scope(const char *value, void *field, char **ret_reason);

#endif
