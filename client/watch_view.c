/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "client/watch_view.h"
#include "common/operation_json.h"

static void watch_view_done(WatchView *w) {
        char *texts[] = {w->name,   w->path,   w->untagged, w->state,       w->tier,
                         w->fstype, w->reason, w->hold,     w->hold_reason, w->kernel_reason};

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                free(texts[i]);
        *w = (WatchView){};
}

static int read_words(json_object *o, WatchView *w) {
        const char *word;
        int r, scope, policy;

        r = json_need(json_get_string(o, "scope", &word));
        if (r < 0)
                return r;
        scope = scope_from_string(word);
        r = json_need(json_get_string(o, "policy", &word));
        if (r < 0)
                return r;
        policy = policy_from_string(word);
        if (scope < 0 || policy < 0)
                return -EBADMSG;
        w->scope = (Scope) scope;
        w->policy = (Policy) policy;
        return 0;
}

/* Older daemons do not tell. */
static int read_facts(json_object *o, WatchView *w) {
        int r = json_get_bool(o, "guard", &w->facts.guard);

        w->has_facts = r > 0;
        r = r < 0 ? r : json_get_text(o, "hold", &w->hold);
        r = r < 0 ? r : json_get_text(o, "holdReason", &w->hold_reason);
        r = r < 0 ? r : json_get_bool(o, "preserve", &w->facts.preserve);
        r = r < 0 ? r : json_get_bool(o, "snapshot", &w->facts.snapshot);
        r = r < 0 ? r : json_get_bool(o, "kernel", &w->facts.kernel);
        r = r < 0 ? r : json_get_text(o, "kernelReason", &w->kernel_reason);
        w->facts.kernel = w->facts.kernel && w->policy == POLICY_DENY;
        w->facts.hold = str_equal(w->hold, "possible");
        for (OpType op = 0; op < _OP_MAX; op++)
                w->facts.sight[op] = w->coverage.op[op];
        return MIN(r, 0);
}

static int watch_view_from_json(json_object *o, WatchView *w) {
        int64_t directories = 0, files = 0;
        json_object *coverage = NULL;
        int r = json_need(json_get_text(o, "name", &w->name));

        r = r < 0 ? r : json_need(json_get_text(o, "path", &w->path));
        r = r < 0 ? r : read_words(o, w);
        r = r < 0 ? r : json_need(json_get_text(o, "untagged", &w->untagged));
        r = r < 0 ? r : json_need(json_get_text(o, "state", &w->state));
        r = r < 0 ? r : json_need(json_get_text(o, "tier", &w->tier));
        r = r < 0 ? r : json_get_text(o, "fstype", &w->fstype);
        r = r < 0 ? r : json_get_text(o, "reason", &w->reason);
        r = r < 0 ? r : json_need(json_get_int(o, "directories", 0, INT64_MAX, &directories));
        r = r < 0 ? r : json_need(json_get_int(o, "files", 0, INT64_MAX, &files));
        r = r < 0 ? r : json_need(json_get(o, "coverage", json_type_object, &coverage));
        if (r < 0)
                return r;
        w->directories = (uint64_t) directories;
        w->files = (uint64_t) files;
        r = coverage_from_json(coverage, &w->coverage);
        return r < 0 ? r : read_facts(o, w);
}

int watch_views_from_json(json_object *reply, WatchViews *ret) {
        _cleanup_(watch_views_done) WatchViews views = {};
        json_object *array;
        size_t n;
        int r;

        r = json_need(json_get(reply, "watches", json_type_array, &array));
        if (r < 0)
                return r;
        n = json_object_array_length(array);
        views.items = calloc(n + 1, sizeof(*views.items));
        if (!views.items)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                r = watch_view_from_json(json_object_array_get_idx(array, i),
                                         &views.items[views.n++]);
                if (r < 0)
                        return r;
        }
        *ret = views;
        views = (WatchViews){};
        return 0;
}

void watch_views_done(WatchViews *w) {
        for (size_t i = 0; i < w->n; i++)
                watch_view_done(&w->items[i]);
        free(w->items);
        *w = (WatchViews){};
}

const WatchView *watch_views_find(const WatchViews *w, const char *name) {
        for (size_t i = 0; i < w->n; i++)
                if (str_equal(w->items[i].name, name))
                        return &w->items[i];
        return NULL;
}

json_object *watch_view_to_report_json(const WatchView *w) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? json_add_text(o, "name", w->name) : -ENOMEM;

        r = r < 0 ? r : json_add_path(o, "path", w->path);
        r = r < 0 ? r : json_add_text(o, "scope", scope_to_string(w->scope));
        r = r < 0 ? r : json_add_text(o, "policy", policy_to_string(w->policy));
        r = r < 0 ? r : json_add(o, "coverage", coverage_to_json(&w->coverage));
        return r < 0 ? NULL : TAKE_PTR(o);
}

/* "create, modify" of the operations that `chosen` says yes to; false when there is none. */
static bool put_operations(FILE *f, const Coverage *c,
                           bool (*chosen)(const Coverage *, OpType, int), int arg) {
        bool any = false;

        for (OpType op = 0; op < _OP_MAX; op++) {
                if (!chosen(c, op, arg))
                        continue;
                fprintf(f, "%s%s", any ? ", " : "", op_type_to_string(op));
                any = true;
        }
        return any;
}

static bool is_seen(const Coverage *c, OpType op, int sight) {
        return c->op[op] == (Sight) sight;
}

static bool is_refusable(const Coverage *c, OpType op, _unused_ int arg) {
        return c->deny[op];
}

static bool has_sight(const Coverage *c, Sight sight) {
        for (OpType op = 0; op < _OP_MAX; op++)
                if (c->op[op] == sight)
                        return true;
        return false;
}

char *coverage_seen_text(const Coverage *c) {
        static const char *const words[_SIGHT_MAX] = {
                [SIGHT_EXACT] = ": seen exactly",
                [SIGHT_INFERRED] = ": seen, author by inference",
                [SIGHT_NONE] = ": not seen",
        };
        static const Sight order[] = {SIGHT_EXACT, SIGHT_INFERRED, SIGHT_NONE};
        char *text = NULL;
        size_t size;
        bool any = false;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(order); i++) {
                if (!has_sight(c, order[i]))
                        continue;
                fputs(any ? "; " : "", f);
                any = put_operations(f, c, is_seen, (int) order[i]);
                fputs(words[order[i]], f);
        }
        if (fclose(f) != 0) {
                free(text);
                return NULL;
        }
        return text;
}

char *coverage_refused_text(const Coverage *c) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        if (put_operations(f, c, is_refusable, 0))
                fputs(": can be refused", f);
        else
                fputs("nothing can be refused on this kernel", f);
        if (fclose(f) != 0) {
                free(text);
                return NULL;
        }
        return text;
}
