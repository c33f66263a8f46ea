/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/report_json.h"
#include "client/row_json.h"
#include "client/user_name.h"
#include "common/operation_json.h"
#include "common/strv.h"

/* Consumes `o`. */
static int write_value(FILE *f, json_object *o) {
        const char *text;

        text = o ? json_object_to_json_string_ext(
                           o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
                 : NULL;
        if (text)
                fputs(text, f);
        json_object_put(o);
        return text ? 0 : -ENOMEM;
}

static int add_time(json_object *o, const char *key, usec_t t) {
        char buffer[TIME_TEXT_MAX];

        return json_add_text_or_null(o, key, t > 0 ? time_to_text(t, buffer) : NULL);
}

static int add_status(json_object *o, int status) {
        return status >= 0 ? json_add_int(o, "exitStatus", status)
                           : json_add_text_or_null(o, "exitStatus", NULL);
}

static int add_user(json_object *o, const SessionView *s) {
        _cleanup_free_ char *name = s->user ? strdup(s->user) : user_name_of(s->uid);

        return name ? json_add_text(o, "user", name) : -ENOMEM;
}

static json_object *losses_to_json(const SessionView *s) {
        _cleanup_json_ json_object *array = json_object_new_array();

        for (size_t i = 0; array && i < s->n_losses; i++) {
                json_object *o = loss_to_json(&s->losses[i]);

                if (!o || json_object_array_add(array, o) < 0) {
                        json_object_put(o);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}

static json_object *session_to_json(const SessionView *s) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? json_add_text_or_null(o, "id", s->id) : -ENOMEM;

        r = r < 0 ? r : json_add_text_or_null(o, "label", s->label);
        r = r < 0 ? r : json_add_int(o, "uid", s->uid);
        r = r < 0 ? r : add_user(o, s);
        r = r < 0 ? r : json_add_text_or_null(o, "state", session_state_to_string(s->state));
        r = r < 0 ? r : json_add_text_or_null(o, "verdict", verdict_to_string(s->verdict));
        r = r < 0 ? r : json_add_bool(o, "complete", s->complete);
        r = r < 0 ? r : json_add(o, "losses", losses_to_json(s));
        r = r < 0 ? r : json_add(o, "command", strv_to_json(s->command));
        r = r < 0 ? r : json_add_text_or_null(o, "cwd", s->cwd);
        r = r < 0 ? r : json_add_int(o, "rootPid", s->root_pid);
        r = r < 0 ? r : add_time(o, "started", s->started);
        r = r < 0 ? r : add_time(o, "stopped", s->stopped);
        r = r < 0 ? r : add_status(o, s->exit_status);
        return r < 0 ? NULL : TAKE_PTR(o);
}

static int write_rows(FILE *f, const Report *report) {
        ProcessSource processes = report_process_source(report);
        _cleanup_(row_process_done) RowProcess last = {};

        for (size_t i = 0; i < report_n_rows(report); i++) {
                int r;

                fputs(i > 0 ? ",\n  " : "\n  ", f);
                r = write_value(f,
                                row_to_json_again(report_row(report, i), processes,
                                                  /* with_session= */ false, &last));
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The same text as in `path` of the rows. */
static int write_path(FILE *f, const char *path) {
        _cleanup_free_ char *text = path_to_utf8(path);

        return text ? write_value(f, json_object_new_string(text)) : -ENOMEM;
}

static int write_paths(FILE *f, const char *key, const char **paths, size_t n) {
        fprintf(f, "\"%s\": [", key);
        for (size_t i = 0; i < n; i++) {
                int r;

                fputs(i > 0 ? ", " : "", f);
                r = write_path(f, paths[i]);
                if (r < 0)
                        return r;
        }
        fputs("]", f);
        return 0;
}

static int write_renames(FILE *f, const NetRename *renames, size_t n) {
        fputs("\"renamed\": [", f);
        for (size_t i = 0; i < n; i++) {
                json_object *o = json_object_new_object();
                int r;

                fputs(i > 0 ? ", " : "", f);
                if (!o || json_add_path(o, "from", renames[i].from) < 0 ||
                    json_add_path(o, "to", renames[i].to) < 0) {
                        json_object_put(o);
                        return -ENOMEM;
                }
                r = write_value(f, o);
                if (r < 0)
                        return r;
        }
        fputs("]", f);
        return 0;
}

static int write_net(FILE *f, Report *report) {
        const NetLists *net;
        int r;

        if ((r = report_net(report, &net)) < 0 ||
            (r = write_paths(f, "created", net->created, net->n_created)) < 0)
                return r;
        fputs(", ", f);
        r = write_paths(f, "modified", net->modified, net->n_modified);
        if (r < 0)
                return r;
        fputs(", ", f);
        r = write_paths(f, "deleted", net->deleted, net->n_deleted);
        if (r < 0)
                return r;
        fputs(", ", f);
        return write_renames(f, net->renamed, net->n_renamed);
}

static int write_watches(FILE *f, const WatchViews *watches) {
        for (size_t i = 0; i < watches->n; i++) {
                int r;

                fputs(i > 0 ? ",\n  " : "\n  ", f);
                r = write_value(f, watch_view_to_report_json(&watches->items[i]));
                if (r < 0)
                        return r;
        }
        return 0;
}

int report_json_write(FILE *f, ReportModel *m) {
        int r;

        fputs("{\n\"session\": ", f);
        if ((r = write_value(f, session_to_json(&m->session))) < 0)
                return r;
        fputs(",\n\"operations\": [", f);
        if ((r = write_rows(f, m->own)) < 0)
                return r;
        fputs("],\n\"net\": {", f);
        if ((r = write_net(f, m->own)) < 0)
                return r;
        fputs("},\n", f);
        if (m->untagged) {
                fputs("\"untagged\": [", f);
                if ((r = write_rows(f, m->untagged)) < 0)
                        return r;
                fputs("],\n", f);
        }
        fputs("\"watches\": [", f);
        if ((r = write_watches(f, &m->watches)) < 0)
                return r;
        fputs("]\n}\n", f);
        return 0;
}
