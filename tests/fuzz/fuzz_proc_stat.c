/* SPDX-License-Identifier: MIT */
/* The parsers of /proc/PID files; the first byte selects one. */
#include "common/strv.h"
#include "daemon/kernel/cgroup.h"
#include "daemon/kernel/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
        if (!holds)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(strv_freep) char **cmdline = NULL;
        _cleanup_free_ char *path = NULL;
        const char *text = (const char *) data + 1;
        ProcStat st;
        uid_t uid;

        if (size == 0)
                return 0;
        size--;
        switch (data[0]) {
        case 's':
                if (proc_parse_stat(text, size, &st) == 0)
                        check(st.pid >= 0 && st.ppid >= 0);
                break;
        case 'u':
                (void) proc_parse_status_uid(text, size, &uid);
                break;
        case 'c':
                if (proc_parse_cmdline(text, size, &cmdline) == 0)
                        check(strv_length(cmdline) <= size);
                break;
        case 'g':
                if (cgroup_parse(text, size, &path) == 0)
                        check(path[0] == '/' && !strchr(path, '\n'));
                break;
        default:
                break;
        }
        return 0;
}
