/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "client/table.h"
#include "client/webhook_table.h"
#include "common/json_member.h"
#include "common/path_text.h"

#define COUNT_TEXT_MAX 24

static int count_text(json_object *o, const char *key, char buffer[static COUNT_TEXT_MAX]) {
        int64_t n = 0;
        int r = json_need(json_get_int(o, key, 0, INT64_MAX, &n));

        if (r < 0)
                return r;
        (void) snprintf(buffer, COUNT_TEXT_MAX, "%" PRId64, n);
        return 0;
}

static int add_webhook(Table *table, json_object *o) {
        char pending[COUNT_TEXT_MAX], dead[COUNT_TEXT_MAX], dropped[COUNT_TEXT_MAX];
        char success[TERMINAL_TIME_MAX] = "-";
        const char *name, *host, *format;
        usec_t t;
        int r = json_need(json_get_string(o, "name", &name));

        r = r < 0 ? r : json_need(json_get_string(o, "host", &host));
        r = r < 0 ? r : json_need(json_get_string(o, "format", &format));
        r = r < 0 ? r : count_text(o, "pending", pending);
        r = r < 0 ? r : count_text(o, "dead", dead);
        r = r < 0 ? r : count_text(o, "dropped", dropped);
        if (r < 0)
                return r;
        r = json_get_time(o, "lastSuccess", &t);
        if (r > 0)
                terminal_time(t, success);
        if (r < 0)
                return r;
        return table_add(table,
                         (const char *[]){name, format, pending, dead, dropped, success, host});
}

static int print_error(const Terminal *t, json_object *o) {
        _cleanup_free_ char *name = NULL, *error = NULL;
        const char *raw_name, *raw_error;

        if (json_get_string(o, "lastError", &raw_error) <= 0 ||
            json_get_string(o, "name", &raw_name) <= 0)
                return 0;
        name = path_to_text(raw_name);
        error = path_to_text(raw_error);
        if (!name || !error)
                return -ENOMEM;
        fprintf(t->file, "%swebhook %s: the last failure: %s%s\n", terminal_style(t, STYLE_DOUBT),
                name, error, terminal_reset(t));
        return 0;
}

int webhook_table_print(const Terminal *t, json_object *reply) {
        static const char *const head[] = {"WEBHOOK", "FORMAT",    "PENDING", "GIVEN-UP",
                                           "DROPPED", "DELIVERED", "HOST"};
        _cleanup_(table_done) Table table = {};
        json_object *array;
        int r = json_get(reply, "webhooks", json_type_array, &array);

        if (r <= 0 || json_object_array_length(array) == 0)
                return r;
        fputc('\n', t->file);
        r = table_init(&table, ELEMENTSOF(head), head);
        for (size_t i = 0; r >= 0 && i < json_object_array_length(array); i++)
                r = add_webhook(&table, json_object_array_get_idx(array, i));
        r = r < 0 ? r : table_print(&table, t);
        for (size_t i = 0; r >= 0 && i < json_object_array_length(array); i++)
                r = print_error(t, json_object_array_get_idx(array, i));
        return r;
}
