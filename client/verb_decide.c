/* SPDX-License-Identifier: MIT */
/* mountwatch decide: lists the operations that wait for an answer, and answers one. */
#include <errno.h>

#include "client/held_view.h"
#include "client/verb.h"

static const struct {
        const char *word, *answer; /* Varlink has no dashes */
} answer_table[] = {
        {"allow-once", "allow_once"},
        {"allow-session", "allow_session"},
        {"deny", "deny"},
        {"kill", "kill"},
};

static int list(const Context *context, const Options *options) {
        _cleanup_json_ json_object *reply = NULL;
        size_t n = 0;
        int r = verb_call(context, "ListHeld", NULL, &reply);

        if (r != STATUS_DONE)
                return r;
        if (options_has(options, OPTION_JSON))
                return verb_print_json(TAKE_PTR(reply));
        r = held_count(reply, &n);
        if (r >= 0 && n == 0)
                puts("nothing waits for an answer");
        else if (r >= 0)
                r = held_print(stdout, reply);
        return r < 0 ? verb_failed(context, NULL, r) : verb_flush();
}

static int parse_id(const char *text, int64_t *ret) {
        char *end;
        long long n;

        errno = 0;
        n = strtoll(text, &end, 10);
        if (errno || *end || end == text || n <= 0) {
                complain("'%s' is no number of a held operation ('mountwatch decide' lists them)",
                         text);
                return STATUS_USAGE;
        }
        *ret = n;
        return STATUS_DONE;
}

static const char *answer_of(const char *word) {
        for (size_t i = 0; i < ELEMENTSOF(answer_table); i++)
                if (str_equal(answer_table[i].word, word))
                        return answer_table[i].answer;
        return NULL;
}

int verb_decide(const Context *context, const Options *options) {
        _cleanup_json_ json_object *parameters = json_object_new_object();
        const char *answer;
        int64_t id;
        int r;

        if (options->n_arguments == 0)
                return list(context, options);
        r = parse_id(options->arguments[0], &id);
        if (r != STATUS_DONE)
                return r;
        answer = options->n_arguments > 1 ? answer_of(options->arguments[1]) : NULL;
        if (!answer) {
                complain("'decide %s' needs an answer: allow-once, allow-session, deny or kill",
                         options->arguments[0]);
                return STATUS_USAGE;
        }
        if (!parameters || json_add_int(parameters, "id", id) < 0 ||
            json_add_text(parameters, "answer", answer) < 0)
                return complain_memory();
        return verb_call(context, "Decide", TAKE_PTR(parameters), NULL);
}
