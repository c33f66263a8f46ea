/* SPDX-License-Identifier: MIT */
/* Recorded replies of the daemon, and golden files: with UPDATE_GOLDEN=1 in the environment they are written anew. */
#ifndef MOUNTWATCH_TESTS_CLIENT_FIXTURE_H
#define MOUNTWATCH_TESTS_CLIENT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/report_model.h"

/* Times in UTC, text in UTF-8. For cmocka's group set-up. */
int fixture_set_up(void **state);

/* tests/data/client/NAME.json: the members session, watches, operations, processes; untagged { operations, processes }. */
ReportModel *fixture_load(const char *name);
json_object *fixture_read_json(const char *name);

/* Compares with tests/data/client/NAME, byte for byte. */
void fixture_assert_golden(const char *name, const char *text);

#endif
