/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/session_view.h"
#include "common/operation_json.h"
#include "common/strv.h"

static int read_losses(json_object *o, SessionView *s) {
        json_object *array;
        size_t n;
        int r;

        r = json_need(json_get(o, "losses", json_type_array, &array));
        if (r < 0)
                return r;
        n = json_object_array_length(array);
        s->losses = calloc(n + 1, sizeof(*s->losses));
        if (!s->losses)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                r = loss_from_json(json_object_array_get_idx(array, i), &s->losses[i]);
                if (r < 0)
                        return r;
                s->n_losses++;
        }
        return 0;
}

static int read_strv(json_object *o, const char *key, char ***ret) {
        json_object *array;
        int r = json_need(json_get(o, key, json_type_array, &array));

        return r < 0 ? r : strv_from_json(array, ret);
}

static int read_pid(json_object *o, const char *key, pid_t *ret) {
        int64_t pid;
        int r = json_need(json_get_int(o, key, 0, INT32_MAX, &pid));

        if (r < 0)
                return r;
        *ret = (pid_t) pid;
        return 0;
}

static int read_member(json_object *o, Member *m) {
        int r = read_pid(o, "pid", &m->pid);

        r = r < 0 ? r : json_get_text(o, "exe", &m->exe);
        return r < 0 ? r : read_strv(o, "cmdline", &m->cmdline);
}

static int read_members(json_object *o, SessionView *s) {
        json_object *array;
        size_t n;
        int r;

        r = json_get(o, "processes", json_type_array, &array);
        if (r <= 0)
                return r;
        n = json_object_array_length(array);
        s->members = calloc(n + 1, sizeof(*s->members));
        if (!s->members)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                r = read_member(json_object_array_get_idx(array, i), &s->members[s->n_members++]);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_texts(json_object *o, SessionView *s) {
        int r = json_need(json_get_text(o, "id", &s->id));

        r = r < 0 ? r : json_get_text(o, "label", &s->label);
        r = r < 0 ? r : json_get_text(o, "user", &s->user);
        r = r < 0 ? r : json_get_text(o, "policy", &s->policy);
        r = r < 0 ? r : json_get_text(o, "cwd", &s->cwd);
        r = r < 0 ? r : json_get_text(o, "test", &s->test);
        return r < 0 ? r : read_strv(o, "command", &s->command);
}

static int read_numbers(json_object *o, SessionView *s) {
        int64_t uid = 0, exit_status = -1, operations = 0, violations = 0;
        int r = json_need(json_get_int(o, "uid", 0, UINT32_MAX, &uid));

        r = r < 0 ? r : read_pid(o, "rootPid", &s->root_pid);
        r = r < 0 ? r : json_need(json_get_int(o, "operations", 0, INT64_MAX, &operations));
        r = r < 0 ? r : json_need(json_get_int(o, "violations", 0, INT64_MAX, &violations));
        r = r < 0 ? r : json_get_int(o, "exitStatus", INT32_MIN, INT32_MAX, &exit_status);
        r = r < 0 ? r : json_need(json_get_time(o, "started", &s->started));
        r = r < 0 ? r : json_get_time(o, "stopped", &s->stopped);
        if (r < 0)
                return r;
        s->uid = (uid_t) uid;
        s->exit_status = (int) exit_status;
        s->operations = (uint64_t) operations;
        s->violations = (uint64_t) violations;
        return 0;
}

static int read_words(json_object *o, SessionView *s) {
        const char *word;
        int r, state, verdict;

        r = json_need(json_get_string(o, "state", &word));
        if (r < 0)
                return r;
        state = session_state_from_string(word);
        r = json_need(json_get_string(o, "verdict", &word));
        if (r < 0)
                return r;
        verdict = verdict_from_string(word);
        if (state < 0 || verdict < 0)
                return -EBADMSG;
        s->state = (SessionState) state;
        s->verdict = (Verdict) verdict;
        r = json_get_bool(o, "frozen", &s->frozen);
        return r < 0 ? r : json_need(json_get_bool(o, "complete", &s->complete));
}

int session_view_from_json(json_object *o, SessionView *ret) {
        _cleanup_(session_view_done) SessionView s = {.exit_status = -1};
        int r;

        if ((r = read_texts(o, &s)) < 0 || (r = read_numbers(o, &s)) < 0 ||
            (r = read_words(o, &s)) < 0 || (r = read_losses(o, &s)) < 0 ||
            (r = read_members(o, &s)) < 0)
                return r;
        *ret = s;
        s = (SessionView){};
        return 0;
}

void session_view_done(SessionView *s) {
        char *texts[] = {s->id, s->label, s->user, s->policy, s->cwd, s->test};

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                free(texts[i]);
        strv_free(s->command);
        for (size_t i = 0; i < s->n_losses; i++)
                loss_done(&s->losses[i]);
        free(s->losses);
        for (size_t i = 0; i < s->n_members; i++) {
                free(s->members[i].exe);
                strv_free(s->members[i].cmdline);
        }
        free(s->members);
        *s = (SessionView){.exit_status = -1};
}

int session_view_add_loss(SessionView *s, const char *reason, usec_t at) {
        Loss *grown = realloc(s->losses, (s->n_losses + 1) * sizeof(*grown));
        Loss loss = {.at = at, .until = at};

        if (!grown)
                return -ENOMEM;
        s->losses = grown;
        loss.reason = strdup(reason);
        if (!loss.reason)
                return -ENOMEM;
        s->losses[s->n_losses++] = loss;
        s->complete = false;
        if (s->verdict == VERDICT_CLEAN)
                s->verdict = VERDICT_INCOMPLETE;
        return 0;
}
