/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>

#include "client/refusal.h"
#include "client/verb.h"
#include "common/operation_json.h"
#include "common/strv.h"

void complain(const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0) {
                text = NULL;
                fputs("mountwatch: out of memory\n", stderr);
                return;
        }
        fprintf(stderr, "mountwatch: %s\n", text);
}

int complain_memory(void) {
        complain("out of memory");
        return STATUS_NO;
}

int verb_connect(const Context *context, Connection **ret) {
        int r = connection_new(context->socket, ret);

        return r < 0 ? verb_failed(context, NULL, r) : STATUS_DONE;
}

char *verb_refusal(const Connection *c) {
        json_object *parameters;
        const char *name = connection_refusal(c, &parameters);

        return refusal_to_text(name, parameters);
}

int verb_failed(const Context *context, const Connection *c, int r) {
        _cleanup_free_ char *text = NULL;

        if (r == -ENOMEM)
                return complain_memory();
        text = r > 0 && c ? verb_refusal(c) : connection_explain(context->socket, r);
        if (!text)
                return complain_memory();
        complain("%s", text);
        return r > 0 ? STATUS_NO : STATUS_NO_DAEMON;
}

int verb_call(const Context *context, const char *method, json_object *parameters,
              json_object **reply) {
        _cleanup_(connection_freep) Connection *c = NULL;
        json_object *answer;
        int r;

        r = verb_connect(context, &c);
        if (r != STATUS_DONE) {
                json_object_put(parameters);
                return r;
        }
        r = connection_call(c, method, parameters, &answer);
        if (r != 0)
                return verb_failed(context, c, r);
        if (reply)
                *reply = answer;
        else
                json_object_put(answer);
        return STATUS_DONE;
}

int verb_print_warnings(json_object *reply) {
        _cleanup_(strv_freep) char **warnings = NULL;
        json_object *array;

        if (json_get(reply, "warnings", json_type_array, &array) <= 0 ||
            strv_from_json(array, &warnings) < 0)
                return STATUS_DONE; /* an older daemon has none to give */
        for (size_t i = 0; warnings[i]; i++) {
                _cleanup_free_ char *text = path_to_text(warnings[i]);

                if (!text)
                        return complain_memory();
                complain("warning: %s", text);
        }
        return STATUS_DONE;
}

int verb_check_policy(const Options *options) {
        const char *policy = options->value[OPTION_POLICY];

        if (!policy || policy_from_string(policy) >= 0)
                return STATUS_DONE;
        complain("there is no policy '%s': record, alert, ask, deny, freeze or kill", policy);
        return STATUS_USAGE;
}

int verb_print_json(json_object *o) {
        const char *text =
                json_object_to_json_string_ext(o,
                                               JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                       JSON_C_TO_STRING_NOSLASHESCAPE);

        if (!text) {
                json_object_put(o);
                return complain_memory();
        }
        puts(text);
        json_object_put(o);
        return verb_flush();
}

int verb_flush(void) {
        if (fflush(stdout) == 0 && !ferror(stdout))
                return STATUS_DONE;
        complain("cannot write to standard output: %s", strerror(errno));
        return STATUS_NO;
}
