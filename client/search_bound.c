/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "client/find_mounts.h"
#include "client/search_bound.h"

static nsec_t now(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (nsec_t) ts.tv_sec * NSEC_PER_SEC + (nsec_t) ts.tv_nsec;
}

SearchBound search_bound(const MountTable *mounts, unsigned seconds, size_t n) {
        return (SearchBound){
                .mounts = mounts,
                .deadline = now() + seconds * NSEC_PER_SEC,
                .left = n,
        };
}

bool search_goes_on(SearchBound *b) {
        if (b->left == 0 || now() > b->deadline)
                b->hit = true;
        else
                b->left--;
        return !b->hit;
}

/* Filesystems without files of anybody. */
static bool is_pseudo(const char *fstype) {
        static const char *const types[] = {"proc",        "sysfs",     "devtmpfs",   "devpts",
                                            "cgroup",      "cgroup2",   "debugfs",    "tracefs",
                                            "bpf",         "mqueue",    "securityfs", "pstore",
                                            "configfs",    "fusectl",   "hugetlbfs",  "efivarfs",
                                            "binfmt_misc", "squashfs",  "iso9660",    "nsfs",
                                            "ramfs",       "rpc_pipefs"};

        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                if (str_equal(types[i], fstype))
                        return true;
        return false;
}

bool search_avoids(const SearchBound *b, const char *path) {
        const Mount *m = mount_table_covering(b->mounts, path);

        return m && (is_pseudo(m->fstype) || mount_is_remote(m));
}
