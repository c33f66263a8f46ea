/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/strv.h"
#include "daemon/config.h"
#include "daemon/config_problem.h"
#include "daemon/config_text.h"

#define W "[Watch w]\nPath=/w\n"

typedef struct Case {
        const char *text;
        unsigned line;
        const char *reason; /* a part of it */
} Case;

static const ConfigProblem *find_problem(const ConfigProblems *p, const Case *c) {
        for (size_t i = 0; i < p->n; i++)
                if (p->items[i].line == c->line && strstr(p->items[i].reason, c->reason))
                        return &p->items[i];
        for (size_t i = 0; i < p->n; i++)
                print_error("%s:%u: %s\n", p->items[i].file, p->items[i].line, p->items[i].reason);
        fail_msg("no problem '%s' in line %u of:\n%s", c->reason, c->line, c->text);
        return NULL;
}

static void check_case(const Case *c, bool fatal) {
        ConfigProblems problems = {};
        Config *config = NULL;
        int r = config_parse("test.conf", c->text, &config, &problems);
        const ConfigProblem *p = find_problem(&problems, c);

        assert_int_equal(p->fatal, fatal);
        assert_string_equal(p->file, "test.conf");
        assert_int_equal(problems.fatal, fatal);
        assert_int_equal(r, fatal ? -EINVAL : 0);
        assert_int_equal(config != NULL, !fatal);
        (void) config_free(config);
        config_problems_done(&problems);
}

static Config *parse(const char *text) {
        ConfigProblems problems = {};
        Config *config = NULL;

        if (config_parse("test.conf", text, &config, &problems) < 0 || problems.n > 0)
                fail_msg("line %u: %s", problems.items[0].line, problems.items[0].reason);
        config_problems_done(&problems);
        return config;
}

static void tells_file_line_and_reason_of_what_is_broken(void **state) {
        static const Case cases[] = {
                {"nonsense", 1, "neither [SECTION] nor KEY=VALUE"},
                {"\n\n=x\n", 3, "neither [SECTION] nor KEY=VALUE"},
                {"[Daemon]\nGroup: x\n", 2, "neither [SECTION] nor KEY=VALUE"},
                {"Path=/w\n" W, 1, "'Path' stands outside of a section"},
                {"[Daemon\n", 1, "must end with ']'"},
                {"[Daemon] # no\n", 1, "must end with ']'"},
                {"[Watch]\nPath=/w\n", 1, "needs a name: [Watch NAME]"},
                {"[Watch a b]\nPath=/w\n", 1, "'a b' is no name"},
                {"[Watch a/b]\nPath=/w\n", 1, "'a/b' is no name"},
                {"[Watch \xc3\xa4]\nPath=/w\n", 1, "'\xc3\xa4' is no name"},
                {"[Watch "
                 "12345678901234567890123456789012345678901234567890123456789012345]\nPath=/w\n",
                 1, "is no name"},
                {W "[Watch w]\nPath=/x\n", 3, "[Watch w] is in this file already, line 1"},
                {"[Daemon]\n[Daemon]\n", 2, "[Daemon] is in this file already, line 1"},
                {"[Watch w]\n\nPolicy=alert\n", 1, "[Watch w] has no Path="},
                {"[Watch w]\nPath=/w\nPath=\n", 1, "[Watch w] has no Path="},
                {"[Watch w]\nPath=w\n", 2, "Path: 'w' is not an absolute path"},
                {"[Watch w]\nPath=/a/../b\n", 2, "has a '..' component"},
                {"[Watch w]\nPath=/a/..\n", 2, "has a '..' component"},
                {"[Watch w]\nPath=///./\n", 2, "the root folder as a whole"},
                {W "Policy=allert\n", 3,
                 "Policy: 'allert' is none of record, alert, ask, deny, freeze, kill"},
                {W "Policy=Alert\n", 3, "Policy: 'Alert' is none of"},
                {W "Untagged=deny\n", 3, "Untagged: 'deny' is none of ignore, record, alert"},
                {W "KillScope=all\n", 3, "KillScope: 'all' is neither process nor session"},
                {W "Preserve=maybe\n", 3, "Preserve: 'maybe' is neither yes nor no"},
                {W "PreserveMax=12Q\n", 3, "PreserveMax: '12Q' has an unknown unit"},
                {W "PreserveMax=12MB\n", 3, "unknown unit"},
                {W "PreserveMax=-1\n", 3, "'-1' is not a size"},
                {W "PreserveMax=M\n", 3, "'M' is not a size"},
                {W "PreserveMax=18446744073709551616\n", 3, "is not a size"},
                {W "PreserveMax=8388608T\n", 3, "is too large"},
                {W "PreserveMax=16777217T\n", 3, "is too large"},
                {W "Allow=/etc/**\n", 3, "Allow: '/etc/**' begins with '/': patterns are relative"},
                {W "Allow=a b/ c\n", 3,
                 "'b/' ends with '/': what is in a folder is matched by "
                 "'b/**'"},
                {W "Ignore=a/../b\n", 3, "Ignore: 'a/../b' has a '.' or '..' component"},
                {W "Ignore=./b\n", 3, "has a '.' or '..' component"},
                {W "Ignore=a//b\n", 3, "has an empty component"},
                {W "Allow=\"a b\n", 3, "a double quote is not closed"},
                {W "Allow=a \"\" b\n", 3, "an empty pattern"},
                {W "Allow=a\\\n", 3, "ends with a backslash"},
                {W "Writers=musicd\n", 3, "'musicd' is not the absolute path of a program"},
                {"[Daemon]\nRetainDays=0\n", 2, "'0' is not a number of days from 1 to 3650"},
                {"[Daemon]\nRetainDays=3651\n", 2, "is not a number of days"},
                {"[Daemon]\nRetainDays=1 day\n", 2, "is not a number of days"},
                {"[Daemon]\nAlertInterval=0\n", 2, "'0' is not a number of seconds from 1"},
                {"[Daemon]\nGroup=a b\n", 2, "'a b' is not the name of a group"},
                {"[Daemon]\nGroup=0\n", 2, "'0' is not the name of a group"},
                {W "[Watch x]\nPath=//w/./\n", 4, "Path: '/w' is that of [Watch w] already"},
                {"[Webhook o]\nUrl=ftp://x\n", 2, "is not an http or https address"},
                {"[Webhook o]\nUrl=https://x/a b\n", 2, "is not an http or https address"},
                {"[Webhook o]\nUrl=https://:80/\n", 2, "is not an http or https address"},
                {"[Webhook o]\nUrl=https://u@/x\n", 2, "is not an http or https address"},
                {"[Webhook o]\nFormat=json\n", 1, "[Webhook o] has neither Url= nor UrlFile="},
                {"[Webhook o]\nUrl=http://x\nUrlFile=/u\n", 1, "has both Url= and UrlFile="},
                {"[Webhook o]\nUrl=http://x/a/\nFormat=ntfy\n", 2, "names no topic"},
                {"[Webhook o]\nUrl=http://x/a/b?c\nFormat=slack\nSecretFile=/k\n", 4,
                 "is of no use with Format=slack"},
                {"[Webhook o]\nUrl=http://x\nClientKeyFile=/k\n", 3, "needs ClientCertFile="},
                {"[Webhook o]\nUrl=http://x\nMinSeverity=high\n", 3, "is none of info, opened"},
                {"[Webhook o]\nUrl=http://x\nRateLimit=0\n", 3, "messages a minute"},
                {"[Webhook o]\nUrl=http://x\nTimeoutSec=0\n", 3, "number of seconds"},
                {"[Webhook o]\nUrl=http://x\nFormat=xml\n", 3, "none of json, slack, discord"},
                {"[Webhook o]\nUrl=http://x\nSecretFile=k\n", 3, "not an absolute path"},
                {"[AutoSession p]\n", 1, "[AutoSession p] has no Match="},
                {W "Allow=a\x01 b\n", 3, "a control character"},
                {"\x7f"
                 "ELF=\n",
                 1, "a control character"},
                {W "Policy=\xff\xfe\n", 3, "'\\xff\\xfe' is none of"},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_case(&cases[i], /* fatal= */ true);
}

static void tells_what_is_odd_and_goes_on(void **state) {
        static const Case cases[] = {
                {"[Watch w]\nPfad=/w\nPath=/w\n", 2,
                 "unknown key 'Pfad' in [Watch w] (did you mean 'Path'?)"},
                {W "path=/x\n", 3, "unknown key 'path' in [Watch w] (did you mean 'Path'?)"},
                {W "Alow=x\n", 3, "(did you mean 'Allow'?)"},
                {W "Colour=blue\n", 3, "unknown key 'Colour' in [Watch w]"},
                {"[Daemon]\nRetain_Days=3\n", 2, "(did you mean 'RetainDays'?)"},
                {"[Wotch x]\nPath=/w\n", 1, "unknown section [Wotch x] (did you mean 'Watch'?)"},
                {"[Nonsense]\na=b\n", 1, "unknown section [Nonsense]"},
                {"[Daemon x]\n", 1, "unknown section [Daemon x]"},
                {"[]\n", 1, "unknown section []"},
                {W "Policy=record\nPolicy=alert\n", 4, "Policy was set already, line 3"},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_case(&cases[i], /* fatal= */ false);
}

static void tells_every_problem(void **state) {
        static const Case cases[] = {
                {"", 1, "neither"},
                {"", 3, "Policy"},
                {"", 4, "unknown key"},
                {"", 2, "no Path="},
        };
        ConfigProblems problems = {};
        Config *config = NULL;

        assert_int_equal(config_parse("x", "bad\n[Watch w]\nPolicy=x\nFoo=y\n", &config, &problems),
                         -EINVAL);
        assert_int_equal(problems.n, ELEMENTSOF(cases));
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                (void) find_problem(&problems, &cases[i]);
        config_problems_done(&problems);
}

static void bounds_the_problems_it_tells(void **state) {
        _cleanup_free_ char *text = calloc(1, 3000);
        ConfigProblems problems = {};
        Config *config = NULL;

        assert_non_null(text);
        for (size_t i = 0; i < 1000; i++)
                memcpy(text + 2 * i, "x\n", 2);
        assert_int_equal(config_parse("x", text, &config, &problems), -EINVAL);
        assert_int_equal(problems.n, CONFIG_PROBLEMS_MAX + 1);
        assert_string_equal(problems.items[CONFIG_PROBLEMS_MAX].reason, "more problems follow");
        config_problems_done(&problems);
}

static void has_defaults(void **state) {
        _cleanup_(config_freep) Config *c = parse(W);
        const WatchSpec *w = c->watches[0];

        assert_string_equal(c->group, "mountwatch");
        assert_int_equal(c->retain_days, 90);
        assert_int_equal(c->alert_interval, 30 * USEC_PER_SEC);
        assert_int_equal(c->n_watches, 1);
        assert_string_equal(w->name, "w");
        assert_string_equal(w->path, "/w");
        assert_int_equal(w->policy, POLICY_ALERT);
        assert_int_equal(w->untagged, UNTAGGED_IGNORE);
        assert_int_equal(w->kill_scope, KILL_SCOPE_PROCESS);
        assert_false(w->preserve);
        assert_int_equal(w->preserve_max, 256 << 20);
        assert_int_equal(w->snapshot_max, 256 << 20);
        assert_null(w->allow[0]);
        assert_null(w->ignore[0]);
        assert_null(w->writers[0]);
}

static void an_empty_file_is_a_configuration(void **state) {
        _cleanup_(config_freep) Config *c = parse("\xef\xbb\xbf\n # nothing\r\n ; [Watch w]\n\t\n");

        assert_int_equal(c->n_watches, 0);
        assert_string_equal(c->group, "mountwatch");
}

static void reads_every_key(void **state) {
        _cleanup_(config_freep) Config *c =
                parse("[Daemon]\r\n  Group = music \n RetainDays=7\nAlertInterval=5\n"
                      "[Watch a.b_C-1]\nPath = /mnt//my nas/./x/ \nPolicy=record\n"
                      "Untagged=alert\nWriters=/usr/bin/a \"/opt/b c\"\nWriters=/usr/bin/d\n"
                      "PreserveMax=3G\nKillScope=session\nPreserve=OFF\n");
        const WatchSpec *w = c->watches[0];

        assert_string_equal(c->group, "music");
        assert_int_equal(c->retain_days, 7);
        assert_int_equal(c->alert_interval, 5 * USEC_PER_SEC);
        assert_string_equal(w->name, "a.b_C-1");
        assert_string_equal(w->path, "/mnt/my nas/x");
        assert_int_equal(w->policy, POLICY_RECORD);
        assert_int_equal(w->untagged, UNTAGGED_ALERT);
        assert_string_equal(w->writers[0], "/usr/bin/a");
        assert_string_equal(w->writers[1], "/opt/b c");
        assert_string_equal(w->writers[2], "/usr/bin/d");
        assert_null(w->writers[3]);
        assert_int_equal(w->preserve_max, 3ULL << 30);
        assert_int_equal(w->kill_scope, KILL_SCOPE_SESSION);
}

static void lists_grow_by_blanks_quotes_and_repetition(void **state) {
        static const char *const want[] = {"scratch/**", "**/*.tmp", "a b*",     "c d/e",
                                           "x\\ y",      "\\\"q",    "[!;] ;#z", "last"};
        _cleanup_(config_freep) Config *c =
                parse(W "Allow=scratch/** \t **/*.tmp\nAllow = \"a b*\" c\" d/\"e x\\ y \\\"q\n"
                        "Allow=\"[!;] ;#z\"\nAllow=last\n");

        assert_int_equal(strv_length(c->watches[0]->allow), ELEMENTSOF(want));
        for (size_t i = 0; i < ELEMENTSOF(want); i++)
                assert_string_equal(c->watches[0]->allow[i], want[i]);
}

static void automatic_sessions_have_a_name_and_patterns(void **state) {
        _cleanup_(config_freep) Config *c =
                parse("[AutoSession pytest]\nMatch=pytest **/pytest \"python* -m pytest*\"\n"
                      "[AutoSession ctest]\nMatch=ctest\n");

        assert_int_equal(c->n_auto_sessions, 2);
        assert_string_equal(c->auto_sessions[0].name, "pytest");
        assert_string_equal(c->auto_sessions[0].match[1], "**/pytest");
        assert_string_equal(c->auto_sessions[0].match[2], "python* -m pytest*");
        assert_null(c->auto_sessions[0].match[3]);
        assert_string_equal(c->auto_sessions[1].match[0], "ctest");
}

static void an_empty_value_brings_the_default_back(void **state) {
        _cleanup_(config_freep) Config *c =
                parse(W "Allow=a b\nAllow=\nAllow=c\nPolicy=record\nPolicy=\nPreserveMax=1\n"
                        "PreserveMax=\n[Daemon]\nGroup=x\nGroup=\n");

        assert_string_equal(c->watches[0]->allow[0], "c");
        assert_null(c->watches[0]->allow[1]);
        assert_int_equal(c->watches[0]->policy, POLICY_ALERT);
        assert_int_equal(c->watches[0]->preserve_max, 256 << 20);
        assert_string_equal(c->group, "mountwatch");
}

/* Comments stand on lines of their own; libinih would cut " ;..." off, and join the indented line to the one above. */
static void takes_values_whole(void **state) {
        _cleanup_(config_freep) Config *c =
                parse("[Watch w]\nPath=/mnt/a ;b # c=d:e\n  Policy=record\n");

        assert_string_equal(c->watches[0]->path, "/mnt/a ;b # c=d:e");
        assert_int_equal(c->watches[0]->policy, POLICY_RECORD);
}

/* libinih would cut the name of the section after 49 bytes, and the line after 199. */
static void takes_long_names_and_lines_whole(void **state) {
        char name[65], path[4001], text[5000];
        Config *c;

        memset(name, 'n', 64);
        name[64] = 0;
        memset(path, 'p', 4000);
        path[0] = '/';
        path[4000] = 0;
        (void) snprintf(text, sizeof text, "[Watch %s]\nPath=%s\n", name, path);
        c = parse(text);
        assert_string_equal(c->watches[0]->name, name);
        assert_string_equal(c->watches[0]->path, path);
        (void) config_free(c);
}

static void refuses_a_line_that_is_too_long(void **state) {
        _cleanup_free_ char *text = malloc(3 * CONFIG_LINE_MAX);
        Case c = {.line = 3, .reason = "the line is too long"};
        size_t n;

        assert_non_null(text);
        n = (size_t) sprintf(text, W "Allow=");
        memset(text + n, 'a', 2 * CONFIG_LINE_MAX);
        strcpy(text + n + 2 * CONFIG_LINE_MAX, "\nPolicy=record\n");
        c.text = text;
        check_case(&c, /* fatal= */ true);
}

static void refuses_the_65th_watch(void **state) {
        char text[65 * 40];
        Case c = {.text = text, .line = 129, .reason = "more than 64 watches"};
        size_t n = 0;

        for (int i = 0; i < 65; i++)
                n += (size_t) sprintf(text + n, "[Watch w%d]\nPath=/w/%d\n", i, i);
        check_case(&c, /* fatal= */ true);
        *strstr(text, "[Watch w64]") = 0;
        (void) config_free(parse(text));
}

/* ---- files ---- */

static void write_file(const char *folder, const char *name, const char *data, size_t size) {
        _cleanup_free_ char *path = NULL;
        FILE *f;

        assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
        f = fopen(path, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(data, 1, size, f), size);
        assert_int_equal(fclose(f), 0);
}

static void write_text(const char *folder, const char *name, const char *text) {
        write_file(folder, name, text, strlen(text));
}

typedef struct Folder {
        char path[32];
        char file[64];
        char drop_ins[64];
} Folder;

static int folder_setup(void **state) {
        Folder *f = calloc(1, sizeof *f);

        if (!f)
                return -1;
        *state = f;
        strcpy(f->path, "/tmp/test-config-XXXXXX");
        if (!mkdtemp(f->path))
                return -1;
        (void) snprintf(f->file, sizeof f->file, "%s/m.conf", f->path);
        (void) snprintf(f->drop_ins, sizeof f->drop_ins, "%s/m.conf.d", f->path);
        return mkdir(f->drop_ins, 0755);
}

static int folder_teardown(void **state) {
        Folder *f = *state;
        char command[64];
        int r;

        (void) snprintf(command, sizeof command, "rm -rf %s", f->path);
        r = system(command);
        free(f);
        return r;
}

static void check_load(const char *file, int want, const char *where, unsigned line,
                       const char *reason) {
        ConfigProblems problems = {};
        Config *config = NULL;
        bool found = !reason;
        int r = config_load(file, &config, &problems);

        for (size_t i = 0; i < problems.n && reason; i++) {
                const ConfigProblem *p = &problems.items[i];

                found = found ||
                        (str_equal(strrchr(p->file, '/') + 1, where) && p->line == line &&
                         strstr(p->reason, reason));
        }
        if (!found)
                fail_msg("no '%s', but %zu others (%s)", reason, problems.n,
                         problems.n ? problems.items[0].reason : "");
        assert_int_equal(r, want);
        (void) config_free(config);
        config_problems_done(&problems);
}

static void drop_ins_override_in_the_order_of_their_names(void **state) {
        const Folder *f = *state;
        _cleanup_(config_freep) Config *c = NULL;
        ConfigProblems problems = {};

        write_text(f->path, "m.conf", W "Policy=record\nAllow=a\n[Watch x]\nPath=/x\nAllow=a\n");
        write_text(f->drop_ins, "20-b.conf", "[Watch w]\nUntagged=alert\nAllow=c\n");
        write_text(f->drop_ins, "10-a.conf",
                   "[Watch w]\nPolicy=alert\nUntagged=record\nAllow=b\n[Watch x]\nAllow=\n"
                   "[Daemon]\nGroup=other\n");
        write_text(f->drop_ins, ".hidden.conf", "bad");
        write_text(f->drop_ins, "note.txt", "bad");
        assert_int_equal(config_load(f->file, &c, &problems), 0);
        assert_int_equal(problems.n, 0);
        assert_int_equal(c->n_watches, 2);
        assert_int_equal(c->watches[0]->policy, POLICY_ALERT);
        assert_int_equal(c->watches[0]->untagged, UNTAGGED_ALERT);
        assert_string_equal(c->watches[0]->allow[0], "a");
        assert_string_equal(c->watches[0]->allow[1], "b");
        assert_string_equal(c->watches[0]->allow[2], "c");
        assert_null(c->watches[1]->allow[0]);
        assert_string_equal(c->group, "other");
}

/* Two drop-ins that happen to use one name would leave the first one's path without a watch. */
static void another_path_in_a_drop_in_is_told(void **state) {
        const Folder *f = *state;

        write_text(f->path, "m.conf", W);
        write_text(f->drop_ins, "a.conf", "[Watch w]\nPath=/elsewhere\n");
        check_load(f->file, 0, "a.conf", 2, "Path replaces that of");
}

static void what_cannot_be_read_is_told(void **state) {
        const Folder *f = *state;
        char path[128];

        check_load(f->file, -ENOENT, "m.conf", 0, "cannot be read: No such file or directory");
        check_load(f->drop_ins, -EISDIR, "m.conf.d", 0, "cannot be read: Is a directory");
        write_text(f->path, "m.conf", W);
        (void) snprintf(path, sizeof path, "%s/x.conf", f->drop_ins);
        assert_int_equal(mkfifo(path, 0600), 0);
        check_load(f->file, -EBADF, "x.conf", 0, "not a regular file");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink("nowhere", path), 0);
        check_load(f->file, -ENOENT, "x.conf", 0, "cannot be read");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink("/dev/null", path), 0);
        check_load(f->file, 0, NULL, 0, NULL);
}

static void a_file_without_permission_is_told(void **state) {
        const Folder *f = *state;
        bool root = geteuid() == 0; /* root reads everything */

        write_text(f->path, "m.conf", W);
        assert_int_equal(chmod(f->path, 0755), 0);
        assert_int_equal(chmod(f->file, 0), 0);
        if (root)
                assert_int_equal(seteuid(65534), 0);
        check_load(f->file, -EACCES, "m.conf", 0, "cannot be read: Permission denied");
        if (root)
                assert_int_equal(seteuid(0), 0);
}

static void what_is_no_text_is_told(void **state) {
        const Folder *f = *state;
        _cleanup_free_ char *large = malloc(1024 * 1024 + 1);

        write_file(f->path, "m.conf", W "Allow=a\0b\n", sizeof W "Allow=a\0b\n" - 1);
        check_load(f->file, -EINVAL, "m.conf", 3, "a NUL byte");
        assert_non_null(large);
        memset(large, '\n', 1024 * 1024 + 1);
        write_file(f->path, "m.conf", large, 1024 * 1024 + 1);
        check_load(f->file, -EFBIG, "m.conf", 0, "larger than");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tells_file_line_and_reason_of_what_is_broken),
                cmocka_unit_test(tells_what_is_odd_and_goes_on),
                cmocka_unit_test(tells_every_problem),
                cmocka_unit_test(bounds_the_problems_it_tells),
                cmocka_unit_test(has_defaults),
                cmocka_unit_test(an_empty_file_is_a_configuration),
                cmocka_unit_test(reads_every_key),
                cmocka_unit_test(lists_grow_by_blanks_quotes_and_repetition),
                cmocka_unit_test(automatic_sessions_have_a_name_and_patterns),
                cmocka_unit_test(an_empty_value_brings_the_default_back),
                cmocka_unit_test(takes_values_whole),
                cmocka_unit_test(takes_long_names_and_lines_whole),
                cmocka_unit_test(refuses_a_line_that_is_too_long),
                cmocka_unit_test(refuses_the_65th_watch),
                cmocka_unit_test_setup_teardown(drop_ins_override_in_the_order_of_their_names,
                                                folder_setup, folder_teardown),
                cmocka_unit_test_setup_teardown(another_path_in_a_drop_in_is_told, folder_setup,
                                                folder_teardown),
                cmocka_unit_test_setup_teardown(what_cannot_be_read_is_told, folder_setup,
                                                folder_teardown),
                cmocka_unit_test_setup_teardown(a_file_without_permission_is_told, folder_setup,
                                                folder_teardown),
                cmocka_unit_test_setup_teardown(what_is_no_text_is_told, folder_setup,
                                                folder_teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
