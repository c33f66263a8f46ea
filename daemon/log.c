/* SPDX-License-Identifier: MIT */
#include "daemon/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#define LOG_FIELDS_MAX 16
#define LOG_MESSAGE_MAX 2048

/* Where messages go is a property of the process, like stderr itself. */
static struct {
        bool journal;
        bool debug;
} log_target;

/* sd-journal's own documented test: JOURNAL_STREAM holds the device and inode that systemd connected stderr to. */
static bool stderr_is_journal(void) {
        const char *e = getenv("JOURNAL_STREAM");
        unsigned long long dev, ino;
        struct stat st;

        if (!e || sscanf(e, "%llu:%llu", &dev, &ino) != 2)
                return false;
        return fstat(STDERR_FILENO, &st) >= 0 && st.st_dev == (dev_t) dev &&
                st.st_ino == (ino_t) ino;
}

void log_setup(int debug) {
        log_target.journal = stderr_is_journal();
        log_target.debug = debug;
}

bool log_is_journal(void) {
        return log_target.journal;
}

static int field_format(char **ret, const char *name, const char *value) {
        return asprintf(ret, "%s=%s", name, value);
}

static void send_journal(int priority, const LogField *fields, size_t n, const char *message) {
        char *texts[LOG_FIELDS_MAX + 3] = {};
        struct iovec iov[LOG_FIELDS_MAX + 3];
        char number[2] = {(char) ('0' + priority), 0};
        size_t used = 0;
        const LogField fixed[] = {
                {"MESSAGE", message},
                {"PRIORITY", number},
                {"SYSLOG_IDENTIFIER", "mountwatch"},
        };

        for (size_t i = 0; i < ELEMENTSOF(fixed) + MIN(n, (size_t) LOG_FIELDS_MAX); i++) {
                const LogField *f =
                        i < ELEMENTSOF(fixed) ? &fixed[i] : &fields[i - ELEMENTSOF(fixed)];

                if (!f->value || field_format(&texts[used], f->name, f->value) < 0)
                        continue;
                iov[used] = (struct iovec){texts[used], strlen(texts[used])};
                used++;
        }
        (void) sd_journal_sendv(iov, (int) used);
        for (size_t i = 0; i < used; i++)
                free(texts[i]);
}

static void log_vfields(int priority, const LogField *fields, size_t n, const char *format,
                        va_list ap) {
        static const char *const names[] = {"emergency", "alert",  "critical", "error",
                                            "warning",   "notice", "info",     "debug"};
        char message[LOG_MESSAGE_MAX];
        int saved = errno; /* %m in the format speaks of the caller's error */

        if (priority == LOG_DEBUG && !log_target.debug)
                return;
        errno = saved;
        (void) vsnprintf(message, sizeof message, format, ap);
        if (log_target.journal)
                send_journal(priority, fields, n, message);
        else
                fprintf(stderr, "mountwatchd: %s: %s\n", names[priority], message);
        errno = saved;
}

void log_message(int priority, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        log_vfields(priority, NULL, 0, format, ap);
        va_end(ap);
}

void log_fields(int priority, const LogField *fields, size_t n, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        log_vfields(priority, fields, n, format, ap);
        va_end(ap);
}
