/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/completion.h"
#include "common/strv.h"

static const char head[] =
        "# fish completion for mountwatch; made by `mountwatch completion fish`\n"
        "\n"
        "# the verb on the command line so far, such as 'session start'\n"
        "function __mountwatch_verb\n"
        "    set -l words (commandline -opc)\n"
        "    set -e words[1]\n"
        "    set -l verb\n"
        "    while set -q words[1]\n"
        "        switch $words[1]\n"
        "            case --socket\n"
        "                set -e words[1]\n"
        "            case '-*'\n"
        "                true\n"
        "            case '*'\n"
        "                if set -q verb[1]\n"
        "                    set verb \"$verb $words[1]\"\n"
        "                    break\n"
        "                end\n"
        "                set verb $words[1]\n"
        "                contains -- $verb $__mountwatch_families\n"
        "                or break\n"
        "        end\n"
        "        set -q words[1]\n"
        "        and set -e words[1]\n"
        "    end\n"
        "    echo -- $verb\n"
        "end\n"
        "function __mountwatch_is\n"
        "    test (__mountwatch_verb) = \"$argv[1]\"\n"
        "end\n"
        "complete -c mountwatch -f\n";

/* In single quotes, where fish wants only these two escaped. */
static void put_quoted(FILE *f, const char *text) {
        fputc('\'', f);
        for (; *text; text++) {
                if (*text == '\'' || *text == '\\')
                        fputc('\\', f);
                fputc(*text, f);
        }
        fputc('\'', f);
}

static void put_condition(FILE *f, const char *verb) {
        fprintf(f, "complete -c mountwatch -n '__mountwatch_is \"%s\"'", verb);
}

static void put_candidates(FILE *f, const Completion *c) {
        switch (c->kind) {
        case COMPLETION_FILES:
                fputs(" -F", f);
                break;
        case COMPLETION_COMMAND:
                fputs(" -a '(__fish_complete_subcommand --fcs-skip=2)'", f);
                break;
        case COMPLETION_WORDS:
                fprintf(f, " -a '%s'", c->words);
                break;
        case COMPLETION_VERBS:
                fputs(" -a '$__mountwatch_verbs'", f);
                break;
        case COMPLETION_LIST:
                fprintf(f, " -a '(__mountwatch_%s)'", c->list);
                break;
        case COMPLETION_NOTHING:
                break;
        }
}

static void put_option(FILE *f, const Verb *verb, const OptionInfo *info) {
        put_condition(f, verb->name);
        fprintf(f, " -l %s", info->name);
        if (info->letter)
                fprintf(f, " -s %c", info->letter);
        if (info->argument) {
                Completion c = completion_of(verb, info->argument);

                fputs(c.kind == COMPLETION_FILES ? " -r" : " -x", f);
                put_candidates(f, &c);
        }
        fputs(" -d ", f);
        put_quoted(f, info->help);
        fputc('\n', f);
}

static int put_verb(FILE *f, const Verb *verb) {
        _cleanup_(strv_freep) char **arguments = completion_arguments(verb);

        if (!arguments)
                return -ENOMEM;
        for (OptionId id = 0; id < _OPTION_MAX; id++)
                if ((verb->options | OPTIONS_COMMON) & OPTION_BIT(id))
                        put_option(f, verb, option_info(id));
        for (size_t i = 0; arguments[i]; i++) {
                Completion c = completion_of(verb, arguments[i]);

                put_condition(f, verb->name);
                put_candidates(f, &c);
                fputc('\n', f);
        }
        return 0;
}

/* One word, or after the first of a family the second. */
static void put_name(FILE *f, const VerbTable *table, const Verb *verb) {
        const char *blank = strchr(verb->name, ' '), *family;
        size_t n;

        if (blank)
                fprintf(f, "complete -c mountwatch -n '__mountwatch_is \"%.*s\"' -a '%s' -d ",
                        (int) (blank - verb->name), verb->name, blank + 1);
        else
                fprintf(f, "complete -c mountwatch -n '__mountwatch_is \"\"' -a '%s' -d ",
                        verb->name);
        put_quoted(f, verb->summary);
        fputc('\n', f);
        for (size_t i = 0; blank && (family = completion_family(table, i, &n)); i++)
                if (family == verb->name)
                        fprintf(f, "complete -c mountwatch -n '__mountwatch_is \"\"' -a '%.*s'\n",
                                (int) n, family);
}

static void put_lists(FILE *f, const VerbTable *table) {
        const Completion *list;
        const char *family;
        size_t n;

        for (size_t i = 0; (list = completion_list(i)); i++)
                fprintf(f, "function __mountwatch_%s\n    %s\nend\n", list->list, list->words);
        fputs("set -g __mountwatch_families", f);
        for (size_t i = 0; (family = completion_family(table, i, &n)); i++)
                fprintf(f, " %.*s", (int) n, family);
        fputs("\nset -g __mountwatch_verbs", f);
        for (size_t i = 0; i < table->n; i++)
                fprintf(f, " %.*s", (int) strcspn(table->verbs[i].name, " "), table->verbs[i].name);
        fputc('\n', f);
}

int completion_write_fish(FILE *f, const VerbTable *table) {
        static const Verb none = {.name = "",
                                  .synopsis = "",
                                  .options = OPTION_BIT(OPTION_VERSION)};
        int r;

        fputs(head, f);
        put_lists(f, table);
        r = put_verb(f, &none);
        for (size_t i = 0; i < table->n && r >= 0; i++) {
                put_name(f, table, &table->verbs[i]);
                r = put_verb(f, &table->verbs[i]);
        }
        return r;
}
