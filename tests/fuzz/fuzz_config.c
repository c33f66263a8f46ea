/* SPDX-License-Identifier: MIT */
/* Any text as a configuration. */
#include "common/macro.h"
#include "daemon/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = malloc(size + 1);
        _cleanup_(config_freep) Config *config = NULL;
        ConfigProblems problems = {};
        int r;

        if (!text)
                return 0;
        memcpy(text, data, size);
        text[size] = 0;
        r = config_parse("fuzz", text, &config, &problems);
        /* a configuration or at least one fatal problem, never both, never neither */
        if ((r == 0) != (config != NULL) || (r < 0) != problems.fatal ||
            (problems.fatal && problems.n == 0))
                abort();
        config_problems_done(&problems);
        return 0;
}
