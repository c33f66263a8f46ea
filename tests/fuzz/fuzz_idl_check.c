/* SPDX-License-Identifier: MIT */
/* Any JSON as the parameters of each method; a text that begins like one is parsed as a description instead. */
#include "common/varlink.h"
#include "daemon/api/idl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(json_object *parameters) {
        static const char *const methods[] = {
                "StartSession", "FinishSession", "StopSession",   "ListSessions",
                "GetSession",   "MarkSession",   "GetOperations", "Blame",
        };
        _cleanup_(idl_freep) Idl *idl = NULL;

        if (idl_parse(mountwatch_varlink_description, &idl, NULL) < 0)
                abort();
        for (size_t i = 0; i < ELEMENTSOF(methods); i++) {
                const char *parameter = NULL;

                if (idl_check(idl_method_input(idl, methods[i]), parameters, &parameter) < 0 &&
                    strlen(parameter) == 0 && !json_object_object_get_ex(parameters, "", NULL))
                        abort();
                parameter = NULL;
                (void) idl_check(idl_method_output(idl, methods[i]), parameters, &parameter);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const char start[] = "interface";
        _cleanup_(idl_freep) Idl *idl = NULL;
        _cleanup_free_ char *text = malloc(size + 1);
        VarlinkReader reader;
        json_object *o = NULL;

        if (!text)
                return 0;
        memcpy(text, data, size);
        text[size] = 0;
        if (strncmp(text, start, sizeof start - 1) == 0) {
                (void) idl_parse(text, &idl, NULL);
                return 0;
        }
        varlink_reader_init(&reader, VARLINK_MESSAGE_MAX);
        if (varlink_reader_feed(&reader, text, strlen(text) + 1) >= 0 &&
            varlink_reader_next(&reader, &o) > 0)
                check(o);
        json_object_put(o);
        varlink_reader_done(&reader);
        return 0;
}
