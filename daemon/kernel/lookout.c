/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/lookout_private.h"
#include "daemon/kernel/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#define NODES_DEFAULT 500000

static const char *const family_suffixes[FAMILY] = {"", "-wal", "-shm", "-journal"};

static int name_family(Lookout *l) {
        size_t i;

        for (i = 0; i < FAMILY; i++) {
                if (asprintf(&l->family[i], "%s%s", l->place.file, family_suffixes[i]) < 0) {
                        l->family[i] = NULL;
                        return -ENOMEM;
                }
        }
        return 0;
}

static int read_tree(Lookout *l) {
        int r;

        if (l->place.scope == SCOPE_FILE) {
                r = name_family(l);
                return r < 0 ? r : tree_walk_names(l->walk, (const char *const *) l->family);
        }
        r = tree_walk_add(l->walk, tree_root(l->tree), 0);
        while (r >= 0 && !tree_walk_is_done(l->walk)) {
                if (l->config->abort(l->config->userdata))
                        return -ECANCELED;
                r = tree_walk_step(l->walk);
        }
        return r;
}

static int lookout_begin(const LookoutConfig *config, WatcherStatus *status, Lookout **ret) {
        _cleanup_(lookout_freep) Lookout *l = calloc(1, sizeof(Lookout));
        int r;

        if (!l)
                return -ENOMEM;
        l->config = config;
        l->group = l->batch.fd = l->ground.fd = l->ground.copy = -1;
        r = place_resolve(config->path, &l->place);
        if (r < 0)
                return r;
        status->scope = l->place.scope;
        memcpy(status->fstype, l->place.fstype, sizeof(status->fstype));
        r = ground_init(&l->ground, l->place.root);
        if (r == -EOPNOTSUPP)
                lookout_explain_no_handles(status);
        if (r < 0)
                return r;
        l->ground.remote = l->place.remote;
        *ret = TAKE_PTR(l);
        return 0;
}

static int lookout_build(Lookout *l) {
        size_t max = l->config->options->nodes_max;
        TranslatorConfig config;
        int r;

        r = batch_init(&l->batch, l->group);
        if (r < 0)
                return r;
        r = guesses_new(&l->guesses);
        if (r < 0)
                return r;
        r = tree_new(max ? max : NODES_DEFAULT, l->ground.root_id, &l->tree);
        if (r < 0)
                return r;
        r = tree_walk_new(l->tree, &l->ground, &l->walk);
        if (r < 0)
                return r;
        tree_walk_on(l->walk, lookout_enter, lookout_found, l);
        config = (TranslatorConfig){
                .base = l->place.base,
                .file = l->place.file,
                .by_directories = l->tier == TIER_DIRECTORIES,
                .late_stores = str_equal(l->place.fstype, "overlay"),
                .tree = l->tree,
                .ground = &l->ground,
                .walk = l->walk,
                .emit = lookout_emit,
                .userdata = l,
        };
        return translator_new(&config, &l->translator);
}

int lookout_new(const LookoutConfig *config, WatcherStatus *status, Lookout **ret) {
        _cleanup_(lookout_freep) Lookout *l = NULL;
        int r;

        r = lookout_begin(config, status, &l);
        if (r < 0)
                return r;
        r = lookout_place(l, status);
        if (r < 0)
                return r;
        status->tier = l->tier;
        /* The marks come first: what changes while the tree is read waits in the queue. */
        r = lookout_build(l);
        if (r < 0)
                return r;
        r = read_tree(l);
        if (r < 0)
                return r;
        ground_release(&l->ground);
        l->live = true;
        *ret = TAKE_PTR(l);
        return 0;
}

int lookout_probe(const LookoutConfig *config, WatcherStatus *status) {
        _cleanup_(lookout_freep) Lookout *l = NULL;
        int r;

        r = lookout_begin(config, status, &l);
        if (r < 0)
                return r;
        r = lookout_place(l, status);
        if (r >= 0)
                status->tier = l->tier;
        return r;
}

Lookout *lookout_free(Lookout *l) {
        size_t i;

        if (!l)
                return NULL;
        for (i = 0; i < FAMILY; i++)
                free(l->family[i]);
        translator_free(l->translator);
        tree_walk_free(l->walk);
        tree_free(l->tree);
        guesses_free(l->guesses);
        batch_done(&l->batch);
        ground_done(&l->ground);
        place_done(&l->place);
        safe_close(l->group);
        free(l);
        return NULL;
}

int lookout_fd(const Lookout *l) {
        return l->group;
}

size_t lookout_backlog(const Lookout *l) {
        int bytes = 0;

        /* The kernel counts each event with the size of its fixed part, whatever its names. */
        if (ioctl(l->group, FIONREAD, &bytes) < 0 || bytes < 0)
                return 0;
        return (size_t) bytes / sizeof(struct fanotify_event_metadata);
}

bool lookout_in_burst(const Lookout *l) {
        return l->batch.burst;
}

uint64_t lookout_seen(const Lookout *l) {
        return l->seen;
}

/* The marks go with the superblock, and no event tells: only the descriptor's own list of marks. The first is enough. */
static bool mark_lives(const Lookout *l) {
        char path[64], want[64], text[1024];
        size_t n;

        (void) snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", l->group);
        if (textfile_read_at(AT_FDCWD, path, text, sizeof(text) - 1, &n) < 0)
                return false;
        text[n] = '\0';
        /* The kernel prints its own form of dev_t: 12 bits major, 20 bits minor. */
        (void) snprintf(want, sizeof(want), "sdev:%x ",
                        (major(l->place.dev) << 20) | minor(l->place.dev));
        return strstr(text, want) != NULL;
}

static bool is_unmounted(const Lookout *l) {
        _cleanup_(place_done) Place place = {};

        return l->place.scope == SCOPE_FILESYSTEM && place_resolve(l->config->path, &place) == 0 &&
                place.scope != SCOPE_FILESYSTEM;
}

bool lookout_root_gone(const Lookout *l) {
        return l->astray || translator_root_gone(l->translator);
}

const char *lookout_lost_ground(Lookout *l) {
        int fd;

        if (lookout_root_gone(l))
                return "root-gone";
        /* What this program holds keeps the marks alive after the unmounting. */
        ground_release(&l->ground);
        if (!mark_lives(l) || is_unmounted(l))
                return "unmounted";
        fd = ground_fd(&l->ground);
        ground_release(&l->ground);
        if (fd == -ESTALE)
                return "mounted-over";
        return fd < 0 ? "root-gone" : NULL;
}

bool lookout_holds(const Lookout *l) {
        return ground_is_held(&l->ground);
}

void lookout_let_go(Lookout *l) {
        ground_release(&l->ground);
}

bool lookout_is_mount(const Lookout *l) {
        return l->place.scope == SCOPE_FILESYSTEM;
}

usec_t lookout_quiet_since(const Lookout *l) {
        return l->batch.empty_at_wall;
}

void lookout_count(const Lookout *l, WatcherStatus *status) {
        status->directories = tree_directories(l->tree);
        status->files = tree_others(l->tree);
        status->tree_partial = tree_is_partial(l->tree);
        if (l->unmarked > 0)
                (void) snprintf(status->reason, sizeof(status->reason),
                                "%zu of %zu directories could not be given a mark: what happens in "
                                "them is not seen",
                                l->unmarked, tree_directories(l->tree));
}
