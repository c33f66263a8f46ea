/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/connector.h"

#define N_MAX 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
        if (!holds)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        ProcEvent events[N_MAX];
        int n = connector_parse(data, size, events, N_MAX);

        check(n <= N_MAX);
        for (int i = 0; i < n; i++)
                check(events[i].pid > 0 && events[i].parent >= 0 && !events[i].details.program);
        check(connector_parse_ack(data, size, 7) <= 0);
        return 0;
}
