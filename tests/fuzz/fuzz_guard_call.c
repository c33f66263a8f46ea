/* SPDX-License-Identifier: MIT */
/* A notification and the struct of openat2, as a hostile process would make them: architecture, number, six arguments, the struct. */
#include "daemon/kernel/guard_call.h"
#include "daemon/kernel/guard_caller.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
        if (!holds)
                abort();
}

static void check_call(const CallTable *t, const struct seccomp_data *data) {
        GuardCall c;

        if (guard_call_decode(t, data, &c) < 0)
                return;
        check(c.n_paths <= ELEMENTSOF(c.path) && (c.n_paths > 0) == (c.kind < CALL_KIND_VIEW));
        for (unsigned i = 0; i < c.n_paths; i++)
                check(!c.path[i].by_fd || c.path[i].address == 0);
        check(c.kind != CALL_KIND_RENAME || c.n_paths == 2);
        check(c.kind != CALL_KIND_MAKE || c.mode != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        struct seccomp_data notification = {};
        size_t n = MIN(size, sizeof(notification));
        GuardCall open2 = {.path[0].follow = true};
        CallerStatus status;
        CallerRights rights;
        CallTable table;

        call_table_init(&table);
        memcpy(&notification, data, n);
        check_call(&table, &notification);
        /* the same on every architecture, so that most inputs hit a call */
        for (size_t i = 0; i < guarded_arch_count(); i++) {
                notification.arch = guarded_archs[i].audit;
                notification.nr = (notification.nr & 511) | (int) guarded_archs[i].bit;
                check_call(&table, &notification);
        }
        if (guard_call_set_how(&open2, data + n, size - n) == 0)
                check(guard_call_may_write(&open2) || !(open2.flags & (O_WRONLY | O_RDWR)) ||
                      (open2.flags & O_PATH));
        (void) caller_parse_status((const char *) data, size, &status);
        if (caller_parse_rights((const char *) data, size, &rights) == 0)
                caller_rights_done(&rights);
        return 0;
}
