/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/matrix.h"

typedef struct Expect {
        bool refusable;
        MatrixKeep keep;
} Expect;

#define NO \
        { false, MATRIX_KEEP_NO }
#define CALL \
        { true, MATRIX_KEEP_CALL }
#define START \
        { false, MATRIX_KEEP_START }

static const struct {
        const char *what;
        MatrixFacts facts;
        bool guarded;
        Expect rows[_MATRIX_ROW_MAX];
} cases[] = {
        {"a guard is asked for every call",
         {.guard = true, .hold = true, .preserve = true, .snapshot = true},
         true,
         {CALL, CALL, CALL, CALL, CALL, CALL, CALL, NO}},
        {"held opens, and a snapshot for the rest",
         {.guard = true, .hold = true, .preserve = true, .snapshot = true},
         false,
         {CALL, CALL, START, START, START, START, START, START}},
        {"held opens alone",
         {.hold = true, .preserve = true},
         false,
         {CALL, CALL, NO, NO, NO, NO, NO, NO}},
        {"where nothing can be held",
         {.guard = true, .preserve = true, .snapshot = true},
         false,
         {START, START, START, START, START, START, START, START}},
        {"an old kernel, in a run: held like a late one",
         {.preserve = true, .snapshot = true},
         true,
         {START, START, START, START, START, START, START, START}},
        {"nothing is kept unasked",
         {.guard = true, .snapshot = true},
         true,
         {{true, MATRIX_KEEP_NO},
          {true, MATRIX_KEEP_NO},
          {true, MATRIX_KEEP_NO},
          {true, MATRIX_KEEP_NO},
          {true, MATRIX_KEEP_NO},
          {true, MATRIX_KEEP_NO},
          {true, MATRIX_KEEP_NO},
          NO}},
};

static void each_way_to_change_is_told_apart(void **state) {
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (MatrixRow row = 0; row < _MATRIX_ROW_MAX; row++) {
                        MatrixCell cell = matrix_cell(&cases[i].facts, row, cases[i].guarded);

                        if (cell.refusable != cases[i].rows[row].refusable ||
                            cell.keep != cases[i].rows[row].keep)
                                fail_msg("%s: %s", cases[i].what, matrix_row_text(row));
                }
}

static void what_is_seen_is_the_watches_word(void **state) {
        const MatrixFacts f = {.sight = {[OP_DELETE] = SIGHT_INFERRED, [OP_MODIFY] = SIGHT_EXACT}};

        assert_int_equal(matrix_cell(&f, MATRIX_DELETE, true).seen, SIGHT_INFERRED);
        assert_int_equal(matrix_cell(&f, MATRIX_TRUNCATE_PATH, false).seen, SIGHT_EXACT);
        assert_int_equal(matrix_cell(&f, MATRIX_METADATA, false).seen, SIGHT_NONE);
}

static void an_operation_is_refusable_when_its_common_way_is(void **state) {
        const MatrixFacts f = {.guard = true, .hold = true};

        for (OpType op = 0; op < _OP_MAX; op++)
                assert_true(matrix_is_refusable(&f, op, /* guarded= */ true));
        /* opens alone are held */
        for (OpType op = 0; op < _OP_MAX; op++)
                assert_int_equal(matrix_is_refusable(&f, op, /* guarded= */ false),
                                 op == OP_CREATE || op == OP_MODIFY);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_way_to_change_is_told_apart),
                cmocka_unit_test(what_is_seen_is_the_watches_word),
                cmocka_unit_test(an_operation_is_refusable_when_its_common_way_is),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
