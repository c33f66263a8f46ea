/* SPDX-License-Identifier: MIT */
#include "daemon/hashing.h"
#include "daemon/job.h"
#include "daemon/store/keep.h"

#include <errno.h>
#include <utlist.h>

struct Hashing {
        Hashing *next;
        char session[17];
        char *state_dir;
        Kept kept;
        int r;
};

static void hashing_free(Hashing *h) {
        kept_done(&h->kept);
        free(h->state_dir);
        free(h);
}

static void start_next(Manager *m);

static void hashing_run(void *userdata) {
        Hashing *h = userdata;

        h->r = keep_hash(h->state_dir, h->session, &h->kept, NULL);
}

static void hashing_done(Manager *m, void *userdata) {
        Hashing *h = userdata;

        if (m && h->r >= 0 && h->kept.has_hash &&
            store_set_kept_hash(m->store, h->kept.id, h->kept.hash) >= 0)
                manager_store_written(m);
        hashing_free(h);
        if (!m)
                return;
        m->hashing_runs = false;
        start_next(m);
}

static void start_next(Manager *m) {
        Hashing *h = m->hashing;

        if (!h || m->hashing_runs)
                return;
        if (job_start_background(m->jobs, hashing_run, hashing_done, h) < 0)
                return; /* too many at work: the next one that is added tries again */
        LL_DELETE(m->hashing, h);
        m->n_hashing--;
        m->hashing_runs = true;
}

static int add(Manager *m, const char *session, Kept *k) {
        Hashing *h = calloc(1, sizeof *h);

        if (!h)
                return -ENOMEM;
        h->state_dir = strdup(m->state_dir);
        if (!h->state_dir) {
                free(h);
                return -ENOMEM;
        }
        (void) strncpy(h->session, session, sizeof h->session - 1);
        h->kept = *k;
        *k = (Kept){};
        LL_PREPEND(m->hashing, h);
        m->n_hashing++;
        return 0;
}

void hashing_add(Manager *m, const char *session, KeptList *list) {
        for (size_t i = 0; i < list->n; i++) {
                Kept *k = &list->list[i];

                if (!k->blob || k->id == 0 || k->has_hash || m->n_hashing >= HASHING_MAX)
                        continue;
                if (add(m, session, k) < 0)
                        break;
        }
        start_next(m);
}

void hashing_free_all(Manager *m) {
        Hashing *h, *next;

        LL_FOREACH_SAFE (m->hashing, h, next) {
                LL_DELETE(m->hashing, h);
                hashing_free(h);
        }
        m->n_hashing = 0;
}
