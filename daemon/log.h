/* SPDX-License-Identifier: MIT */
/*
 * Logging of the daemon: to the journal with its native protocol when systemd started us, to stderr otherwise. Only main, the
 * manager and the methods log; common, core and the edges return what went wrong.
 */
#ifndef MOUNTWATCH_LOG_H
#define MOUNTWATCH_LOG_H

#include "common/macro.h"

#include <stdbool.h>
#include <syslog.h>

typedef struct LogField {
        const char *name; /* "MOUNTWATCH_SESSION" */
        const char *value;
} LogField;

/* Decides where to. `debug` lets LOG_DEBUG through. */
void log_setup(int debug);
bool log_is_journal(void);
void log_message(int priority, const char *format, ...) _printf_(2, 3);
/* With fields of its own, for those who search the journal; on stderr the fields are left out. */
void log_fields(int priority, const LogField *fields, size_t n, const char *format, ...)
        _printf_(4, 5);

#define log_error(...) log_message(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_message(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_message(LOG_DEBUG, __VA_ARGS__)

#endif
