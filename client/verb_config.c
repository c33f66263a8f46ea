/* SPDX-License-Identifier: MIT */
/* mountwatch config check. */
#include "client/config_check.h"
#include "client/verb.h"
#include "common/path_text.h"

int verb_config_check(const Context *context, const Options *options) {
        const char *file = options->n_arguments > 0 ? options->arguments[0] : CONFIG_DEFAULT;
        _cleanup_free_ char *text = path_to_text(file);
        bool good;
        int r;

        if (!text)
                return complain_memory();
        r = config_check(file, &good);
        if (r < 0) {
                complain("cannot run mountwatchd, whose parser is asked: %s", strerror(-r));
                return STATUS_NO_DAEMON;
        }
        if (!good)
                return STATUS_NO;
        printf("%s: no problems\n", text);
        return verb_flush();
}
