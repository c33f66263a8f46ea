/* SPDX-License-Identifier: MIT */
/* The samples are what 6.18 gives on ext4, with the fsid and the pid overwritten and no pidfd. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/kernel/fan_decode.h"

/* open("new", O_CREAT), write: one record */
static const char create_write[] =
        "\x5c\x00\x00\x00\x03\x00\x18\x00\x02\x01\x00\x00\x00\x00\x00\x00"
        "\xff\xff\xff\xff\xe1\x10\x00\x00\x02\x00\x20\x00\x5a\x5a\x5a\x5a"
        "\x5a\x5a\x5a\x5a\x08\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
        "\x00\x00\x00\x00\x6e\x65\x77\x00\x01\x00\x1c\x00\x5a\x5a\x5a\x5a"
        "\x5a\x5a\x5a\x5a\x08\x00\x00\x00\x01\x00\x00\x00\x0b\x00\x00\x00"
        "\x13\x1f\xbd\x08\x04\x00\x08\x00\xff\xff\xff\xff";

/* rename("new", "dir/moved") */
static const char renamed[] = "\x80\x00\x00\x00\x03\x00\x18\x00\x00\x00\x00\x10\x00\x00\x00\x00"
                              "\xff\xff\xff\xff\xe1\x10\x00\x00\x0a\x00\x20\x00\x5a\x5a\x5a\x5a"
                              "\x5a\x5a\x5a\x5a\x08\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
                              "\x00\x00\x00\x00\x6e\x65\x77\x00\x0c\x00\x24\x00\x5a\x5a\x5a\x5a"
                              "\x5a\x5a\x5a\x5a\x08\x00\x00\x00\x01\x00\x00\x00\x0c\x00\x00\x00"
                              "\xd6\xdd\x7e\x6b\x6d\x6f\x76\x65\x64\x00\x00\x00\x01\x00\x1c\x00"
                              "\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x08\x00\x00\x00\x01\x00\x00\x00"
                              "\x0b\x00\x00\x00\x13\x1f\xbd\x08\x04\x00\x08\x00\xff\xff\xff\xff";

/* link("dir/moved", "l"): the link count, then the name */
static const char linked[] = "\x3c\x00\x00\x00\x03\x00\x18\x00\x04\x00\x00\x00\x00\x00\x00\x00"
                             "\xff\xff\xff\xff\xe1\x10\x00\x00\x01\x00\x1c\x00\x5a\x5a\x5a\x5a"
                             "\x5a\x5a\x5a\x5a\x08\x00\x00\x00\x01\x00\x00\x00\x0b\x00\x00\x00"
                             "\x13\x1f\xbd\x08\x04\x00\x08\x00\xff\xff\xff\xff\x5c\x00\x00\x00"
                             "\x03\x00\x18\x00\x00\x01\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"
                             "\xe1\x10\x00\x00\x02\x00\x20\x00\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a"
                             "\x08\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"
                             "\x6c\x00\x00\x00\x01\x00\x1c\x00\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a"
                             "\x08\x00\x00\x00\x01\x00\x00\x00\x0b\x00\x00\x00\x13\x1f\xbd\x08"
                             "\x04\x00\x08\x00\xff\xff\xff\xff";

/* chmod("dir") */
static const char chmod_directory[] =
        "\x40\x00\x00\x00\x03\x00\x18\x00\x04\x00\x00\x40\x00\x00\x00\x00"
        "\xff\xff\xff\xff\xe1\x10\x00\x00\x02\x00\x20\x00\x5a\x5a\x5a\x5a"
        "\x5a\x5a\x5a\x5a\x08\x00\x00\x00\x01\x00\x00\x00\x0c\x00\x00\x00"
        "\xd6\xdd\x7e\x6b\x2e\x00\x00\x00\x04\x00\x08\x00\xff\xff\xff\xff";

/* Without the NUL that the compiler adds. */
#define BYTES(sample) sample, sizeof(sample) - 1

static FanRecord decode(const char *bytes, size_t size, size_t *offset) {
        FanRecord rec;

        assert_int_equal(fan_decode_next(bytes, size, offset, &rec), 1);
        return rec;
}

static void a_creation_has_directory_name_and_object(void **state) {
        size_t offset = 0;
        FanRecord rec = decode(BYTES(create_write), &offset);

        assert_int_equal(rec.mask, FAN_BIT_CREATE | FAN_BIT_MODIFY);
        assert_int_equal(rec.pid, 4321);
        assert_int_equal(rec.fd, -1);
        assert_true(rec.has_pidfd);
        assert_int_equal(rec.pidfd, -1);
        assert_string_equal(rec.at.name, "new");
        assert_int_equal(rec.at.dir.size, 8);
        assert_int_equal(rec.at.dir.type, 1);
        assert_int_equal(rec.at.dir.data[0], 2);
        assert_int_equal(rec.child.data[0], 11);
        assert_null(rec.to.name);
        assert_int_equal(offset, sizeof(create_write) - 1);
        assert_int_equal(fan_decode_next(BYTES(create_write), &offset, &rec), 0);
}

static void a_rename_has_both_sides(void **state) {
        size_t offset = 0;
        FanRecord rec = decode(BYTES(renamed), &offset), made;

        offset = 0;
        made = decode(BYTES(create_write), &offset);
        assert_int_equal(rec.mask, FAN_BIT_RENAME);
        assert_string_equal(rec.at.name, "new");
        assert_string_equal(rec.to.name, "moved");
        assert_int_equal(rec.to.dir.data[0], 12);
        assert_int_equal(fan_handle_id(&rec.at.dir), fan_handle_id(&made.at.dir));
        assert_int_equal(fan_handle_id(&rec.child), fan_handle_id(&made.child));
        assert_int_not_equal(fan_handle_id(&rec.child), fan_handle_id(&rec.to.dir));
}

static void a_link_count_has_no_name(void **state) {
        size_t offset = 0;
        FanRecord rec = decode(BYTES(linked), &offset);

        assert_int_equal(rec.mask, FAN_BIT_ATTRIB);
        assert_null(rec.at.name);
        assert_non_null(rec.child.data);
        rec = decode(BYTES(linked), &offset);
        assert_int_equal(rec.mask, FAN_BIT_CREATE);
        assert_string_equal(rec.at.name, "l");
}

static void a_directory_calls_itself_a_dot(void **state) {
        size_t offset = 0;
        FanRecord rec = decode(BYTES(chmod_directory), &offset);

        assert_int_equal(rec.mask, FAN_BIT_ATTRIB | FAN_BIT_ONDIR);
        assert_string_equal(rec.at.name, ".");
        assert_null(rec.child.data);
        assert_int_equal(fan_handle_id(&rec.child), 0);
}

/* Cut anywhere, a record is none. */
static void a_cut_record_is_refused(void **state) {
        FanRecord rec;
        size_t i;

        for (i = 1; i < sizeof(renamed) - 1; i++) {
                char *copy = malloc(i);
                size_t offset = 0;

                assert_non_null(copy);
                memcpy(copy, renamed, i);
                assert_int_equal(fan_decode_next(copy, i, &offset, &rec), -EBADMSG);
                assert_int_equal(offset, 0);
                free(copy);
        }
}

/* One byte that is wrong: whatever comes out lies within the buffer, or nothing comes out. */
static void a_wrong_byte_does_no_harm(void **state) {
        static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
        char copy[sizeof(renamed) - 1];
        FanRecord rec;
        size_t i, k;

        for (i = 0; i < sizeof(copy); i++) {
                for (k = 0; k < ELEMENTSOF(values); k++) {
                        size_t offset = 0;

                        memcpy(copy, renamed, sizeof(copy));
                        copy[i] = (char) values[k];
                        if (fan_decode_next(copy, sizeof(copy), &offset, &rec) <= 0)
                                continue;
                        assert_true(offset <= sizeof(copy));
                        if (rec.at.name)
                                assert_true(rec.at.name + strlen(rec.at.name) <
                                            copy + sizeof(copy));
                }
        }
}

/* A later kernel may say more. */
static void an_unknown_part_is_skipped(void **state) {
        char copy[sizeof(create_write) - 1];
        size_t offset = 0;
        FanRecord rec;

        memcpy(copy, create_write, sizeof(copy));
        copy[sizeof(copy) - 8] = 99; /* what was the pidfd */
        rec = decode(copy, sizeof(copy), &offset);
        assert_false(rec.has_pidfd);
        assert_string_equal(rec.at.name, "new");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_creation_has_directory_name_and_object),
                cmocka_unit_test(a_rename_has_both_sides),
                cmocka_unit_test(a_link_count_has_no_name),
                cmocka_unit_test(a_directory_calls_itself_a_dot),
                cmocka_unit_test(a_cut_record_is_refused),
                cmocka_unit_test(a_wrong_byte_does_no_harm),
                cmocka_unit_test(an_unknown_part_is_skipped),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
