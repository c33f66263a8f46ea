/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "client/session_table.h"
#include "client/session_view.h"
#include "client/table.h"
#include "client/user_name.h"

static int add_session(Table *table, const SessionView *s) {
        _cleanup_free_ char *command = text_of_command(s->command), *user = NULL;
        char started[TERMINAL_TIME_MAX], operations[24], violations[24];

        user = s->user ? strdup(s->user) : user_name_of(s->uid);
        if (!command || !user)
                return -ENOMEM;
        snprintf(operations, sizeof(operations), "%" PRIu64, s->operations);
        snprintf(violations, sizeof(violations), "%" PRIu64, s->violations);
        return table_add(table,
                         (const char *[]){
                                 s->id,
                                 session_view_state(s),
                                 verdict_to_string(s->verdict),
                                 user,
                                 terminal_time(s->started, started),
                                 operations,
                                 violations,
                                 s->label,
                                 command,
                         });
}

int session_table_print(FILE *f, json_object *sessions) {
        static const char *const head[] = {"SESSION", "STATE",      "VERDICT", "USER",   "STARTED",
                                           "CHANGES", "VIOLATIONS", "LABEL",   "COMMAND"};
        _cleanup_(table_done) Table table = {};
        Terminal t;
        int r;

        r = table_init(&table, ELEMENTSOF(head), head);
        for (size_t i = 0; r >= 0 && i < json_object_array_length(sessions); i++) {
                SessionView s = {};

                r = session_view_from_json(json_object_array_get_idx(sessions, i), &s);
                if (r < 0)
                        return r;
                r = add_session(&table, &s);
                session_view_done(&s);
        }
        if (r < 0)
                return r;
        terminal_init(&t, f);
        return table_print(&table, &t);
}
