/* SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "client/completion.h"
#include "common/strv.h"

#define MEMBER_OF(command, pattern) \
        "mountwatch " command " --json 2>/dev/null | sed -n 's/^ *" pattern ".*/\\1/p'"

static const Completion lists[] = {
        {COMPLETION_LIST, MEMBER_OF("session list --all", "\"id\": *\"\\([0-9a-f]*\\)\""),
         "sessions"},
        {COMPLETION_LIST, MEMBER_OF("watch list", "\"name\": *\"\\([A-Za-z0-9_.-]*\\)\""),
         "watches"},
        {COMPLETION_LIST, MEMBER_OF("decide", "\"id\": *\\([0-9]*\\)"), "held"},
        {COMPLETION_LIST, MEMBER_OF("quarantine list", "\"id\": *\"\\([^\"]*\\)\""), "items"},
};

static const struct {
        const char *verb; /* NULL: any */
        const char *place;
        Completion completion;
} place_table[] = {
        {NULL, "FILE", {COMPLETION_FILES, NULL, NULL}},
        {NULL, "PATH", {COMPLETION_FILES, NULL, NULL}},
        {NULL, "POLICY", {COMPLETION_WORDS, "record alert ask deny freeze kill", NULL}},
        {NULL, "WHAT", {COMPLETION_WORDS, "violation incomplete never", NULL}},
        {"run", "COMMAND", {COMPLETION_COMMAND, NULL, NULL}},
        {NULL, "COMMAND", {COMPLETION_VERBS, NULL, NULL}},
};

/* The place, the list of its candidates, and the verb where it means something else than elsewhere. */
static const struct {
        const char *verb, *place, *list;
} list_table[] = {
        {"decide", "ID", "held"},   {NULL, "ID", "sessions"}, {NULL, "NAME", "watches"},
        {NULL, "WATCH", "watches"}, {NULL, "ITEM", "items"},
};

const Completion *completion_list(size_t i) {
        return i < ELEMENTSOF(lists) ? &lists[i] : NULL;
}

static bool is_meant(const char *verb, const Verb *v) {
        return !verb || str_equal(verb, v->name);
}

Completion completion_of(const Verb *verb, const char *place) {
        for (size_t i = 0; i < ELEMENTSOF(place_table); i++)
                if (str_equal(place_table[i].place, place) && is_meant(place_table[i].verb, verb))
                        return place_table[i].completion;
        for (size_t i = 0; i < ELEMENTSOF(list_table); i++) {
                if (!str_equal(list_table[i].place, place) || !is_meant(list_table[i].verb, verb))
                        continue;
                for (size_t k = 0; k < ELEMENTSOF(lists); k++)
                        if (str_equal(lists[k].list, list_table[i].list))
                                return lists[k];
        }
        if (islower((unsigned char) *place))
                return (Completion){COMPLETION_WORDS, place, NULL};
        return (Completion){};
}

/* Whether the option of this name that the verb takes wants an argument. */
static bool wants_argument(const Verb *verb, const char *name, size_t n) {
        for (OptionId id = 0; id < _OPTION_MAX; id++) {
                const OptionInfo *info = option_info(id);

                if ((verb->options & OPTION_BIT(id)) && strlen(info->name) == n &&
                    strncmp(info->name, name, n) == 0)
                        return info->argument;
        }
        return false;
}

static bool is_word(char c) {
        return isalnum((unsigned char) c) || c == '-';
}

/* A word of the synopsis. `skip`: it is the argument of an option. */
static bool add_word(const Verb *verb, const char *word, size_t n, bool *skip, char ***arguments) {
        _cleanup_free_ char *text = strndup(word, n);

        if (!text)
                return false;
        if (*text == '-') {
                *skip = n > 2 && wants_argument(verb, text + 2, n - 2);
                return true;
        }
        if (*skip || str_equal(text, "OPTION") ||
            completion_of(verb, text).kind == COMPLETION_NOTHING ||
            strv_contains(*arguments, text)) {
                *skip = false;
                return true;
        }
        return strv_take(arguments, TAKE_PTR(text));
}

char **completion_arguments(const Verb *verb) {
        _cleanup_(strv_freep) char **arguments = calloc(1, sizeof(*arguments));
        bool skip = false;

        if (!arguments)
                return NULL;
        for (const char *p = verb->synopsis; *p;) {
                size_t n = 0;

                while (is_word(p[n]))
                        n++;
                if (n > 0 && !add_word(verb, p, n, &skip, &arguments))
                        return NULL;
                p += n > 0 ? n : 1;
        }
        return TAKE_PTR(arguments);
}

static size_t family_length(const Verb *verb) {
        const char *blank = strchr(verb->name, ' ');

        return blank ? (size_t) (blank - verb->name) : 0;
}

static bool is_first_of_family(const VerbTable *table, size_t i, size_t n) {
        for (size_t k = 0; k < i; k++)
                if (family_length(&table->verbs[k]) == n &&
                    strncmp(table->verbs[k].name, table->verbs[i].name, n) == 0)
                        return false;
        return true;
}

const char *completion_family(const VerbTable *table, size_t i, size_t *ret_length) {
        for (size_t k = 0; k < table->n; k++) {
                size_t n = family_length(&table->verbs[k]);

                if (n == 0 || !is_first_of_family(table, k, n) || i-- > 0)
                        continue;
                *ret_length = n;
                return table->verbs[k].name;
        }
        return NULL;
}
