/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/completion.h"
#include "common/strv.h"

static const char head[] = "#compdef mountwatch\n"
                           "# zsh completion for mountwatch; made by `mountwatch completion zsh`\n"
                           "\n";

/* In single quotes, and with a backslash before what _arguments and _describe have a use for. */
static void put_text(FILE *f, const char *text) {
        for (; *text; text++) {
                if (*text == '\'') {
                        fputs("'\\''", f);
                        continue;
                }
                if (strchr("[]:\\", *text))
                        fputc('\\', f);
                fputc(*text, f);
        }
}

static void put_action(FILE *f, const Completion *c) {
        switch (c->kind) {
        case COMPLETION_FILES:
                fputs("_files", f);
                break;
        case COMPLETION_COMMAND:
                fputs("_command_names -e", f);
                break;
        case COMPLETION_WORDS:
                fprintf(f, "(%s)", c->words);
                break;
        case COMPLETION_VERBS:
                fputs("_mountwatch_verbs", f);
                break;
        case COMPLETION_LIST:
                fprintf(f, "_mountwatch_%s", c->list);
                break;
        case COMPLETION_NOTHING:
                fputc(' ', f);
                break;
        }
}

static void put_option(FILE *f, const Verb *verb, const OptionInfo *info) {
        if (info->letter)
                fprintf(f, " '(-%c --%s)'{-%c,--%s}'[", info->letter, info->name, info->letter,
                        info->name);
        else
                fprintf(f, " '--%s%s[", info->name, info->argument ? "=" : "");
        put_text(f, info->help);
        fputc(']', f);
        if (info->argument) {
                Completion c = completion_of(verb, info->argument);

                fprintf(f, ":%s:", info->argument);
                put_action(f, &c);
        }
        fputc('\'', f);
}

/* What stands in the places of arguments: one function with all of it, since a place may hold either. */
static void put_arguments(FILE *f, const Verb *verb, char *const *arguments) {
        if (!arguments[0])
                return;
        if (verb->ends_at_argument) {
                fputs(" '(-):command: _command_names -e' '*::arguments: _normal'", f);
                return;
        }
        fputs(" '*: :{ ", f);
        for (size_t i = 0; arguments[i]; i++) {
                Completion c = completion_of(verb, arguments[i]);

                if (c.kind == COMPLETION_WORDS)
                        fprintf(f, "compadd -- %s; ", c.words);
                else {
                        put_action(f, &c);
                        fputs("; ", f);
                }
        }
        fputs("}'", f);
}

static int put_verb(FILE *f, const Verb *verb) {
        _cleanup_(strv_freep) char **arguments = completion_arguments(verb);

        if (!arguments)
                return -ENOMEM;
        fprintf(f, "    '%s') _arguments%s", verb->name, verb->ends_at_argument ? " -S" : "");
        for (OptionId id = 0; id < _OPTION_MAX; id++)
                if ((verb->options | OPTIONS_COMMON) & OPTION_BIT(id))
                        put_option(f, verb, option_info(id));
        put_arguments(f, verb, arguments);
        fputs(" ;;\n", f);
        return 0;
}

static void put_described(FILE *f, const char *word, size_t n, const char *summary) {
        fprintf(f, " '%.*s:", (int) n, word);
        put_text(f, summary);
        fputc('\'', f);
}

static void put_names(FILE *f, const VerbTable *table) {
        const char *family;
        size_t n;

        fputs("_mountwatch_verbs() {\n    local -a verbs\n    verbs=(", f);
        for (size_t i = 0; i < table->n; i++)
                if (!strchr(table->verbs[i].name, ' '))
                        put_described(f, table->verbs[i].name, strlen(table->verbs[i].name),
                                      table->verbs[i].summary);
        for (size_t i = 0; (family = completion_family(table, i, &n)); i++)
                put_described(f, family, n, "…");
        fputs(")\n    _describe command verbs\n}\n"
              "_mountwatch_family() {\n    local -a verbs\n    case $1 in\n",
              f);
        for (size_t i = 0; (family = completion_family(table, i, &n)); i++) {
                fprintf(f, "    %.*s) verbs=(", (int) n, family);
                for (size_t k = 0; k < table->n; k++)
                        if (strncmp(table->verbs[k].name, family, n) == 0 &&
                            table->verbs[k].name[n] == ' ')
                                put_described(f, table->verbs[k].name + n + 1,
                                              strlen(table->verbs[k].name) - n - 1,
                                              table->verbs[k].summary);
                fputs(") ;;\n", f);
        }
        fputs("    esac\n    _describe command verbs\n}\n", f);
}

static void put_lists(FILE *f) {
        const Completion *list;

        for (size_t i = 0; (list = completion_list(i)); i++)
                fprintf(f,
                        "_mountwatch_%s() {\n    local -a words\n    words=(${(f)\"$(%s)\"})\n    compadd -a words\n}\n",
                        list->list, list->words);
}

static void put_main(FILE *f, const VerbTable *table) {
        static const Verb none = {.name = "", .synopsis = ""};
        const char *family;
        size_t n;

        fputs("_mountwatch() {\n    local curcontext=$curcontext state line ret=1\n    typeset -A opt_args\n    _arguments -C",
              f);
        put_option(f, &none, option_info(OPTION_SOCKET));
        put_option(f, &none, option_info(OPTION_HELP));
        put_option(f, &none, option_info(OPTION_VERSION));
        fputs(" '1: :_mountwatch_verbs' '*:: :->rest' && ret=0\n"
              "    [[ $state == rest ]] || return ret\n"
              "    case $words[1] in\n    ",
              f);
        for (size_t i = 0; (family = completion_family(table, i, &n)); i++)
                fprintf(f, "%s%.*s", i > 0 ? "|" : "", (int) n, family);
        fputs(")\n"
              "        if ((CURRENT == 2)); then\n"
              "            _mountwatch_family $words[1]\n"
              "            return\n"
              "        fi\n"
              "        words=(\"$words[1] $words[2]\" \"${(@)words[3,-1]}\")\n"
              "        ((CURRENT--))\n"
              "        ;;\n"
              "    esac\n"
              "    _mountwatch_of $words[1]\n"
              "}\n"
              "_mountwatch \"$@\"\n",
              f);
}

int completion_write_zsh(FILE *f, const VerbTable *table) {
        int r = 0;

        fputs(head, f);
        put_lists(f);
        put_names(f, table);
        fputs("_mountwatch_of() {\n    case $1 in\n", f);
        for (size_t i = 0; i < table->n && r >= 0; i++)
                r = put_verb(f, &table->verbs[i]);
        fputs("    esac\n}\n", f);
        put_main(f, table);
        return r;
}
