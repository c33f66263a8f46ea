/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/tree_walk.h"

#include <dirent.h>
#include <errno.h>

#define TRIES_MAX 4

typedef struct Pending {
        uint64_t id, tag;
        unsigned tries;
} Pending;

typedef struct Queue {
        Pending *items; /* [head, n) wait */
        size_t head, n, allocated;
} Queue;

struct TreeWalk {
        Tree *tree;
        Ground *ground;
        Queue now, later; /* to be read; to be tried again in the next round */
        uint64_t tag;     /* of the directory that is being read */
        size_t failed;
        tree_walk_enter_t enter;
        tree_walk_found_t found;
        void *userdata;
};

int tree_walk_new(Tree *t, Ground *g, TreeWalk **ret) {
        TreeWalk *w = calloc(1, sizeof(TreeWalk));

        if (!w)
                return -ENOMEM;
        w->tree = t;
        w->ground = g;
        *ret = w;
        return 0;
}

TreeWalk *tree_walk_free(TreeWalk *w) {
        if (!w)
                return NULL;
        free(w->now.items);
        free(w->later.items);
        free(w);
        return NULL;
}

void tree_walk_on(TreeWalk *w, tree_walk_enter_t enter, tree_walk_found_t found, void *userdata) {
        w->enter = enter;
        w->found = found;
        w->userdata = userdata;
}

static int queue_push(Queue *q, Pending p) {
        Pending *bigger;
        size_t k;

        if (q->head == q->n)
                q->head = q->n = 0;
        if (q->head > 0 && q->n == q->allocated && q->head >= q->allocated / 2) {
                memmove(q->items, q->items + q->head, (q->n - q->head) * sizeof(Pending));
                q->n -= q->head;
                q->head = 0;
        }
        if (q->n == q->allocated) {
                k = q->allocated ? q->allocated * 2 : 64;
                bigger = reallocarray(q->items, k, sizeof(Pending));
                if (!bigger)
                        return -ENOMEM;
                q->items = bigger;
                q->allocated = k;
        }
        q->items[q->n++] = p;
        return 0;
}

int tree_walk_add(TreeWalk *w, const Node *directory, uint64_t tag) {
        return queue_push(&w->now, (Pending){.id = directory->id, .tag = tag});
}

bool tree_walk_is_done(const TreeWalk *w) {
        return w->now.head == w->now.n && w->later.head == w->later.n;
}

size_t tree_walk_failed(const TreeWalk *w) {
        return w->failed;
}

static void node_learn(const Tree *t, Node *n, const GroundStat *s) {
        Node *object = tree_find_object(t, n->id);

        if (n->kind != KIND_FILE || !object || object->content != CONTENT_UNKNOWN)
                return;
        object->size = s->size;
        object->mtime = s->mtime;
        object->content = CONTENT_KNOWN;
}

/* A directory has one name only: when the tree has it under another, it was moved. */
static int move_here(Tree *t, Node *directory, const char *name, const GroundStat *s,
                     char **ret_moved_from) {
        Node *n = s->kind == KIND_DIR ? tree_find_object(t, s->id) : NULL;
        char *from;
        int r;

        if (!n || !n->parent || (n->parent == directory && str_equal(n->name, name)))
                return 0;
        from = node_path(n, "", NULL);
        if (!from)
                return -ENOMEM;
        r = tree_move(t, n, directory, name);
        if (r < 0) {
                free(from);
                return r == -ELOOP ? 0 : r;
        }
        *ret_moved_from = from;
        return 0;
}

/* 1: it is there; found->node is set. 0: gone meanwhile, or the tree is full. */
static int take_name(Tree *t, const Ground *g, Node *directory, int fd, const char *name,
                     GroundStat *ret_stat, Found *ret, char **ret_moved_from) {
        const Node *before;
        Found found = {.stat = ret_stat};
        int r;

        r = ground_stat_at(g, fd, name, GROUND_ID | GROUND_CACHED, ret_stat);
        if (r == -ENOENT || r == -ESTALE)
                return 0;
        if (r < 0)
                return r;
        r = move_here(t, directory, name, ret_stat, ret_moved_from);
        if (r < 0)
                return r;
        before = tree_find(t, directory, name);
        found.moved_from = *ret_moved_from;
        found.fresh = !before || (before->id && ret_stat->id && before->id != ret_stat->id);
        r = tree_add(t, directory, name, ret_stat->kind, ret_stat->id, &found.node);
        if (r < 0)
                return r == -ENOBUFS ? 0 : r;
        *ret = found;
        return 1;
}

static int read_entry(TreeWalk *w, Node *directory, int fd, const char *name) {
        _cleanup_free_ char *moved_from = NULL;
        GroundStat s;
        Found found;
        Node *n;
        int r;

        r = take_name(w->tree, w->ground, directory, fd, name, &s, &found, &moved_from);
        if (r < 0 && r != -ENOMEM) {
                /* One name that cannot be looked at (EACCES, EIO on a share) does not hide the others. */
                tree_set_lacks_directories(w->tree, true);
                return 0;
        }
        if (r <= 0)
                return r;
        n = found.node;
        n->seen = true;
        n->fresh = found.fresh;
        found.tag = w->tag;
        if (w->found)
                w->found(w->userdata, &found);
        node_learn(w->tree, n, &s);
        /* What is mounted here is another filesystem; what it covers may still be changed through another mount. */
        if (s.mount_root) {
                tree_set_lacks_directories(w->tree, true);
                return 0;
        }
        return n->kind == KIND_DIR && !n->listed ? tree_walk_add(w, n, w->tag) : 0;
}

int tree_walk_names(TreeWalk *w, const char *const *names) {
        Node *root = tree_root(w->tree);
        int fd = ground_fd(w->ground), r = fd;

        for (; *names && r >= 0; names++)
                r = read_entry(w, root, fd, *names);
        if (r < 0)
                return r;
        root->listed = true;
        return 0;
}

static int read_directory(TreeWalk *w, Node *directory, int fd) {
        DIR *d = fdopendir(fd);
        struct dirent *e;
        int r = 0;

        if (!d) {
                r = -errno;
                safe_close(fd);
                return r;
        }
        while (r >= 0) {
                errno = 0;
                e = readdir(d);
                if (!e) {
                        r = -errno;
                        break;
                }
                if (str_equal(e->d_name, ".") || str_equal(e->d_name, ".."))
                        continue;
                r = read_entry(w, directory, dirfd(d), e->d_name);
        }
        if (r >= 0)
                directory->listed = true;
        (void) closedir(d);
        return r;
}

static int read_pending(TreeWalk *w, Pending p) {
        _cleanup_close_ int fd = -1;
        Node *directory;
        int r;

        directory = tree_find_object(w->tree, p.id);
        if (!directory || directory->kind != KIND_DIR || directory->listed)
                return 0;
        fd = ground_open_node(w->ground, directory);
        if (fd == -ENOENT || fd == -ESTALE || fd == -ENOTDIR) {
                if (!directory->parent)
                        return fd;
                /* Moved or gone; the event that says so waits, or came before the mark did. */
                return ++p.tries < TRIES_MAX ? queue_push(&w->later, p) : 0;
        }
        w->tag = p.tag;
        r = fd;
        if (fd >= 0 && w->enter)
                r = w->enter(w->userdata, directory, fd);
        if (r >= 0)
                r = read_directory(w, directory, TAKE_FD(fd));
        if (r == -ENOMEM || (r < 0 && !directory->parent))
                return r;
        if (r < 0) {
                w->failed++;
                tree_set_lacks_directories(w->tree, true);
        }
        return 0;
}

static void next_round(TreeWalk *w) {
        Queue empty = w->now;

        w->now = w->later;
        w->later = empty;
        w->later.head = w->later.n = 0;
}

int tree_walk_step(TreeWalk *w) {
        if (w->now.head == w->now.n)
                next_round(w);
        if (w->now.head == w->now.n)
                return 0;
        return read_pending(w, w->now.items[w->now.head++]);
}

int tree_walk_round(TreeWalk *w) {
        int r = 0;

        if (w->now.head == w->now.n)
                next_round(w);
        while (w->now.head < w->now.n && r >= 0)
                r = read_pending(w, w->now.items[w->now.head++]);
        return r;
}
