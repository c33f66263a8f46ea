/* SPDX-License-Identifier: MIT */
#include "daemon/record.h"
#include "daemon/alert.h"
#include "daemon/core/image.h"
#include "daemon/live.h"
#include "daemon/stream.h"
#include "daemon/watched.h"

/* One image serves a run of operations of the same stranger. */
static int stranger(Manager *m, pid_t pid, Image **ret) {
        const ProcessDetails unknown = {.pid = pid, .uid = (uid_t) -1};
        int r;

        if (!m->stranger || m->stranger->pid != pid) {
                m->stranger = image_unref(m->stranger);
                r = image_new(NULL, &unknown, &m->stranger);
                if (r < 0)
                        return r;
        }
        *ret = m->stranger;
        return 0;
}

void record_operation(Manager *m, Operation *op, Image *author, pid_t pid) {
        Live *live = op->session ? live_find(m, op->session) : NULL;
        Image *image = author;
        Watched *watched;
        bool folded;
        int r;

        r = image ? 0 : stranger(m, pid, &image);
        if (r < 0) {
                manager_store_failed(m, r);
                return;
        }
        r = store_put_image(m->store, image);
        op->process_id = image->store_id;
        if (r >= 0)
                r = store_put_operation(m->store, op, &folded);
        if (r < 0)
                manager_store_failed(m, r);
        else
                manager_store_written(m);

        for (Session *s = live ? live->session->outer : NULL; s; s = s->outer) {
                s->operations++;
                s->violations += op->violation;
        }
        watched = watched_find(m, op->watch);
        if (watched)
                watch_counters_add(&watched->counters, op);
        stream_publish(m, op, image);
        if (op->violation)
                alert_violation(m, live, op, image);
}
