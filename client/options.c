/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>

#include "client/options.h"

/* getopt_long() answers with this plus the OptionId, so that no option is mistaken for a letter. */
#define OPTION_BASE 0x100

static const OptionInfo option_table[_OPTION_MAX] = {
        [OPTION_LABEL] = {0, "label", "TEXT", "name the session"},
        [OPTION_POLICY] =
                {0, "policy", "POLICY",
                 "record, alert, ask, deny, freeze or kill, where it is stricter than the watch's"},
        [OPTION_PID] = {0, "pid", "PID", "tag this process instead of the caller's parent"},
        [OPTION_WAIT] = {0, "wait", NULL, "end with the last descendant of the command"},
        [OPTION_FAIL_ON] = {0, "fail-on", "WHAT",
                            "status 120 on: violation (default), incomplete, never"},
        [OPTION_JSON] = {0, "json", NULL, "print JSON"},
        [OPTION_JSON_FILE] = {0, "json", "FILE", "write the report to FILE as JSON"},
        [OPTION_JUNIT] = {0, "junit", "FILE", "write the report to FILE as JUnit XML"},
        [OPTION_HTML] = {0, "html", "FILE", "write the report to FILE as one HTML page"},
        [OPTION_NO_GUARD] = {0, "no-guard", NULL,
                             "do not supervise system calls (for commands that do so themselves)"},
        [OPTION_ALL_SESSIONS] = {0, "all", NULL, "ended sessions too"},
        [OPTION_ALL_ROWS] = {0, "all", NULL, "every row, nothing folded"},
        [OPTION_ALL_ITEMS] = {0, "all", NULL, "all that you may purge"},
        [OPTION_DRY_RUN] = {0, "dry-run", NULL, "look and say what would be done"},
        [OPTION_FORCE] = {0, "force", NULL,
                          "also over what others have changed since (root and members of Group=)"},
        [OPTION_WRITE] = {0, "write", NULL, "prove it with a canary file, made and removed"},
        [OPTION_YES] = {0, "yes", NULL, "do not ask"},
        [OPTION_CONFIG] = {0, "config", "FILE", "write to FILE instead"},
        [OPTION_FOLLOW] = {'f', "follow", NULL, "go on with new ones as they come"},
        [OPTION_SESSION] = {0, "session", "ID", "only those of this session"},
        [OPTION_WATCH] = {0, "watch", "NAME", "only those on this watch"},
        [OPTION_SINCE] = {0, "since", "TIME",
                          "only later ones: RFC 3339, '10m', '2h', '3d' or 'today'"},
        [OPTION_PROMETHEUS] = {0, "prometheus", NULL,
                               "the text format of Prometheus, for node_exporter and promtool"},
        [OPTION_OUTPUT] = {0, "output", "FILE", "write to FILE, which appears whole"},
        [OPTION_SOCKET] = {0, "socket", "PATH", "socket of the daemon (or MOUNTWATCH_SOCKET)"},
        [OPTION_HELP] = {'h', "help", NULL, "print this"},
        [OPTION_VERSION] = {0, "version", NULL, "print the version"},
};

const OptionInfo *option_info(OptionId id) {
        return &option_table[id];
}

static bool is_taken(unsigned taken, OptionId id) {
        return taken & OPTION_BIT(id);
}

/* The letters and long names of getopt for the options in `taken`. A leading ':' tells a missing argument from an unknown option. */
static void describe(unsigned taken, bool ends_at_argument, char letters[static _OPTION_MAX + 3],
                     struct option long_options[static _OPTION_MAX + 1]) {
        size_t n_letters = 0, n = 0;

        if (ends_at_argument)
                letters[n_letters++] = '+';
        letters[n_letters++] = ':';
        for (OptionId id = 0; id < _OPTION_MAX; id++) {
                const OptionInfo *info = &option_table[id];

                if (!is_taken(taken, id))
                        continue;
                if (info->letter)
                        letters[n_letters++] = info->letter;
                long_options[n++] = (struct option){
                        .name = info->name,
                        .has_arg = info->argument ? required_argument : no_argument,
                        .val = OPTION_BASE + (int) id,
                };
        }
        letters[n_letters] = '\0';
        long_options[n] = (struct option){};
}

static int id_of(unsigned taken, int c) {
        if (c >= OPTION_BASE)
                return c - OPTION_BASE;
        for (OptionId id = 0; id < _OPTION_MAX; id++)
                if (is_taken(taken, id) && option_table[id].letter == c)
                        return (int) id;
        return -1;
}

/* getopt_long() leaves no better trace of an unknown long option than the word it has just passed. */
static int complain(int c, char **argv, char **ret_problem) {
        bool is_known = optopt >= OPTION_BASE && optopt < OPTION_BASE + _OPTION_MAX;
        int r;

        if (is_known)
                r = asprintf(ret_problem, "option '--%s' %s",
                             option_table[optopt - OPTION_BASE].name,
                             c == ':' ? "needs an argument" : "takes no argument");
        else if (optopt > 0)
                r = asprintf(ret_problem, "unknown option '-%c'", optopt);
        else
                r = asprintf(ret_problem, "unknown option '%s'", argv[optind - 1]);
        return r < 0 ? -ENOMEM : -EINVAL;
}

int options_parse(Options *o, unsigned taken, bool ends_at_argument, int argc, char **argv,
                  char **ret_problem) {
        char letters[_OPTION_MAX + 3];
        struct option long_options[_OPTION_MAX + 1];

        describe(taken, ends_at_argument, letters, long_options);
        opterr = 0;
        optind = 0; /* glibc: start over, forget the order of an earlier argv */
        for (;;) {
                int c = getopt_long(argc, argv, letters, long_options, NULL);
                int id;

                if (c < 0)
                        break;
                id = c == '?' || c == ':' ? -1 : id_of(taken, c);
                if (id < 0)
                        return complain(c, argv, ret_problem);
                o->value[id] = option_table[id].argument ? optarg : "";
        }
        o->arguments = argv + optind;
        o->n_arguments = argc - optind;
        return 0;
}

void options_print_help(FILE *f, unsigned taken) {
        for (OptionId id = 0; id < _OPTION_MAX; id++) {
                const OptionInfo *info = &option_table[id];
                char name[64];

                if (!is_taken(taken, id))
                        continue;
                snprintf(name, sizeof(name), "%c%c%s --%s%s%s", info->letter ? '-' : ' ',
                         info->letter ? info->letter : ' ', info->letter ? "," : " ", info->name,
                         info->argument ? " " : "", info->argument ? info->argument : "");
                fprintf(f, "  %-24s %s\n", name, info->help);
        }
}
