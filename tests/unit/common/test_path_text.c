/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/path_text.h"
#include "common/utf8.h"

typedef struct Text {
        const char *path, *utf8, *text;
} Text;

static void paths_become_text(void **state) {
        static const Text texts[] = {
                {"", "", ""},
                {"/mnt/nas/a b", "/mnt/nas/a b", "/mnt/nas/a b"},
                {"/\xc3\xa4/\xe2\x82\xac/\xf0\x9f\x90\xa7",
                 "/\xc3\xa4/\xe2\x82\xac/\xf0\x9f\x90\xa7",
                 "/\xc3\xa4/\xe2\x82\xac/\xf0\x9f\x90\xa7"},
                /* the backslash stays as it is where nothing is escaped */
                {"/a\\xff", "/a\\xff", "/a\\xff"},
                {"/a\xff", "/a\\xff", "/a\\xff"},
                {"/a\\\xff", "/a\\x5c\\xff", "/a\\x5c\\xff"},
                {"/\xc3\xa4\xff\xc3", "/\xc3\xa4\\xff\\xc3", "/\xc3\xa4\\xff\\xc3"},
                /* overlong, surrogate, too large, cut off, continuation alone */
                {"\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf"},
                {"\xe0\x80\xaf", "\\xe0\\x80\\xaf", "\\xe0\\x80\\xaf"},
                {"\xed\xb3\xbf", "\\xed\\xb3\\xbf", "\\xed\\xb3\\xbf"},
                {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80"},
                {"\xe2\x82", "\\xe2\\x82", "\\xe2\\x82"},
                {"\x80", "\\x80", "\\x80"},
                /* control characters are text for machines, not for terminals */
                {"/a\nb\x1b[2J", "/a\nb\x1b[2J", "/a\\x0ab\\x1b[2J"},
                {"/a\\\x7f", "/a\\\x7f", "/a\\x5c\\x7f"},
                {"/\xc2\x9b"
                 "31m",
                 "/\xc2\x9b"
                 "31m",
                 "/\\xc2\\x9b31m"},
                {"/\xe2\x80\xaetxt.exe", "/\xe2\x80\xaetxt.exe", "/\\xe2\\x80\\xaetxt.exe"},
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_free_ char *utf8 = path_to_utf8(texts[i].path);
                _cleanup_free_ char *text = path_to_text(texts[i].path);

                assert_string_equal(utf8, texts[i].utf8);
                assert_string_equal(text, texts[i].text);
                assert_true(utf8_is_valid(utf8, strlen(utf8)));
                assert_true(utf8_is_valid(text, strlen(text)));
        }
}

/* Every number, as it would be encoded: what is a character is one sequence, what is not is none. */
static void utf8_has_every_character_and_no_more(void **state) {
        for (uint32_t c = 0; c < 0x200000; c++) {
                char s[4];
                size_t n;
                uint32_t back = 0;
                bool character = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);

                if (c < 0x80) {
                        s[0] = (char) c;
                        n = 1;
                } else if (c < 0x800) {
                        s[0] = (char) (0xc0 | c >> 6);
                        n = 2;
                } else if (c < 0x10000) {
                        s[0] = (char) (0xe0 | c >> 12);
                        n = 3;
                } else {
                        s[0] = (char) (0xf0 | c >> 18);
                        n = 4;
                }
                for (size_t i = 1; i < n; i++)
                        s[i] = (char) (0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
                if (utf8_sequence(s, n, &back) != (character ? n : 0) || (character && back != c))
                        fail_msg("character %#x", c);
                if (utf8_sequence(s, n - 1, &back) != 0)
                        fail_msg("character %#x, cut off", c);
        }
}

typedef struct Vector {
        const char *plain, *text;
} Vector;

static void base64_has_the_vectors_of_rfc_4648(void **state) {
        static const Vector vectors[] = {
                {"", ""},
                {"f", "Zg=="},
                {"fo", "Zm8="},
                {"foo", "Zm9v"},
                {"foob", "Zm9vYg=="},
                {"fooba", "Zm9vYmE="},
                {"foobar", "Zm9vYmFy"},
                {"\xff\xfe\xfd", "//79"},
                {"\xfb\xf0", "+/A="},
        };

        for (size_t i = 0; i < ELEMENTSOF(vectors); i++) {
                _cleanup_free_ char *text =
                        base64_encode(vectors[i].plain, strlen(vectors[i].plain));
                _cleanup_free_ char *plain = NULL;
                size_t size;

                assert_string_equal(text, vectors[i].text);
                assert_int_equal(base64_decode(text, &plain, &size), 0);
                assert_int_equal(size, strlen(vectors[i].plain));
                assert_string_equal(plain, vectors[i].plain);
        }
}

static void base64_that_is_not_exact_is_refused(void **state) {
        static const char *const texts[] = {
                "Z",    "Zg",   "Zg=",   "Zg==Zg==", "Z===",         "====", "=",    "Zm9v=",
                "Zh==", "Zm9=", "Zm 9v", "Zm9v\n",   "Zm9v\n\n\n\n", "Zm-_", "Z=g=", "Zm=v",
        };
        char *plain = NULL;
        size_t size;

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                if (base64_decode(texts[i], &plain, &size) != -EINVAL)
                        fail_msg("'%s' was taken", texts[i]);
        assert_null(plain);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(paths_become_text),
                cmocka_unit_test(utf8_has_every_character_and_no_more),
                cmocka_unit_test(base64_has_the_vectors_of_rfc_4648),
                cmocka_unit_test(base64_that_is_not_exact_is_refused),
        };
        return cmocka_run_group_tests_name("path_text", tests, NULL, NULL);
}
