/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/strv.h"
#include "daemon/core/image.h"

/* ---- programs ---- */

int program_new(char *exe, char **cmdline, char *cwd, Program **ret) {
        Program *p = calloc(1, sizeof *p);

        if (!p) {
                free(exe);
                (void) strv_free(cmdline);
                free(cwd);
                return -ENOMEM;
        }
        *p = (Program){.n_ref = 1, .exe = exe, .cmdline = cmdline, .cwd = cwd};
        *ret = p;
        return 0;
}

Program *program_ref(Program *p) {
        p->n_ref++;
        return p;
}

Program *program_unref(Program *p) {
        if (!p || --p->n_ref > 0)
                return NULL;
        free(p->exe);
        (void) strv_free(p->cmdline);
        free(p->cwd);
        free(p);
        return NULL;
}

/* ---- images ---- */

/* Keeps chains short: the middle goes, the top (where the session began) and the bottom stay. */
static Image *shortened(Image *parent) {
        if (!parent || parent->depth + 1 < PROCESS_DEPTH_MAX)
                return parent;
        while (parent->depth > PROCESS_DEPTH_MAX / 2)
                parent = parent->parent;
        return parent;
}

int image_new(Image *parent, const ProcessDetails *details, Image **ret) {
        Image *i = calloc(1, sizeof *i);

        if (!i)
                return -ENOMEM;
        parent = shortened(parent);
        *i = (Image){
                .n_ref = 1,
                .parent = parent ? image_ref(parent) : NULL,
                .program = details->program ? program_ref(details->program) : NULL,
                .pid = details->pid,
                .ppid = details->ppid,
                .start_ticks = details->start_ticks,
                .uid = details->uid,
                .depth = parent ? parent->depth + 1 : 0,
        };
        *ret = i;
        return 0;
}

Image *image_ref(Image *i) {
        i->n_ref++;
        return i;
}

/* A loop, not a recursion: the last reference to a child is often the last one to its parent. */
Image *image_unref(Image *i) {
        while (i && --i->n_ref == 0) {
                Image *parent = i->parent;

                (void) program_unref(i->program);
                free(i);
                i = parent;
        }
        return NULL;
}

ProcessDetails image_details(const Image *i) {
        return (ProcessDetails){
                .pid = i->pid,
                .ppid = i->ppid,
                .start_ticks = i->start_ticks,
                .uid = i->uid,
                .program = i->program,
        };
}

static bool program_is_outdated(const Program *known, const Program *news) {
        if (!news)
                return false;
        if (!known)
                return true;
        if (news->exe && !str_equal(known->exe, news->exe))
                return true;
        /* a zombie's is empty */
        return strv_length(news->cmdline) > 0 && !strv_equal(known->cmdline, news->cmdline);
}

bool image_is_outdated(const Image *i, const ProcessDetails *d) {
        return (d->start_ticks != 0 && i->start_ticks != d->start_ticks) || i->uid != d->uid ||
                program_is_outdated(i->program, d->program);
}
