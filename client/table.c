/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/table.h"
#include "common/path_text.h"

#define GAP 2

static int add_cell(Table *t, const char *text) {
        char *copy;

        if (t->n_cells == t->allocated) {
                size_t n = t->allocated ? 2 * t->allocated : 64;
                char **grown = realloc(t->cells, n * sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                t->cells = grown;
                t->allocated = n;
        }
        copy = path_to_text(text && *text ? text : "-");
        if (!copy)
                return -ENOMEM;
        t->cells[t->n_cells++] = copy;
        return 0;
}

int table_add(Table *t, const char *const *cells) {
        for (size_t i = 0; i < t->n_columns; i++) {
                int r = add_cell(t, cells[i]);

                if (r < 0)
                        return r;
        }
        return 0;
}

int table_init(Table *t, size_t n_columns, const char *const *head) {
        *t = (Table){.n_columns = MIN(n_columns, (size_t) TABLE_COLUMNS_MAX)};
        return table_add(t, head);
}

void table_done(Table *t) {
        for (size_t i = 0; i < t->n_cells; i++)
                free(t->cells[i]);
        free(t->cells);
        *t = (Table){};
}

static void measure(const Table *t, unsigned widths[static TABLE_COLUMNS_MAX]) {
        for (size_t i = 0; i < t->n_cells; i++) {
                unsigned w = text_width(t->cells[i]);

                widths[i % t->n_columns] = MAX(widths[i % t->n_columns], w);
        }
}

static void print_cell(FILE *f, const char *text, unsigned width, bool is_last) {
        fputs(text, f);
        for (unsigned w = text_width(text); !is_last && w < width + GAP; w++)
                fputc(' ', f);
}

int table_print(const Table *t, const Terminal *terminal) {
        unsigned widths[TABLE_COLUMNS_MAX] = {}, before = 0, room;

        measure(t, widths);
        for (size_t i = 0; i + 1 < t->n_columns; i++)
                before += widths[i] + GAP;
        room = terminal->width > before + 10 ? terminal->width - before : 0;
        for (size_t i = 0; i < t->n_cells; i++) {
                size_t column = i % t->n_columns;
                bool is_head = i < t->n_columns, is_last = column + 1 == t->n_columns;
                _cleanup_free_ char *text = text_shorten_middle(t->cells[i], is_last ? room : 0,
                                                                terminal_ellipsis(terminal));

                if (!text)
                        return -ENOMEM;
                if (is_head && column == 0)
                        fputs(terminal_style(terminal, STYLE_BOLD), terminal->file);
                print_cell(terminal->file, text, widths[column], is_last);
                if (is_head && is_last)
                        fputs(terminal_reset(terminal), terminal->file);
                if (is_last)
                        fputc('\n', terminal->file);
        }
        return 0;
}
