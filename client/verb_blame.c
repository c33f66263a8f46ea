/* SPDX-License-Identifier: MIT */
/* mountwatch blame: what last created, changed or removed a path, which may be gone by now. */
#include <errno.h>
#include <sys/stat.h>

#include "client/chain_text.h"
#include "client/operation_line.h"
#include "client/path_resolve.h"
#include "client/report_model.h"
#include "client/row_json.h"
#include "client/verb.h"
#include "common/operation_json.h"
#include "common/path_text.h"

#define CHAIN_COLUMNS 48

static int ask(const Context *context, const char *path, json_object **ret) {
        _cleanup_json_ json_object *parameters = json_object_new_object();

        if (!parameters || json_add_path(parameters, "path", path) < 0)
                return complain_memory();
        return verb_call(context, "Blame", TAKE_PTR(parameters), ret);
}

static size_t count(json_object *reply) {
        json_object *operations;

        return json_get(reply, "operations", json_type_array, &operations) > 0
                ? json_object_array_length(operations)
                : 0;
}

/* The operations themselves: a report would fold them. */
static int read_operation(json_object *reply, size_t i, Operation *ret) {
        json_object *operations;
        int r = json_need(json_get(reply, "operations", json_type_array, &operations));

        return r < 0 ? r : operation_from_json(json_object_array_get_idx(operations, i), ret);
}

/* The chain of a process, when there is more to it than the process. */
static int print_chain(const Terminal *t, ProcessSource processes, int64_t id) {
        const ProcessInfo *p = process_source_find(processes, id);
        _cleanup_free_ char *chain = NULL, *alone = NULL;

        if (!p)
                return 0;
        chain = chain_to_text(t, processes, id, /* root_pid= */ 0, CHAIN_COLUMNS);
        alone = process_to_text(t, p, CHAIN_COLUMNS);
        if (!chain || !alone)
                return -ENOMEM;
        if (!str_equal(chain, alone))
                fprintf(t->file, "    %s\n", chain);
        return 0;
}

static int print_text(json_object *reply, ProcessSource processes) {
        Terminal t;

        terminal_init(&t, stdout);
        for (size_t i = 0; i < count(reply); i++) {
                _cleanup_(operation_done) Operation op = {};
                int r = read_operation(reply, i, &op);

                r = r < 0 ? r : operation_line_print(&t, &op, processes);
                r = r < 0 ? r : print_chain(&t, processes, op.process_id);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int make_json(json_object *reply, const char *path, ProcessSource processes,
                     json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object(), *rows = json_object_new_array();
        int r = o && rows ? json_add_path(o, "path", path) : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < count(reply); i++) {
                _cleanup_(operation_done) Operation op = {};
                json_object *row;

                r = read_operation(reply, i, &op);
                if (r < 0)
                        return r;
                row = row_to_json(&op, processes, /* with_session= */ true);
                if (!row || json_object_array_add(rows, row) < 0) {
                        json_object_put(row);
                        return -ENOMEM;
                }
        }
        r = r < 0 ? r : json_add(o, "operations", TAKE_PTR(rows));
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

static int print(const Context *context, json_object *reply, const char *path, bool json) {
        _cleanup_(report_freep) Report *report = NULL;
        json_object *o = NULL;
        int r;

        r = report_new(&report);
        r = r < 0 ? r : report_take_processes(report, reply);
        if (r >= 0)
                r = json ? make_json(reply, path, report_process_source(report), &o)
                         : print_text(reply, report_process_source(report));
        if (r < 0)
                return verb_failed(context, NULL, r);
        return json ? verb_print_json(o) : verb_flush();
}

/* A change of content belongs to the file, which may have been named through a link. */
static char *target_of(const char *path) {
        struct stat st;

        return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
}

static int resolve(const char *argument, char **ret) {
        _cleanup_free_ char *cwd = getcwd(NULL, 0);
        int r;

        r = path_resolve(cwd ? cwd : "/", argument, ret);
        if (r == -ENOMEM)
                return complain_memory();
        if (r < 0) {
                complain("an empty path names nothing");
                return STATUS_USAGE;
        }
        return STATUS_DONE;
}

int verb_blame(const Context *context, const Options *options) {
        _cleanup_free_ char *path = NULL, *target = NULL, *text = NULL;
        _cleanup_json_ json_object *reply = NULL;
        bool json = options_has(options, OPTION_JSON);
        int r;

        r = resolve(options->arguments[0], &path);
        if (r == STATUS_DONE)
                r = ask(context, path, &reply);
        if (r != STATUS_DONE)
                return r;
        target = count(reply) == 0 ? target_of(path) : NULL;
        if (target) {
                json_object_put(TAKE_PTR(reply));
                r = ask(context, target, &reply);
                if (r != STATUS_DONE)
                        return r;
        }
        if (count(reply) > 0 || json)
                r = print(context, reply, target ? target : path, json);
        if (count(reply) > 0 || r != STATUS_DONE)
                return r;
        text = path_to_text(target ? target : path);
        complain("no change of '%s' is known", text ? text : "?");
        return STATUS_NO;
}
