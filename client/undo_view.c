/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "client/undo_view.h"
#include "common/path_text.h"

static const struct {
        const char *action, *done, *would;
} action_table[] = {
        {"quarantine", "taken out", "would take out"},
        {"rename", "renamed", "would rename"},
        {"restore", "restored", "would restore"},
        {"content", "content", "would put content"},
        {"database", "database", "would put database"},
        {"metadata", "metadata", "would put metadata"},
};

static const struct {
        const char *state, *word;
        Style style;
} state_table[] = {
        {"refused", "not touched", STYLE_DOUBT},
        {"impossible", "NOT put back", STYLE_BAD},
        {"failed", "FAILED", STYLE_BAD},
};

int undo_result_from_json(json_object *o, UndoResult *ret) {
        UndoResult u = {};
        const struct {
                const char *key;
                int64_t *value;
        } members[] = {
                {"pending", &u.pending}, {"done", &u.done},     {"nothing", &u.nothing},
                {"refused", &u.refused}, {"failed", &u.failed}, {"impossible", &u.impossible},
        };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(members); i++)
                r = json_need(json_get_int(o, members[i].key, 0, INT64_MAX, members[i].value));
        if (r < 0)
                return r;
        *ret = u;
        return 0;
}

bool undo_result_is_whole(const UndoResult *r) {
        return r->refused + r->impossible + r->failed == 0;
}

/* "done" or "would", or the state that kept it from being done. */
static const char *word_for(const char *action, const char *state, Style *ret_style) {
        for (size_t i = 0; i < ELEMENTSOF(state_table); i++)
                if (str_equal(state_table[i].state, state)) {
                        *ret_style = state_table[i].style;
                        return state_table[i].word;
                }
        *ret_style = STYLE_GOOD;
        for (size_t i = 0; i < ELEMENTSOF(action_table); i++)
                if (str_equal(action_table[i].action, action))
                        return str_equal(state, "pending") ? action_table[i].would
                                                           : action_table[i].done;
        return action;
}

int undo_step_print(const Terminal *t, json_object *step) {
        _cleanup_free_ char *path = NULL, *from = NULL, *path_shown = NULL, *from_shown = NULL,
                            *reason_shown = NULL;
        const char *action, *state, *kind, *reason = NULL, *item = NULL;
        Style style;
        int r = json_need(json_get_string(step, "action", &action));

        r = r < 0 ? r : json_need(json_get_string(step, "state", &state));
        r = r < 0 ? r : json_need(json_get_string(step, "kind", &kind));
        r = r < 0 ? r : json_get_string(step, "reason", &reason);
        r = r < 0 ? r : json_get_string(step, "item", &item);
        r = r < 0 ? r : json_get_path(step, "path", &path);
        r = r < 0 ? r : json_get_path(step, "from", &from);
        if (r < 0 || !path)
                return r < 0 ? r : -EBADMSG;
        if (str_equal(state, "nothing"))
                return 0;
        path_shown = path_to_text(path);
        from_shown = path_to_text(from ? from : "");
        reason_shown = path_to_text(reason ? reason : "");
        if (!path_shown || !from_shown || !reason_shown)
                return -ENOMEM;
        const char *word = word_for(action, state, &style);
        fprintf(t->file, "  %s%-12s%s  ", terminal_style(t, style), word, terminal_reset(t));
        if (from)
                fprintf(t->file, "%s %s ", from_shown, terminal_arrow(t));
        fprintf(t->file, "%s%s", path_shown, str_equal(kind, "dir") ? "/" : "");
        if (item)
                fprintf(t->file, "  (quarantine item %s)", item);
        if (*reason_shown)
                fprintf(t->file, ": %s", reason_shown);
        fputc('\n', t->file);
        return 0;
}

static void put_count(FILE *f, bool *any, int64_t n, const char *what) {
        if (n == 0)
                return;
        fprintf(f, "%s%" PRId64 " %s", *any ? ", " : "", n, what);
        *any = true;
}

void undo_result_print(const Terminal *t, const UndoResult *r, const char *session, bool dry_run) {
        const int64_t all =
                r->pending + r->done + r->nothing + r->refused + r->impossible + r->failed;
        bool whole = undo_result_is_whole(r), any = false;
        const char *word;

        if (all == 0)
                word = "nothing to undo: the session has changed nothing";
        else if (dry_run)
                word = whole ? "everything can be put back" : "not everything can be put back";
        else if (r->done + r->pending == 0 && whole)
                word = "nothing to do: everything is as it was";
        else
                word = whole ? "everything is as it was" : "not everything is put back";
        fprintf(t->file, "%s%s%s", terminal_style(t, whole ? STYLE_GOOD : STYLE_BAD), word,
                terminal_reset(t));
        if (all > 0)
                fputs(" - ", t->file);
        put_count(t->file, &any, r->pending, "would be put back");
        put_count(t->file, &any, r->done, "put back");
        put_count(t->file, &any, r->nothing, "as it should be already");
        put_count(t->file, &any, r->refused, "changed by others since");
        put_count(t->file, &any, r->impossible, "not preserved");
        put_count(t->file, &any, r->failed, "failed");
        fputc('\n', t->file);
        if (dry_run && r->pending > 0)
                fprintf(t->file, "next\n  mountwatch undo %s\n", session);
        if (!dry_run && r->refused > 0)
                fprintf(t->file,
                        "next\n  mountwatch undo %s --force --dry-run      (shows what would be overwritten)\n",
                        session);
}
