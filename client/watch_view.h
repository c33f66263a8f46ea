/* SPDX-License-Identifier: MIT */
/* A watch as the daemon tells it (type Watch of io.mountwatch). */
#ifndef MOUNTWATCH_CLIENT_WATCH_VIEW_H
#define MOUNTWATCH_CLIENT_WATCH_VIEW_H

#include <json-c/json.h>

#include "common/matrix.h"
#include "common/operation.h"

typedef struct WatchView {
        char *name, *path;
        Scope scope;
        Policy policy;
        char *untagged, *state, *tier; /* words of the description file */
        char *fstype, *reason;         /* NULL: none */
        uint64_t directories, files;
        Coverage coverage;
        bool has_facts; /* what follows is known: it is a watch, not a session's memory of one */
        MatrixFacts facts;
        char *hold, *hold_reason; /* word of the description file; NULL: none */
        char *kernel_reason;      /* why the kernel itself would refuse nothing; NULL: none */
} WatchView;

typedef struct WatchViews {
        WatchView *items;
        size_t n;
} WatchViews;

/* The array `watches` of a reply. -EBADMSG for another shape. */
int watch_views_from_json(json_object *reply, WatchViews *ret);
void watch_views_done(WatchViews *w);
/* NULL: none of that name. */
const WatchView *watch_views_find(const WatchViews *w, const char *name);

/* The member of `watches` in the report (DESIGN.md 4.3). NULL: no memory. */
json_object *watch_view_to_report_json(const WatchView *w);

/* Nothing is armed without a session, so an idle watch is as good as an armed one. */
static inline bool watch_view_is_ready(const WatchView *w) {
        return str_equal(w->state, "idle") || str_equal(w->state, "armed");
}

/* What is seen, in words: "create, modify, delete: seen exactly; rename: by a rule". And what can be refused. Allocated; NULL: no memory. */
char *coverage_seen_text(const Coverage *c);
char *coverage_refused_text(const Coverage *c);

#endif
