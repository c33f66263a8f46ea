/* SPDX-License-Identifier: MIT */
/* mountwatch completion: prints what a shell reads to complete command lines of mountwatch. */
#include "client/completion.h"

int verb_completion(const Context *context, const Options *options) {
        static const struct {
                const char *shell;
                int (*write)(FILE *f, const VerbTable *table);
        } shells[] = {
                {"bash", completion_write_bash},
                {"zsh", completion_write_zsh},
                {"fish", completion_write_fish},
        };

        for (size_t i = 0; i < ELEMENTSOF(shells); i++)
                if (str_equal(shells[i].shell, options->arguments[0]))
                        return shells[i].write(stdout, context->verbs) < 0 ? complain_memory()
                                                                           : verb_flush();
        complain("there is a completion for bash, zsh and fish, not for '%s'",
                 options->arguments[0]);
        return STATUS_USAGE;
}
