/* SPDX-License-Identifier: MIT */
/* A test alert to one webhook or all, and what the servers said: the method TestAlert. */
#ifndef MOUNTWATCH_WEBHOOK_TEST_H
#define MOUNTWATCH_WEBHOOK_TEST_H

#include "daemon/manager.h"

#define WEBHOOK_TESTS_MAX 4 /* under way */

void webhook_test_free_all(Manager *m);

#endif
