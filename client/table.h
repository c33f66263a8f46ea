/* SPDX-License-Identifier: MIT */
/* Columns of text for people. */
#ifndef MOUNTWATCH_CLIENT_TABLE_H
#define MOUNTWATCH_CLIENT_TABLE_H

#include "client/terminal.h"

#define TABLE_COLUMNS_MAX 10

typedef struct Table {
        size_t n_columns;
        char **cells; /* n_columns for each row; the first row is the head */
        size_t n_cells, allocated;
} Table;

/* `head`: n_columns texts. */
int table_init(Table *t, size_t n_columns, const char *const *head);
void table_done(Table *t);
/* Copies n_columns texts and makes them safe for a terminal; NULL is shown as "-". */
int table_add(Table *t, const char *const *cells);
/* The last column is shortened to what is left of the width. */
int table_print(const Table *t, const Terminal *terminal);

#endif
