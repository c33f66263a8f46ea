/* SPDX-License-Identifier: MIT */
/* A filesystem of a test's own, in a mount namespace of its own; and the shell, for what is no concern of the test. */
#ifndef MOUNTWATCH_TESTS_SCRATCH_H
#define MOUNTWATCH_TESTS_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/macro.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static _unused_ void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _unused_ void run(const char *format, ...) {
        char command[1024];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(command, sizeof(command), format, ap);
        va_end(ap);
        assert_int_equal(system(command), 0);
}

static _unused_ bool have(const char *program) {
        char command[128];

        (void) snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
        return system(command) == 0;
}

/* False, with the reason told: not here. */
static _unused_ bool scratch_can_mount(void) {
        if (geteuid() != 0) {
                print_message("skipped: needs root\n");
                return false;
        }
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
                print_message("skipped: no mount namespace: %s\n", strerror(errno));
                return false;
        }
        return true;
}

/* Mounts "tmpfs", or what mkfs.TYPE makes on a loop device, on fs/ in a new folder, whose path is returned. The same false. */
static _unused_ bool scratch_mount(const char *type, char *ret_dir, size_t size) {
        char mkfs[64];

        if (!scratch_can_mount())
                return false;
        (void) snprintf(mkfs, sizeof(mkfs), "mkfs.%s", type);
        if (!str_equal(type, "tmpfs") && !have(mkfs)) {
                print_message("skipped: no %s\n", mkfs);
                return false;
        }
        (void) snprintf(ret_dir, size, "/tmp/mwtest.XXXXXX");
        assert_non_null(mkdtemp(ret_dir));
        run("mkdir -m 755 %s/fs", ret_dir);
        if (str_equal(type, "tmpfs")) {
                run("mount -t tmpfs test %s/fs", ret_dir);
        } else {
                run("truncate -s 320M %s/image && %s -q %s/image >/dev/null", ret_dir, mkfs,
                    ret_dir);
                run("mount -o loop %s/image %s/fs", ret_dir, ret_dir);
        }
        return true;
}

#endif
