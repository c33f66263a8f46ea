/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/lookout.h"

#include "daemon/kernel/fan_group.h"
#include "daemon/kernel/resync.h"
#include "daemon/kernel/textfile.h"
#include "daemon/kernel/translate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#define NODES_DEFAULT 500000
#define FAMILY 4

static const char *const family_suffixes[FAMILY] = {"", "-wal", "-shm", "-journal"};

struct Lookout {
        const LookoutConfig *config;
        Place place;
        Tier tier;
        int group;
        Batch batch;
        Ground ground;
        Tree *tree;
        TreeWalk *walk;
        Translator *translator;
        uint64_t seen;
        char *family[FAMILY + 1]; /* file scope: the names that are watched */
        bool behind;              /* events were dropped: the tree does not match any more */
        nsec_t behind_since;
        Resync *resync; /* differences that the events that wait may still explain */
};

/* In file scope the configured path may be a symlink to a file of another name. */
static char *as_configured(const Lookout *l, char *path) {
        const char *name;
        char *renamed;

        if (l->place.scope != SCOPE_FILE || !path)
                return path;
        name = strrchr(path, '/') + 1;
        if (asprintf(&renamed, "%s%s", l->config->path, name + strlen(l->place.file)) < 0)
                renamed = NULL;
        free(path);
        return renamed;
}

static void put_loss(const Lookout *l, const char *reason, usec_t at, usec_t until) {
        Note *n = note_new(NOTE_LOSS);

        if (!n)
                return;
        (void) snprintf(n->loss, sizeof(n->loss), "%s", reason);
        n->at = at;
        n->until = until;
        notes_put(l->config->notes, n);
}

static void emit(void *userdata, Change *c) {
        Lookout *l = userdata;
        Note *n = note_new(NOTE_CHANGE);

        c->path = as_configured(l, c->path);
        if (c->op == OP_RENAME)
                c->from = as_configured(l, c->from);
        if (!n || !c->path || (c->op == OP_RENAME && !c->from)) {
                note_free(n);
                put_loss(l, "out-of-memory", c->at, c->at);
                return;
        }
        n->change = *c;
        *c = (Change){};
        notes_put(l->config->notes, n);
}

static void cover_all(Coverage *c) {
        size_t i;

        *c = (Coverage){};
        for (i = 0; i < ELEMENTSOF(c->op); i++)
                c->op[i] = SIGHT_EXACT;
}

static int place_marks(Lookout *l, WatcherStatus *status) {
        int fd, r;

        r = fan_group_open_names(l->config->options->limited_queue, &l->group);
        if (r < 0) {
                (void) snprintf(status->reason, sizeof(status->reason),
                                "no name events can be had: %s", fan_group_refusal(r));
                return r;
        }
        fd = ground_fd(&l->ground);
        if (fd < 0)
                return fd;
        r = fan_group_mark_filesystem(l->group, fd);
        if (r < 0) {
                (void) snprintf(status->reason, sizeof(status->reason),
                                "a mark on the filesystem is refused: %s", fan_group_refusal(r));
                return r;
        }
        l->tier = TIER_FILESYSTEM;
        cover_all(&status->coverage);
        return 0;
}

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
        r = tree_walk_add(l->walk, tree_root(l->tree));
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
        l->group = l->batch.fd = l->ground.fd = -1;
        r = place_resolve(config->path, &l->place);
        if (r < 0)
                return r;
        status->scope = l->place.scope;
        memcpy(status->fstype, l->place.fstype, sizeof(status->fstype));
        r = ground_init(&l->ground, l->place.root);
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
        r = tree_new(max ? max : NODES_DEFAULT, l->ground.root_id, &l->tree);
        if (r < 0)
                return r;
        r = tree_walk_new(l->tree, &l->ground, &l->walk);
        if (r < 0)
                return r;
        config = (TranslatorConfig){
                .base = l->place.base,
                .file = l->place.file,
                .tree = l->tree,
                .ground = &l->ground,
                .walk = l->walk,
                .emit = emit,
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
        r = place_marks(l, status);
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
        *ret = TAKE_PTR(l);
        return 0;
}

int lookout_probe(const LookoutConfig *config, WatcherStatus *status) {
        _cleanup_(lookout_freep) Lookout *l = NULL;
        int r;

        r = lookout_begin(config, status, &l);
        if (r < 0)
                return r;
        r = place_marks(l, status);
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
        resync_free(l->resync);
        translator_free(l->translator);
        tree_walk_free(l->walk);
        tree_free(l->tree);
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

/* What no event explained, now that all that waited have been read. */
static void tell_differences(Lookout *l) {
        Resync *resync = TAKE_PTR(l->resync);
        Change c;

        while (resync_next(resync, &c)) {
                c.not_before = l->behind_since;
                c.read_at = clock_nsec();
                c.at = clock_usec();
                emit(l, &c);
                change_done(&c);
        }
        resync_free(resync);
}

/* The kernel dropped events, and what was queued before and after has been read: see what was missed. */
static int catch_up(Lookout *l) {
        ResyncConfig config = {
                .tree = l->tree,
                .ground = &l->ground,
                .base = l->place.base,
                .names = l->place.file ? (const char *const *) l->family : NULL,
                .abort = l->config->abort,
                .userdata = l->config->userdata,
        };

        l->behind = false;
        return resync_new(&config, &l->resync);
}

static void fall_behind(Lookout *l, usec_t since, const Record *rec) {
        put_loss(l, "overflow", since, rec->at);
        if (!l->behind)
                l->behind_since = rec->not_before;
        l->behind = true;
        /* A directory that nobody told of is not outside for that reason. */
        tree_set_lacks_directories(l->tree, true);
}

static int work(Lookout *l, usec_t since) {
        size_t i, n;
        int r = 0;

        for (i = 0; i < l->batch.n && r >= 0; i++) {
                if (l->batch.records[i].fan.mask & FAN_BIT_OVERFLOW)
                        fall_behind(l, since, &l->batch.records[i]);
                else
                        r = translator_record(l->translator, &l->batch, i);
        }
        l->seen += l->batch.n;
        n = translator_take_unresolved(l->translator);
        if (n > 0)
                put_loss(l, "unresolved", since, clock_usec());
        return r;
}

int lookout_read(Lookout *l) {
        usec_t since = l->batch.empty_at_wall;
        bool again = false;
        int r;

        r = batch_read(&l->batch);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                put_loss(l, "read-error", since, clock_usec());
                notes_publish(l->config->notes);
                return 1;
        }
        r = work(l, since);
        if (r >= 0 && !l->batch.drained) {
                again = true;
        } else if (r >= 0) {
                again = translator_settle(l->translator, /* all= */ false);
                if (l->resync)
                        tell_differences(l);
                if (l->behind) {
                        r = catch_up(l);
                        again = true;
                }
        }
        notes_publish(l->config->notes);
        return r < 0 ? r : again;
}

size_t lookout_backlog(const Lookout *l) {
        int bytes = 0;

        /* The kernel counts each event with the size of its fixed part, whatever its names. */
        if (ioctl(l->group, FIONREAD, &bytes) < 0 || bytes < 0)
                return 0;
        return (size_t) bytes / sizeof(struct fanotify_event_metadata);
}

uint64_t lookout_seen(const Lookout *l) {
        return l->seen;
}

void lookout_rest(Lookout *l) {
        (void) translator_settle(l->translator, /* all= */ true);
        ground_release(&l->ground);
        notes_publish(l->config->notes);
}

/* The mark goes with the superblock, and no event tells: only the descriptor's own list of marks. */
static bool mark_lives(const Lookout *l) {
        _cleanup_free_ char *text = NULL;
        char path[64], want[64];
        size_t n;

        (void) snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", l->group);
        if (textfile_read_all_at(AT_FDCWD, path, 1U << 20, &text, &n) < 0)
                return false;
        /* The kernel prints its own form of dev_t: 12 bits major, 20 bits minor. */
        (void) snprintf(want, sizeof(want), "sdev:%x ",
                        (major(l->place.dev) << 20) | minor(l->place.dev));
        return strstr(text, want) != NULL;
}

const char *lookout_lost_ground(Lookout *l) {
        int fd;

        if (translator_root_gone(l->translator))
                return "root-gone";
        if (!mark_lives(l))
                return "unmounted";
        ground_release(&l->ground);
        fd = ground_fd(&l->ground);
        ground_release(&l->ground);
        if (fd == -ESTALE)
                return "mounted-over";
        return fd < 0 ? "root-gone" : NULL;
}

bool lookout_root_gone(const Lookout *l) {
        return translator_root_gone(l->translator);
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
}
