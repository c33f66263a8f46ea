/* SPDX-License-Identifier: MIT */
/* What the program in the kernel knows of a watch: the mark on its root, its policy, and the names that it lets. */
#include "daemon/kernel/bpf_private.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>

static const char *const siblings[] = {"", "-wal", "-shm", "-journal"};

/* ---- patterns ---- */

/* Components that are plain names, and perhaps two stars after the last: all that the program can compare. */
static bool is_plain(const char *pattern) {
        size_t n = strlen(pattern), depth = 1, length = 0;

        if (n > 3 && str_equal(pattern + n - 3, "/**"))
                n -= 3;
        else if (str_equal(pattern, "**"))
                return true;
        for (size_t i = 0; i < n; i++) {
                if (strchr("*?[\\", pattern[i]))
                        return false;
                length = pattern[i] == '/' ? 0 : length + 1;
                depth += pattern[i] == '/';
                if (length >= GUARD_NAME_MAX - 1)
                        return false;
        }
        return n > 0 && length > 0 && pattern[0] != '/' && depth <= GUARD_PATTERN_DEPTH;
}

static bool are_plain(char *const *patterns) {
        for (size_t i = 0; patterns[i]; i++)
                if (!is_plain(patterns[i]))
                        return false;
        return true;
}

bool bpf_engine_can_decide(const WatchSpec *w, const char **ret_reason) {
        if (are_plain(w->allow) && are_plain(w->ignore))
                return true;
        *ret_reason = "Allow= or Ignore= has a pattern that only the daemon can compare";
        return false;
}

static int put_node(BpfEngine *e, uint32_t watch, uint32_t parent, const char *name, size_t length,
                    uint32_t flags, uint32_t *ret_number) {
        struct guard_node_key key = {.watch = watch, .parent = parent};
        struct guard_node node = {};
        bool is_new;

        if (length >= sizeof(key.name))
                return -ENAMETOOLONG;
        memcpy(key.name, name, length);
        is_new = bpf_map_lookup_elem(e->nodes, &key, &node) < 0;
        if (is_new)
                node.number = ++e->last_node;
        node.flags |= flags;
        *ret_number = node.number;
        return bpf_map_update_elem(e->nodes, &key, &node, BPF_ANY);
}

static int put_pattern(BpfEngine *e, uint32_t watch, const char *pattern) {
        size_t n = strlen(pattern);
        const char *end = pattern + n;
        uint32_t parent = 0, last = GUARD_NODE_EXACT;

        if (n > 3 && str_equal(pattern + n - 3, "/**")) {
                end -= 3;
                last = GUARD_NODE_TREE;
        }
        while (pattern < end) {
                const char *slash = memchr(pattern, '/', (size_t) (end - pattern));
                const char *stop = slash ? slash : end;
                int r = put_node(e, watch, parent, pattern, (size_t) (stop - pattern),
                                 slash ? 0 : last, &parent);

                if (r < 0)
                        return r;
                pattern = stop + 1;
        }
        return 0;
}

static int put_patterns(BpfEngine *e, uint32_t watch, char *const *patterns, bool *ret_all) {
        int r = 0;

        for (size_t i = 0; patterns[i] && r >= 0; i++)
                if (str_equal(patterns[i], "**"))
                        *ret_all = true;
                else
                        r = put_pattern(e, watch, patterns[i]);
        return r;
}

static int put_siblings(BpfEngine *e, uint32_t watch, const char *file) {
        for (size_t i = 0; i < ELEMENTSOF(siblings); i++) {
                char name[GUARD_NAME_MAX * 2];
                uint32_t number;
                int n = snprintf(name, sizeof(name), "%s%s", file, siblings[i]), r;

                if (n < 0 || n >= GUARD_NAME_MAX - 1)
                        return -ENAMETOOLONG;
                r = put_node(e, watch, 0, name, (size_t) n, GUARD_NODE_WATCHED, &number);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void drop_nodes(BpfEngine *e, uint32_t watch) {
        struct guard_node_key key, next, *at = NULL;

        while (bpf_map_get_next_key(e->nodes, at, &next) == 0) {
                /* the one that is deleted cannot be gone on from */
                if (next.watch == watch) {
                        (void) bpf_map_delete_elem(e->nodes, &next);
                        continue;
                }
                key = next;
                at = &key;
        }
}

/* ---- devices ---- */

static uint32_t kernel_device(dev_t dev) {
        return (uint32_t) major(dev) << 20 | (uint32_t) minor(dev);
}

static int count_device(BpfEngine *e, uint32_t device) {
        uint32_t n = 0;

        for (size_t i = 0; i < GUARD_WATCHES_MAX; i++)
                n += e->slots[i].used && e->slots[i].device == device;
        return n > 0 ? bpf_map_update_elem(e->devices, &device, &n, BPF_ANY)
                     : bpf_map_delete_elem(e->devices, &device);
}

/* ---- watches ---- */

/* By a call that the program sees, and that no filesystem does: attached for that moment, so that nobody else's fcntl(2) pays. */
static int introduce(BpfEngine *e, int root_fd, unsigned what) {
        struct bpf_link *link = bpf_program__attach(e->introducer);
        int r;

        if (!link)
                return -errno;
        r = fcntl(root_fd, F_GETFL, (unsigned long) (GUARD_TOKEN_MAGIC | what)) < 0 ? -errno : 0;
        (void) bpf_link__destroy(link);
        return r;
}

static int fill(BpfEngine *e, uint32_t number, const WatchSpec *w, const WatchSite *site) {
        struct guard_watch watch = {.policy = (uint32_t) w->policy};
        bool all = false;
        int r = 0;

        if (site->file)
                r = put_siblings(e, number, site->file);
        if (r >= 0)
                r = put_patterns(e, number, w->allow, &all);
        if (r >= 0)
                r = put_patterns(e, number, w->ignore, &all);
        watch.lets_all = all;
        return r < 0 ? r : bpf_map_update_elem(e->watches, &number, &watch, BPF_ANY);
}

int bpf_engine_put_watch(BpfEngine *e, const WatchSpec *w, const WatchSite *site, int root_fd,
                         unsigned *ret_number) {
        uint32_t number = 0;
        int r;

        while (number < GUARD_WATCHES_MAX && e->slots[number].used)
                number++;
        if (number == GUARD_WATCHES_MAX)
                return -ENOSPC;
        if (site->file && (w->allow[0] || w->ignore[0]))
                return -EOPNOTSUPP;
        r = fill(e, number, w, site);
        if (r >= 0)
                r = introduce(e, root_fd,
                              number | (site->file ? (unsigned) GUARD_TOKEN_ONLY_NAMED : 0));
        if (r < 0) {
                drop_nodes(e, number);
                return r;
        }
        e->slots[number].used = true;
        e->slots[number].device = kernel_device(site->fs_dev);
        r = count_device(e, e->slots[number].device);
        if (r < 0) {
                bpf_engine_drop_watch(e, number, root_fd);
                return r;
        }
        *ret_number = number;
        return 0;
}

void bpf_engine_drop_watch(BpfEngine *e, unsigned number, int root_fd) {
        (void) introduce(e, root_fd, GUARD_TOKEN_DROP);
        e->slots[number].used = false;
        (void) count_device(e, e->slots[number].device);
        drop_nodes(e, number);
}
