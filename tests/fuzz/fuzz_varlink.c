/* SPDX-License-Identifier: MIT */
/* Any bytes as what a peer sends: framing, JSON, calls, replies, and all that a client reads into a report. */
#include <errno.h>

#include "common/operation_json.h"
#include "common/report.h"
#include "common/strv.h"
#include "common/varlink.h"

#define MESSAGE_MAX 4096

static void check(bool holds) {
        if (!holds)
                abort();
}

/* What can be read can be written, and reads as the same again. */
static void round_trip(const Operation *o) {
        _cleanup_(operation_done) Operation again = {};
        json_object *json = operation_to_json(o);

        check(json != NULL);
        check(operation_from_json(json, &again) == 0);
        check(str_equal(o->path, again.path) && str_equal(o->from, again.from) &&
              str_equal(o->to, again.to) && str_equal(o->test, again.test));
        check(o->first == again.first && o->count == again.count && o->op == again.op);
        json_object_put(json);
}

static void read_operation(json_object *json, Report *report) {
        _cleanup_(operation_done) Operation o = {};
        int r = operation_from_json(json, &o);

        check(r == 0 || r == -EBADMSG);
        if (r < 0)
                return;
        round_trip(&o);
        check(report_take_operation(report, &o) == 0);
}

static void read_process(json_object *json, Report *report) {
        _cleanup_(process_info_done) ProcessInfo p = {};
        json_object *again;
        int r = process_info_from_json(json, &p);

        check(r == 0 || r == -EBADMSG);
        if (r < 0)
                return;
        again = process_info_to_json(&p);
        check(again != NULL);
        json_object_put(again);
        check(report_take_process(report, &p) == 0);
}

static void read_loss_and_coverage(json_object *json) {
        _cleanup_(loss_done) Loss loss = {};
        _cleanup_(strv_freep) char **strv = NULL;
        Coverage coverage;
        json_object *again;
        int r = loss_from_json(json, &loss);

        if (r == 0) {
                again = loss_to_json(&loss);
                check(again != NULL);
                json_object_put(again);
        }
        check(r == 0 || r == -EBADMSG);
        r = strv_from_json(json, &strv);
        check(r == 0 || r == -EBADMSG);
        r = coverage_from_json(json, &coverage);
        check(r == 0 || r == -EBADMSG);
        if (r == 0) {
                again = coverage_to_json(&coverage);
                check(again != NULL);
                json_object_put(again);
        }
}

static void read_value(json_object *json, Report *report) {
        size_t n = json_object_is_type(json, json_type_array) ? json_object_array_length(json) : 0;

        read_operation(json, report);
        read_process(json, report);
        read_loss_and_coverage(json);
        for (size_t i = 0; i < n; i++) {
                read_operation(json_object_array_get_idx(json, i), report);
                read_process(json_object_array_get_idx(json, i), report);
                read_loss_and_coverage(json_object_array_get_idx(json, i));
        }
}

static void read_message(json_object *message, Report *report) {
        VarlinkCall call;
        VarlinkReply reply;
        json_object *parameters = NULL;
        int r = varlink_call_parse(message, &call);

        check(r == -EBADMSG ||
              (r == 0 && call.method && call.oneway + call.more + call.upgrade < 2));
        if (r == 0)
                parameters = call.parameters;
        r = varlink_reply_parse(message, &reply);
        check(r == -EBADMSG || (r == 0 && !(reply.error && reply.continues)));
        if (r == 0)
                parameters = reply.parameters;
        read_value(message, report);
        if (!parameters)
                return;
        json_object_object_foreach(parameters, key, value) {
                _cleanup_free_ char *path = NULL;

                (void) json_get_path(parameters, key, &path);
                read_value(value, report);
        }
}

/* Gives the number of messages before the end or the first thing that is none. */
static int read_stream(const uint8_t *data, size_t size, size_t piece, Report *report) {
        _cleanup_(varlink_reader_done) VarlinkReader reader;
        int n = 0, r;

        varlink_reader_init(&reader, MESSAGE_MAX);
        for (size_t at = 0; at < size; at += piece) {
                json_object *message;

                if (varlink_reader_feed(&reader, data + at, MIN(piece, size - at)) < 0)
                        return n;
                while ((r = varlink_reader_next(&reader, &message)) == 1) {
                        if (report)
                                read_message(message, report);
                        json_object_put(message);
                        n++;
                }
                if (r < 0)
                        return n;
        }
        return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(report_freep) Report *report = NULL;
        const NetLists *net;
        int small;

        check(report_new(&report) == 0);
        small = read_stream(data, size, 7, report);
        /* in one piece a message that is too long is seen before those in front of it are taken */
        check(read_stream(data, size, MAX(size, (size_t) 1), NULL) <= small);
        check(report_net(report, &net) == 0);
        return 0;
}
