/* SPDX-License-Identifier: MIT */
/* mountwatch status: the daemon, its watches, the sessions that run. */
#include <errno.h>
#include <inttypes.h>

#include "client/held_view.h"
#include "client/session_table.h"
#include "client/size_text.h"
#include "client/verb.h"
#include "client/watch_table.h"
#include "client/webhook_table.h"
#include "common/json_member.h"
#include "common/path_text.h"

/* "name  text", or nothing when the daemon does not say. */
static void put_member(json_object *reply, const char *key, const char *title) {
        const char *raw;

        if (json_get_string(reply, key, &raw) > 0) {
                _cleanup_free_ char *text = path_to_text(raw);

                printf("%-9s %s\n", title, text ? text : "?");
        }
}

static void put_daemon(json_object *reply) {
        const char *version = "?", *tagging;
        char started[TERMINAL_TIME_MAX] = "?";
        int64_t pid = 0, store = 0, tagged = 0;
        char size[SIZE_TEXT_MAX];
        usec_t t;

        (void) json_get_string(reply, "version", &version);
        (void) json_get_int(reply, "pid", 0, INT32_MAX, &pid);
        if (json_get_time(reply, "started", &t) > 0)
                terminal_time(t, started);
        printf("mountwatchd %s, pid %" PRId64 ", running since %s\n", version, pid, started);
        put_member(reply, "config", "config");
        put_member(reply, "socket", "socket");
        put_member(reply, "stateDir", "state");
        if (json_get_int(reply, "storeBytes", 0, INT64_MAX, &store) > 0) {
                printf("%-9s %s\n", "store", size_text((uint64_t) store, size));
        }
        if (json_get_string(reply, "tagging", &tagging) <= 0)
                return;
        (void) json_get_int(reply, "tagged", 0, INT64_MAX, &tagged);
        printf("%-9s %s%s; %" PRId64 " processes tagged now\n", "tagging", tagging,
               str_equal(tagging, "table")
                       ? " (no cgroup v2 can be written: freeze and kill walk the processes)"
                       : "",
               tagged);
}

static int put_sessions(json_object *reply) {
        json_object *sessions;
        int r = json_need(json_get(reply, "sessions", json_type_array, &sessions));

        if (r < 0)
                return r;
        putchar('\n');
        if (json_object_array_length(sessions) == 0) {
                puts("no session is running");
                return 0;
        }
        return session_table_print(stdout, sessions);
}

static int print(json_object *reply) {
        _cleanup_(watch_views_done) WatchViews watches = {};
        Terminal t;
        int r;

        terminal_init(&t, stdout);
        put_daemon(reply);
        (void) verb_flush();
        if (verb_print_warnings(reply) != STATUS_DONE)
                return -ENOMEM;
        r = watch_views_from_json(reply, &watches);
        if (r < 0)
                return r;
        putchar('\n');
        r = watch_table_print(&t, &watches);
        r = r < 0 ? r : webhook_table_print(&t, reply);
        return r < 0 ? r : put_sessions(reply);
}

/* After the sessions, since there the answer is. */
static int put_held(json_object *held) {
        size_t n = 0;
        int r = held_count(held, &n);

        if (r < 0 || n == 0)
                return r;
        puts("\nwaiting for an answer");
        return held_print(stdout, held);
}

int verb_status(const Context *context, const Options *options) {
        _cleanup_json_ json_object *reply = NULL, *held = NULL;
        json_object *array;
        int r;

        r = verb_call(context, "GetStatus", NULL, &reply);
        if (r == STATUS_DONE)
                r = verb_call(context, "ListHeld", NULL, &held);
        if (r != STATUS_DONE)
                return r;
        if (options_has(options, OPTION_JSON)) {
                if (json_get(held, "held", json_type_array, &array) > 0 &&
                    json_add(reply, "held", json_object_get(array)) < 0)
                        return complain_memory();
                return verb_print_json(TAKE_PTR(reply));
        }
        r = print(reply);
        r = r < 0 ? r : put_held(held);
        return r < 0 ? verb_failed(context, NULL, r) : verb_flush();
}
