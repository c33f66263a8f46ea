/* SPDX-License-Identifier: MIT */
#include "common/loss_reason.h"
#include "common/macro.h"

/* The reasons of docs/architecture.md. One that is not listed is shown as it is. */
static const struct {
        const char *reason, *text;
} loss_table[] = {
        {"overflow", "changes came faster than they could be read, and the kernel dropped some"},
        {"process-events",
         "the kernel dropped news of processes, so an author may be wrong or missing"},
        {"no-process-events",
         "the kernel gives no news of processes here, so an author may be missing"},
        {"not-watched", "the path was not watched"},
        {"watch-stalled", "the filesystem did not answer in time, so watching began late"},
        {"daemon-restart", "the daemon was not running"},
        {"daemon-gone", "the daemon went away and did not come back in time"},
        {"session-lost", "the daemon no longer knows this session"},
        {"unmounted", "the filesystem was unmounted"},
        {"mounted-over", "another filesystem was mounted over it"},
        {"root-gone", "the watched path itself was removed or moved away"},
        {"read-error", "events of the kernel could not be read"},
        {"unresolved", "events named directories that are not known"},
        {"mark-refused", "the kernel refused to watch a directory"},
        {"cannot-wait", "the kernel did not let the daemon wait for the path to appear"},
        {"memory", "the daemon had too little memory to note a change"},
        {"out-of-memory", "the daemon had too little memory to note a change"},
        {"process-limit", "the author of a change had ended too long before"},
        {"created-limit", "the session made more files than are remembered as its own"},
        {"not-enforced", "the policy could not be enforced: a change was let through"},
        {"not-preserved", "the old content of a file could not be kept for undo"},
        {"store", "the daemon could not write down what it saw"},
        {"reload", "the configuration was changed"},
        {"alert-limit",
         "more sessions changed more watches than alerts are kept for; some have a summary only"},
        {"slow-reader", "this program read more slowly than changes came"},
};

const char *loss_reason_to_text(const char *reason) {
        for (size_t i = 0; i < ELEMENTSOF(loss_table); i++)
                if (str_equal(loss_table[i].reason, reason))
                        return loss_table[i].text;
        return reason;
}
