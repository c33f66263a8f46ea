/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/strv.h"
#include "daemon/core/process.h"
#include "daemon/core/session.h"

#define MSEC (NSEC_PER_SEC / 1000)

typedef struct Fixture {
        ProcessTable *table;
        Session inner, outer;
        Session *emptied; /* the last one told, and how often */
        unsigned n_emptied;
} Fixture;

static void note_empty(Session *session, void *userdata) {
        Fixture *f = userdata;

        f->emptied = session;
        f->n_emptied++;
        /* the table may be used from here */
        assert_int_equal(process_table_count(f->table, session), 0);
        assert_int_equal(process_table_untag_all(f->table, session, session->outer), 0);
}

static int setup(void **state) {
        Fixture *f = calloc(1, sizeof *f);

        assert_non_null(f);
        assert_int_equal(process_table_new(note_empty, f, &f->table), 0);
        f->inner.outer = &f->outer;
        *state = f;
        return 0;
}

static int teardown(void **state) {
        Fixture *f = *state;

        assert_null(process_table_free(f->table));
        free(f);
        return 0;
}

static Program *program(const char *exe) {
        char **cmdline = NULL;
        Program *p = NULL;

        assert_true(strv_append(&cmdline, exe));
        assert_int_equal(program_new(strdup(exe), cmdline, strdup("/"), &p), 0);
        return p;
}

/* As /proc would tell of a process that began at second `start`. */
static Process *learn(Fixture *f, pid_t pid, pid_t ppid, uint64_t start, const char *exe) {
        _cleanup_(program_unrefp) Program *p = exe ? program(exe) : NULL;
        ProcessDetails d = {pid, ppid, start * 100, 1000, p};
        Process *ret = NULL;

        assert_int_equal(process_table_learn(f->table, &d, start * NSEC_PER_SEC, &ret), 0);
        assert_non_null(ret);
        return ret;
}

static Process *fork_at(Fixture *f, pid_t parent, pid_t child, nsec_t at) {
        assert_int_equal(process_table_fork(f->table, parent, child, at, at / (NSEC_PER_SEC / 100)),
                         0);
        return process_table_find(f->table, child);
}

static void exec_at(Fixture *f, pid_t pid, nsec_t at, const char *exe) {
        _cleanup_(program_unrefp) Program *p = program(exe);
        Process *known = process_table_find(f->table, pid);
        ProcessDetails d = {pid, 1, known ? known->image->start_ticks : 0, 1000, p};

        assert_int_equal(process_table_exec(f->table, pid, at, &d), 0);
}

/* ---- fork, exec, setuid, exit ---- */

static void child_inherits_session_program_and_uid(void **state) {
        Fixture *f = *state;
        Process *shell = learn(f, 10, 1, 1, "/bin/sh"), *child;

        assert_int_equal(process_table_tag(f->table, shell, &f->inner), 0);
        child = fork_at(f, 10, 11, 5000);
        assert_ptr_equal(child->session, &f->inner);
        assert_ptr_equal(child->image->parent, shell->image);
        assert_ptr_equal(child->image->program, shell->image->program);
        assert_int_equal(child->image->ppid, 10);
        assert_int_equal(child->image->uid, 1000);
        assert_int_equal(child->born, 5000);
        assert_int_equal(child->died, 0);
        assert_int_equal(process_table_count(f->table, &f->inner), 2);
}

static void fork_of_an_unknown_parent_makes_an_unknown_untagged_child(void **state) {
        Fixture *f = *state;
        Process *child = fork_at(f, 10, 11, 5000);

        assert_non_null(child);
        assert_null(child->session);
        assert_null(child->image->parent);
        assert_null(child->image->program);
        assert_int_equal(child->image->ppid, 10);
        assert_true(child->image->uid == (uid_t) -1);
        assert_null(process_table_find(f->table, 10));
}

/* A thread of a process whose first thread has exited may fork, and messages may be lost. */
static void fork_of_an_exited_parent_inherits(void **state) {
        Fixture *f = *state;
        Process *child;

        assert_int_equal(process_table_tag(f->table, learn(f, 10, 1, 1, "/bin/sh"), &f->inner), 0);
        (void) fork_at(f, 10, 11, 5000);
        process_table_exit(f->table, 10, 6000);
        child = fork_at(f, 10, 12, 7000);
        assert_ptr_equal(child->session, &f->inner);
}

static void exec_makes_a_new_image_below_the_same_parent(void **state) {
        Fixture *f = *state;
        Process *shell = learn(f, 10, 1, 1, "/bin/sh"), *child = fork_at(f, 10, 11, 5000);
        _cleanup_(image_unrefp) Image *before = image_ref(child->image);

        exec_at(f, 11, 6000, "/bin/ls");
        assert_ptr_not_equal(child->image, before);
        assert_string_equal(child->image->program->exe, "/bin/ls");
        assert_string_equal(before->program->exe, "/bin/sh");
        assert_ptr_equal(child->image->parent, shell->image);
        assert_int_equal(child->image->ppid, 10); /* as it was at the fork, not as /proc says now */
}

static void exec_without_details_leaves_the_program_unknown(void **state) {
        Fixture *f = *state;
        Process *child;

        assert_int_equal(process_table_tag(f->table, learn(f, 10, 1, 1, "/bin/sh"), &f->inner), 0);
        child = fork_at(f, 10, 11, 5000);
        assert_int_equal(process_table_exec(f->table, 11, 6000, NULL), 0);
        assert_null(child->image->program);
        assert_int_equal(child->image->ppid, 10);
        assert_int_equal(child->image->uid, 1000);
        assert_ptr_equal(child->session, &f->inner);
}

static void exec_ignores_details_of_another_process(void **state) {
        Fixture *f = *state;
        _cleanup_(program_unrefp) Program *p = program("/bin/other");
        ProcessDetails d = {11, 1, 9999, 0, p};
        Process *child;

        (void) learn(f, 10, 1, 1, "/bin/sh");
        child = fork_at(f, 10, 11, 5 * NSEC_PER_SEC);
        assert_int_equal(process_table_exec(f->table, 11, 5 * NSEC_PER_SEC + 1, &d), 0);
        assert_null(child->image->program);
        assert_int_equal(child->image->uid, 1000);
        assert_int_equal(child->image->start_ticks, 500);
}

static void exec_of_an_unknown_process_is_learned(void **state) {
        Fixture *f = *state;

        assert_int_equal(process_table_tag(f->table, learn(f, 1, 0, 1, "/sbin/init"), &f->inner),
                         0);
        exec_at(f, 11, 6000, "/bin/ls");
        assert_string_equal(process_table_find(f->table, 11)->image->program->exe, "/bin/ls");
        assert_ptr_equal(process_table_find(f->table, 11)->session, &f->inner);
        assert_int_equal(process_table_exec(f->table, 12, 6000, NULL), 0);
        assert_null(process_table_find(f->table, 12)->image->program);
}

/* The kernel tells the exit of the first thread when another one calls execve and takes its place. */
static void exec_brings_an_exited_process_back(void **state) {
        Fixture *f = *state;
        Process *p;

        assert_int_equal(process_table_tag(f->table, learn(f, 10, 1, 1, "/bin/sh"), &f->inner), 0);
        p = fork_at(f, 10, 11, 5000);
        process_table_exit(f->table, 11, 6000);
        assert_int_equal(process_table_count(f->table, &f->inner), 1);
        exec_at(f, 11, 6001, "/bin/threads");
        assert_ptr_equal(process_table_find(f->table, 11), p);
        assert_int_equal(p->died, 0);
        assert_int_equal(process_table_count(f->table, &f->inner), 2);
        process_table_expire(f->table, 100 * NSEC_PER_SEC);
        assert_ptr_equal(process_table_find(f->table, 11), p);
}

static void setuid_changes_the_uid_and_keeps_the_program(void **state) {
        Fixture *f = *state;
        Process *p = learn(f, 10, 1, 1, "/bin/su");
        _cleanup_(image_unrefp) Image *before = image_ref(p->image);

        assert_int_equal(process_table_setuid(f->table, 10, 5000, 1000), 0);
        assert_ptr_equal(p->image, before);
        assert_int_equal(process_table_setuid(f->table, 10, 5000, 0), 0);
        assert_ptr_not_equal(p->image, before);
        assert_int_equal(p->image->uid, 0);
        assert_ptr_equal(p->image->program, before->program);
        assert_int_equal(before->uid, 1000);
        assert_int_equal(process_table_setuid(f->table, 99, 5000, 0), 0);
}

/* sh -c 'echo > f; exec later': the table knows of the exec when the event that was read before it is looked at. */
static void the_image_is_that_of_the_moment(void **state) {
        Fixture *f = *state;
        Process *p;

        (void) learn(f, 10, 1, 1, "/bin/sh");
        p = fork_at(f, 10, 11, 5000);
        exec_at(f, 11, 6000, "/bin/one");
        exec_at(f, 11, 7000, "/bin/two");
        assert_int_equal(process_table_setuid(f->table, 11, 8000, 0), 0);
        assert_ptr_equal(process_image_at(p, 8000), p->image);
        assert_string_equal(process_image_at(p, 7999)->program->exe, "/bin/two");
        assert_int_equal(process_image_at(p, 7999)->uid, 1000);
        assert_string_equal(process_image_at(p, 6999)->program->exe, "/bin/one");
        /* further back than is kept: the oldest known */
        assert_string_equal(process_image_at(p, 5500)->program->exe, "/bin/one");
}

static void ancestors_outlive_their_processes(void **state) {
        Fixture *f = *state;
        Process *grandchild;

        (void) learn(f, 10, 1, 1, "/bin/sh");
        (void) fork_at(f, 10, 11, 5000);
        exec_at(f, 11, 5001, "/bin/middle");
        grandchild = fork_at(f, 11, 12, 5002);
        exec_at(f, 11, 5003, "/bin/later");
        process_table_exit(f->table, 11, 5004);
        process_table_exit(f->table, 10, 5005);
        process_table_expire(f->table, 100 * NSEC_PER_SEC);
        assert_string_equal(grandchild->image->parent->program->exe, "/bin/middle");
        assert_string_equal(grandchild->image->parent->parent->program->exe, "/bin/sh");
}

/* ---- recycled numbers ---- */

static void fork_to_a_living_number_ends_the_one_before(void **state) {
        Fixture *f = *state;
        Process *old, *new;

        assert_int_equal(process_table_tag(f->table, learn(f, 10, 1, 1, "/bin/sh"), &f->outer), 0);
        old = fork_at(f, 10, 11, 5000);
        assert_int_equal(process_table_tag(f->table, old, &f->inner), 0);
        new = fork_at(f, 1, 11, 8000);
        assert_ptr_not_equal(new, old);
        assert_ptr_equal(process_table_find(f->table, 11), new);
        assert_ptr_equal(f->emptied, &f->inner);
        assert_int_equal(old->died, 8000);

        /* the message that was late is of the old one, the next of the new one */
        process_table_exit(f->table, 11, 7000);
        assert_int_equal(old->died, 7000);
        assert_int_equal(new->died, 0);
        process_table_exit(f->table, 11, 9000);
        assert_int_equal(old->died, 7000);
        assert_int_equal(new->died, 9000);
        assert_int_equal(f->n_emptied, 1);
}

/* Who had number 11 when: S is of the session, B a bystander. Times in milliseconds; died 0: its exit is not known. */
typedef struct Life {
        char who;
        nsec_t born, died;
} Life;

static const struct {
        const char *name;
        Life lives[3];
        bool gone;
        nsec_t not_before, read_at;
        char author; /* '-': nobody */
} recycled[] = {
        {"nobody had it", {{0}}, false, 0, 9000, '-'},
        {"a living one", {{'S', 1000, 0}}, false, 2000, 3000, 'S'},
        {"born within the window", {{'S', 2500, 0}}, false, 2000, 3000, 'S'},
        {"born after the event was read", {{'S', 3500, 0}}, false, 2000, 3000, '-'},
        {"exited within the window", {{'S', 1000, 2500}}, false, 2000, 3000, 'S'},
        {"exited within the window, reaped", {{'S', 1000, 2500}}, true, 2000, 3000, 'S'},
        {"exited after reading", {{'S', 1000, 3500}}, false, 2000, 3000, 'S'},
        {"exited after reading, yet reaped", {{'S', 1000, 3001}}, true, 2000, 3000, 'S'},
        {"reaped, exit message not there yet", {{'S', 1000, 0}}, true, 2000, 3000, 'S'},
        {"exited a moment before the window", {{'S', 1000, 1950}}, false, 2000, 3000, 'S'},
        {"exited long before the window", {{'S', 1000, 1500}}, false, 2000, 3000, '-'},
        {"exited long before the window, reaped", {{'S', 1000, 1500}}, true, 2000, 3000, '-'},

        {"B took it before the window", {{'S', 100, 500}, {'B', 1000, 0}}, false, 2000, 3000, 'B'},
        {"S took it before the window", {{'B', 100, 500}, {'S', 1000, 0}}, false, 2000, 3000, 'S'},
        {"B took it after reading", {{'S', 100, 2500}, {'B', 3500, 0}}, false, 2000, 3000, 'S'},
        {"S took it after reading", {{'B', 100, 2500}, {'S', 3500, 0}}, false, 2000, 3000, 'B'},
        {"B took it after reading; reaped",
         {{'S', 100, 2500}, {'B', 3500, 0}},
         true,
         2000,
         3000,
         'S'},
        {"both in one window: the later",
         {{'S', 100, 2300}, {'B', 2600, 0}},
         false,
         2000,
         3000,
         'B'},
        {"both in one window: the later",
         {{'B', 100, 2300}, {'S', 2600, 0}},
         false,
         2000,
         3000,
         'S'},
        {"both; the author was reaped, B lives",
         {{'S', 100, 2300}, {'B', 2600, 0}},
         true,
         2000,
         3000,
         'S'},
        {"both; the author was reaped, S lives",
         {{'B', 100, 2300}, {'S', 2600, 0}},
         true,
         2000,
         3000,
         'B'},
        {"both; B outlived the reading",
         {{'S', 100, 2300}, {'B', 2600, 3500}},
         true,
         2000,
         3000,
         'S'},
        {"both; both were reaped: the later",
         {{'S', 100, 2300}, {'B', 2600, 2900}},
         true,
         2000,
         3000,
         'B'},
        {"both; S died a moment before", {{'S', 100, 1990}, {'B', 1995, 0}}, true, 2000, 3000, 'S'},
        {"reaped; S long dead, B's exit not there yet",
         {{'S', 100, 500}, {'B', 600, 0}},
         true,
         2000,
         3000,
         'B'},
        {"S's exit message never came", {{'S', 100, 0}, {'B', 2600, 0}}, true, 2000, 3000, 'S'},
        {"S's exit message never came", {{'S', 100, 0}, {'B', 2600, 0}}, false, 2000, 3000, 'B'},
        {"three in one window",
         {{'B', 100, 2100}, {'S', 2200, 2300}, {'B', 2400, 0}},
         true,
         2000,
         3000,
         'S'},
        {"three; the first before the window",
         {{'B', 100, 500}, {'S', 600, 2300}, {'B', 2400, 0}},
         true,
         2000,
         3000,
         'S'},
        {"three; the middle one alone fits",
         {{'B', 100, 500}, {'S', 600, 2300}, {'B', 3400, 0}},
         false,
         2000,
         3000,
         'S'},
};

static void author_of_a_recycled_number_is_who_had_it_then(void **state) {
        Fixture *f = *state;

        for (size_t i = 0; i < ELEMENTSOF(recycled); i++) {
                _cleanup_(process_table_freep) ProcessTable *t = NULL;
                Process *p = NULL, *root = NULL;
                ProcessDetails d = {.pid = 10, .start_ticks = 1};
                char author;

                assert_int_equal(process_table_new(NULL, NULL, &t), 0);
                assert_int_equal(process_table_learn(t, &d, 0, &root), 0);
                assert_int_equal(process_table_tag(t, root, &f->inner), 0);
                for (const Life *l = recycled[i].lives; l < recycled[i].lives + 3 && l->who; l++) {
                        assert_int_equal(process_table_fork(t, l->who == 'S' ? 10 : 9, 11,
                                                            l->born * MSEC, 0),
                                         0);
                        if (l->died > 0)
                                process_table_exit(t, 11, l->died * MSEC);
                }
                p = process_table_author(t, 11, recycled[i].gone, recycled[i].not_before * MSEC,
                                         recycled[i].read_at * MSEC);
                author = !p ? '-' : p->session ? 'S' : 'B';
                if (author != recycled[i].author)
                        fail_msg("%s (case %zu): '%c' and not '%c'", recycled[i].name, i, author,
                                 recycled[i].author);
        }
}

/* ---- learning ---- */

static void learning_adds_a_member_of_the_parents_session(void **state) {
        Fixture *f = *state;
        Process *parent = learn(f, 10, 1, 1, "/bin/sh"), *child;

        assert_int_equal(process_table_tag(f->table, parent, &f->inner), 0);
        child = learn(f, 11, 10, 2, "/bin/ls");
        assert_ptr_equal(child->session, &f->inner);
        assert_ptr_equal(child->image->parent, parent->image);
        assert_int_equal(child->born, 0);
        assert_null(learn(f, 12, 1, 2, "/bin/other")->session);
}

static void learning_completes_what_is_unknown(void **state) {
        Fixture *f = *state;
        Process *p = fork_at(f, 10, 11, 5 * NSEC_PER_SEC), *learned;

        learned = learn(f, 11, 10, 5, "/bin/ls");
        assert_ptr_equal(learned, p);
        assert_string_equal(p->image->program->exe, "/bin/ls");
        assert_int_equal(p->image->uid, 1000);
        assert_int_equal(p->born, 5 * NSEC_PER_SEC);
}

static void learning_corrects_computed_start_times(void **state) {
        Fixture *f = *state;
        Process *p, *ret;
        ProcessDetails d = {11, 10, 501, 1000, NULL};

        (void) learn(f, 10, 1, 1, "/bin/sh");
        p = fork_at(f, 10, 11, 5 * NSEC_PER_SEC);
        assert_int_equal(p->image->start_ticks, 500);
        assert_int_equal(process_table_learn(f->table, &d, 6 * NSEC_PER_SEC, &ret), 0);
        assert_ptr_equal(ret, p);
        assert_int_equal(p->image->start_ticks, 501);
        assert_string_equal(p->image->program->exe, "/bin/sh");
}

static void learning_the_same_again_keeps_the_image(void **state) {
        Fixture *f = *state;
        Process *p = learn(f, 10, 1, 1, "/bin/sh");
        Image *image = p->image;

        assert_ptr_equal(learn(f, 10, 1, 1, "/bin/sh"), p);
        assert_ptr_equal(p->image, image);
        assert_ptr_equal(learn(f, 10, 1, 1, NULL), p);
        assert_ptr_equal(p->image, image);
}

static void learning_notices_a_missed_exec(void **state) {
        Fixture *f = *state;
        Process *p = learn(f, 10, 1, 1, "/bin/sh");

        (void) learn(f, 10, 1, 1, "/bin/ls");
        assert_string_equal(p->image->program->exe, "/bin/ls");
}

static void learning_another_start_time_replaces_a_recycled_number(void **state) {
        Fixture *f = *state;
        Process *old = learn(f, 10, 1, 1, "/bin/sh"), *new;

        assert_int_equal(process_table_tag(f->table, old, &f->inner), 0);
        new = learn(f, 10, 1, 3, "/bin/ls");
        assert_ptr_not_equal(new, old);
        assert_null(new->session);
        assert_ptr_equal(f->emptied, &f->inner);
        assert_int_equal(old->died, 3 * NSEC_PER_SEC);
        assert_ptr_equal(process_table_find(f->table, 10), new);

        /* what the connector says later: the exit of the old one, the fork of the new one, its exit */
        process_table_exit(f->table, 10, 2 * NSEC_PER_SEC);
        assert_int_equal(old->died, 2 * NSEC_PER_SEC);
        assert_int_equal(new->died, 0);
        (void) fork_at(f, 1, 10, 3 * NSEC_PER_SEC);
        assert_ptr_equal(process_table_find(f->table, 10), new);
        assert_int_equal(new->born, 3 * NSEC_PER_SEC);
        process_table_exit(f->table, 10, 4 * NSEC_PER_SEC);
        assert_int_equal(new->died, 4 * NSEC_PER_SEC);
}

/* /proc was read before the message of its fork was: the same process, and a child of the session after all. */
static void a_fork_message_after_learning_is_the_same_process(void **state) {
        Fixture *f = *state;
        Process *p = learn(f, 11, 1, 5, "/bin/ls");

        assert_int_equal(process_table_tag(f->table, learn(f, 10, 1, 1, "/bin/sh"), &f->inner), 0);
        assert_ptr_equal(fork_at(f, 10, 11, 5 * NSEC_PER_SEC + 1), p);
        assert_int_equal(p->born, 5 * NSEC_PER_SEC + 1);
        assert_ptr_equal(p->session, &f->inner);
        assert_int_equal(process_table_count(f->table, &f->inner), 2);
}

static void learning_does_not_revive_the_dead(void **state) {
        Fixture *f = *state;
        Process *p;

        (void) learn(f, 10, 1, 1, "/bin/sh");
        p = fork_at(f, 10, 11, 5 * NSEC_PER_SEC);
        process_table_exit(f->table, 11, 6 * NSEC_PER_SEC);
        assert_ptr_equal(learn(f, 11, 10, 5, "/bin/ls"), p);
        assert_null(process_table_find(f->table, 11));
}

/* ---- tags ---- */

static void tagging_moves_and_tells_who_is_empty(void **state) {
        Fixture *f = *state;
        Process *p = learn(f, 10, 1, 1, "/bin/sh");

        assert_int_equal(process_table_tag(f->table, p, &f->outer), 0);
        assert_int_equal(process_table_tag(f->table, p, &f->outer), 0);
        assert_int_equal(process_table_count(f->table, &f->outer), 1);
        assert_int_equal(f->n_emptied, 0);
        assert_int_equal(process_table_tag(f->table, p, &f->inner), 0);
        assert_ptr_equal(f->emptied, &f->outer);
        assert_int_equal(process_table_count(f->table, &f->outer), 0);
        assert_int_equal(process_table_count(f->table, &f->inner), 1);
        assert_int_equal(process_table_tag(f->table, p, NULL), 0);
        assert_ptr_equal(f->emptied, &f->inner);
        assert_int_equal(f->n_emptied, 2);
        assert_int_equal(process_table_count(f->table, NULL), 0);
}

static void last_exit_empties_a_session_once(void **state) {
        Fixture *f = *state;

        assert_int_equal(process_table_tag(f->table, learn(f, 10, 1, 1, "/bin/sh"), &f->inner), 0);
        (void) fork_at(f, 10, 11, 5000);
        process_table_exit(f->table, 10, 6000);
        assert_int_equal(f->n_emptied, 0);
        process_table_exit(f->table, 11, 7000);
        assert_int_equal(f->n_emptied, 1);
        process_table_exit(f->table, 11, 8000);
        process_table_exit(f->table, 77, 8000);
        assert_int_equal(f->n_emptied, 1);
}

static void count_member(Process *p, void *userdata) {
        assert_int_equal(p->died, 0);
        ++*(unsigned *) userdata;
}

static void an_heir_gets_the_living_and_the_gone(void **state) {
        Fixture *f = *state;
        Process *gone;
        unsigned n = 0;

        assert_int_equal(process_table_tag(f->table, learn(f, 20, 1, 1, "/bin/sh"), &f->outer), 0);
        assert_int_equal(process_table_tag(f->table, learn(f, 10, 1, 1, "/bin/sh"), &f->inner), 0);
        gone = fork_at(f, 10, 11, 5000);
        (void) fork_at(f, 10, 12, 5000);
        process_table_exit(f->table, 11, 6000);

        assert_int_equal(process_table_untag_all(f->table, &f->inner, &f->outer), 0);
        assert_int_equal(f->n_emptied, 0);
        assert_int_equal(process_table_count(f->table, &f->inner), 0);
        assert_int_equal(process_table_count(f->table, &f->outer), 3);
        assert_ptr_equal(gone->session, &f->outer);
        process_table_foreach(f->table, &f->outer, count_member, &n);
        assert_int_equal(n, 3);

        assert_int_equal(process_table_untag_all(f->table, &f->outer, NULL), 0);
        assert_null(gone->session);
        assert_null(process_table_find(f->table, 20)->session);
        process_table_foreach(f->table, &f->outer, count_member, &n);
        assert_int_equal(n, 3);
}

/* ---- forgetting ---- */

static void exited_are_kept_for_a_while(void **state) {
        Fixture *f = *state;

        (void) learn(f, 10, 1, 1, "/bin/sh");
        (void) fork_at(f, 10, 11, 5000);
        (void) fork_at(f, 10, 12, 5000);
        process_table_exit(f->table, 11, 6000);
        process_table_exit(f->table, 12, 9000);
        process_table_expire(f->table,
                             5500); /* the loop's idea of now may be older than a message */
        process_table_expire(f->table, 6000 + PROCESS_KEEP_NSEC);
        assert_non_null(process_table_author(f->table, 11, true, 5500, 6500));
        process_table_expire(f->table, 6001 + PROCESS_KEEP_NSEC);
        assert_null(process_table_author(f->table, 11, true, 5500, 6500));
        assert_non_null(process_table_author(f->table, 12, true, 5500, 9500));
        assert_non_null(process_table_find(f->table, 10));
        assert_int_equal(process_table_horizon(f->table), 0);
}

static void exited_are_bounded_and_the_limit_is_told(void **state) {
        Fixture *f = *state;

        (void) learn(f, 10, 1, 1, "/bin/sh");
        for (pid_t i = 0; i < PROCESS_EXITED_MAX + 3; i++) {
                nsec_t at = 1000 + 10 * (nsec_t) i;

                assert_int_equal(process_table_fork(f->table, 10, 100 + i, at, 0), 0);
                process_table_exit(f->table, 100 + i, at + 5);
        }
        assert_null(process_table_author(f->table, 102, true, 1020, 1030));
        assert_non_null(process_table_author(f->table, 103, true, 1030, 1040));
        assert_int_equal(process_table_horizon(f->table), 1025);
}

static void clearing_keeps_sessions_only(void **state) {
        Fixture *f = *state;
        Process *old;

        (void) learn(f, 10, 1, 1, "/bin/sh");
        old = fork_at(f, 10, 11, 5000);
        assert_int_equal(process_table_tag(f->table, old, &f->inner), 0);
        process_table_exit(f->table, 11, 6000); /* takes it out of the session by note_empty() */
        assert_int_equal(process_table_tag(f->table, old, &f->outer), 0);
        (void) fork_at(f, 10, 11, 7000);
        process_table_clear_untagged(f->table);
        assert_null(process_table_find(f->table, 10));
        assert_null(process_table_find(f->table, 11));
        assert_ptr_equal(process_table_author(f->table, 11, true, 5500, 6500), old);
        assert_int_equal(process_table_untag_all(f->table, &f->outer, NULL), 0);
        process_table_clear_untagged(f->table);
        assert_null(process_table_author(f->table, 11, true, 5500, 6500));
}

static void freeing_a_long_chain_of_images_does_not_recurse(void **state) {
        Image *last = NULL;

        for (unsigned i = 0; i < 1000000; i++) {
                Image *next = calloc(1, sizeof *next);

                assert_non_null(next);
                next->n_ref = 1;
                next->parent = last;
                last = next;
        }
        assert_null(image_unref(last));
}

/* A process that lives on by forking and exiting for ever. */
static void chains_of_parents_are_bounded_and_keep_their_top(void **state) {
        Fixture *f = *state;
        Process *root = learn(f, 1000000, 1, 1, "/bin/hopper");
        Image *top = root->image, *i;
        unsigned n = 0;

        assert_int_equal(process_table_tag(f->table, root, &f->inner), 0);
        for (pid_t pid = 1000000; pid < 1100000; pid++) {
                nsec_t at = NSEC_PER_SEC * 2 + (nsec_t) pid * 1000;

                (void) fork_at(f, pid, pid + 1, at);
                process_table_exit(f->table, pid, at + 500);
        }
        assert_ptr_equal(process_table_find(f->table, 1100000)->session, &f->inner);
        process_table_expire(f->table, 10000 * NSEC_PER_SEC);
        for (i = process_table_find(f->table, 1100000)->image; i->parent; i = i->parent)
                n++;
        assert_true(n < PROCESS_DEPTH_MAX);
        assert_true(n >= PROCESS_DEPTH_MAX / 2);
        assert_ptr_equal(i, top);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                T(child_inherits_session_program_and_uid),
                T(fork_of_an_unknown_parent_makes_an_unknown_untagged_child),
                T(fork_of_an_exited_parent_inherits),
                T(exec_makes_a_new_image_below_the_same_parent),
                T(exec_without_details_leaves_the_program_unknown),
                T(exec_ignores_details_of_another_process),
                T(exec_of_an_unknown_process_is_learned),
                T(exec_brings_an_exited_process_back),
                T(setuid_changes_the_uid_and_keeps_the_program),
                T(the_image_is_that_of_the_moment),
                T(ancestors_outlive_their_processes),
                T(fork_to_a_living_number_ends_the_one_before),
                T(author_of_a_recycled_number_is_who_had_it_then),
                T(learning_adds_a_member_of_the_parents_session),
                T(learning_completes_what_is_unknown),
                T(learning_corrects_computed_start_times),
                T(learning_the_same_again_keeps_the_image),
                T(learning_notices_a_missed_exec),
                T(learning_another_start_time_replaces_a_recycled_number),
                T(a_fork_message_after_learning_is_the_same_process),
                T(learning_does_not_revive_the_dead),
                T(tagging_moves_and_tells_who_is_empty),
                T(last_exit_empties_a_session_once),
                T(an_heir_gets_the_living_and_the_gone),
                T(exited_are_kept_for_a_while),
                T(exited_are_bounded_and_the_limit_is_told),
                T(clearing_keeps_sessions_only),
                cmocka_unit_test(freeing_a_long_chain_of_images_does_not_recurse),
                T(chains_of_parents_are_bounded_and_keep_their_top),
        };

        return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
