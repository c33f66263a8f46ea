/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/macro.h"
#include "daemon/core/policy.h"

static const struct {
        const char *pattern, *path;
        bool matches;
} cases[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"a", "a", true},
        {"a", "ab", false},
        {"ab", "a", false},
        {"a/b", "a/b", true},
        /* one star and ? stay within a name */
        {"*", "", true},
        {"*", "abc", true},
        {"*", ".hidden", true},
        {"*", "a/b", false},
        {"*.tmp", "x.tmp", true},
        {"*.tmp", ".tmp", true},
        {"*.tmp", "d/x.tmp", false},
        {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "aXbYbZ", false},
        {"a*/b", "aa/b", true},
        {"a*/b", "a/x/b", false},
        {"*/*", "a/b", true},
        {"*/*", "a", false},
        {"?", "a", true},
        {"?", "", false},
        {"?", "/", false},
        {"a?c", "a/c", false},
        {"???", "\xc3\xa9x", true}, /* bytes: é is two */
        {"?", "\xc3\xa9", false},
        {"*", "\xff\xfe", true},
        /* two stars cross '/' */
        {"**", "", true},
        {"**", "a", true},
        {"**", "a/b/c", true},
        {"a**", "a", true},
        {"a**", "abc/d", true},
        {"a**b", "ab", true},
        {"a**b", "ax/y/b", true},
        {"a**b", "ax/y/c", false},
        {"**b", "x/ab", true},
        {"a**/b", "ab", false},
        {"a**/b", "a/b", true},
        {"a**/b", "ax/y/b", true},
        {"***", "a/b", true},
        {"a***c", "a/b/c", true},
        /* as the first or a middle component they may be nothing */
        {"**/x", "x", true},
        {"**/x", "a/x", true},
        {"**/x", "a/b/x", true},
        {"**/x", "foox", false},
        {"**/x", "a/foox", false},
        {"**/*.tmp", "x.tmp", true},
        {"**/*.tmp", "a/b/.tmp", true},
        {"**/*.tmp", "a/b/x.tm", false},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"a/**/b", "a/xb", false},
        {"a/**/b", "ab", false},
        {"a/**/b", "axb", false},
        {"**/**/x", "x", true},
        {"**/**/x", "a/x", true},
        {"**/**/x", "a/b/c/x", true},
        {"**/a/**/b", "q/a/b", true},
        {"**/a/**/b", "a/a/z/b", true},
        {"**/a/**/b", "q/ab", false},
        {"**/a*/**", "x/ab", true},
        {"**/a*/**", "x/ab/c", true},
        {"**/a*/**", "x/b/c", false},
        /* a directory and two stars: itself and all below */
        {"scratch/**", "scratch", true},
        {"scratch/**", "scratch/a", true},
        {"scratch/**", "scratch/a/b", true},
        {"scratch/**", "scratch2", false},
        {"scratch/**", "scratc", false},
        {"scratch/**", "x/scratch", false},
        {"@eaDir/**", "@eaDir/x@SynoEAStream", true},
        {"@eaDir/**", "@eaDir", true},
        {"**/@eaDir/**", "music/@eaDir/a/b", true},
        {"**/@eaDir/**", "@eaDir", true},
        {"/**", "", false},
        {"a/*", "a", false},
        {"a/***", "a", true},
        /* sets */
        {"[abc]", "b", true},
        {"[abc]", "d", false},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[!a-c]", "d", true},
        {"[!a-c]", "a", false},
        {"[^a]", "b", true},
        {"[!a]", "/", false},
        {"x[!a]y", "x/y", false},
        {"[+-0]", "/", false},
        {"[]]", "]", true},
        {"[]a]", "a", true},
        {"[!]]", "]", false},
        {"[!]]", "a", true},
        {"[a-]", "-", true},
        {"[--0]", ".", true},
        {"[]-a]", "^", true},
        {"[[?*\\]", "\\", true}, /* glob(7): they mean themselves within brackets */
        {"[[?*\\]", "[", true},
        {"[[?*\\]", "*", true},
        {"[[?*\\]", "a", false},
        {"[\xe0-\xff]", "\xe9", true},
        {"[[:digit:]]", "7", true},
        {"[[:digit:]]", "x", false},
        {"[![:digit:]]", "x", true},
        {"[[:alpha:]_]", "_", true},
        {"[[:alnum:][:space:]]", " ", true},
        {"[[:upper:]]", "a", false},
        {"[[:xdigit:]]", "F", true},
        {"[[:punct:]]", "@", true},
        {"[[:cntrl:]]", "\x1b", true},
        {"[[:print:]]", "\x80", false},
        {"[[:nonsense:]]", "n", false},
        {"[[:foo]", ":", true},
        {"[*]", "*", true},
        {"[*]", "a", false},
        /* what is not closed is a byte */
        {"[a", "[a", true},
        {"[", "[", true},
        {"[]", "[]", true},
        {"[!", "[!", true},
        {"a[/b", "a[/b", true},
        {"[[:alpha:]", "[a", true},
        /* backslash */
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"\\?", "?", true},
        {"\\[a]", "[a]", true},
        {"\\\\", "\\", true},
        {"\\a", "a", true},
        {"a\\", "a\\", true},
        {"*\\**", "a*b", true},
        {"*\\**", "ab", false},
};

static void patterns_match_as_documented(void **state) {
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                if (glob_match(cases[i].pattern, cases[i].path) != cases[i].matches)
                        fail_msg("'%s' on '%s' should %s", cases[i].pattern, cases[i].path,
                                 cases[i].matches ? "match" : "not match");
}

/* An independent definition, exponential and therefore obviously right: tries every way. Knows bytes, ?, *, ** only. */
static bool tries(const char *p, const char *s, bool component, bool start) {
        if (!*p)
                return !*s;
        if (strcmp(p, "/**") == 0 && !*s && !start)
                return true;
        if (p[0] == '*' && p[1] == '*') {
                if (component && p[2] == '/' && tries(p + 3, s, true, false))
                        return true;
                for (size_t n = 0;; n++) {
                        if (tries(p + 2, s + n, false, false))
                                return true;
                        if (!s[n])
                                return false;
                }
        }
        if (p[0] == '*') {
                for (size_t n = 0;; n++) {
                        if (tries(p + 1, s + n, false, false))
                                return true;
                        if (!s[n] || s[n] == '/')
                                return false;
                }
        }
        if (!*s || (p[0] == '?' ? *s == '/' : *p != *s))
                return false;
        return tries(p + 1, s + 1, *p == '/', false);
}

/* Every pattern of up to six of these pieces against every path of up to five of those bytes. */
static void patterns_match_like_the_definition(void **state) {
        static const char *const pieces[] = {"a", "/", "*", "**", "?", "**/"};
        static const char bytes[] = "ab/";
        char pattern[64], path[8];
        bool was_star;
        size_t n = 0;

        for (unsigned code = 0; code < 6 * 6 * 6 * 6 * 6; code++) {
                pattern[0] = '\0';
                was_star = false;
                for (unsigned c = code + 1, i = 0; c > 0 && i < 6; c /= 6, i++) {
                        const char *piece = pieces[c % 6];

                        /* three stars in a row are another thing */
                        if (was_star && piece[0] == '*')
                                piece = "b";
                        was_star = piece[0] == '*' && !strchr(piece, '/');
                        strcat(pattern, piece);
                }
                for (unsigned where = 0; where < 3 * 3 * 3 * 3; where++) {
                        size_t length = 0;

                        for (unsigned c = where; c > 0; c /= 3)
                                path[length++] = bytes[c % 3];
                        path[length] = '\0';
                        if (glob_match(pattern, path) != tries(pattern, path, true, true))
                                fail_msg("'%s' on '%s' differs from the definition", pattern, path);
                        n++;
                }
        }
        assert_true(n > 600000);
}

/* Each of these takes fnmatch-like back-tracking longer than the age of the world; here the test ends at all. */
static void hostile_patterns_take_bounded_time(void **state) {
        static const char *const pieces[] = {"**a", "*a", "**/", "**[a", "**[!b]", "[[:alpha:"};
        char pattern[GLOB_PATTERN_MAX + 1], path[4096];

        for (size_t i = 0; i < ELEMENTSOF(pieces); i++) {
                size_t n = strlen(pieces[i]), used = 0;

                for (; used + n < GLOB_PATTERN_MAX - 1; used += n)
                        memcpy(pattern + used, pieces[i], n);
                strcpy(pattern + used, "X");
                for (size_t k = 0; k < sizeof path - 1; k++)
                        path[k] = k % 7 == 6 && i == 2 ? '/' : 'a';
                path[sizeof path - 1] = '\0';
                assert_false(glob_match(pattern, path));
        }
}

static void longest_pattern_matches_and_longer_does_not(void **state) {
        char pattern[GLOB_PATTERN_MAX + 2];

        memset(pattern, '?', sizeof pattern);
        pattern[GLOB_PATTERN_MAX] = '\0';
        assert_true(glob_match(pattern, pattern));
        memcpy(pattern, "**/**/", 6); /* pieces that make most tokens */
        assert_true(glob_match(pattern, pattern + 6));
        memset(pattern, '*', sizeof pattern);
        pattern[GLOB_PATTERN_MAX + 1] = '\0';
        assert_false(glob_match(pattern, ""));
}

static void find_gives_the_first_that_matches(void **state) {
        char one[] = "a/*", all[] = "a/**", any[] = "**";
        char *patterns[] = {one, all, any, NULL}, *none[] = {NULL};

        assert_ptr_equal(glob_find(patterns, "a/b"), patterns[0]);
        assert_ptr_equal(glob_find(patterns, "a/b/c"), patterns[1]);
        assert_ptr_equal(glob_find(patterns, "b"), patterns[2]);
        assert_null(glob_find(none, "b"));
}

static void relative_is_the_part_below_the_watch(void **state) {
        char nas_path[] = "/mnt/nas", root_path[] = "/";
        WatchSpec nas = {.path = nas_path}, root = {.path = root_path};
        const char *inside = "/mnt/nas/a/b";

        assert_ptr_equal(watch_relative(&nas, inside), inside + 9);
        assert_string_equal(watch_relative(&nas, "/mnt/nas"), "");
        assert_string_equal(watch_relative(&nas, "/mnt/nas/"), "");
        assert_null(watch_relative(&nas, "/mnt/nas2"));
        assert_null(watch_relative(&nas, "/mnt/nas2/a"));
        assert_null(watch_relative(&nas, "/mnt"));
        assert_null(watch_relative(&nas, "/mnt/na"));
        assert_null(watch_relative(&nas, ""));
        assert_string_equal(watch_relative(&root, "/"), "");
        assert_string_equal(watch_relative(&root, "/etc/x"), "etc/x");
        assert_null(watch_relative(&root, "etc"));
}

static void the_stricter_policy_wins(void **state) {
        assert_int_equal(policy_stricter(POLICY_ALERT, POLICY_DENY), POLICY_DENY);
        assert_int_equal(policy_stricter(POLICY_DENY, POLICY_ALERT), POLICY_DENY);
        assert_int_equal(policy_stricter(POLICY_RECORD, POLICY_RECORD), POLICY_RECORD);
        assert_int_equal(policy_stricter(POLICY_KILL, POLICY_FREEZE), POLICY_KILL);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(patterns_match_as_documented),
                cmocka_unit_test(patterns_match_like_the_definition),
                cmocka_unit_test(hostile_patterns_take_bounded_time),
                cmocka_unit_test(longest_pattern_matches_and_longer_does_not),
                cmocka_unit_test(find_gives_the_first_that_matches),
                cmocka_unit_test(relative_is_the_part_below_the_watch),
                cmocka_unit_test(the_stricter_policy_wins),
        };

        return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
