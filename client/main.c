/* SPDX-License-Identifier: MIT */
/* mountwatch: the client. A table of verbs; each has a file of its own (verb_*.c). */
#include <locale.h>

#include "client/verb.h"
#include "common/version.h"

static int verb_help(const Context *context, const Options *options);
static int verb_version(const Context *context, const Options *options);

#define BIT(name) OPTION_BIT(OPTION_##name)

static const Verb verbs[] = {
        {
                .name = "run",
                .synopsis = "[OPTION...] [--] COMMAND [ARGUMENT...]",
                .summary = "run a command in a session of its own and report what it changed",
                .details =
                        "The report goes to standard error, nothing to standard output. Ends with the command's own "
                        "status;\n128+N when signal N ended it; 120 when it succeeded but the session fails "
                        "--fail-on; 125 when\nmountwatch failed and the command was not started; 126 and 127 as "
                        "env(1).",
                .options = BIT(LABEL) | BIT(POLICY) | BIT(WAIT) | BIT(FAIL_ON) | BIT(JSON_FILE) |
                        BIT(JUNIT) | BIT(HTML) | BIT(NO_GUARD),
                .min_arguments = 1,
                .max_arguments = -1,
                .ends_at_argument = true,
                .run = verb_run,
        },
        {
                .name = "session start",
                .synopsis = "[OPTION...]",
                .summary = "tag the calling shell, or --pid, and all that it starts; print the id",
                .options = BIT(LABEL) | BIT(POLICY) | BIT(PID),
                .run = verb_session_start,
        },
        {
                .name = "session stop",
                .synopsis = "[OPTION...] [ID]",
                .summary = "end a session (default: the caller's) and print its report",
                .details =
                        "Status 120 when the session fails --fail-on, which is 'never' here unless given.",
                .options = BIT(FAIL_ON) | BIT(JSON_FILE) | BIT(JUNIT) | BIT(HTML),
                .max_arguments = 1,
                .run = verb_session_stop,
        },
        {
                .name = "session list",
                .synopsis = "[--all] [--json]",
                .summary = "list the sessions that run",
                .options = BIT(ALL_SESSIONS) | BIT(JSON),
                .run = verb_session_list,
        },
        {
                .name = "session mark",
                .synopsis = "[--session ID] TEXT",
                .summary = "say what the operations that follow are done for, such as a test id",
                .details = "An empty TEXT ends the mark.",
                .options = BIT(SESSION),
                .min_arguments = 1,
                .max_arguments = 1,
                .run = verb_session_mark,
        },
        {
                .name = "session freeze",
                .synopsis = "ID",
                .summary = "stop all processes of a session where they are",
                .min_arguments = 1,
                .max_arguments = 1,
                .run = verb_session_freeze,
        },
        {
                .name = "session thaw",
                .synopsis = "ID",
                .summary = "let a frozen session go on",
                .min_arguments = 1,
                .max_arguments = 1,
                .run = verb_session_thaw,
        },
        {
                .name = "session kill",
                .synopsis = "ID",
                .summary = "kill all processes of a session",
                .min_arguments = 1,
                .max_arguments = 1,
                .run = verb_session_kill,
        },
        {
                .name = "report",
                .synopsis = "[OPTION...] [ID|last]",
                .summary = "show what a session did",
                .details = "With --html - the page goes to standard output, and nothing else does.",
                .options = BIT(JSON) | BIT(JUNIT) | BIT(HTML) | BIT(ALL_ROWS),
                .max_arguments = 1,
                .run = verb_report,
        },
        {
                .name = "events",
                .synopsis = "[OPTION...]",
                .summary = "show operations as they come, one line each",
                .options = BIT(FOLLOW) | BIT(SESSION) | BIT(WATCH) | BIT(SINCE) | BIT(JSON),
                .run = verb_events,
        },
        {
                .name = "top",
                .synopsis = "",
                .summary =
                        "show the sessions that run, live; freeze, thaw, kill and decide by a key",
                .run = verb_top,
        },
        {
                .name = "blame",
                .synopsis = "[--json] PATH",
                .summary = "show what last created, changed or removed a path",
                .options = BIT(JSON),
                .min_arguments = 1,
                .max_arguments = 1,
                .run = verb_blame,
        },
        {
                .name = "undo",
                .synopsis = "[OPTION...] [ID|last] [PATH...]",
                .summary = "put back what an ended session did",
                .details =
                        "Prints each step, and what cannot be put back and why. With PATH only what lies, or lay, there "
                        "or below.\nWhat others have changed since is not touched. Interrupted, the next run goes on. "
                        "Status 1 when not\neverything is put back.",
                .options = BIT(DRY_RUN) | BIT(FORCE) | BIT(JSON),
                .max_arguments = -1,
                .run = verb_undo,
        },
        {
                .name = "quarantine list",
                .synopsis = "[--session ID] [--json]",
                .summary = "list the files that undo has taken out of the watches",
                .options = BIT(SESSION) | BIT(JSON),
                .run = verb_quarantine_list,
        },
        {
                .name = "quarantine restore",
                .synopsis = "ITEM",
                .summary = "put one of them back to where it was",
                .min_arguments = 1,
                .max_arguments = 1,
                .run = verb_quarantine_restore,
        },
        {
                .name = "quarantine purge",
                .synopsis = "ITEM | --session ID | --all",
                .summary = "remove them for ever",
                .options = BIT(SESSION) | BIT(ALL_ITEMS),
                .max_arguments = 1,
                .run = verb_quarantine_purge,
        },
        {
                .name = "decide",
                .synopsis = "[--json] [ID allow-once|allow-session|deny|kill]",
                .summary = "answer an operation that waits (policy ask); without ID list them",
                .options = BIT(JSON),
                .max_arguments = 2,
                .run = verb_decide,
        },
        {
                .name = "agent",
                .synopsis = "",
                .summary = "show alerts on the desktop, with buttons to answer",
                .details =
                        "Belongs into a desktop session (mountwatch-agent.service starts it there) and runs until it is stopped.",
                .run = verb_agent,
        },
        {
                .name = "status",
                .synopsis = "[--json]",
                .summary = "show the daemon, its watches and the sessions that run",
                .options = BIT(JSON),
                .run = verb_status,
        },
        {
                .name = "alert test",
                .synopsis = "[--json] [WEBHOOK]",
                .summary = "send a test alert to the webhooks and print what was said",
                .details =
                        "For root and members of the group. Status 1 when one was not delivered.",
                .options = BIT(JSON),
                .max_arguments = 1,
                .run = verb_alert_test,
        },
        {
                .name = "metrics",
                .synopsis = "[--prometheus] [--output FILE]",
                .summary = "print numbers for monitoring, as OpenMetrics",
                .details =
                        "Without a daemon mountwatch_up is 0 and the status 125, and FILE is written all the same.",
                .options = BIT(PROMETHEUS) | BIT(OUTPUT),
                .run = verb_metrics,
        },
        {
                .name = "doctor",
                .synopsis = "[--write | --json] [WATCH]",
                .summary =
                        "look at each watch again and explain what can be seen, refused and undone",
                .details =
                        "With --write, sessions try to change a file that is made for it and removed again. Status 1 when a "
                        "watch is\nwaiting or has failed, or the proof fails.",
                .options = BIT(JSON) | BIT(WRITE),
                .max_arguments = 1,
                .run = verb_doctor,
        },
        {
                .name = "watch list",
                .synopsis = "[--json]",
                .summary = "list the configured watches",
                .options = BIT(JSON),
                .run = verb_watch_list,
        },
        {
                .name = "config check",
                .synopsis = "[FILE]",
                .summary = "look for mistakes in the configuration, without using it",
                .details =
                        "Problems go to standard error as file:line: reason; status 1 when there are any.",
                .max_arguments = 1,
                .run = verb_config_check,
        },
        {
                .name = "init",
                .synopsis = "[--dry-run | --yes] [--config FILE]",
                .summary = "look for shares, backups and databases, and propose watches on them",
                .details =
                        "After a yes it writes them to /etc/mountwatch/mountwatch.conf.d/50-init.conf, checks the "
                        "configuration and\nhas the service use it. What is in the file stays; what is watched "
                        "already is not proposed.",
                .options = BIT(YES) | BIT(DRY_RUN) | BIT(CONFIG),
                .run = verb_init,
        },
        {
                .name = "reload",
                .synopsis = "",
                .summary = "make the daemon read its configuration again",
                .run = verb_reload,
        },
        {
                .name = "completion",
                .synopsis = "bash|zsh|fish",
                .summary = "print the completion of command lines for a shell",
                .details = "Installed where the shells look for it; else: source <(mountwatch "
                           "completion bash)",
                .min_arguments = 1,
                .max_arguments = 1,
                .run = verb_completion,
        },
        {
                .name = "help",
                .synopsis = "[COMMAND]",
                .summary = "show this, or the help of one command",
                .max_arguments = 2,
                .run = verb_help,
        },
        {
                .name = "version",
                .synopsis = "",
                .summary = "print the version",
                .run = verb_version,
        },
};

static const VerbTable verb_table = {verbs, ELEMENTSOF(verbs)};

static void print_overview(FILE *f) {
        fputs("usage: mountwatch [--socket PATH] COMMAND [OPTION...] [ARGUMENT...]\n\n"
              "Ties every change on the watched mounts to the session and process that made it.\n\n",
              f);
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                fprintf(f, "  %-19s %s\n", verbs[i].name, verbs[i].summary);
        fputs("\n'mountwatch COMMAND --help' shows the options of a command.\n\n", f);
        options_print_help(f, OPTIONS_COMMON | BIT(VERSION));
}

static void print_verb(FILE *f, const Verb *verb) {
        fprintf(f, "usage: mountwatch %s %s\n\n%s\n", verb->name, verb->synopsis, verb->summary);
        if (verb->details)
                fprintf(f, "%s\n", verb->details);
        fputc('\n', f);
        options_print_help(f, verb->options | OPTIONS_COMMON);
}

/* 1 or 2: how many words of argv name a verb; 0: none. *ret is NULL when the first word begins several. */
static int find_verb(char *const *argv, const Verb **ret) {
        *ret = NULL;
        if (!argv[0])
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
                size_t n = strcspn(verbs[i].name, " ");
                bool first = strncmp(verbs[i].name, argv[0], n) == 0 && argv[0][n] == '\0';

                if (!first)
                        continue;
                if (verbs[i].name[n] == '\0' ||
                    (argv[1] && str_equal(verbs[i].name + n + 1, argv[1]))) {
                        *ret = &verbs[i];
                        return verbs[i].name[n] == '\0' ? 1 : 2;
                }
        }
        return 0;
}

/* The verbs that begin with this word; how many. */
static int print_family(FILE *f, const char *word) {
        int n = 0;

        for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
                size_t length = strlen(word);

                if (strncmp(verbs[i].name, word, length) != 0 || verbs[i].name[length] != ' ')
                        continue;
                if (f)
                        fprintf(f, "usage: mountwatch %s %s\n         %s\n", verbs[i].name,
                                verbs[i].synopsis, verbs[i].summary);
                n++;
        }
        return n;
}

static int unknown_verb(char *const *argv) {
        bool family = print_family(NULL, argv[0]) > 0;

        if (family && (str_equal(argv[1], "--help") || str_equal(argv[1], "-h"))) {
                print_family(stdout, argv[0]);
                return verb_flush();
        }
        if (family && argv[1])
                complain("there is no command '%s %s' ('mountwatch %s --help' shows them)", argv[0],
                         argv[1], argv[0]);
        else if (family)
                complain("'%s' needs a second word ('mountwatch %s --help' shows them)", argv[0],
                         argv[0]);
        else
                complain("there is no command '%s' ('mountwatch --help' shows them)", argv[0]);
        return STATUS_USAGE;
}

static int verb_help(const Context *context, const Options *options) {
        const Verb *verb;

        if (options->n_arguments == 0)
                print_overview(stdout);
        else if (find_verb(options->arguments, &verb) > 0)
                print_verb(stdout, verb);
        else if (options->n_arguments > 1 || print_family(stdout, options->arguments[0]) == 0)
                return unknown_verb(options->arguments);
        return verb_flush();
}

static int verb_version(const Context *context, const Options *options) {
        puts("mountwatch " MOUNTWATCH_VERSION);
        return verb_flush();
}

static int check_arguments(const Verb *verb, const Options *options) {
        if (options->n_arguments < verb->min_arguments)
                complain("'%s' needs more: mountwatch %s %s", verb->name, verb->name,
                         verb->synopsis);
        else if (verb->max_arguments >= 0 && options->n_arguments > verb->max_arguments)
                complain("'%s' is too much for '%s': mountwatch %s %s",
                         options->arguments[verb->max_arguments], verb->name, verb->name,
                         verb->synopsis);
        else
                return STATUS_DONE;
        return STATUS_USAGE;
}

/* `run` speaks for the command too, whose own status may be 2: its mistakes have the number that env(1) uses. */
static int usage_status(const Verb *verb) {
        return verb->ends_at_argument ? STATUS_NO_DAEMON : STATUS_USAGE;
}

static int dispatch(Context *context, const Verb *verb, Options *options, int argc, char **argv) {
        _cleanup_free_ char *problem = NULL;
        int r;

        r = options_parse(options, verb->options | OPTIONS_COMMON, verb->ends_at_argument, argc,
                          argv, &problem);
        if (r < 0) {
                complain("%s ('mountwatch %s --help' shows what there is)",
                         problem ? problem : "out of memory", verb->name);
                return usage_status(verb);
        }
        if (options_has(options, OPTION_HELP)) {
                print_verb(stdout, verb);
                return verb_flush();
        }
        if (check_arguments(verb, options) != STATUS_DONE)
                return usage_status(verb);
        if (options_has(options, OPTION_SOCKET))
                context->socket = options->value[OPTION_SOCKET];
        return verb->run(context, options);
}

int main(int argc, char **argv) {
        Context context = {
                .program = argv[0],
                .socket = getenv("MOUNTWATCH_SOCKET"),
                .verbs = &verb_table,
        };
        _cleanup_free_ char *problem = NULL;
        Options options = {};
        const Verb *verb;
        int n;

        (void) setlocale(LC_CTYPE, "");
        if (!context.socket || !*context.socket)
                context.socket = SOCKET_DEFAULT;
        if (options_parse(&options, OPTIONS_COMMON | BIT(VERSION), /* ends_at_argument= */ true,
                          argc, argv, &problem) < 0) {
                complain("%s ('mountwatch --help' shows what there is)",
                         problem ? problem : "out of memory");
                return STATUS_USAGE;
        }
        if (options_has(&options, OPTION_VERSION))
                return verb_version(&context, &options);
        if (options_has(&options, OPTION_HELP)) {
                print_overview(stdout);
                return verb_flush();
        }
        if (options.n_arguments == 0) {
                print_overview(stderr);
                return STATUS_USAGE;
        }
        argc = options.n_arguments;
        argv = options.arguments;
        n = find_verb(argv, &verb);
        if (n == 0)
                return unknown_verb(argv);
        return dispatch(&context, verb, &options, argc - n + 1, argv + n - 1);
}
