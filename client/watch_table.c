/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/table.h"
#include "client/watch_table.h"
#include "common/path_text.h"

static int add_watch(Table *table, const WatchView *w) {
        return table_add(table,
                         (const char *[]){
                                 w->name,
                                 w->state,
                                 policy_to_string(w->policy),
                                 scope_to_string(w->scope),
                                 str_equal(w->tier, "none") ? NULL : w->tier,
                                 w->fstype,
                                 w->path,
                         });
}

/* What keeps a watch from being as good as it could be, under the table, where there is room for it. */
static int print_reasons(const Terminal *t, const WatchViews *watches) {
        for (size_t i = 0; i < watches->n; i++) {
                const WatchView *w = &watches->items[i];
                _cleanup_free_ char *name = NULL, *reason = NULL;

                if (!w->reason)
                        continue;
                name = path_to_text(w->name);
                reason = path_to_text(w->reason);
                if (!name || !reason)
                        return -ENOMEM;
                fprintf(t->file, "%swatch %s: %s%s\n",
                        terminal_style(t, watch_view_is_ready(w) ? STYLE_DIM : STYLE_DOUBT), name,
                        reason, terminal_reset(t));
        }
        return 0;
}

int watch_table_print(const Terminal *t, const WatchViews *watches) {
        static const char *const head[] = {"WATCH", "STATE", "POLICY", "SCOPE",
                                           "MARKS", "TYPE",  "PATH"};
        _cleanup_(table_done) Table table = {};
        int r;

        if (watches->n == 0) {
                fputs("no watch is configured\n", t->file);
                return 0;
        }
        r = table_init(&table, ELEMENTSOF(head), head);
        for (size_t i = 0; r >= 0 && i < watches->n; i++)
                r = add_watch(&table, &watches->items[i]);
        r = r < 0 ? r : table_print(&table, t);
        return r < 0 ? r : print_reasons(t, watches);
}
