/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/completion.h"
#include "common/strv.h"

/* bash breaks words at '=' too, so --policy=de comes as three. Works with and without the functions of bash-completion. */
static const char head[] =
        "# bash completion for mountwatch; made by `mountwatch completion bash`\n"
        "\n"
        "_mountwatch_candidates() { # WORD...: those that begin with $cur\n"
        "    local word\n"
        "    for word in \"$@\"; do\n"
        "        [[ $word != \"$cur\"* ]] || COMPREPLY+=(\"$word\")\n"
        "    done\n"
        "}\n"
        "_mountwatch_files() {\n"
        "    local file\n"
        "    compopt -o filenames 2>/dev/null\n"
        "    while IFS= read -r file; do COMPREPLY+=(\"$file\"); done < <(compgen -f -- \"$cur\")\n"
        "}\n";

static const char body[] =
        "_mountwatch() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev='' verb='' options='' arguments='' word i name\n"
        "    COMPREPLY=()\n"
        "    [ \"$COMP_CWORD\" -lt 1 ] || prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "    if [ \"$cur\" = = ]; then\n"
        "        cur=''\n"
        "    elif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
        "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "    fi\n"
        "    _mountwatch_of ''\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        word=${COMP_WORDS[i]}\n"
        "        case $word in\n"
        "        --)\n"
        "            i=$((i + 1))\n"
        "            break\n"
        "            ;;\n"
        "        -*)\n"
        "            if [[ \" $options \" == *\" $word=\"* ]]; then\n"
        "                i=$((i + 1))\n"
        "                [ \"${COMP_WORDS[i]:-}\" != = ] || i=$((i + 1))\n"
        "            fi\n"
        "            ;;\n"
        "        *)\n"
        "            if [ -z \"$verb\" ]; then\n"
        "                verb=$word\n"
        "            elif [[ \" $_mountwatch_families \" == *\" $verb \"* ]]; then\n"
        "                verb=\"$verb $word\"\n"
        "            elif [ \"$verb\" = run ]; then\n"
        "                break\n"
        "            fi\n"
        "            _mountwatch_of \"$verb\"\n"
        "            ;;\n"
        "        esac\n"
        "    done\n"
        "    # the command of run is somebody else's\n"
        "    if [ \"$verb\" = run ] && [ \"$i\" -lt \"$COMP_CWORD\" ]; then\n"
        "        if declare -F _command_offset >/dev/null; then\n"
        "            _command_offset \"$i\"\n"
        "        else\n"
        "            _mountwatch_files\n"
        "        fi\n"
        "        return\n"
        "    fi\n"
        "    for word in $options; do\n"
        "        if [ \"$word\" != \"${word%%=*}\" ] && [ \"$prev\" = \"${word%%=*}\" ]; then\n"
        "            _mountwatch_at \"$verb\" \"${word#*=}\"\n"
        "            return\n"
        "        fi\n"
        "    done\n"
        "    if [[ $cur == -* ]]; then\n"
        "        for word in $options; do _mountwatch_candidates \"${word%%=*}\"; done\n"
        "        return\n"
        "    fi\n"
        "    for name in $arguments; do _mountwatch_at \"$verb\" \"$name\"; done\n"
        "}\n"
        "complete -F _mountwatch mountwatch\n";

static void put_lists(FILE *f) {
        const Completion *list;

        for (size_t i = 0; (list = completion_list(i)); i++)
                fprintf(f, "_mountwatch_%s() { %s; }\n", list->list, list->words);
}

static void put_families(FILE *f, const VerbTable *table) {
        const char *family;
        size_t n;

        fputs("_mountwatch_families='", f);
        for (size_t i = 0; (family = completion_family(table, i, &n)); i++)
                fprintf(f, "%s%.*s", i > 0 ? " " : "", (int) n, family);
        fputs("'\n", f);
}

/* " --label=TEXT --wait" */
static void put_options(FILE *f, unsigned taken) {
        for (OptionId id = 0; id < _OPTION_MAX; id++) {
                const OptionInfo *info = option_info(id);

                if (taken & OPTION_BIT(id))
                        fprintf(f, " --%s%s%s", info->name, info->argument ? "=" : "",
                                info->argument ? info->argument : "");
        }
}

static int put_verb(FILE *f, const Verb *verb) {
        _cleanup_(strv_freep) char **arguments = completion_arguments(verb);

        if (!arguments)
                return -ENOMEM;
        fprintf(f, "    '%s') options='", verb->name);
        put_options(f, verb->options | OPTIONS_COMMON);
        fputs("' arguments='", f);
        for (size_t i = 0; arguments[i]; i++)
                fprintf(f, "%s%s", i > 0 ? " " : "", arguments[i]);
        fputs("' ;;\n", f);
        return 0;
}

/* The second words of a family stand where those of a verb have their arguments. */
static void put_family(FILE *f, const VerbTable *table, const char *family, size_t n) {
        fprintf(f, "    %.*s) arguments='", (int) n, family);
        for (size_t i = 0; i < table->n; i++)
                if (strncmp(table->verbs[i].name, family, n) == 0 && table->verbs[i].name[n] == ' ')
                        fprintf(f, "%s ", table->verbs[i].name + n + 1);
        fputs("' options='", f);
        put_options(f, OPTIONS_COMMON);
        fputs("' ;;\n", f);
}

static int put_verbs(FILE *f, const VerbTable *table) {
        const char *family;
        size_t n;
        int r = 0;

        fputs("_mountwatch_of() { # VERB: sets options and arguments\n    case $1 in\n    '') arguments=VERB options='",
              f);
        put_options(f, OPTIONS_COMMON | OPTION_BIT(OPTION_VERSION));
        fputs("' ;;\n", f);
        for (size_t i = 0; i < table->n && r >= 0; i++)
                r = put_verb(f, &table->verbs[i]);
        for (size_t i = 0; (family = completion_family(table, i, &n)); i++)
                put_family(f, table, family, n);
        fputs("    *) options='' arguments='' ;;\n    esac\n}\n", f);
        return r;
}

static void put_place(FILE *f, const Completion *c) {
        switch (c->kind) {
        case COMPLETION_COMMAND:
                fputs("while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen -c -- \"$cur\")",
                      f);
                break;
        case COMPLETION_WORDS:
                fprintf(f, "_mountwatch_candidates %s", c->words);
                break;
        case COMPLETION_VERBS:
                fputs("_mountwatch_at '' VERB", f);
                break;
        case COMPLETION_LIST:
                fprintf(f,
                        "while IFS= read -r word; do _mountwatch_candidates \"$word\"; done < <(_mountwatch_%s)",
                        c->list);
                break;
        case COMPLETION_FILES: /* the same everywhere */
        case COMPLETION_NOTHING:
                fputs(":", f);
                break;
        }
}

/* The places of options and arguments, each with the verb it stands in. */
static int put_places_of(FILE *f, const Verb *verb) {
        _cleanup_(strv_freep) char **places = completion_arguments(verb);

        if (!places)
                return -ENOMEM;
        for (OptionId id = 0; id < _OPTION_MAX; id++) {
                const OptionInfo *info = option_info(id);

                if (((verb->options | OPTIONS_COMMON) & OPTION_BIT(id)) && info->argument &&
                    !strv_contains(places, info->argument) && !strv_append(&places, info->argument))
                        return -ENOMEM;
        }
        for (size_t i = 0; places[i]; i++) {
                Completion c = completion_of(verb, places[i]);

                if (c.kind == COMPLETION_NOTHING || c.kind == COMPLETION_FILES ||
                    (c.kind == COMPLETION_WORDS && str_equal(c.words, places[i])))
                        continue;
                fprintf(f, "    '%s:%s') ", verb->name, places[i]);
                put_place(f, &c);
                fputs(" ;;\n", f);
        }
        return 0;
}

static int put_places(FILE *f, const VerbTable *table) {
        const char *family;
        size_t n;
        int r = 0;

        fputs("_mountwatch_at() { # VERB PLACE: the candidates for a place of its help\n"
              "    local word\n    case $1:$2 in\n    :VERB) _mountwatch_candidates",
              f);
        for (size_t i = 0; i < table->n; i++)
                if (!strchr(table->verbs[i].name, ' '))
                        fprintf(f, " %s", table->verbs[i].name);
        for (size_t i = 0; (family = completion_family(table, i, &n)); i++)
                fprintf(f, " %.*s", (int) n, family);
        fputs(" ;;\n    *:PATH | *:FILE) _mountwatch_files ;;\n", f);
        for (size_t i = 0; i < table->n && r >= 0; i++)
                r = put_places_of(f, &table->verbs[i]);
        /* a word that stands for itself */
        fputs("    *:[a-z]*) _mountwatch_candidates \"$2\" ;;\n    esac\n}\n", f);
        return r;
}

int completion_write_bash(FILE *f, const VerbTable *table) {
        int r;

        fputs(head, f);
        put_lists(f);
        put_families(f, table);
        r = put_verbs(f, table);
        r = r < 0 ? r : put_places(f, table);
        fputs(body, f);
        return r;
}
