/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_caller.h"

#include "daemon/kernel/textfile.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

#define STATUS_MAX (1024 * 1024) /* 65536 groups of ten digits */

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

/* "Groups:\t4 24 27 " */
static int parse_groups(const char *data, CallerRights *r) {
        const char *p = strstr(data, "\nGroups:\t");
        char *end;

        if (!p)
                return -EBADMSG;
        p += strlen("\nGroups:\t");
        while (*p >= '0' && *p <= '9') {
                gid_t *grown = reallocarray(r->groups, r->n_groups + 1, sizeof(gid_t));

                if (!grown)
                        return -ENOMEM;
                r->groups = grown;
                r->groups[r->n_groups++] = (gid_t) strtoul(p, &end, 10);
                p = *end == ' ' ? end + 1 : end;
        }
        p += strspn(p, " ");
        return *p == '\n' ? 0 : -EBADMSG;
}

/* "Uid:\treal\teffective\tsaved\tfilesystem" */
static int parse_filesystem_id(const char *data, const char *name, uint32_t *ret) {
        const char *p = strstr(data, name);
        unsigned long id = 0;
        char *end;

        if (!p)
                return -EBADMSG;
        p += strlen(name);
        for (unsigned i = 0; i < 4; i++) {
                id = strtoul(p, &end, 10);
                if (end == p)
                        return -EBADMSG;
                p = end;
        }
        *ret = (uint32_t) id;
        return *p == '\n' ? 0 : -EBADMSG;
}

void caller_rights_done(CallerRights *r) {
        free(r->groups);
        *r = (CallerRights){};
}

int caller_parse_rights(const char *data, size_t size, CallerRights *ret) {
        _cleanup_(caller_rights_done) CallerRights rights = {};
        _cleanup_free_ char *s = strndup(data, size);
        uint64_t capabilities;
        int r;

        if (!s)
                return -ENOMEM;
        r = parse_filesystem_id(s, "\nUid:\t", &rights.uid);
        if (r >= 0)
                r = parse_filesystem_id(s, "\nGid:\t", &rights.gid);
        if (r >= 0)
                r = parse_groups(s, &rights);
        if (r >= 0)
                r = field(s, "\nCapEff:\t", 16, &capabilities);
        if (r < 0)
                return r;
        rights.overrides = capabilities & (UINT64_C(1) << CAP_DAC_OVERRIDE);
        *ret = rights;
        rights = (CallerRights){};
        return 0;
}

static int read_status(int proc_fd, pid_t tid, char **ret, size_t *ret_n) {
        char name[32];
        int r;

        (void) snprintf(name, sizeof(name), "%d/status", (int) tid);
        r = textfile_read_all_at(proc_fd, name, STATUS_MAX, ret, ret_n);
        return r == -ENOENT ? -ESRCH : r;
}

int caller_read_rights(int proc_fd, pid_t tid, CallerRights *ret) {
        _cleanup_free_ char *data = NULL;
        size_t n;
        int r = read_status(proc_fd, tid, &data, &n);

        return r < 0 ? r : caller_parse_rights(data, n, ret);
}

int caller_read_status(int proc_fd, pid_t tid, CallerStatus *ret) {
        _cleanup_free_ char *data = NULL;
        size_t n;
        int r = read_status(proc_fd, tid, &data, &n);

        return r < 0 ? r : caller_parse_status(data, n, ret);
}

static uint64_t bit(int sig) {
        return UINT64_C(1) << (sig - 1);
}

bool caller_is_called_off(const CallerStatus *s) {
        return s->pending & (bit(SIGINT) | bit(SIGTERM) | bit(SIGHUP) | bit(SIGQUIT));
}

/* ---- rights ---- */

/* The system calls themselves: the C library would do it for all threads. CAP_DAC_OVERRIDE and its like go with an fsuid
 * other than 0, and come back with 0 (capabilities(7)). */
void caller_rights_give_back(void) {
        (void) syscall(SYS_setfsuid, 0);
        (void) syscall(SYS_setfsgid, 0);
        (void) syscall(SYS_setgroups, 0, NULL);
}

int caller_rights_take(const CallerRights *r) {
        if (syscall(SYS_setgroups, r->n_groups, r->groups) < 0)
                return -errno;
        (void) syscall(SYS_setfsgid, r->gid);
        (void) syscall(SYS_setfsuid, r->uid);
        /* they tell what was before; and so, asked for the impossible, what is */
        if ((uid_t) syscall(SYS_setfsuid, -1) == r->uid &&
            (gid_t) syscall(SYS_setfsgid, -1) == r->gid)
                return 0;
        caller_rights_give_back();
        return -EPERM;
}
