/* SPDX-License-Identifier: MIT */
/* mountwatch events: operations as they come, one line each, in bounded memory. */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "client/operation_line.h"
#include "client/process_book.h"
#include "client/row_json.h"
#include "client/time_spec.h"
#include "client/verb.h"
#include "common/operation_json.h"

static int add_since(json_object *parameters, const char *since) {
        usec_t now = (usec_t) time(NULL) * USEC_PER_SEC, t;

        if (!since)
                return STATUS_DONE;
        if (time_spec_parse(since, now, &t) < 0) {
                complain(
                        "--since takes a time such as 10m, 2h, 3d, today or 2026-11-30T18:00:00Z, not '%s'",
                        since);
                return STATUS_USAGE;
        }
        return json_add_time(parameters, "since", t) < 0 ? complain_memory() : STATUS_DONE;
}

static int make_parameters(const Options *options, json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r;

        if (!o || json_add_text(o, "session", options->value[OPTION_SESSION]) < 0 ||
            json_add_text(o, "watch", options->value[OPTION_WATCH]) < 0 ||
            (options_has(options, OPTION_FOLLOW) && json_add_bool(o, "follow", true) < 0))
                return complain_memory();
        r = add_since(o, options->value[OPTION_SINCE]);
        if (r != STATUS_DONE)
                return r;
        *ret = TAKE_PTR(o);
        return STATUS_DONE;
}

static int take_processes(ProcessBook *book, json_object *array) {
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                ProcessInfo p = {};
                int r = process_info_from_json(json_object_array_get_idx(array, i), &p);

                r = r < 0 ? r : process_book_take(book, &p);
                process_info_done(&p);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int print_json_line(const Operation *op, ProcessSource processes) {
        _cleanup_json_ json_object *o = row_to_json(op, processes, /* with_session= */ true);
        const char *text = o ? json_object_to_json_string_ext(
                                       o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
                             : NULL;

        if (!text)
                return -ENOMEM;
        puts(text);
        return 0;
}

static int print_operation(const Terminal *t, ProcessBook *book, json_object *o, bool json) {
        _cleanup_(operation_done) Operation op = {};
        int r;

        r = operation_from_json(o, &op);
        if (r < 0)
                return r;
        process_book_touch(book, op.process_id);
        return json ? print_json_line(&op, process_book_source(book))
                    : operation_line_print(t, &op, process_book_source(book));
}

static int print_reply(const Terminal *t, ProcessBook *book, json_object *reply, bool json) {
        json_object *processes, *operations;
        int64_t missed = 0;
        int r;

        r = json_need(json_get(reply, "processes", json_type_array, &processes));
        r = r < 0 ? r : json_need(json_get(reply, "operations", json_type_array, &operations));
        r = r < 0 ? r : json_get_int(reply, "missed", 0, INT64_MAX, &missed);
        r = r < 0 ? r : take_processes(book, processes);
        for (size_t i = 0; r >= 0 && i < json_object_array_length(operations); i++)
                r = print_operation(t, book, json_object_array_get_idx(operations, i), json);
        if (missed > 0)
                complain("%" PRId64 " operations were missed: this reader is too slow", missed);
        return r < 0 ? r : 0;
}

static int print_stream(const Context *context, Connection *c, const Options *options) {
        _cleanup_(process_book_freep) ProcessBook *book = NULL;
        bool json = options_has(options, OPTION_JSON), continues = true;
        Terminal t;
        int r;

        if (process_book_new(PROCESS_BOOK_MAX, &book) < 0)
                return complain_memory();
        terminal_init(&t, stdout);
        while (continues) {
                _cleanup_json_ json_object *reply = NULL;

                r = connection_next(c, &reply, &continues);
                if (r == 0)
                        r = print_reply(&t, book, reply, json);
                if (r != 0)
                        return verb_failed(context, c, r);
                r = verb_flush();
                if (r != STATUS_DONE)
                        return r;
        }
        return STATUS_DONE;
}

int verb_events(const Context *context, const Options *options) {
        _cleanup_(connection_freep) Connection *c = NULL;
        json_object *parameters = NULL;
        int r;

        r = make_parameters(options, &parameters);
        if (r != STATUS_DONE)
                return r;
        r = verb_connect(context, &c);
        if (r != STATUS_DONE) {
                json_object_put(parameters);
                return r;
        }
        r = connection_call_more(c, "GetOperations", parameters,
                                 options_has(options, OPTION_FOLLOW));
        return r < 0 ? verb_failed(context, c, r) : print_stream(context, c, options);
}
