/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/bpf_engine.h"
#include "daemon/kernel/bpf/guard_record.h"
#include "daemon/kernel/bpf_private.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

_Static_assert(GUARD_POLICY_DENY == POLICY_DENY, "the kernel's program knows it by its number");

#define LSM_LIST "/sys/kernel/security/lsm"
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

static int silence(enum libbpf_print_level level, const char *format, va_list arguments) {
        return 0;
}

/* ---- why not ---- */

static bool lists_bpf(void) {
        char text[256], *saved = NULL;
        ssize_t n;
        int fd = open(LSM_LIST, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return errno !=
                        ENOENT; /* securityfs is not mounted, or hidden: loading will tell */
        n = read(fd, text, sizeof(text) - 1);
        (void) close(fd);
        if (n <= 0)
                return true;
        text[n] = '\0';
        for (char *word = strtok_r(text, ",\n", &saved); word; word = strtok_r(NULL, ",\n", &saved))
                if (str_equal(word, "bpf"))
                        return true;
        return false;
}

static void tell_why(char reason[static BPF_REASON_MAX], int error) {
        const char *why = strerrordesc_np(-error);

        if (error == -EPERM)
                why = "loading BPF programs is not permitted here (a container, or lockdown=confidentiality)";
        (void) snprintf(reason, BPF_REASON_MAX, "%s", why);
}

static int refuse_early(char reason[static BPF_REASON_MAX]) {
        if (access(KERNEL_BTF, R_OK) < 0) {
                (void) snprintf(reason, BPF_REASON_MAX,
                                "the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
                return -EOPNOTSUPP;
        }
        if (!lists_bpf()) {
                (void) snprintf(reason, BPF_REASON_MAX,
                                "bpf is not among the active LSMs (add it to lsm= on the kernel "
                                "command line)");
                return -EOPNOTSUPP;
        }
        return 0;
}

/* ---- load ---- */

/* How many arguments the hook has here, or -1: it is not in this kernel. */
static int hook_arguments(const struct btf *kernel, const char *section) {
        const char *slash = strchr(section, '/');
        const struct btf_type *t;
        char name[64];
        int id;

        (void) snprintf(name, sizeof(name), "bpf_lsm_%s", slash ? slash + 1 : section);
        id = btf__find_by_name_kind(kernel, name, BTF_KIND_FUNC);
        t = id < 0 ? NULL : btf__type_by_id(kernel, (__u32) id);
        t = t ? btf__type_by_id(kernel, t->type) : NULL;
        return t ? btf_vlen(t) : -1;
}

static void choose_programs(struct bpf_object *object, const struct btf *kernel) {
        struct bpf_program *p;

        bpf_object__for_each_program(p, object) {
                const char *name = bpf_program__name(p);
                int n = hook_arguments(kernel, bpf_program__section_name(p));

                /* the id map came to the front in 6.9 */
                if (str_equal(name, "guard_inode_setattr"))
                        (void) bpf_program__set_autoload(p, n == 3);
                else if (str_equal(name, "guard_inode_setattr_old"))
                        (void) bpf_program__set_autoload(p, n == 2);
                else if (bpf_program__section_name(p)[0] == '?')
                        (void) bpf_program__set_autoload(p, n >= 0);
        }
}

static int attach(BpfEngine *e) {
        struct bpf_program *p;

        bpf_object__for_each_program(p, e->object) {
                struct bpf_link *link;

                if (!bpf_program__autoload(p) || p == e->introducer)
                        continue;
                if (e->n_links >= ELEMENTSOF(e->links))
                        return -E2BIG;
                link = bpf_program__attach(p);
                if (!link)
                        return -errno;
                e->links[e->n_links++] = link;
        }
        return 0;
}

static int find_maps(BpfEngine *e) {
        const struct {
                const char *name;
                int *fd;
        } wanted[] = {
                {"config", &e->config},   {"sessions", &e->sessions}, {"devices", &e->devices},
                {"watches", &e->watches}, {"nodes", &e->nodes},       {"counts", &e->counts},
                {"records", &e->records},
        };

        for (size_t i = 0; i < ELEMENTSOF(wanted); i++) {
                *wanted[i].fd = bpf_object__find_map_fd_by_name(e->object, wanted[i].name);
                if (*wanted[i].fd < 0)
                        return *wanted[i].fd;
        }
        return 0;
}

int bpf_engine_configure(BpfEngine *e) {
        const struct guard_config c = {
                .n_sessions = e->n_sessions,
                .exempt = (__u32) getpid(),
                .creat = O_CREAT,
                .trunc = O_TRUNC,
        };
        const __u32 zero = 0;

        return bpf_map_update_elem(e->config, &zero, &c, BPF_ANY);
}

static int load(BpfEngine *e) {
        const struct bpf_object_open_opts options = {.sz = sizeof(options),
                                                     .object_name = "mountwatch"};
        struct btf *kernel = btf__load_vmlinux_btf();
        int r;

        if (!kernel)
                return -errno;
        e->object = bpf_object__open_mem(
                bpf_guard_object, (uintptr_t) bpf_guard_object_end - (uintptr_t) bpf_guard_object,
                &options);
        if (!e->object) {
                r = -errno;
                btf__free(kernel);
                return r;
        }
        choose_programs(e->object, kernel);
        btf__free(kernel);
        r = bpf_object__load(e->object);
        if (r >= 0)
                r = find_maps(e);
        e->introducer = bpf_object__find_program_by_name(e->object, "guard_introduce");
        if (r >= 0)
                r = e->introducer ? bpf_engine_configure(e) : -ENOENT;
        if (r >= 0)
                r = bpf_engine_open_records(e);
        if (r >= 0)
                r = attach(e);
        return r;
}

int bpf_engine_new(BpfEngine **ret, char reason[static BPF_REASON_MAX]) {
        _cleanup_(bpf_engine_freep) BpfEngine *e = NULL;
        int r = refuse_early(reason);

        if (r < 0)
                return r;
        e = calloc(1, sizeof(*e));
        if (!e) {
                (void) snprintf(reason, BPF_REASON_MAX, "no memory");
                return -ENOMEM;
        }
        (void) libbpf_set_print(silence);
        r = load(e);
        if (r < 0) {
                tell_why(reason, r);
                return r;
        }
        *ret = TAKE_PTR(e);
        return 0;
}

BpfEngine *bpf_engine_free(BpfEngine *e) {
        if (!e)
                return NULL;
        for (size_t i = 0; i < e->n_links; i++)
                (void) bpf_link__destroy(e->links[i]);
        if (e->ring)
                ring_buffer__free(e->ring);
        bpf_object__close(e->object);
        free(e);
        return NULL;
}

/* ---- sessions ---- */

int bpf_engine_put_session(BpfEngine *e, uint64_t cgroup_id, Policy floor, bool exempt) {
        const struct guard_session s = {.policy = (__u32) floor, .exempt = exempt};
        struct guard_session old;
        bool is_new = bpf_map_lookup_elem(e->sessions, &cgroup_id, &old) < 0;
        int r = bpf_map_update_elem(e->sessions, &cgroup_id, &s, BPF_ANY);

        if (r < 0 || !is_new)
                return r;
        e->n_sessions++;
        return bpf_engine_configure(e);
}

void bpf_engine_drop_session(BpfEngine *e, uint64_t cgroup_id) {
        if (bpf_map_delete_elem(e->sessions, &cgroup_id) < 0)
                return;
        e->n_sessions--;
        (void) bpf_engine_configure(e);
}
