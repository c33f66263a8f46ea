/* SPDX-License-Identifier: MIT */
/*
 * The placing thread. Owns the directories of the subtree. May hang for as long as the filesystem likes; the answering thread goes on
 * meanwhile, also after hold_free().
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <utlist.h>

#include "daemon/kernel/hold_dirs.h"
#include "daemon/kernel/hold_private.h"
#include "daemon/kernel/hold_probe.h"
#include "daemon/kernel/place.h"

static bool must_stop(void *hold) {
        Hold *h = hold;
        bool failed;

        (void) pthread_mutex_lock(&h->lock);
        failed = h->state < 0;
        (void) pthread_mutex_unlock(&h->lock);
        return failed || atomic_load(&h->stop);
}

static const WatchSite *own_site(const Hold *h) {
        for (size_t i = 0; i < h->sites->n; i++)
                if (str_equal(h->sites->sites[i].name, h->watch))
                        return &h->sites->sites[i];
        return NULL;
}

/* One mark for all, or one for each directory? What is mounted may be a part of a larger filesystem (a bind mount, a subvolume):
 * the rest of it is not to be held. A server's shares are a superblock each. */
static bool is_whole(const Hold *h, const Place *p) {
        const WatchSite *site = own_site(h);

        return p->scope == SCOPE_FILESYSTEM && (p->remote || (site && str_equal(site->inner, "/")));
}

static int mark_filesystem(Hold *h, const char *root) {
        if (fanotify_mark(h->group, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_PERM, AT_FDCWD,
                          root) < 0)
                return -errno;
        return 0;
}

/* The file may be replaced, and side files come and go: its directory. Other files there are let at once. */
static int mark_directory(Hold *h, const char *root) {
        if (fanotify_mark(h->group, FAN_MARK_ADD | FAN_MARK_ONLYDIR,
                          FAN_OPEN_PERM | FAN_EVENT_ON_CHILD, AT_FDCWD, root) < 0)
                return -errno;
        return 0;
}

static int walk(Hold *h, HoldDirs *dirs) {
        int r;

        do {
                if (must_stop(h))
                        return -ECANCELED;
                r = hold_dirs_step(dirs);
        } while (r > 0);
        return r;
}

static int mark_subtree(Hold *h, const char *root, HoldDirs **ret) {
        _cleanup_(hold_dirs_freep) HoldDirs *dirs = NULL;
        int r;

        r = hold_dirs_new(h->group, root, &h->creations, &dirs);
        if (r == 0)
                r = walk(h, dirs);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(dirs);
        return 0;
}

static const char *describe(int r) {
        switch (r) {
        case -ENOSPC:
                return "the limit of inotify watches is reached (fs.inotify.max_user_watches)";
        case -EACCES:
                return "a directory does not let this service in";
        case -ESTALE:
                return "the watched directory is gone";
        case -EMFILE:
                return "the limit of inotify instances is reached (fs.inotify.max_user_instances)";
        default:
                return strerror(-r); // NOLINT(concurrency-mt-unsafe)
        }
}

static int place(Hold *h, HoldDirs **ret_dirs, const char **ret_reason) {
        _cleanup_(place_done) Place p = {0};
        int r;

        r = place_resolve(h->path, &p);
        if (r < 0)
                return r;
        r = hold_probe(p.root, must_stop, h, ret_reason);
        if (r < 0)
                return r;
        creations_mark_filesystem(&h->creations, p.root);
        if (p.scope == SCOPE_FILE)
                return mark_directory(h, p.root);
        return is_whole(h, &p) ? mark_filesystem(h, p.root) : mark_subtree(h, p.root, ret_dirs);
}

static Leftover *take_leftover(Hold *h) {
        Leftover *l;

        (void) pthread_mutex_lock(&h->lock);
        l = h->leftovers;
        if (l) {
                LL_DELETE(h->leftovers, l);
                h->n_leftovers--;
                (void) atomic_fetch_sub(&h->n_made, 1);
        }
        (void) pthread_mutex_unlock(&h->lock);
        return l;
}

static void remove_leftovers(Hold *h) {
        Leftover *l;

        while ((l = take_leftover(h))) {
                if (l->made.yes)
                        (void) made_remove(&l->made, l->path);
                free(l);
        }
}

static int follow(Hold *h, HoldDirs *dirs) {
        int r = hold_dirs_read(dirs);

        return r < 0 ? r : walk(h, dirs);
}

static void loop(Hold *h, HoldDirs *dirs) {
        while (!must_stop(h)) {
                struct pollfd p[] = {
                        {.fd = h->place_wake, .events = POLLIN},
                        {.fd = dirs ? hold_dirs_fd(dirs) : -1, .events = POLLIN},
                        {.fd = creations_fd(&h->creations), .events = POLLIN},
                };
                eventfd_t count;
                int r = 0;

                (void) poll(p, ELEMENTSOF(p), -1);
                if (p[0].revents)
                        (void) eventfd_read(h->place_wake, &count);
                if (p[2].revents)
                        creations_read(&h->creations);
                remove_leftovers(h);
                if (p[1].revents)
                        r = follow(h, dirs);
                if (r < 0 && r != -ECANCELED)
                        hold_set_state(h, r, describe(r));
        }
        remove_leftovers(h);
}

void *hold_place_main(void *hold) {
        _cleanup_(hold_dirs_freep) HoldDirs *dirs = NULL;
        const char *reason = NULL;
        Hold *h = hold;
        int r;

        (void) pthread_setname_np(pthread_self(), "hold-place");
        r = place(h, &dirs, &reason);
        if (r < 0)
                hold_set_state(h, r, reason ? reason : describe(r));
        else {
                hold_set_state(h, 1, "");
                loop(h, dirs);
        }
        atomic_store(&h->placed, true);
        hold_wake(h->answer_wake);
        hold_unref(h);
        return NULL;
}
