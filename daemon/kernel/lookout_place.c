/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/fan_group.h"
#include "daemon/kernel/lookout_private.h"

#include <errno.h>
#include <stdio.h>

static void explain(WatcherStatus *status, const char *before, int error, const char *after) {
        (void) snprintf(status->reason, sizeof(status->reason), "%s%s%s", before,
                        fan_group_refusal(error), after);
}

static const char too_old[] =
        ", and this kernel takes no marks on its directories either (from 6.8 on it would)";

void lookout_explain_no_handles(WatcherStatus *status) {
        explain(status, "", -EOPNOTSUPP, too_old);
}

static void cover_all(Coverage *c) {
        size_t i;

        *c = (Coverage){};
        for (i = 0; i < ELEMENTSOF(c->op); i++)
                c->op[i] = SIGHT_EXACT;
}

static bool is_smb(const Lookout *l) {
        return str_equal(l->place.fstype, "cifs") || str_equal(l->place.fstype, "smb3");
}

/* One mark for each directory, where one for all is refused (error). */
static int place_directories(Lookout *l, int fd, int error, WatcherStatus *status) {
        int r;

        r = fan_group_mark_directory(l->group, fd, /* is_root= */ true);
        if (r == -EOPNOTSUPP || r == -ENODEV || r == -EXDEV || r == -EINVAL) {
                explain(status, "", error, too_old);
                return r;
        }
        if (r < 0) {
                explain(status, "a mark on the directory is refused: ", r, "");
                return r;
        }
        l->tier = TIER_DIRECTORIES;
        cover_all(&status->coverage);
        /* SMB makes no event for a plain open() that creates: it is concluded from what comes after (6.1 to 7.3). */
        if (is_smb(l))
                status->coverage.op[OP_CREATE] = SIGHT_INFERRED;
        explain(status, "", error,
                ": each directory has a mark of its own; what is made in a new one before it has its "
                "mark is inferred, in one that was moved in it is not seen");
        return 0;
}

int lookout_place(Lookout *l, WatcherStatus *status) {
        const WatcherOptions *options = l->config->options;
        int fd, r;

        r = fan_group_open_names(options->limited_queue, &l->group);
        if (r < 0) {
                explain(status, "no name events can be had: ", r, "");
                return r;
        }
        fd = ground_fd(&l->ground);
        if (fd < 0)
                return fd;
        r = options->no_filesystem_mark ? -EOPNOTSUPP : fan_group_mark_filesystem(l->group, fd);
        if (r == -EOPNOTSUPP || r == -ENODEV || r == -EXDEV)
                return place_directories(l, fd, r, status);
        if (r < 0) {
                explain(status, "a mark on the filesystem is refused: ", r, "");
                return r;
        }
        l->tier = TIER_FILESYSTEM;
        cover_all(&status->coverage);
        return 0;
}

int lookout_enter(void *userdata, const Node *directory, int fd) {
        Lookout *l = userdata;
        int r;

        if (l->tier != TIER_DIRECTORIES || !directory->parent)
                return 0;
        r = fan_group_mark_directory(l->group, fd, /* is_root= */ false);
        if (r < 0) {
                /* It is read all the same: what lies below may be marked. */
                if (l->live)
                        lookout_put_loss(l, "mark-refused", clock_usec(), clock_usec(), 1);
                l->unmarked++;
        }
        return 0;
}
