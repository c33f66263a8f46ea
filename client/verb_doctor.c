/* SPDX-License-Identifier: MIT */
/* mountwatch doctor: what can be seen of each watch, why not more, and what to do about it. */
#include <errno.h>
#include <inttypes.h>

#include "client/canary.h"
#include "client/matrix_text.h"
#include "client/terminal.h"
#include "client/verb.h"
#include "client/watch_view.h"
#include "common/json_member.h"
#include "common/path_text.h"

static const struct {
        const char *state, *text, *advice;
} state_table[] = {
        {"idle", "ready: nothing is asked of the kernel until a session starts", NULL},
        {"armed", "watching", NULL},
        {"waiting", "waiting: NOT watched now",
         "mount it or create it, or correct Path= and run 'mountwatch reload'; it is picked up by itself"},
        {"failed", "failed: NOT watched now",
         "the reason above says what the kernel refused; 'journalctl -u mountwatch' has more"},
};

static const struct {
        const char *tier, *text;
} tier_table[] = {
        {"none", "no mark is placed now"},
        {"filesystem", "one mark on the filesystem: no gap, nothing to walk"},
        {"directories",
         "a mark on each directory: what happens in a new directory before it is marked is found by "
         "reading it, and its author by inference"},
};

static void put_state(const Terminal *t, const WatchView *w) {
        bool ready = watch_view_is_ready(w);

        for (size_t i = 0; i < ELEMENTSOF(state_table); i++)
                if (str_equal(state_table[i].state, w->state)) {
                        fprintf(t->file, "  state     %s%s%s\n",
                                terminal_style(t, ready ? STYLE_GOOD : STYLE_DOUBT),
                                state_table[i].text, terminal_reset(t));
                        return;
                }
        fprintf(t->file, "  state     %s\n", w->state);
}

static void put_tier(const Terminal *t, const WatchView *w) {
        for (size_t i = 0; i < ELEMENTSOF(tier_table); i++)
                if (str_equal(tier_table[i].tier, w->tier))
                        fprintf(t->file, "  marks     %s\n", tier_table[i].text);
        if (w->directories > 0)
                fprintf(t->file, "  known     %" PRIu64 " directories, %" PRIu64 " files\n",
                        w->directories, w->files);
}

static void put_advice(const Terminal *t, const WatchView *w) {
        for (size_t i = 0; i < ELEMENTSOF(state_table); i++)
                if (str_equal(state_table[i].state, w->state) && state_table[i].advice)
                        fprintf(t->file, "  do        %s\n", state_table[i].advice);
}

static int put_watch(const Terminal *t, const WatchView *w) {
        _cleanup_free_ char *name = path_to_text(w->name), *path = path_to_text(w->path),
                            *reason = path_to_text(w->reason ? w->reason : ""),
                            *fstype = path_to_text(w->fstype ? w->fstype : ""),
                            *seen = coverage_seen_text(&w->coverage),
                            *refused = coverage_refused_text(&w->coverage);

        if (!name || !path || !reason || !fstype || !seen || !refused)
                return -ENOMEM;
        fprintf(t->file, "%swatch %s%s  %s\n", terminal_style(t, STYLE_BOLD), name,
                terminal_reset(t), path);
        put_state(t, w);
        if (*reason)
                fprintf(t->file, "  reason    %s\n", reason);
        fprintf(t->file, "  scope     %s%s%s\n", scope_to_string(w->scope), *fstype ? " on " : "",
                fstype);
        fprintf(t->file, "  policy    %s; changes from outside every session: %s\n",
                policy_to_string(w->policy), w->untagged);
        put_tier(t, w);
        fprintf(t->file, "  coverage  %s\n            in mountwatch run %s\n", seen, refused);
        put_advice(t, w);
        return matrix_print(t, w);
}

/* What is waited for or has failed cannot be proved. */
static bool prove(const Terminal *t, const Context *context, const WatchView *w) {
        bool proved = true;

        if (!watch_view_is_ready(w))
                return false;
        (void) fflush(t->file);
        return canary_prove(t, context->socket, w, &proved) >= 0 && proved;
}

static int print(const Terminal *t, const Context *context, const WatchViews *watches,
                 const char *only, bool write, bool *ret_healthy) {
        bool healthy = true, any = false;

        for (size_t i = 0; i < watches->n; i++) {
                const WatchView *w = &watches->items[i];
                int r;

                if (only && !str_equal(only, w->name))
                        continue;
                if (any)
                        fputc('\n', t->file);
                any = true;
                healthy &= watch_view_is_ready(w);
                r = put_watch(t, w);
                if (r < 0)
                        return r;
                if (write)
                        healthy &= prove(t, context, w);
        }
        if (watches->n == 0)
                fputs("no watch is configured: add a [Watch NAME] with a Path= to mountwatch.conf and run "
                      "'mountwatch reload'\n",
                      t->file);
        *ret_healthy = healthy;
        return 0;
}

static int add_matrices(json_object *reply, const WatchViews *watches) {
        json_object *array;
        int r = json_need(json_get(reply, "watches", json_type_array, &array));

        for (size_t i = 0; r >= 0 && i < watches->n; i++)
                if (watches->items[i].has_facts)
                        r = json_add(json_object_array_get_idx(array, i), "matrix",
                                     matrix_to_json(&watches->items[i]));
        return r;
}

/* Leaves only the watch that was asked for in the reply. */
static void filter(json_object *reply, const char *only) {
        json_object *watches;
        size_t i = 0;

        if (!only || json_get(reply, "watches", json_type_array, &watches) <= 0)
                return;
        while (i < json_object_array_length(watches)) {
                const char *name = NULL;

                if (json_get_string(json_object_array_get_idx(watches, i), "name", &name) > 0 &&
                    str_equal(name, only))
                        i++;
                else
                        json_object_array_del_idx(watches, i, 1);
        }
}

static int show(const Context *context, const Options *options, json_object *reply,
                const WatchViews *watches) {
        const char *only = options->arguments[0];
        bool healthy = true;
        Terminal t;
        int r = STATUS_DONE;

        terminal_init(&t, stdout);
        if (options_has(options, OPTION_JSON)) {
                for (size_t i = 0; i < watches->n; i++)
                        if (!only || str_equal(only, watches->items[i].name))
                                healthy &= watch_view_is_ready(&watches->items[i]);
                if (add_matrices(reply, watches) < 0)
                        return complain_memory();
                filter(reply, only);
                r = verb_print_json(json_object_get(reply));
        } else {
                if (print(&t, context, watches, only, options_has(options, OPTION_WRITE),
                          &healthy) < 0)
                        return complain_memory();
                r = verb_flush();
        }
        return r == STATUS_DONE && !healthy ? STATUS_NO : r;
}

int verb_doctor(const Context *context, const Options *options) {
        _cleanup_(watch_views_done) WatchViews watches = {};
        _cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
        const char *only = options->arguments[0];
        int r;

        if (options_has(options, OPTION_JSON) && options_has(options, OPTION_WRITE)) {
                complain("--write tells what happens as it happens: it takes no --json");
                return STATUS_USAGE;
        }
        if (!parameters || json_add_bool(parameters, "probe", true) < 0)
                return complain_memory();
        r = verb_call(context, "ListWatches", TAKE_PTR(parameters), &reply);
        if (r != STATUS_DONE)
                return r;
        r = watch_views_from_json(reply, &watches);
        if (r < 0)
                return verb_failed(context, NULL, r);
        if (only && !watch_views_find(&watches, only)) {
                complain("there is no watch '%s' ('mountwatch watch list' shows them)", only);
                return STATUS_NO;
        }
        return show(context, options, reply, &watches);
}
