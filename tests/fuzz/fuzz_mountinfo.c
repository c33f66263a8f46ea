/* SPDX-License-Identifier: MIT */
#include "common/mount_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
        if (!holds)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(mount_table_done) MountTable t = {0};

        if (mountinfo_parse((const char *) data, size, &t) < 0)
                return 0;
        for (size_t i = 0; i < t.n && i < 32; i++) {
                const Mount *m = mount_table_find(&t, t.mounts[i].target);
                const Mount *covering = mount_table_covering(&t, t.mounts[i].target);

                check(!m || (m == covering && strcmp(m->target, t.mounts[i].target) == 0));
                check(!covering ||
                      strncmp(covering->target, t.mounts[i].target, strlen(covering->target)) == 0);
        }
        return 0;
}
