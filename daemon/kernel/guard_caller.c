/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_caller.h"

#include "daemon/kernel/textfile.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

/* The value behind "\nName:\t", up to the end of the line. */
static int field(const char *data, const char *name, int base, uint64_t *ret) {
        const char *p = strstr(data, name);
        char *end;

        if (!p)
                return -EBADMSG;
        p += strlen(name);
        *ret = strtoull(p, &end, base);
        return end == p || (*end != '\n' && *end != '\0') ? -EBADMSG : 0;
}

int caller_parse_status(const char *data, size_t size, CallerStatus *ret) {
        _cleanup_free_ char *s = strndup(data, size);
        uint64_t pid, own, shared, blocked;
        int r;

        if (!s)
                return -ENOMEM;
        r = field(s, "\nTgid:\t", 10, &pid);
        if (r >= 0)
                r = field(s, "\nSigPnd:\t", 16, &own);
        if (r >= 0)
                r = field(s, "\nShdPnd:\t", 16, &shared);
        if (r >= 0)
                r = field(s, "\nSigBlk:\t", 16, &blocked);
        if (r < 0)
                return r;
        *ret = (CallerStatus){.pid = (pid_t) pid, .pending = (own | shared) & ~blocked};
        return 0;
}

int caller_read_status(int proc_fd, pid_t tid, CallerStatus *ret) {
        char name[32], data[8192];
        size_t n;
        int r;

        (void) snprintf(name, sizeof(name), "%d/status", (int) tid);
        r = textfile_read_at(proc_fd, name, data, sizeof(data), &n);
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;
        return caller_parse_status(data, n, ret);
}

static uint64_t bit(int sig) {
        return UINT64_C(1) << (sig - 1);
}

bool caller_is_called_off(const CallerStatus *s) {
        return s->pending & (bit(SIGINT) | bit(SIGTERM) | bit(SIGHUP) | bit(SIGQUIT));
}
