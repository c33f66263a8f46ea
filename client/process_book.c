/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>

#include "client/process_book.h"
#include "common/hash.h"

typedef struct Entry {
        int64_t id;
        ProcessInfo info;
        UT_hash_handle hh;
} Entry;

struct ProcessBook {
        Entry *young, *old;
        size_t max;
};

static Entry *find_in(Entry *table, int64_t id) {
        Entry *e;

        HASH_FIND(hh, table, &id, sizeof(id), e);
        return e;
}

static void remove_from(Entry **table, Entry *e) {
        HASH_DEL(*table, e);
}

static bool insert_into(Entry **table, Entry *e) {
        HASH_ADD(hh, *table, id, sizeof(e->id), e);
        return e->hh.tbl != NULL;
}

static void entry_free(Entry *e) {
        process_info_done(&e->info);
        free(e);
}

static void table_free(Entry *table) {
        Entry *e, *next;

        HASH_ITER (hh, table, e, next) {
                remove_from(&table, e);
                entry_free(e);
        }
}

int process_book_new(size_t max, ProcessBook **ret) {
        ProcessBook *b = calloc(1, sizeof(*b));

        if (!b)
                return -ENOMEM;
        b->max = max;
        *ret = b;
        return 0;
}

ProcessBook *process_book_free(ProcessBook *b) {
        if (!b)
                return NULL;
        table_free(b->young);
        table_free(b->old);
        free(b);
        return NULL;
}

static void make_room(ProcessBook *b) {
        if (HASH_COUNT(b->young) < b->max)
                return;
        table_free(b->old);
        b->old = TAKE_PTR(b->young);
}

int process_book_take(ProcessBook *b, ProcessInfo *p) {
        Entry *e = calloc(1, sizeof(*e)), *known;

        if (!e)
                return -ENOMEM;
        known = find_in(b->young, p->id);
        if (known) {
                remove_from(&b->young, known);
                entry_free(known);
        }
        make_room(b);
        e->id = p->id;
        if (!insert_into(&b->young, e)) {
                free(e);
                return -ENOMEM;
        }
        e->info = *p;
        *p = (ProcessInfo){};
        return 0;
}

static Entry *find_any(ProcessBook *b, int64_t id) {
        Entry *e = find_in(b->young, id);

        return e ? e : find_in(b->old, id);
}

void process_book_touch(ProcessBook *b, int64_t id) {
        for (size_t i = 0; i < PROCESS_CHAIN_MAX && id > 0; i++) {
                Entry *e = find_in(b->old, id);

                if (e && !find_in(b->young, id)) {
                        remove_from(&b->old, e);
                        if (!insert_into(&b->young, e)) {
                                entry_free(e);
                                return;
                        }
                } else
                        e = find_in(b->young, id);
                if (!e)
                        return;
                id = e->info.parent_id;
        }
}

static const ProcessInfo *find(void *userdata, int64_t id) {
        Entry *e = find_any(userdata, id);

        return e ? &e->info : NULL;
}

ProcessSource process_book_source(ProcessBook *b) {
        return (ProcessSource){.find = find, .userdata = b};
}
