/* SPDX-License-Identifier: MIT */
/* mountwatch init: finds what is worth watching, proposes it, and after a yes writes it, checks it and has it used. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "client/atomic_file.h"
#include "client/config_check.h"
#include "client/find_backups.h"
#include "client/find_databases.h"
#include "client/find_mounts.h"
#include "client/known_watches.h"
#include "client/table.h"
#include "client/verb.h"
#include "client/watch_view.h"
#include "common/json_member.h"
#include "common/path_text.h"

#define TARGET_DEFAULT CONFIG_DEFAULT ".d/50-init.conf"
#define FSTAB "/etc/fstab"
#define MOUNTINFO "/proc/self/mountinfo"
#define MOUNTINFO_MAX (64 * 1024 * 1024)
/* each search ends after so many seconds or things looked at */
#define SEARCH_SECONDS 5
#define FILES_MAX 200000
#define FOLDERS_MAX 20000

typedef struct Init {
        const Context *context;
        const Options *options;
        const char *target; /* the file that is written */
        char *config;       /* the one that the daemon reads, and with it the target */
        char *old;          /* what the target has; NULL: it is not there */
        Findings findings;
        bool cut; /* a search did not see everything */
} Init;

static void init_done(Init *init) {
        findings_done(&init->findings);
        free(init->config);
        free(init->old);
}

/* A file in a folder NAME.conf.d is a part of NAME.conf. */
static char *config_of(const char *target) {
        const char *slash = strrchr(target, '/');
        const size_t n = slash ? (size_t) (slash - target) : 0;

        if (n > strlen(".conf.d") &&
            strncmp(target + n - strlen(".conf.d"), ".conf.d", strlen(".conf.d")) == 0)
                return strndup(target, n - strlen(".d"));
        return strdup(target);
}

static int cannot_read(const char *path, int r) {
        if (r == -ENOMEM)
                return complain_memory();
        complain("cannot read '%s': %s", path, strerror(-r));
        return STATUS_NO;
}

static int read_existing(Init *init) {
        int r;

        init->config = config_of(init->target);
        if (!init->config)
                return complain_memory();
        r = config_read_text(init->target, &init->old);
        if (r < 0 && r != -ENOENT)
                return cannot_read(init->target, r);
        r = known_watches_read(init->config, &init->findings);
        return r < 0 ? cannot_read(init->config, r) : STATUS_DONE;
}

static int read_mounts(MountTable *ret) {
        _cleanup_free_ char *text = NULL;
        size_t allocated = 0;
        FILE *file = fopen(MOUNTINFO, "re");
        ssize_t n;

        if (!file)
                return -errno;
        /* to the end: it has no NUL */
        n = getdelim(&text, &allocated, '\0', file);
        (void) fclose(file);
        if (n < 0)
                return -EIO;
        return n > MOUNTINFO_MAX ? -EFBIG : mountinfo_parse(text, (size_t) n, ret);
}

/* Shares first, then folders, then files: what lies in something that was found needs no watch of its own. */
static int search(Init *init) {
        _cleanup_(mount_table_done) MountTable mounts = {};
        SearchBound files, folders;
        int r = read_mounts(&mounts);

        if (r < 0 && r != -ENOMEM)
                return cannot_read(MOUNTINFO, r);
        r = r < 0 ? r : find_mounts(&mounts, FSTAB, &init->findings);
        folders = search_bound(&mounts, SEARCH_SECONDS, FOLDERS_MAX);
        r = r < 0 ? r : find_backups("/", &folders, &init->findings);
        files = search_bound(&mounts, SEARCH_SECONDS, FILES_MAX);
        r = r < 0 ? r : find_databases("/proc", &files, &init->findings);
        init->cut = files.hit || folders.hit;
        return r < 0 ? complain_memory() : STATUS_DONE;
}

static void print_limits(const Init *init) {
        if (geteuid() != 0)
                puts("\nWithout root only your own processes and folders could be looked into: sudo mountwatch init");
        if (init->cut)
                puts("\nThe search was cut off after some seconds; there may be more.");
        if (init->findings.n_dropped > 0)
                printf("\n%zu more were found; these are the first %d.\n", init->findings.n_dropped,
                       FINDINGS_MAX);
        if (init->findings.n_unspeakable > 0)
                printf("\n%zu more have names that no line of a configuration can hold.\n",
                       init->findings.n_unspeakable);
}

static int print_nothing(const Init *init) {
        printf("Nothing found that is worth watching%s. Looked for:\n"
               "  network mounts that can be written to (NFS, SMB, sshfs, Ceph, 9p and others)\n"
               "  folders of backups, and repositories of borg, restic, rsnapshot and kopia\n"
               "  SQLite databases that running programs have open, caches and browsers aside\n",
               init->findings.paths ? " and is not watched already" : "");
        print_limits(init);
        puts("\nAny path can be watched all the same: see mountwatch.conf(5).");
        return verb_flush();
}

static int print_table(const Findings *f) {
        static const char *const head[] = {"#", "path", "what it is"};
        _cleanup_(table_done) Table table = {};
        Terminal t;
        int r;

        r = table_init(&table, ELEMENTSOF(head), head);
        for (size_t i = 0; r >= 0 && i < f->n; i++) {
                char number[24];

                snprintf(number, sizeof(number), "%zu", i + 1);
                r = table_add(&table,
                              (const char *const[]){number, f->items[i].path, f->items[i].why});
        }
        terminal_init(&t, stdout);
        return r < 0 ? r : table_print(&table, &t);
}

/* The sections as they would be written. *ret is the caller's. */
static int make_text(const Findings *f, char **ret) {
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);

        if (!file)
                return -ENOMEM;
        findings_write(f, file);
        if (fclose(file) != 0) {
                free(text);
                return -ENOMEM;
        }
        *ret = text;
        return 0;
}

static int print_proposal(const Init *init) {
        _cleanup_free_ char *text = NULL, *target = path_to_text(init->target);

        if (!target || make_text(&init->findings, &text) < 0)
                return complain_memory();
        printf("\n%s %s%s:\n\n", init->old ? "To be added to" : "To be written to", target,
               init->old ? ", whose content stays" : "");
        for (char *next = text, *line; (line = strsep(&next, "\n"));) {
                _cleanup_free_ char *safe = path_to_text(line);

                if (!safe)
                        return complain_memory();
                if (next || *line)
                        printf("%s%s\n", *line ? "  " : "", safe);
        }
        return STATUS_DONE;
}

/* The words of a person: 1 to write, 0 not to, and the list may be shorter then. */
static int ask(Init *init) {
        for (;;) {
                _cleanup_free_ char *line = NULL;
                size_t allocated = 0;

                fputs("\nWrite it? [y/N, or the numbers of those to watch, such as 1 3] ", stdout);
                (void) fflush(stdout);
                if (getline(&line, &allocated, stdin) < 0) {
                        putchar('\n');
                        return 0;
                }
                line[strcspn(line, "\r\n")] = '\0';
                if (str_equal(line, "y") || str_equal(line, "Y") || str_equal(line, "yes"))
                        return 1;
                if (!*line || str_equal(line, "n") || str_equal(line, "N") || str_equal(line, "no"))
                        return 0;
                if (findings_choose(&init->findings, line) >= 0)
                        return 1;
                printf("'%s' is neither y nor n nor some of the numbers above.\n", line);
        }
}

static int make_folder(const char *target) {
        _cleanup_free_ char *folder = strdup(target);
        char *slash = folder ? strrchr(folder, '/') : NULL;

        if (!folder)
                return -ENOMEM;
        if (!slash || slash == folder)
                return 0;
        *slash = '\0';
        if (mkdir(folder, 0755) == 0 || errno == EEXIST)
                return 0;
        if (errno != ENOENT || make_folder(folder) < 0)
                return -errno;
        return mkdir(folder, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

/* With what was there before it. */
static void put_content(const Init *init, const char *text, FILE *file) {
        const size_t n = init->old ? strlen(init->old) : 0;

        if (n == 0)
                fputs("# Written by `mountwatch init`; yours to change. See mountwatch.conf(5).\n\n",
                      file);
        else
                fprintf(file, "%s%s\n", init->old, init->old[n - 1] == '\n' ? "" : "\n");
        fputs(text, file);
}

/* The daemon's parser looks at it before it is where the daemon would read it. 1: good. */
static int check_text(const Init *init, const char *text) {
        _cleanup_free_ char *path = NULL;
        bool good = false;
        int fd = memfd_create("mountwatch-init", MFD_CLOEXEC), r;
        FILE *file = fd < 0 ? NULL : fdopen(fd, "we");

        if (!file) {
                safe_close(fd);
                return -errno;
        }
        put_content(init, text, file);
        r = fflush(file) != 0 || asprintf(&path, "/proc/%d/fd/%d", (int) getpid(), fd) < 0 ? -ENOMEM
                                                                                           : 0;
        if (r < 0)
                path = NULL;
        r = r < 0 ? r : config_check(path, &good);
        (void) fclose(file);
        return r < 0 ? r : good;
}

static int write_target(const Init *init) {
        _cleanup_(atomic_file_done) AtomicFile file = {};
        _cleanup_free_ char *text = NULL;
        int r;

        if (make_text(&init->findings, &text) < 0)
                return complain_memory();
        r = check_text(init, text);
        if (r < 0)
                complain("cannot run mountwatchd, whose parser is asked: %s; nothing was written",
                         strerror(-r));
        else if (r == 0)
                complain("mountwatchd does not take it (see above); nothing was written");
        if (r <= 0)
                return STATUS_NO;
        r = make_folder(init->target);
        r = r < 0 ? r : atomic_file_open(init->target, 0644, &file);
        if (r >= 0) {
                put_content(init, text, file.file);
                r = atomic_file_commit(&file);
        }
        if (r >= 0)
                return STATUS_DONE;
        complain("cannot write '%s': %s%s", init->target, strerror(-r),
                 r == -EACCES || r == -EPERM ? " (try it with sudo)" : "");
        return STATUS_NO;
}

/* The whole of it: what the new file says may clash with another. */
static int check_whole(const Init *init) {
        bool good;
        int r = config_check(init->config, &good);

        if (r >= 0 && good)
                return STATUS_DONE;
        complain(
                "written, but with it '%s' has problems (see above), so it is not used yet; mend them, then: "
                "mountwatch reload",
                init->config);
        return STATUS_NO;
}

/* Whether the daemon that was asked knows the watches now: it may read another configuration. */
static bool are_watched(const Init *init) {
        _cleanup_(watch_views_done) WatchViews watches = {};
        _cleanup_json_ json_object *reply = NULL;

        if (verb_call(init->context, "ListWatches", NULL, &reply) != STATUS_DONE ||
            watch_views_from_json(reply, &watches) < 0)
                return false;
        for (size_t i = 0; i < init->findings.n; i++)
                if (!watch_views_find(&watches, init->findings.items[i].name))
                        return false;
        return true;
}

static int use(const Init *init) {
        _cleanup_(connection_freep) Connection *c = NULL;
        _cleanup_json_ json_object *reply = NULL;
        int r;

        if (connection_new(init->context->socket, &c) < 0) {
                puts("The service does not run: sudo systemctl enable --now mountwatch");
                return verb_flush();
        }
        r = connection_call(c, "Reload", NULL, &reply);
        if (r != 0)
                return verb_failed(init->context, c, r);
        (void) verb_print_warnings(reply);
        if (!are_watched(init)) {
                complain(
                        "the service that runs reads another configuration; start it with --config %s",
                        init->config);
                return STATUS_NO;
        }
        puts("The service watches it now: mountwatch status");
        return verb_flush();
}

static int write_and_use(const Init *init) {
        _cleanup_free_ char *target = path_to_text(init->target);
        int r;

        if (!target)
                return complain_memory();
        r = write_target(init);
        if (r != STATUS_DONE)
                return r;
        printf("\n%s %s: %zu %s.\n", init->old ? "Added to" : "Wrote", target, init->findings.n,
               init->findings.n == 1 ? "watch" : "watches");
        (void) fflush(stdout);
        r = check_whole(init);
        return r == STATUS_DONE ? use(init) : r;
}

static int propose(Init *init) {
        const bool yes = options_has(init->options, OPTION_YES);
        int r;

        r = print_table(&init->findings) < 0 ? complain_memory() : print_proposal(init);
        if (r != STATUS_DONE)
                return r;
        print_limits(init);
        if (options_has(init->options, OPTION_DRY_RUN))
                return verb_flush();
        if (!yes && !isatty(STDIN_FILENO)) {
                (void) verb_flush();
                complain("nobody is there to ask, so nothing was written; --yes writes it");
                return STATUS_NO;
        }
        if (!yes && ask(init) == 0) {
                puts("Nothing was written.");
                return verb_flush();
        }
        return write_and_use(init);
}

int verb_init(const Context *context, const Options *options) {
        _cleanup_(init_done) Init init = {
                .context = context,
                .options = options,
                .target = options_has(options, OPTION_CONFIG) ? options->value[OPTION_CONFIG]
                                                              : TARGET_DEFAULT,
        };
        int r;

        r = read_existing(&init);
        if (r == STATUS_DONE)
                r = search(&init);
        if (r != STATUS_DONE)
                return r;
        return init.findings.n > 0 ? propose(&init) : print_nothing(&init);
}
