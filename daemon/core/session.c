/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/strv.h"
#include "daemon/core/created.h"
#include "daemon/core/hash.h"
#include "daemon/core/session.h"

int session_new(uint64_t id_bits, uid_t uid, usec_t now, Session **ret) {
        _cleanup_(session_freep) Session *s = calloc(1, sizeof *s);
        int r;

        if (!s)
                return -ENOMEM;
        (void) snprintf(s->id, sizeof s->id, "%016" PRIx64, id_bits);
        s->uid = uid;
        s->started = now;
        s->exit_status = -1;
        s->command = calloc(1, sizeof *s->command);
        if (!s->command)
                return -ENOMEM;
        r = created_set_new(&s->created);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

Session *session_free(Session *s) {
        if (!s)
                return NULL;
        free(s->label);
        (void) strv_free(s->command);
        free(s->cwd);
        free(s->test);
        free(s->cgroup);
        for (size_t i = 0; i < s->n_losses; i++)
                loss_done(&s->losses[i]);
        free(s->losses);
        (void) created_set_free(s->created);
        free(s);
        return NULL;
}

/* ---- losses ---- */

/* "Unknown" and some are unknown. */
static uint64_t count_sum(uint64_t a, uint64_t b) {
        if (a == 0 || b == 0)
                return 0;
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void loss_join(Loss *l, usec_t at, usec_t until, uint64_t count) {
        l->at = MIN(l->at, at);
        l->until = MAX(l->until, until);
        l->count = count_sum(l->count, count);
}

/* The one to join: the same reason and watch or, when there are too many already, the last of the same reason. */
static Loss *loss_find(Session *s, const char *reason, const char *watch) {
        Loss *last = NULL;

        for (size_t i = 0; i < s->n_losses; i++) {
                Loss *l = &s->losses[i];

                if (!str_equal(l->reason, reason))
                        continue;
                if (str_equal(l->watch, watch))
                        return l;
                last = l;
        }
        if (s->n_losses < SESSION_LOSSES_MAX || !last)
                return NULL;
        /* two watches in one: it may be any */
        free(last->watch);
        last->watch = NULL;
        return last;
}

int session_add_loss(Session *s, const char *reason, const char *watch, usec_t at, usec_t until,
                     uint64_t count) {
        _cleanup_free_ char *reason_copy = NULL, *watch_copy = NULL;
        Loss *l, *grown;

        until = MAX(at, until);
        l = loss_find(s, reason, watch);
        if (l) {
                loss_join(l, at, until, count);
                return 0;
        }
        reason_copy = strdup(reason);
        watch_copy = watch ? strdup(watch) : NULL;
        if (!reason_copy || (watch && !watch_copy))
                return -ENOMEM;
        grown = realloc(s->losses, (s->n_losses + 1) * sizeof *grown);
        if (!grown)
                return -ENOMEM;
        s->losses = grown;
        s->losses[s->n_losses++] = (Loss){
                .reason = TAKE_PTR(reason_copy),
                .watch = TAKE_PTR(watch_copy),
                .at = at,
                .until = until,
                .count = count,
        };
        return 0;
}

Verdict session_verdict(const Session *s) {
        if (s->violations > 0)
                return VERDICT_DIRTY;
        return session_is_complete(s) ? VERDICT_CLEAN : VERDICT_INCOMPLETE;
}

/* ---- creations ---- */

static uint64_t path_key(const Session *s, const char *path) {
        /* keyed by the session's chance, so that two paths that collide do so in one session only */
        return hash64(path, strlen(path), s->started, (uint64_t) strtoull(s->id, NULL, 16));
}

int session_remember_created(Session *s, const char *path, uint64_t object) {
        return created_set_put(s->created, path_key(s, path), object);
}

bool session_has_created(const Session *s, const char *path, uint64_t object) {
        uint64_t known;

        if (!created_set_find(s->created, path_key(s, path), &known))
                return false;
        return known == 0 || object == 0 || known == object;
}

void session_forget_created(Session *s, const char *path) {
        created_set_remove(s->created, path_key(s, path));
}
