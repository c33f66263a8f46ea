/* SPDX-License-Identifier: MIT */
/* What is remembered of violations until somebody is told: how many, some of the paths, and who did the gravest. Embedded. */
#ifndef MOUNTWATCH_CORE_EVIDENCE_H
#define MOUNTWATCH_CORE_EVIDENCE_H

#include "common/alert.h"
#include "daemon/core/process.h"

typedef struct Tally {
        uint64_t total, count[_OP_MAX], refused, preserved;
} Tally;

typedef struct EvidencePath {
        char *path;
        Severity severity;
} EvidencePath;

typedef struct Evidence {
        Severity severity; /* of the gravest */
        Action action;     /* the strongest */
        EvidencePath
                paths[ALERT_PATHS_MAX]; /* gravest first, then in order of arrival; each once */
        size_t n_paths;
        Image *author; /* reference: of the gravest, the first of those; or NULL */
        char *test;
} Evidence;

/* How bad it is what the operation did, or tried to do. */
Severity operation_severity(const Operation *op);

void tally_add(Tally *t, const Operation *op);
/* -ENOMEM: something of it is missing, the rest stands. `author` may be NULL. */
int evidence_add(Evidence *e, const Operation *op, Image *author);
/* The chain of processes ends with `root` (0: of nobody, as far as it is known): who started the session is no evidence.
 * Copies severity, action, paths, chain of processes, folder and test into an empty alert; long command lines are cut. What was
 * copied before lack of memory (-ENOMEM) is the alert's. */
int evidence_tell(const Evidence *e, pid_t root, Alert *a);
void evidence_done(Evidence *e); /* empty afterwards */

#endif
