/* SPDX-License-Identifier: MIT */
/*
 * A table of families, each with the member of the reply that it comes from. The whole text is made first: a reply that lacks
 * something is told before anything is printed.
 */
#include <errno.h>
#include <inttypes.h>

#include "client/metrics_text.h"
#include "common/json_member.h"
#include "common/time_text.h"

typedef struct Printer {
        FILE *file;
        MetricsFormat format;
} Printer;

/* ---- the format ---- */

static void put_head(const Printer *p, const char *name, bool counter, const char *help) {
        const char *suffix = counter && p->format == METRICS_PROMETHEUS ? "_total" : "";

        fprintf(p->file, "# HELP mountwatch_%s%s %s\n# TYPE mountwatch_%s%s %s\n", name, suffix,
                help, name, suffix, counter ? "counter" : "gauge");
}

/* Label values are UTF-8, as is all JSON; backslash, quote and newline are escaped in both formats. */
static void put_label_value(FILE *f, const char *value) {
        for (; *value; value++)
                switch (*value) {
                case '\\':
                        fputs("\\\\", f);
                        break;
                case '"':
                        fputs("\\\"", f);
                        break;
                case '\n':
                        fputs("\\n", f);
                        break;
                default:
                        fputc(*value, f);
                }
}

typedef struct Label {
        const char *name, *value; /* name NULL: none */
} Label;

static void put_sample(const Printer *p, const char *name, bool counter, Label a, Label b,
                       int64_t value) {
        const char *separator = "{";

        fprintf(p->file, "mountwatch_%s%s", name, counter ? "_total" : "");
        for (size_t i = 0; i < 2; i++) {
                Label label = i == 0 ? a : b;

                if (!label.name)
                        continue;
                fprintf(p->file, "%s%s=\"", separator, label.name);
                put_label_value(p->file, label.value);
                fputc('"', p->file);
                separator = ",";
        }
        fprintf(p->file, "%s %" PRId64 "\n", *separator == ',' ? "}" : "", value);
}

/* ---- families ---- */

typedef struct Family {
        const char *name;
        bool counter;
        const char *help;
        const char *member; /* of the reply, or of each element of the array */
} Family;

static const Family numbers[] = {
        {"processes", false, "Living processes of sessions.", "processes"},
        {"sessions_started", true, "Sessions that have begun.", "sessionsStarted"},
        {"held_calls", false, "Calls that wait for the answer of a person.", "held"},
        {"copying_calls", false, "Calls that wait until what they may lose can be copied.",
         "copying"},
        {"hashing_files", false, "Files that wait for their hash.", "hashing"},
        {"streams", false, "Clients that read operations.", "streams"},
        {"store_bytes", false, "Size of the database.", "storeBytes"},
        {"preserved_bytes", false, "What is kept for undo.", "preservedBytes"},
};

static const Family watch_numbers[] = {
        {"operations", true, "Changes that were recorded.", "operations"},
        {"violations", true, "Changes, or attempts, that no rule allows.", "violations"},
        {"refused", true, "Attempts that did not become changes.", "refused"},
        {"watch_backlog", false, "Changes that have been read and wait to be worked off.",
         "backlog"},
};

static const Family webhook_numbers[] = {
        {"webhook_pending", false, "Alerts that wait for delivery.", "pending"},
        {"webhook_dead", false, "Alerts that were given up and are kept.", "dead"},
        {"webhook_delivered", true, "Alerts that were delivered.", "delivered"},
        {"webhook_dropped", true, "Alerts that a full queue has lost.", "dropped"},
};

static int need_int(json_object *o, const char *key, int64_t *ret) {
        return json_need(json_get_int(o, key, 0, INT64_MAX, ret));
}

static int put_numbers(const Printer *p, json_object *reply) {
        for (size_t i = 0; i < ELEMENTSOF(numbers); i++) {
                const Family *f = &numbers[i];
                int64_t value;
                int r = need_int(reply, f->member, &value);

                if (r < 0)
                        return r;
                put_head(p, f->name, f->counter, f->help);
                put_sample(p, f->name, f->counter, (Label){}, (Label){}, value);
        }
        return 0;
}

/* One sample for each word, which is also its member in the object `member`. */
static int put_words(const Printer *p, json_object *reply, const Family *f, const char *label,
                     const char *const *words) {
        json_object *o;
        int r = json_need(json_get(reply, f->member, json_type_object, &o));

        put_head(p, f->name, f->counter, f->help);
        for (; r >= 0 && *words; words++) {
                int64_t value;

                r = need_int(o, *words, &value);
                if (r >= 0)
                        put_sample(p, f->name, f->counter, (Label){label, *words}, (Label){},
                                   value);
        }
        return r;
}

/* One sample for each element of `array`, named by its member `key`. */
static int put_each(const Printer *p, json_object *array, const Family *f, const char *label,
                    const char *key) {
        put_head(p, f->name, f->counter, f->help);
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                json_object *o = json_object_array_get_idx(array, i);
                const char *name;
                int64_t value;
                int r = json_need(json_get_string(o, key, &name));

                r = r < 0 ? r : need_int(o, f->member, &value);
                if (r < 0)
                        return r;
                put_sample(p, f->name, f->counter, (Label){label, name}, (Label){}, value);
        }
        return 0;
}

static int put_array(const Printer *p, json_object *reply, const char *member,
                     const Family *families, size_t n, const char *label, const char *key) {
        json_object *array;
        int r = json_need(json_get(reply, member, json_type_array, &array));

        for (size_t i = 0; r >= 0 && i < n; i++)
                r = put_each(p, array, &families[i], label, key);
        return r;
}

/* The state that a watch is in is 1, the others 0. */
static int put_watch_states(const Printer *p, json_object *reply) {
        static const char *const states[] = {"idle", "waiting", "armed", "failed"};
        json_object *array;
        int r = json_need(json_get(reply, "watches", json_type_array, &array));

        if (r < 0)
                return r;
        put_head(p, "watch_state", false, "1 for the state that the watch is in.");
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                json_object *o = json_object_array_get_idx(array, i);
                const char *name, *state;

                r = json_need(json_get_string(o, "name", &name));
                r = r < 0 ? r : json_need(json_get_string(o, "state", &state));
                if (r < 0)
                        return r;
                for (size_t k = 0; k < ELEMENTSOF(states); k++)
                        put_sample(p, "watch_state", false, (Label){"watch", name},
                                   (Label){"state", states[k]}, str_equal(states[k], state));
        }
        return 0;
}

static int put_daemon(const Printer *p, json_object *reply) {
        const char *version;
        usec_t started;
        int r = json_need(json_get_string(reply, "version", &version));

        r = r < 0 ? r : json_need(json_get_time(reply, "started", &started));
        if (r < 0)
                return r;
        put_head(p, "build_info", false, "1, with the version of the service.");
        put_sample(p, "build_info", false, (Label){"version", version}, (Label){}, 1);
        put_head(p, "start_time_seconds", false, "When the service started, since the epoch.");
        put_sample(p, "start_time_seconds", false, (Label){}, (Label){},
                   (int64_t) (started / USEC_PER_SEC));
        return 0;
}

static int put_reply(const Printer *p, json_object *reply) {
        static const Family sessions = {"sessions", false, "Sessions that run.", "sessions"},
                            ended = {"sessions_ended", true, "Sessions that have ended.",
                                     "sessionsEnded"},
                            alerts = {"alerts", true, "Alerts that were sent.", "alerts"},
                            losses = {"losses", true,
                                      "Things that sessions did not, or may not have, seen.",
                                      "count"};
        static const char *const states[] = {"active", "lingering", NULL},
                                 *const verdicts[] = {"clean", "dirty", "incomplete", NULL},
                                 *const kinds[] = {"violation", "update", "loss",
                                                   "summary",   "test",   NULL};
        json_object *o;
        int64_t frozen;
        int r = put_daemon(p, reply);

        r = r < 0 ? r : put_words(p, reply, &sessions, "state", states);
        r = r < 0 ? r : put_words(p, reply, &ended, "verdict", verdicts);
        r = r < 0 ? r : put_words(p, reply, &alerts, "kind", kinds);
        r = r < 0 ? r : put_array(p, reply, "losses", &losses, 1, "reason", "reason");
        r = r < 0 ? r : put_numbers(p, reply);
        r = r < 0 ? r
                  : put_array(p, reply, "watches", watch_numbers, ELEMENTSOF(watch_numbers),
                              "watch", "name");
        r = r < 0 ? r : put_watch_states(p, reply);
        r = r < 0 ? r
                  : put_array(p, reply, "webhooks", webhook_numbers, ELEMENTSOF(webhook_numbers),
                              "webhook", "name");
        r = r < 0 ? r : json_need(json_get(reply, "sessions", json_type_object, &o));
        r = r < 0 ? r : need_int(o, "frozen", &frozen);
        if (r < 0)
                return r;
        put_head(p, "sessions_frozen", false, "Sessions that are frozen.");
        put_sample(p, "sessions_frozen", false, (Label){}, (Label){}, frozen);
        return 0;
}

int metrics_print(FILE *f, MetricsFormat format, json_object *reply) {
        _cleanup_free_ char *text = NULL;
        Printer p = {.format = format};
        size_t size;
        int r;

        p.file = open_memstream(&text, &size);
        if (!p.file)
                return -ENOMEM;
        put_head(&p, "up", false, "Whether the service answers.");
        put_sample(&p, "up", false, (Label){}, (Label){}, reply != NULL);
        r = reply ? put_reply(&p, reply) : 0;
        if (format == METRICS_OPENMETRICS)
                fputs("# EOF\n", p.file);
        if (fclose(p.file) != 0)
                return -ENOMEM;
        if (r >= 0)
                fwrite(text, 1, size, f);
        return MIN(r, 0);
}
