/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/chain_text.h"
#include "common/path_text.h"

char *image_to_text(char *const *cmdline, const char *exe) {
        return cmdline && cmdline[0] ? text_of_command(cmdline) : path_to_text(exe ? exe : "?");
}

char *process_to_text(const Terminal *t, const ProcessInfo *p, unsigned columns) {
        _cleanup_free_ char *text = NULL;

        if (!p)
                return strdup("unknown process");
        text = image_to_text(p->cmdline, p->exe);
        return text ? text_shorten_end(text, columns, terminal_ellipsis(t)) : NULL;
}

static bool is_known(const ProcessInfo *p) {
        return p->exe || (p->cmdline && p->cmdline[0]);
}

static int put_process(FILE *f, const Terminal *t, const ProcessInfo *p, unsigned columns) {
        _cleanup_free_ char *text = process_to_text(t, p, columns);

        if (!text)
                return -ENOMEM;
        fputs(text, f);
        return 0;
}

char *chain_to_text(const Terminal *t, ProcessSource processes, int64_t id, pid_t root_pid,
                    unsigned columns) {
        const ProcessInfo *chain[PROCESS_CHAIN_MAX];
        size_t n = process_source_ancestors(processes, id, root_pid, chain), size;
        char *text = NULL;
        FILE *f = open_memstream(&text, &size);
        int r = 0;

        if (!f)
                return NULL;
        /* of what was there before the daemon looked, the number is all that is known: no help to anybody */
        while (n > 0 && !is_known(chain[n - 1]))
                n--;
        for (size_t i = n; r >= 0 && i > 0; i--) {
                r = put_process(f, t, chain[i - 1], columns);
                fprintf(f, " %s ", terminal_chevron(t));
        }
        if (r >= 0)
                r = put_process(f, t, process_source_find(processes, id), columns);
        if (fclose(f) != 0 || r < 0) {
                free(text);
                return NULL;
        }
        return text;
}
