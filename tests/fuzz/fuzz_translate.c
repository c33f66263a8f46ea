/* SPDX-License-Identifier: MIT */
/*
 * Any sequence of records, however impossible, over a few directories, names and objects: the tree stays a tree, and what is
 * told lies below the watch. Four bytes make a record: mask, pid and object, old place, new place.
 */
#include "daemon/kernel/translate.h"

#include <fcntl.h>

#define DIRECTORIES 6 /* the last two are never in the tree */
#define NAMES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
        if (!holds)
                abort();
}

static void emit(void *userdata, Change *c) {
        check(c->path && strncmp(c->path, "/watch", 6) == 0);
        check(c->path[6] == '/' || c->path[6] == '\0');
        check(c->op != OP_RENAME || c->from);
        check(c->op < _OP_MAX && c->kind < _KIND_MAX);
        ++*(size_t *) userdata;
}

static const unsigned char handles[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const char *const names[NAMES] = {"a", "b", "#7", "db-wal"};

static FanHandle handle(unsigned i) {
        return (FanHandle){.data = &handles[i % 16], .size = 1, .type = 1};
}

static FanName place(uint8_t b) {
        return (FanName){.dir = handle((b >> 2) % DIRECTORIES), .name = names[b % NAMES]};
}

static void put(Batch *b, const uint8_t *p) {
        static const uint64_t masks[] = {
                FAN_BIT_CREATE,      FAN_BIT_DELETE, FAN_BIT_RENAME, FAN_BIT_MODIFY,
                FAN_BIT_CLOSE_WRITE, FAN_BIT_ATTRIB, FAN_BIT_ONDIR,
        };
        FanRecord fan = {.fd = -1, .pidfd = -1};
        Record *rec;
        size_t i;

        for (i = 0; i < ELEMENTSOF(masks); i++) {
                if (p[0] & (1U << i))
                        fan.mask |= masks[i];
        }
        fan.pid = 1 + (p[1] & 1);
        fan.child = handle(p[1] >> 1);
        if (!(p[2] & 0x80))
                fan.at = place(p[2]);
        if (fan.mask & FAN_BIT_RENAME && !(p[3] & 0x80))
                fan.to = place(p[3]);
        if (fan.mask & FAN_BIT_ONDIR && p[2] & 0x40)
                fan.at.name = ".";
        check(batch_add(b, &fan, &rec) == 0);
        rec->not_before = 1;
        rec->read_at = 2;
        rec->at = 1;
}

static void check_tree(const Tree *t) {
        Node *root = tree_root(t), *n;
        size_t k = 0;

        for (n = node_walk(root, root); n; n = node_walk(n, root)) {
                check(n->parent && n->name && node_is_below(n, root));
                check(tree_find(t, n->parent, n->name) == n);
                check(n->id == 0 || tree_find_object(t, n->id));
                k++;
        }
        check(k + 1 == tree_directories(t) + tree_others(t));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Ground ground = {.root = (char *) "/nonexistent", .fd = -1};
        Translator *t = NULL;
        TreeWalk *walk = NULL;
        Tree *tree = NULL;
        size_t told = 0, n, i;
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); /* for looking ahead */
        Batch b;
        FanHandle root = handle(0);
        TranslatorConfig config = {.base = "/watch", .emit = emit, .userdata = &told};

        if (size < 1)
                return 0;
        n = MIN((size - 1) / 4, (size_t) 512);
        check(batch_init(&b, nothing) == 0);
        check(tree_new(12, fan_handle_id(&root), &tree) == 0);
        check(tree_walk_new(tree, &ground, &walk) == 0);
        config.tree = tree;
        config.ground = &ground;
        config.walk = walk;
        config.by_directories = data[0] & 1;
        config.file = data[0] & 2 ? "db" : NULL;
        check(translator_new(&config, &t) == 0);
        for (i = 0; i < n; i++)
                put(&b, data + 1 + i * 4);
        for (i = 0; i < n; i++) {
                check(translator_record(t, &b, i) >= 0);
                check_tree(tree);
        }
        (void) translator_settle(t, /* all= */ true);
        translator_free(t);
        tree_walk_free(walk);
        tree_free(tree);
        batch_done(&b);
        (void) close(nothing);
        return 0;
}
