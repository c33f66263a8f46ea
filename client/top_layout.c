/* SPDX-License-Identifier: MIT */
#include "client/top_layout.h"
#include "common/macro.h"

static unsigned take(unsigned *left, size_t wanted) {
        unsigned n = (unsigned) MIN((size_t) *left, wanted);

        *left -= n;
        return n;
}

static void place(TopBand *band, unsigned *line, unsigned lines) {
        if (lines == 0)
                return;
        *band = (TopBand){.top = *line + 1, .lines = lines};
        *line += lines + 1;
}

/* A heading and some of its lines, or nothing. */
static unsigned take_band(unsigned *left, size_t wanted) {
        if (wanted == 0 || *left < 2)
                return 0;
        (*left)--;
        return take(left, wanted);
}

bool top_layout(unsigned lines, unsigned columns, const TopContent *content, TopLayout *ret) {
        unsigned left, line, sessions, held, processes, operations;

        *ret = (TopLayout){};
        if (lines < TOP_LINES_MIN || columns < TOP_COLUMNS_MIN)
                return false;
        left = lines - 3; /* the daemon, the heading of the table, the keys */
        sessions = take(&left, MIN(MAX(content->sessions, (size_t) 1), (size_t) (lines - 4) / 2));
        if (content->sessions > 0)
                left--; /* the line that names it */
        /* what waits for a person goes before what has happened, and that before who is there */
        held = take_band(&left, MIN(content->held, MAX((size_t) left / 3, (size_t) 1)));
        operations = take_band(&left, MIN(content->operations, MAX((size_t) left / 2, (size_t) 2)));
        processes = take_band(&left, content->processes);
        if (operations > 0)
                operations += take(&left, content->operations - operations);
        if (held > 0)
                held += take(&left, content->held - held);
        sessions += take(&left, content->sessions - MIN(content->sessions, (size_t) sessions));

        line = 1;
        place(&ret->sessions, &line, sessions);
        if (content->sessions > 0)
                ret->selected = line++;
        place(&ret->held, &line, held);
        place(&ret->processes, &line, processes);
        place(&ret->operations, &line, operations);
        return true;
}

void top_columns(unsigned columns, unsigned ret[static _TOP_COLUMN_MAX]) {
        /* the order in which they come when there is room */
        static const struct {
                TopColumn column;
                unsigned width;
        } table[] = {
                {TOP_NAME, 11}, {TOP_STATE, 7},     {TOP_RATE, 5}, {TOP_VIOLATIONS, 5},
                {TOP_HELD, 4},  {TOP_AGE, 4},       {TOP_ID, 8},   {TOP_CHANGES, 7},
                {TOP_USER, 8},  {TOP_PROCESSES, 4},
        };
        unsigned left = columns, wanted;

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                unsigned gap = i > 0 ? 1 : 0;
                bool fits = table[i].width + gap <= left;

                ret[table[i].column] = fits ? table[i].width : 0;
                left -= fits ? table[i].width + gap : 0;
        }
        /* the whole id, the whole state, then the name gets what is left */
        wanted = ret[TOP_ID] > 0 ? 16 - ret[TOP_ID] : 0;
        if (wanted > 0 && left >= wanted + 10) {
                ret[TOP_ID] += wanted;
                left -= wanted;
        }
        if (left >= 2) {
                ret[TOP_STATE] += 2;
                left -= 2;
        }
        ret[TOP_NAME] += left;
}

size_t top_scroll(size_t first, size_t selected, size_t count, size_t lines) {
        if (count <= lines)
                return 0;
        if (selected < first)
                return MIN(selected, count - lines);
        if (selected >= first + lines)
                first = selected - lines + 1;
        return MIN(first, count - lines);
}
