/* SPDX-License-Identifier: MIT */
/*
 * A session on a real filesystem, played by the test itself: each step is kept as the gates would, done, and put into the store as
 * the watch thread would tell it. Paths are relative to the watch.
 */
#ifndef MOUNTWATCH_TESTS_STORE_SCENE_H
#define MOUNTWATCH_TESTS_STORE_SCENE_H

#include "tests/unit/store/mount.h"

#include "daemon/store/keep.h"
#include "daemon/store/quarantine.h"
#include "daemon/store/undo.h"

#include <time.h>

typedef struct Scene {
        Mount m;
        Store *store;
        Session *session;
        bool blind;   /* nothing is kept */
        usec_t event; /* of the operation that comes next, when not 0 */
} Scene;

static _unused_ usec_t scene_now(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_REALTIME, &t);
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / NSEC_PER_USEC;
}

/* Times of files come from a clock that ticks: what is to be told apart must not happen within one tick. */
static _unused_ void next_tick(void) {
        (void) nanosleep(&(struct timespec){.tv_nsec = 15000000}, NULL);
}

static _unused_ void scene_path(const Scene *s, const char *relative, char ret[static 512]) {
        if (relative[0] == '/')
                (void) snprintf(ret, 512, "%s", relative);
        else
                (void) snprintf(ret, 512, "%s%s%s", s->m.watch, relative[0] ? "/" : "", relative);
}

static _unused_ bool scene_open(Scene *s, const char *type, bool same) {
        *s = (Scene){};
        if (!mount_open(&s->m, type, same))
                return false;
        assert_int_equal(store_open(s->m.state, &s->store), 0);
        return true;
}

static _unused_ void scene_start(Scene *s, uint64_t id) {
        _cleanup_(watch_spec_unrefp) WatchSpec *spec = NULL;

        next_tick();
        if (s->session)
                s->session = session_free(s->session);
        assert_int_equal(session_new(id, 0, scene_now(), &s->session), 0);
        assert_int_equal(store_put_session(s->store, s->session), 0);
        assert_int_equal(watch_spec_new("nas", &spec), 0);
        free(spec->path);
        spec->path = strdup(s->m.watch);
        assert_int_equal(store_put_session_watch(s->store, s->session->id, spec, SCOPE_SUBTREE,
                                                 &(Coverage){0}),
                         0);
        next_tick();
}

static _unused_ void scene_stop(Scene *s) {
        stop_session(s->store, s->session, scene_now());
        assert_int_equal(store_flush(s->store), 0);
        next_tick();
}

static _unused_ void scene_close(Scene *s) {
        s->session = session_free(s->session);
        s->store = store_close(s->store);
        mount_close(&s->m);
}

static _unused_ KeepRequest scene_request(const Scene *s, const char *path, KeepWhat what) {
        return (KeepRequest){
                .state_dir = s->m.state,
                .session = s->session->id,
                .watch = "nas",
                .watch_path = s->m.watch,
                .path = path,
                .what = what,
                .file_max = 256U << 20,
                .bytes_max = UINT64_MAX,
                .entries_max = 100000,
        };
}

static _unused_ void scene_keep_request(Scene *s, const KeepRequest *q) {
        _cleanup_(kept_list_done) KeptList list = {};
        bool complete;

        assert_int_equal(keep_object(q, &list, &complete), 0);
        for (size_t i = 0; i < list.n; i++)
                if (list.list[i].blob)
                        assert_int_equal(keep_hash(s->m.state, s->session->id, &list.list[i], NULL),
                                         0);
        assert_int_equal(store_put_kept(s->store, s->session->id, &list), 0);
}

static _unused_ void scene_keep(Scene *s, const char *relative, KeepWhat what) {
        char path[512];
        KeepRequest q;

        scene_path(s, relative, path);
        q = scene_request(s, path, what);
        if (s->blind || session_has_created(s->session, path, 0))
                q.what = KEEP_NAME;
        if (!s->blind)
                scene_keep_request(s, &q);
}

static _unused_ ObjectKind scene_kind(const char *path) {
        struct stat st;

        if (lstat(path, &st) < 0 || S_ISREG(st.st_mode))
                return KIND_FILE;
        return S_ISDIR(st.st_mode) ? KIND_DIR : S_ISLNK(st.st_mode) ? KIND_SYMLINK : KIND_OTHER;
}

static _unused_ void scene_put(Scene *s, Operation o, bool untagged) {
        o.session = untagged ? NULL : s->session->id;
        o.first = o.last = scene_now();
        (void) put(s->store, o, NULL);
}

static _unused_ void do_create(Scene *s, const char *relative, const char *command) {
        Operation o = operation(OP_CREATE, NULL);
        char path[512];

        scene_path(s, relative, path);
        scene_keep(s, relative, KEEP_NAME);
        shell("cd %s && %s", s->m.watch, command);
        o.path = path;
        o.kind = scene_kind(path);
        assert_int_equal(session_remember_created(s->session, path, 0), 0);
        scene_put(s, o, false);
}

static _unused_ void do_change(Scene *s, OpType op, const char *relative, const char *command) {
        Operation o = operation(op, NULL);
        char path[512];

        scene_path(s, relative, path);
        scene_keep(s, relative, op == OP_METADATA ? KEEP_METADATA : KEEP_CONTENT);
        o.kind = scene_kind(path);
        shell("cd %s && %s", s->m.watch, command);
        o.path = path;
        scene_put(s, o, false);
}

static _unused_ void do_delete(Scene *s, const char *relative) {
        Operation o = operation(OP_DELETE, NULL);
        char path[512];

        scene_path(s, relative, path);
        scene_keep(s, relative, KEEP_CONTENT);
        o.kind = scene_kind(path);
        assert_int_equal(remove(path), 0);
        session_forget_created(s->session, path);
        o.path = path;
        scene_put(s, o, false);
}

static _unused_ void do_rename(Scene *s, const char *from, const char *to) {
        Operation o = operation(OP_RENAME, NULL);
        char a[512], b[512];
        bool made;

        scene_path(s, from, a);
        scene_path(s, to, b);
        made = session_has_created(s->session, a, 0);
        o.replaced = access(b, F_OK) == 0;
        scene_keep(s, from, KEEP_NAME);
        scene_keep(s, to, o.replaced ? KEEP_CONTENT : KEEP_NAME);
        o.kind = scene_kind(a);
        assert_int_equal(rename(a, b), 0);
        session_forget_created(s->session, a);
        session_forget_created(s->session, b);
        if (made)
                assert_int_equal(session_remember_created(s->session, b, 0), 0);
        o.path = b;
        o.from = a;
        scene_put(s, o, false);
}

static _unused_ void do_exchange(Scene *s, const char *from, const char *to) {
        Operation o = operation(OP_RENAME, NULL);
        char a[512], b[512];

        scene_path(s, from, a);
        scene_path(s, to, b);
        scene_keep(s, from, KEEP_NAME);
        scene_keep(s, to, KEEP_NAME);
        assert_int_equal(renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE), 0);
        o.session = s->session->id;
        o.first = o.last = scene_now();
        o.kind = scene_kind(b);
        o.from = a;
        o.path = b;
        (void) put(s->store, o, NULL);
        o.kind = scene_kind(a);
        o.from = b;
        o.path = a;
        (void) put(s->store, o, NULL);
}

/* Somebody outside every session. told: the operation is recorded. */
static _unused_ void do_foreign(Scene *s, OpType op, const char *relative, const char *command,
                                bool told) {
        Operation o = operation(op, NULL);
        char path[512];

        next_tick();
        (void) nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
        scene_path(s, relative, path);
        shell("cd %s && %s", s->m.watch, command);
        o.path = path;
        o.kind = scene_kind(path);
        if (told)
                scene_put(s, o, true);
}

typedef struct Outcome {
        unsigned states[_UNDO_STATE_MAX];
        int r;
        unsigned stop_after; /* steps that have been done; 0: never */
        atomic_bool cancel;
        Scene *scene;
        bool quiet; /* nothing is told to the store: the daemon was killed */
        char text[8192];
} Outcome;

static _unused_ void outcome_progress(const UndoPlan *plan, const UndoStep *step, void *userdata) {
        Outcome *o = userdata;
        size_t n = strlen(o->text);

        o->states[step->state]++;
        if (!o->quiet)
                assert_int_equal(
                        store_put_undo_step(o->scene->store, plan->session, step, scene_now()), 0);
        (void) snprintf(o->text + n, sizeof o->text - n, "%s %s%s%s: %s%s%s\n",
                        undo_action_to_string(step->action), step->path, step->from ? " from " : "",
                        step->from ? step->from : "", undo_state_to_string(step->state),
                        step->reason ? ", " : "", step->reason ? step->reason : "");
        if (step->state == UNDO_DONE && o->stop_after > 0 && --o->stop_after == 0)
                atomic_store(&o->cancel, true);
}

static _unused_ void undo_paths(Scene *s, char *const *paths, bool dry_run, bool force,
                                Outcome *o) {
        _cleanup_(undo_plan_freep) UndoPlan *plan = NULL;
        UndoOptions options = {
                .state_dir = s->m.state,
                .dry_run = dry_run,
                .force = force,
                .cancel = &o->cancel,
                .batch = o->stop_after > 0,
                .progress = outcome_progress,
                .userdata = o,
        };

        o->scene = s;
        if (dry_run)
                o->quiet = true;
        assert_int_equal(undo_plan(s->store, s->session->id, paths, &plan), 0);
        o->r = undo_run(plan, &options);
}

static _unused_ void undo_all(Scene *s, Outcome *o) {
        undo_paths(s, NULL, /* dry_run= */ false, /* force= */ false, o);
        if (o->r != 0 ||
            o->states[UNDO_FAILED] + o->states[UNDO_REFUSED] + o->states[UNDO_IMPOSSIBLE] > 0)
                print_message("%s", o->text);
}

#endif
