/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/strv.h"
#include "daemon/core/evidence.h"

#define ARGUMENTS_MAX 64       /* of a command line; what follows is one "..." */
#define COMMAND_BYTES_MAX 2048 /* of a command line; an argument that does not fit is cut */

Severity operation_severity(const Operation *op) {
        switch (op->op) {
        case OP_METADATA:
                return SEVERITY_OPENED;
        case OP_CREATE:
                return op->replaced ? SEVERITY_REMOVED : SEVERITY_CREATED;
        case OP_MODIFY:
                return SEVERITY_MODIFIED;
        case OP_RENAME:
                return op->replaced ? SEVERITY_REMOVED : SEVERITY_MODIFIED;
        case OP_DELETE:
                return SEVERITY_REMOVED;
        case _OP_MAX:
                break;
        }
        return SEVERITY_INFO;
}

void tally_add(Tally *t, const Operation *op) {
        t->total++;
        t->count[op->op]++;
        t->refused += !operation_has_happened(op);
        t->preserved += op->preserved;
}

/* ---- add ---- */

static void forget_path(Evidence *e, size_t i) {
        free(e->paths[i].path);
        memmove(&e->paths[i], &e->paths[i + 1], (e->n_paths - i - 1) * sizeof e->paths[0]);
        e->n_paths--;
}

static int add_path(Evidence *e, const char *path, Severity severity) {
        char *copy;
        size_t at;

        for (size_t i = 0; i < e->n_paths; i++)
                if (strcmp(e->paths[i].path, path) == 0) {
                        if (severity <= e->paths[i].severity)
                                return 0;
                        forget_path(e, i);
                        break;
                }
        if (e->n_paths == ALERT_PATHS_MAX && severity <= e->paths[ALERT_PATHS_MAX - 1].severity)
                return 0;
        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        if (e->n_paths == ALERT_PATHS_MAX)
                forget_path(e, ALERT_PATHS_MAX - 1);
        for (at = e->n_paths; at > 0 && e->paths[at - 1].severity < severity; at--)
                e->paths[at] = e->paths[at - 1];
        e->paths[at] = (EvidencePath){.path = copy, .severity = severity};
        e->n_paths++;
        return 0;
}

static int set_author(Evidence *e, const Operation *op, Image *author) {
        (void) image_unref(e->author);
        e->author = author ? image_ref(author) : NULL;
        free(e->test);
        e->test = op->test ? strdup(op->test) : NULL;
        return op->test && !e->test ? -ENOMEM : 0;
}

int evidence_add(Evidence *e, const Operation *op, Image *author) {
        const Severity severity = operation_severity(op);
        int r = 0, q;

        if (e->n_paths == 0 || severity > e->severity)
                r = set_author(e, op, author);
        e->severity = MAX(e->severity, severity);
        e->action = MAX(e->action, op->action);
        q = add_path(e, op->path, severity);
        return r < 0 ? r : q;
}

/* ---- tell ---- */

static int copy_string(const char *s, char **ret) {
        if (!s)
                return 0;
        *ret = strdup(s);
        return *ret ? 0 : -ENOMEM;
}

static int copy_command(char *const *cmdline, char ***ret) {
        _cleanup_(strv_freep) char **copy = NULL;
        size_t left = COMMAND_BYTES_MAX, n;
        bool cut = false;

        if (!cmdline)
                return 0;
        copy = calloc(ARGUMENTS_MAX + 2, sizeof *copy);
        if (!copy)
                return -ENOMEM;
        for (n = 0; cmdline[n] && !cut; n++) {
                copy[n] = strndup(cmdline[n], left);
                if (!copy[n])
                        return -ENOMEM;
                left -= strlen(copy[n]);
                cut = !str_equal(copy[n], cmdline[n]) || (n + 1 == ARGUMENTS_MAX && cmdline[n + 1]);
        }
        if (cut && !(copy[n] = strdup("...")))
                return -ENOMEM;
        *ret = TAKE_PTR(copy);
        return 0;
}

static int tell_process(const Image *i, AlertProcess *p) {
        p->pid = i->pid;
        if (!i->program)
                return 0;
        if (copy_string(i->program->exe, &p->exe) < 0)
                return -ENOMEM;
        return copy_command(i->program->cmdline, &p->cmdline);
}

static bool says_something(const Image *i) {
        return i->program && (i->program->exe || i->program->cmdline);
}

static int tell_chain(const Image *author, pid_t root, Alert *a) {
        const Image *chain[ALERT_CHAIN_MAX];
        const Image *i = author;
        size_t n = 0;

        /* a fork that has not called execve is the same program once more */
        for (bool above = false; i && n < ALERT_CHAIN_MAX && !above; i = i->parent) {
                above = root > 0 && i->pid == root;
                if (n == 0 || (says_something(i) && i->program != chain[n - 1]->program))
                        chain[n++] = i;
        }
        if (n == 0)
                return 0;
        a->chain = calloc(n, sizeof *a->chain);
        if (!a->chain)
                return -ENOMEM;
        for (; a->n_chain < n; a->n_chain++)
                if (tell_process(chain[a->n_chain], &a->chain[a->n_chain]) < 0) {
                        a->n_chain++;
                        return -ENOMEM;
                }
        return author->program ? copy_string(author->program->cwd, &a->cwd) : 0;
}

int evidence_tell(const Evidence *e, pid_t root, Alert *a) {
        a->severity = e->severity;
        a->action = e->action;
        for (size_t i = 0; i < e->n_paths; i++)
                if (!strv_append(&a->paths, e->paths[i].path))
                        return -ENOMEM;
        if (copy_string(e->test, &a->test) < 0)
                return -ENOMEM;
        return tell_chain(e->author, root, a);
}

void evidence_done(Evidence *e) {
        for (size_t i = 0; i < e->n_paths; i++)
                free(e->paths[i].path);
        (void) image_unref(e->author);
        free(e->test);
        *e = (Evidence){};
}
