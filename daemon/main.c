/* SPDX-License-Identifier: MIT */
/*
 * mountwatchd: watches the configured mounts and ties every change to the test session and process that made it.
 *
 * Where to find what:
 *   main.c            arguments
 *   manager.[ch]      owns everything; start, reload, stop
 *   watched.[ch]      a watch and its thread        live.[ch]    a running session, from tag to last word
 *   barrier.[ch]      "everything up to now is in"  intake.[ch]  kernel events become operations
 *   stream.[ch]       operations to a client        method*.c    the Varlink methods; view.[ch] their JSON
 *   alert.[ch]        telling                       config*.[ch] the configuration; log.[ch] logging
 *   core/             pure decisions                kernel/      fanotify, process connector, /proc, cgroup, mountinfo
 *   store/            SQLite                        api/         Varlink server
 */
#include "common/version.h"
#include "daemon/log.h"
#include "daemon/manager.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

static const char *arg_config = "/etc/mountwatch/mountwatch.conf";
static const char *arg_socket = "/run/mountwatch/io.mountwatch";
static const char *arg_state_dir = "/var/lib/mountwatch";
static bool arg_check_config = false;
static bool arg_debug = false;

static void help(void) {
        printf("mountwatchd [OPTIONS…]\n"
               "\n"
               "Watches configured mounts and ties every change to the test session and process that made it.\n"
               "\n"
               "  --config FILE        configuration (%s)\n"
               "  --socket PATH        where clients connect (%s)\n"
               "  --state-dir DIR      sessions and operations (%s)\n"
               "  --check-config FILE  print what is wrong with FILE and exit: 0 nothing, 1 something\n"
               "  --debug              log more\n"
               "  --help, --version\n"
               "\n"
               "Stays in the foreground, with or without systemd. See mountwatchd(8).\n",
               arg_config, arg_socket, arg_state_dir);
}

/* Returns 1 to go on, 0 when all is done, negative errno for a usage error (already said). */
static int parse_arguments(int argc, char **argv) {
        enum {
                OPT_CONFIG = 256,
                OPT_SOCKET,
                OPT_STATE_DIR,
                OPT_CHECK,
                OPT_DEBUG,
                OPT_VERSION
        };
        static const struct option options[] = {
                {"config", required_argument, NULL, OPT_CONFIG},
                {"socket", required_argument, NULL, OPT_SOCKET},
                {"state-dir", required_argument, NULL, OPT_STATE_DIR},
                {"check-config", required_argument, NULL, OPT_CHECK},
                {"debug", no_argument, NULL, OPT_DEBUG},
                {"help", no_argument, NULL, 'h'},
                {"version", no_argument, NULL, OPT_VERSION},
                {},
        };
        int c;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case OPT_CONFIG:
                        arg_config = optarg;
                        break;
                case OPT_SOCKET:
                        arg_socket = optarg;
                        break;
                case OPT_STATE_DIR:
                        arg_state_dir = optarg;
                        break;
                case OPT_CHECK:
                        arg_check_config = true;
                        arg_config = optarg;
                        break;
                case OPT_DEBUG:
                        arg_debug = true;
                        break;
                case 'h':
                        help();
                        return 0;
                case OPT_VERSION:
                        puts("mountwatchd " MOUNTWATCH_VERSION);
                        return 0;
                default:
                        fprintf(stderr, "Try 'mountwatchd --help'.\n");
                        return -EINVAL;
                }
        if (optind < argc) {
                fprintf(stderr,
                        "mountwatchd: unexpected argument '%s'\nTry 'mountwatchd --help'.\n",
                        argv[optind]);
                return -EINVAL;
        }
        return 1;
}

static int check_config(void) {
        _cleanup_(config_freep) Config *config = NULL;
        ConfigProblems problems = {};
        int r, bad;

        r = config_load(arg_config, &config, &problems);
        for (size_t i = 0; i < problems.n; i++) {
                const ConfigProblem *p = &problems.items[i];

                if (p->line > 0)
                        fprintf(stderr, "%s:%u: %s\n", p->file, p->line, p->reason);
                else
                        fprintf(stderr, "%s: %s\n", p->file, p->reason);
        }
        if (r < 0 && problems.n == 0)
                fprintf(stderr, "%s: %s\n", arg_config, strerror(-r));
        bad = r < 0 || problems.n > 0;
        config_problems_done(&problems);
        return bad;
}

/* One socket handed over by systemd, or -1. */
static int activated_socket(void) {
        int n = sd_listen_fds(/* unset_environment= */ true);

        if (n < 1)
                return -1;
        if (n > 1)
                log_warning("%d sockets were handed over; the first one is used", n);
        return sd_is_socket(SD_LISTEN_FDS_START, AF_UNIX, SOCK_STREAM, 1) > 0 ? SD_LISTEN_FDS_START
                                                                              : -1;
}

/* A held open is a descriptor until it is answered; 1024 are too few for a build that waits. */
static void raise_file_limit(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) >= 0 && limit.rlim_cur < limit.rlim_max) {
                limit.rlim_cur = limit.rlim_max;
                (void) setrlimit(RLIMIT_NOFILE, &limit);
        }
}

static int run(void) {
        _cleanup_(manager_freep) Manager *m = NULL;
        ManagerOptions options = {
                .config_file = arg_config,
                .socket = arg_socket,
                .state_dir = arg_state_dir,
        };
        int r;

        options.listen_fd = activated_socket();
        r = manager_new(&options, &m);
        if (r < 0)
                return r;
        return manager_run(m);
}

int main(int argc, char **argv) {
        int r;

        r = parse_arguments(argc, argv);
        if (r <= 0)
                return r < 0 ? 2 : EXIT_SUCCESS;
        if (arg_check_config)
                return check_config() ? EXIT_FAILURE : EXIT_SUCCESS;
        log_setup(arg_debug);
        (void) umask(0022);
        raise_file_limit();
        /* OpenSSL writes to sockets with write(): a receiver that has gone is an error, not our end */
        (void) signal(SIGPIPE, SIG_IGN);
        /* the loop must keep up with whatever the machine does; failing is fine */
        (void) setpriority(PRIO_PROCESS, 0, -10);
        return run() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
