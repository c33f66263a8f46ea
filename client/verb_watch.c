/* SPDX-License-Identifier: MIT */
/* mountwatch watch list. */
#include "client/verb.h"
#include "client/watch_table.h"
#include "common/json_member.h"

int verb_watch_list(const Context *context, const Options *options) {
        _cleanup_(watch_views_done) WatchViews watches = {};
        _cleanup_json_ json_object *reply = NULL;
        Terminal t;
        int r;

        r = verb_call(context, "ListWatches", NULL, &reply);
        if (r != STATUS_DONE)
                return r;
        if (options_has(options, OPTION_JSON))
                return verb_print_json(TAKE_PTR(reply));
        terminal_init(&t, stdout);
        r = watch_views_from_json(reply, &watches);
        r = r < 0 ? r : watch_table_print(&t, &watches);
        return r < 0 ? verb_failed(context, NULL, r) : verb_flush();
}
