/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <time.h>

#include "client/chain_text.h"
#include "client/top_text.h"
#include "common/path_text.h"

char *top_age_text(usec_t age, char buffer[static TOP_NUMBER_MAX]) {
        uint64_t s = age / USEC_PER_SEC;

        if (s < 100)
                (void) snprintf(buffer, TOP_NUMBER_MAX, "%" PRIu64 "s", s);
        else if (s < 100 * 60ULL)
                (void) snprintf(buffer, TOP_NUMBER_MAX, "%" PRIu64 "m", s / 60);
        else if (s < 48 * 3600ULL)
                (void) snprintf(buffer, TOP_NUMBER_MAX, "%" PRIu64 "h", s / 3600);
        else
                (void) snprintf(buffer, TOP_NUMBER_MAX, "%" PRIu64 "d", s / 86400);
        return buffer;
}

/* Three digits at most, and a letter. */
static void put_short(double x, char buffer[static TOP_NUMBER_MAX]) {
        static const char *const letters[] = {"", "k", "M", "G", "T", "P", "E"};
        size_t i = 0;

        while (x >= 999.5 && i < ELEMENTSOF(letters) - 1) {
                x /= 1000;
                i++;
        }
        (void) snprintf(buffer, TOP_NUMBER_MAX, "%.*f%s", x < 9.95 && i > 0 ? 1 : 0, x, letters[i]);
}

char *top_rate_text(double rate, char buffer[static TOP_NUMBER_MAX]) {
        buffer[0] = '\0';
        if (rate > 0 && rate < 9.95)
                (void) snprintf(buffer, TOP_NUMBER_MAX, "%.1f", rate < 0.1 ? 0.1 : rate);
        else if (rate > 0)
                put_short(rate, buffer);
        return buffer;
}

char *top_count_text(uint64_t n, unsigned digits, char buffer[static TOP_NUMBER_MAX]) {
        int length = snprintf(buffer, TOP_NUMBER_MAX, "%" PRIu64, n);

        if (length > (int) digits)
                put_short((double) n, buffer);
        return buffer;
}

char *top_clock_text(usec_t t, char buffer[static TOP_NUMBER_MAX]) {
        time_t seconds = (time_t) (t / USEC_PER_SEC);
        struct tm tm;

        if (!localtime_r(&seconds, &tm) || strftime(buffer, TOP_NUMBER_MAX, "%H:%M:%S", &tm) == 0)
                strcpy(buffer, "?");
        return buffer;
}

char *top_session_name(const SessionView *s) {
        if (s->label && *s->label)
                return path_to_text(s->label);
        if (s->command && s->command[0])
                return text_of_command(s->command);
        return strdup("-");
}

char *top_operation_names(const Terminal *t, const Operation *op) {
        _cleanup_free_ char *path = path_to_text(op->path),
                            *from = op->from ? path_to_text(op->from) : NULL,
                            *to = op->to ? path_to_text(op->to) : NULL;
        char *text = NULL;
        size_t size;
        FILE *f;

        if (!path || (op->from && !from) || (op->to && !to))
                return NULL;
        f = open_memstream(&text, &size);
        if (!f)
                return NULL;
        if (from)
                fprintf(f, "%s %s ", from, terminal_arrow(t));
        fprintf(f, "%s%s", path, op->kind == KIND_DIR ? "/" : "");
        if (to)
                fprintf(f, " %s %s", terminal_arrow(t), to);
        if (op->count > 1)
                fprintf(f, " %s%" PRIu64, terminal_times(t), op->count);
        if (fclose(f) != 0) {
                free(text);
                return NULL;
        }
        return text;
}
