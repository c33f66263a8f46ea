/* SPDX-License-Identifier: MIT */
/*
 * Images and their programs.
 *
 * A row says in which block it was last used; it may be removed when no older operation is left
 * (store_expire.c). An image that is used again after that is stored again under the number it had.
 */
#include "daemon/store/store_internal.h"

#include <errno.h>

#define IMAGE_DEPTH_MAX \
        128 /* ancestors stored with an image: a chain of forks can be of any length */

void process_forget(Store *s) {
        memset(s->touched, 0, sizeof s->touched);
        memset(s->programs, 0, sizeof s->programs);
        s->touched_block = -1;
}

/* The block of the operation that is about to be stored. */
static int64_t present_block(const Store *s) {
        return block_of(s->seq + 1);
}

static bool is_touched(const Store *s, int64_t id) {
        return id != 0 && s->touched[(uint64_t) id % TOUCHED_SIZE] == id;
}

static int insert_program(Store *s, const Program *p, const char *cmdline, size_t size,
                          int64_t *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int64_t id = s->next_program++;
        int r = statement_open(
                s, STATEMENT_PROGRAM_PUT,
                "INSERT INTO program(id, used, exe, cwd, cmdline) VALUES(?, ?, ?, ?, ?)", &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, id);
        statement_bind_int(&st, present_block(s));
        statement_bind_string(&st, p->exe);
        statement_bind_string(&st, p->cwd);
        statement_bind_bytes(&st, cmdline, size);
        r = statement_run(&st);
        if (r < 0)
                return r;
        *ret = id;
        return 0;
}

/* Equal programs of a block are one row. 0 for NULL. */
static int put_program(Store *s, const Program *p, int64_t *ret) {
        _cleanup_free_ char *cmdline = NULL;
        size_t size;
        CachedId *cached;
        int r;

        if (!p) {
                *ret = 0;
                return 0;
        }
        r = strv_encode(p->cmdline, &cmdline, &size);
        if (r < 0)
                return r;
        uint64_t parts[] = {
                hash_string(&s->hash_key, p->exe),
                hash_string(&s->hash_key, p->cwd),
                cmdline ? hash_bytes(&s->hash_key, cmdline, size) : 0,
        };
        uint64_t hash = hash_bytes(&s->hash_key, parts, sizeof parts);
        cached = &s->programs[hash % PROGRAM_CACHE_SIZE];
        if (cached->id == 0 || cached->hash != hash) {
                int64_t id;
                r = insert_program(s, p, cmdline, size, &id);
                if (r < 0)
                        return r;
                *cached = (CachedId){.hash = hash, .id = id};
        }
        *ret = cached->id;
        return 0;
}

static int insert_process(Store *s, const Image *image, int64_t id) {
        _cleanup_(statement_done) Statement st = {0};
        int64_t program;
        int r = put_program(s, image->program, &program);

        if (r >= 0)
                r = statement_open(
                        s, STATEMENT_PROCESS_PUT,
                        "INSERT INTO process(id, used, parent, pid, ppid, start, uid, program) "
                        "VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                        &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, id);
        statement_bind_int(&st, present_block(s));
        statement_bind_int(&st, image->parent ? image->parent->store_id : 0);
        statement_bind_int(&st, image->pid);
        statement_bind_int(&st, image->ppid);
        statement_bind_int(&st, (int64_t) image->start_ticks);
        statement_bind_int(&st, image->uid);
        statement_bind_int(&st, program);
        return statement_run(&st);
}

static int touch(Store *s, StatementSlot slot, const char *sql, int64_t id) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, slot, sql, &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, present_block(s));
        statement_bind_int(&st, id);
        return statement_run(&st);
}

/* Marks the row as used. 0 when there is none. */
static int touch_process(Store *s, int64_t id) {
        int r = touch(s, STATEMENT_PROCESS_TOUCH, "UPDATE process SET used = ? WHERE id = ?", id);

        if (r <= 0)
                return r;
        r = touch(
                s, STATEMENT_PROGRAM_TOUCH,
                "UPDATE program SET used = ? WHERE id = (SELECT program FROM process WHERE id = ?)",
                id);
        return r < 0 ? r : 1;
}

static int put_one(Store *s, Image *image) {
        int64_t id = image->store_id;
        int r = id != 0 ? touch_process(s, id) : 0;

        if (r == 0) {
                if (id == 0)
                        id = s->next_process++;
                r = insert_process(s, image, id);
        }
        if (r < 0)
                return r;
        image->store_id = id;
        s->touched[(uint64_t) id % TOUCHED_SIZE] = id;
        return 0;
}

int store_put_image(Store *s, Image *image) {
        Image *chain[IMAGE_DEPTH_MAX];
        size_t n = 0;
        int r;

        if (s->touched_block != present_block(s)) {
                process_forget(s);
                s->touched_block = present_block(s);
        }
        /* Whoever is touched has touched ancestors. */
        for (Image *i = image; i && n < IMAGE_DEPTH_MAX && !is_touched(s, i->store_id);
             i = i->parent)
                chain[n++] = i;
        if (n == 0)
                return 0;
        r = store_begin(s);
        while (n > 0 && r >= 0)
                r = put_one(s, chain[--n]);
        return r;
}

static int read_process(Statement *st, ProcessInfo *p) {
        const char *cmdline;
        size_t size;
        int r;

        p->parent_id = statement_int(st, 0);
        p->pid = (pid_t) statement_int(st, 1);
        p->ppid = (pid_t) statement_int(st, 2);
        p->start_ticks = (uint64_t) statement_int(st, 3);
        p->uid = (uid_t) statement_int(st, 4);
        r = statement_string(st, 5, &p->exe);
        if (r >= 0)
                r = statement_string(st, 6, &p->cwd);
        if (r < 0)
                return r;
        statement_bytes(st, 7, &cmdline, &size);
        return strv_decode(cmdline, size, &p->cmdline);
}

int store_get_process(Store *s, int64_t id, ProcessInfo *ret) {
        _cleanup_(statement_done) Statement st = {0};
        _cleanup_(process_info_done) ProcessInfo p = {.id = id};
        int r = statement_open(
                s, STATEMENT_PROCESS_GET,
                "SELECT p.parent, p.pid, p.ppid, p.start, p.uid, g.exe, g.cwd, g.cmdline "
                "FROM process p LEFT JOIN program g ON g.id = p.program WHERE p.id = ?",
                &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, id);
        r = statement_step(&st);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        r = read_process(&st, &p);
        if (r < 0)
                return r;
        *ret = p;
        p = (ProcessInfo){0};
        return 0;
}
