/* SPDX-License-Identifier: MIT */
/* mountwatch metrics: numbers for monitoring, printed or put into a file that a collector reads. */
#include <errno.h>

#include "client/atomic_file.h"
#include "client/metrics_text.h"
#include "client/verb.h"
#include "common/json_member.h"
#include "common/path_text.h"

/* Where they go; the file of a collector appears whole. */
static int put(const Options *options, json_object *reply) {
        MetricsFormat format =
                options_has(options, OPTION_PROMETHEUS) ? METRICS_PROMETHEUS : METRICS_OPENMETRICS;
        const char *path = options->value[OPTION_OUTPUT];
        _cleanup_(atomic_file_done) AtomicFile file = {};
        int r;

        if (!path)
                return metrics_print(stdout, format, reply);
        r = atomic_file_open(path, 0666, &file);
        if (r < 0)
                return r;
        r = metrics_print(file.file, format, reply);
        return r < 0 ? r : atomic_file_commit(&file);
}

static int put_and_say(const Context *context, const Options *options, json_object *reply) {
        const char *path = options->value[OPTION_OUTPUT];
        int r = put(options, reply);

        if (r == -EBADMSG || r == -ENOMEM)
                return verb_failed(context, NULL, r);
        if (r < 0) {
                _cleanup_free_ char *text = path_to_text(path ? path : "standard output");

                complain("cannot write '%s': %s", text ? text : "?", strerror(-r));
                return STATUS_NO;
        }
        return verb_flush();
}

int verb_metrics(const Context *context, const Options *options) {
        _cleanup_json_ json_object *reply = NULL;
        int status = verb_call(context, "GetMetrics", NULL, &reply), r;

        if (status == STATUS_NO)
                return status;
        r = put_and_say(context, options, reply);
        return r != STATUS_DONE ? r : status;
}
