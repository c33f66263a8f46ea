/* SPDX-License-Identifier: MIT */
/* mountwatch undo: what a session did is put back, step by step. */
#include <errno.h>
#include <inttypes.h>

#include "client/path_resolve.h"
#include "client/undo_view.h"
#include "client/verb.h"
#include "common/path_text.h"

#define BAR_COLUMNS 30
#define ID_DIGITS 16

/* An id or `last`; a file of such a name is written ./NAME. */
static bool is_session(const char *argument) {
        return argument &&
                (str_equal(argument, "last") ||
                 (strlen(argument) == ID_DIGITS &&
                  strspn(argument, "0123456789abcdef") == ID_DIGITS));
}

static int add_path(json_object *paths, json_object *raw, const char *argument) {
        _cleanup_free_ char *cwd = getcwd(NULL, 0), *path = NULL, *text = NULL, *bytes = NULL;
        int r = path_resolve(cwd ? cwd : "/", argument, &path);

        if (r == -EINVAL) {
                complain("an empty path names nothing");
                return STATUS_USAGE;
        }
        if (r < 0)
                return complain_memory();
        text = path_to_utf8(path);
        bytes = base64_encode(path, strlen(path));
        if (!text || !bytes || json_object_array_add(paths, json_object_new_string(text)) < 0 ||
            json_object_array_add(raw, json_object_new_string(bytes)) < 0)
                return complain_memory();
        return STATUS_DONE;
}

static int add_paths(json_object *parameters, char *const *arguments) {
        json_object *paths = json_object_new_array(), *raw = json_object_new_array();
        int r = STATUS_DONE;

        if (json_add(parameters, "paths", paths) < 0 || json_add(parameters, "pathsRaw", raw) < 0)
                return complain_memory();
        for (; *arguments && r == STATUS_DONE; arguments++)
                r = add_path(paths, raw, *arguments);
        return r;
}

static int make_parameters(const Options *options, json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object();
        const bool named = is_session(options->arguments[0]);
        int r = STATUS_DONE;

        if (!o || (named && json_add_text(o, "session", options->arguments[0]) < 0) ||
            json_add_bool(o, "dryRun", options_has(options, OPTION_DRY_RUN)) < 0 ||
            json_add_bool(o, "force", options_has(options, OPTION_FORCE)) < 0)
                return complain_memory();
        if (options->n_arguments > named)
                r = add_paths(o, options->arguments + named);
        if (r == STATUS_DONE)
                *ret = TAKE_PTR(o);
        return r;
}

/* ---- for people ---- */

typedef struct Show {
        Terminal out, err;
        bool bar; /* there is one on stderr now */
        bool dry_run;
        char session[ID_DIGITS + 1];
} Show;

static void bar_clear(Show *s) {
        if (s->bar)
                fputs("\r\x1b[K", stderr);
        s->bar = false;
}

static void bar_draw(Show *s, int64_t done, int64_t total) {
        const int filled = total > 0 ? (int) (done * BAR_COLUMNS / total) : BAR_COLUMNS;

        if (!s->err.is_tty || s->dry_run)
                return;
        fputs("\r  [", stderr);
        for (int i = 0; i < BAR_COLUMNS; i++)
                fputc(i < filled ? '#' : '.', stderr);
        fprintf(stderr, "] %" PRId64 " of %" PRId64 "\x1b[K", done, total);
        (void) fflush(stderr);
        s->bar = true;
}

static int show_reply(Show *s, json_object *reply, UndoResult *ret) {
        json_object *step = NULL, *result = NULL;
        int64_t done = 0, total = 0;
        const char *session;
        int r = json_need(json_get_string(reply, "session", &session));

        r = r < 0 ? r : json_need(json_get_int(reply, "done", 0, INT64_MAX, &done));
        r = r < 0 ? r : json_need(json_get_int(reply, "total", 0, INT64_MAX, &total));
        r = r < 0 ? r : json_get(reply, "step", json_type_object, &step);
        r = r < 0 ? r : json_get(reply, "result", json_type_object, &result);
        if (r < 0)
                return r;
        (void) snprintf(s->session, sizeof s->session, "%s", session);
        bar_clear(s);
        if (step)
                r = undo_step_print(&s->out, step);
        if (r >= 0 && result)
                r = undo_result_from_json(result, ret);
        if (r >= 0 && result)
                undo_result_print(&s->out, ret, s->session, s->dry_run);
        else if (r >= 0) {
                (void) fflush(s->out.file);
                bar_draw(s, done, total);
        }
        return MIN(r, 0);
}

/* ---- for programs: one object, when all is known ---- */

static int collect_reply(json_object *o, json_object *steps, json_object *reply, UndoResult *ret) {
        json_object *step = NULL, *result = NULL;
        const char *session;
        int r = json_get(reply, "step", json_type_object, &step);

        r = r < 0 ? r : json_get(reply, "result", json_type_object, &result);
        r = r < 0 ? r : json_need(json_get_string(reply, "session", &session));
        if (r >= 0 && step && json_object_array_add(steps, json_object_get(step)) < 0)
                r = -ENOMEM;
        if (r >= 0 && result) {
                r = undo_result_from_json(result, ret);
                r = r < 0 ? r : json_add_text(o, "session", session);
                r = r < 0 ? r : json_add(o, "result", json_object_get(result));
        }
        return MIN(r, 0);
}

static int follow(const Context *context, Connection *c, const Options *options) {
        _cleanup_json_ json_object *o = json_object_new_object();
        json_object *steps = json_object_new_array();
        const bool json = options_has(options, OPTION_JSON);
        Show show = {.dry_run = options_has(options, OPTION_DRY_RUN)};
        UndoResult result = {};
        bool continues = true;
        int r = 0;

        if (json_add(o, "steps", steps) < 0 || json_add_bool(o, "dryRun", show.dry_run) < 0)
                return complain_memory();
        terminal_init(&show.out, stdout);
        terminal_init(&show.err, stderr);
        while (r == 0 && continues) {
                _cleanup_json_ json_object *reply = NULL;

                r = connection_next(c, &reply, &continues);
                if (r == 0)
                        r = json ? collect_reply(o, steps, reply, &result)
                                 : show_reply(&show, reply, &result);
        }
        bar_clear(&show);
        if (r != 0)
                return verb_failed(context, c, r);
        r = json ? verb_print_json(TAKE_PTR(o)) : verb_flush();
        return r == STATUS_DONE && !undo_result_is_whole(&result) ? STATUS_NO : r;
}

int verb_undo(const Context *context, const Options *options) {
        _cleanup_(connection_freep) Connection *c = NULL;
        json_object *parameters = NULL;
        int r = make_parameters(options, &parameters);

        if (r != STATUS_DONE)
                return r;
        r = verb_connect(context, &c);
        if (r != STATUS_DONE) {
                json_object_put(parameters);
                return r;
        }
        /* a step may be the copy of a large file */
        r = connection_call_more(c, "Undo", parameters, /* patient= */ true);
        return r < 0 ? verb_failed(context, c, r) : follow(context, c, options);
}
