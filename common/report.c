/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/hash.h"
#include "common/report.h"
#include "common/report_row.h"

typedef struct Author {
        ProcessInfo process;
        UT_hash_handle hh;
} Author;

struct Report {
        Author *authors; /* by id */
        ReportRows rows;
        Net *net;
};

int report_new(Report **ret) {
        _cleanup_(report_freep) Report *r = calloc(1, sizeof *r);
        int k;

        if (!r)
                return -ENOMEM;
        k = net_new(&r->net);
        if (k < 0)
                return k;
        *ret = TAKE_PTR(r);
        return 0;
}

Report *report_free(Report *r) {
        Author *author, *next;

        if (!r)
                return NULL;
        HASH_ITER (hh, r->authors, author, next) {
                HASH_DEL(r->authors, author);
                process_info_done(&author->process);
                free(author);
        }
        report_rows_done(&r->rows);
        if (r->net)
                net_free(r->net);
        free(r);
        return NULL;
}

const ProcessInfo *report_process(const Report *r, int64_t id) {
        Author *author;

        HASH_FIND(hh, r->authors, &id, sizeof id, author);
        return author ? &author->process : NULL;
}

int report_take_process(Report *r, ProcessInfo *p) {
        Author *author;

        if (report_process(r, p->id)) {
                process_info_done(p);
                return 0;
        }
        author = calloc(1, sizeof *author);
        if (!author)
                return -ENOMEM;
        author->process = *p;
        HASH_ADD(hh, r->authors, process.id, sizeof author->process.id, author);
        if (!author->hh.tbl) {
                free(author);
                return -ENOMEM;
        }
        *p = (ProcessInfo){};
        return 0;
}

int report_take_operation(Report *r, Operation *o) {
        int k;

        k = net_apply(r->net, o);
        if (k < 0)
                return k;
        return report_rows_take(&r->rows, o, report_process(r, o->process_id));
}

size_t report_n_rows(const Report *r) {
        return r->rows.n;
}

const Operation *report_row(const Report *r, size_t i) {
        return report_rows_get(&r->rows, i);
}

int report_net(Report *r, const NetLists **ret) {
        return net_lists(r->net, ret);
}
