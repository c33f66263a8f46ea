/* SPDX-License-Identifier: MIT */
/* /proc/TID/syscall: a thread of a program that is under test chooses the arguments in it, and the kernel the form. */
#include "daemon/kernel/proc_intent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
        if (!holds)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        ProcSyscall s;
        uint64_t how;
        Intent i;

        if (proc_syscall_parse((const char *) data, size, &s) < 0)
                return 0;
        check(s.number >= -1);
        i = intent_of_open(&s, &how);
        check(i.known || i.may_write);
        check(!how || !i.known);
        check(!i.exclusive || i.creates);
        return 0;
}
