/* SPDX-License-Identifier: MIT */
/* mountwatch quarantine …: what undo has taken out of the watches. */
#include <errno.h>
#include <inttypes.h>

#include "client/size_text.h"
#include "client/table.h"
#include "client/verb.h"
#include "common/json_member.h"

static int ask(const Context *context, const Options *options, json_object **ret) {
        _cleanup_json_ json_object *parameters = json_object_new_object();

        if (!parameters || json_add_text(parameters, "session", options->value[OPTION_SESSION]) < 0)
                return complain_memory();
        return verb_call(context, "ListQuarantine", TAKE_PTR(parameters), ret);
}

static int add_item(Table *table, json_object *o) {
        const char *item, *session, *watch, *kind;
        char size[SIZE_TEXT_MAX], at[TERMINAL_TIME_MAX];
        _cleanup_free_ char *path = NULL;
        int64_t bytes = 0;
        usec_t when = 0;
        int r = json_need(json_get_string(o, "item", &item));

        r = r < 0 ? r : json_need(json_get_string(o, "session", &session));
        r = r < 0 ? r : json_need(json_get_string(o, "watch", &watch));
        r = r < 0 ? r : json_need(json_get_string(o, "kind", &kind));
        r = r < 0 ? r : json_need(json_get_int(o, "bytes", 0, INT64_MAX, &bytes));
        r = r < 0 ? r : json_need(json_get_time(o, "at", &when));
        r = r < 0 ? r : json_get_path(o, "path", &path);
        if (r < 0 || !path)
                return r < 0 ? r : -EBADMSG;
        return table_add(table,
                         (const char *[]){item, session, watch, kind,
                                          size_text((uint64_t) bytes, size),
                                          terminal_time(when, at), path});
}

static int print(json_object *array) {
        static const char *const head[] = {"ITEM", "SESSION", "WATCH", "KIND",
                                           "SIZE", "SINCE",   "PATH"};
        _cleanup_(table_done) Table table = {};
        Terminal t;
        int r = table_init(&table, ELEMENTSOF(head), head);

        for (size_t i = 0; r >= 0 && i < json_object_array_length(array); i++)
                r = add_item(&table, json_object_array_get_idx(array, i));
        if (r < 0)
                return r;
        terminal_init(&t, stdout);
        r = table_print(&table, &t);
        if (r >= 0)
                puts("\nnext\n  mountwatch quarantine restore ITEM      (or purge ITEM)");
        return r;
}

int verb_quarantine_list(const Context *context, const Options *options) {
        _cleanup_json_ json_object *reply = NULL;
        json_object *array;
        int r = ask(context, options, &reply);

        if (r != STATUS_DONE)
                return r;
        if (options_has(options, OPTION_JSON))
                return verb_print_json(TAKE_PTR(reply));
        r = json_need(json_get(reply, "items", json_type_array, &array));
        if (r >= 0 && json_object_array_length(array) == 0)
                puts("the quarantine is empty");
        else if (r >= 0)
                r = print(array);
        return r < 0 ? verb_failed(context, NULL, r) : verb_flush();
}

int verb_quarantine_restore(const Context *context, const Options *options) {
        _cleanup_json_ json_object *parameters = json_object_new_object();

        if (!parameters || json_add_text(parameters, "item", options->arguments[0]) < 0)
                return complain_memory();
        return verb_call(context, "RestoreQuarantine", TAKE_PTR(parameters), NULL);
}

/* Exactly one of ITEM, --session, --all: what is purged is gone. */
static int check_choice(const Options *options) {
        int n = options->n_arguments + options_has(options, OPTION_SESSION) +
                options_has(options, OPTION_ALL_ITEMS);

        if (n == 1)
                return STATUS_DONE;
        complain("'quarantine purge' takes one of: an ITEM, --session ID, --all");
        return STATUS_USAGE;
}

int verb_quarantine_purge(const Context *context, const Options *options) {
        _cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
        char size[SIZE_TEXT_MAX];
        int64_t items = 0, bytes = 0;
        int r = check_choice(options);

        if (r != STATUS_DONE)
                return r;
        if (!parameters || json_add_text(parameters, "item", options->arguments[0]) < 0 ||
            json_add_text(parameters, "session", options->value[OPTION_SESSION]) < 0)
                return complain_memory();
        r = verb_call(context, "PurgeQuarantine", TAKE_PTR(parameters), &reply);
        if (r != STATUS_DONE)
                return r;
        r = json_need(json_get_int(reply, "items", 0, INT64_MAX, &items));
        r = r < 0 ? r : json_need(json_get_int(reply, "bytes", 0, INT64_MAX, &bytes));
        if (r < 0)
                return verb_failed(context, NULL, r);
        printf("purged %" PRId64 " %s, %s\n", items, items == 1 ? "item" : "items",
               size_text((uint64_t) bytes, size));
        return verb_flush();
}
