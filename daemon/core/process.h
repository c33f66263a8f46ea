/* SPDX-License-Identifier: MIT */
/*
 * The process table: who is who, fed by the process connector and /proc, and who belongs to which session.
 *
 * Membership is inherited at fork and outlives the process and its number: an exited process stays findable for
 * PROCESS_KEEP_NSEC, because file events arrive later than the exit of their author.
 *
 * An image is what a process runs between two execve calls. Images are immutable once made (but for store_id), are
 * shared by reference and chain to the image of the parent, so an operation can name its ancestors as they were.
 */
#ifndef MOUNTWATCH_CORE_PROCESS_H
#define MOUNTWATCH_CORE_PROCESS_H

#include "common/operation.h"

typedef struct Session Session;
typedef struct Program Program;
typedef struct Image Image;
typedef struct Process Process;
typedef struct ProcessTable ProcessTable;

#define PROCESS_KEEP_NSEC (30 * NSEC_PER_SEC)
#define PROCESS_SLACK_NSEC (NSEC_PER_SEC / 10)
#define PROCESS_EXITED_MAX 65536 /* exited processes kept at most; older ones go first */
#define PROCESS_PAST_MAX \
        2 /* earlier images that an event read before the last execve calls may be of */
#define PROCESS_DEPTH_MAX \
        1024 /* images in a chain of parents. A longer one (a process that goes on by forking for ever) is shortened in
                its middle: the child hangs on the image PROCESS_DEPTH_MAX / 2 from the top, and its ppid is not the pid of that */

/* What an execve left behind: refcounted, shared by all forks of the process. NULL fields are "unknown". */
struct Program {
        unsigned n_ref;
        char *exe;
        char **cmdline;
        char *cwd;
};

struct Image {
        unsigned n_ref;
        Image *parent;    /* reference, or NULL */
        Program *program; /* reference, or NULL when nothing is known */
        pid_t pid, ppid;
        uint64_t start_ticks;
        uid_t uid;
        int64_t store_id; /* 0 until the store has it */
        unsigned depth;   /* how many images are above it */
};

struct Process {
        pid_t pid;
        nsec_t born;  /* moment of the fork; 0 for one that was there before us */
        nsec_t died;  /* moment of the exit; 0 while it lives */
        Image *image; /* reference */
        struct {
                Image *image; /* reference, or NULL */
                nsec_t until;
        } past[PROCESS_PAST_MAX]; /* what it ran before, latest first */
        Session *session;         /* borrowed; NULL when untagged */
};

/* Takes what it is given (consumes exe, cmdline, cwd, also on failure). */
int program_new(char *exe, char **cmdline, char *cwd, Program **ret);
Program *program_ref(Program *p);
Program *program_unref(Program *p);
DEFINE_CLEANUP(Program *, program_unref)

Image *image_ref(Image *i);
Image *image_unref(Image *i);
DEFINE_CLEANUP(Image *, image_unref)

/* What /proc tells about a living process. */
typedef struct ProcessDetails {
        pid_t pid, ppid;
        uint64_t start_ticks;
        uid_t uid;
        Program *program; /* reference, or NULL */
} ProcessDetails;

/* Called when the number of living members of a session has come down to zero: as the last thing that a function of the table
 * does, so it may call the table and free the session (untagged with process_table_untag_all() before). Members of inner
 * sessions are not members. Not called by process_table_untag_all() itself. */
typedef void (*process_session_empty_t)(Session *session, void *userdata);

int process_table_new(process_session_empty_t on_empty, void *userdata, ProcessTable **ret);
ProcessTable *process_table_free(ProcessTable *t);
DEFINE_CLEANUP(ProcessTable *, process_table_free)

/* The connector's words. A fork of an unknown parent makes an untagged child with an unknown image. `start_ticks` 0
 * is "unknown"; two that differ by one tick are the same (the connector's are computed). A fork to a number that somebody
 * living has: that one was reaped, its exit message is on its way. An exec without details is of a process that was gone when
 * /proc was read: its new image has no program. Negative errno only for lack of memory. */
int process_table_fork(ProcessTable *t, pid_t parent, pid_t child, nsec_t at, uint64_t start_ticks);
int process_table_exec(ProcessTable *t, pid_t pid, nsec_t at,
                       const ProcessDetails *details /* or NULL */);
int process_table_setuid(ProcessTable *t, pid_t pid, nsec_t at, uid_t uid);
void process_table_exit(ProcessTable *t, pid_t pid, nsec_t at);

/* Learns of a living process from /proc: adds it (as a member of its parent's session), or completes it, or (another start
 * time) replaces a recycled number. The parent should have been learned before. When its exit is known already, *ret is the
 * exited one. *ret is borrowed and valid until the process is forgotten. */
int process_table_learn(ProcessTable *t, const ProcessDetails *details, nsec_t now, Process **ret);

/* The living process of that number, or NULL. */
Process *process_table_find(ProcessTable *t, pid_t pid);

/* The author of an event: the process that had `pid` between `not_before` and `read_at`. `gone`: it had been reaped when
 * the event was read, so a process that lived on past read_at is not it. When two fit, the later one, unless gone says
 * otherwise. NULL when the table has never heard of it, or only of one that exited PROCESS_SLACK_NSEC before not_before (which
 * another thread stamped, perhaps a moment late). */
Process *process_table_author(ProcessTable *t, pid_t pid, bool gone, nsec_t not_before,
                              nsec_t read_at);

/* The image that the process had at that moment, as far as is known: the table may be ahead of the events. Borrowed. */
Image *process_image_at(const Process *p, nsec_t at);

/* The moment of the exit of the youngest process that PROCESS_EXITED_MAX has cost its place before its time, or 0. An author
 * that is not found, of an event from before that moment, may have been known. */
nsec_t process_table_horizon(const ProcessTable *t);

/* Tags and untags (NULL). Tagging a process that is in another session moves it (innermost wins). -ENOMEM: nothing changed. */
int process_table_tag(ProcessTable *t, Process *p, Session *session);
/* Takes every process, living or gone, out of `session` and into `heir` (or NULL). -ENOMEM: they are in no session then. */
int process_table_untag_all(ProcessTable *t, Session *session, Session *heir);
size_t process_table_count(const ProcessTable *t, const Session *session); /* living members */

/* Calls `f` for every living member. `f` must not change the table. */
void process_table_foreach(ProcessTable *t, const Session *session,
                           void (*f)(Process *p, void *userdata), void *userdata);

/* Forgets what exited more than PROCESS_KEEP_NSEC ago. */
void process_table_expire(ProcessTable *t, nsec_t now);
/* Forgets everything that is in no session (used when the last session ends). Images live on where they are referenced. */
void process_table_clear_untagged(ProcessTable *t);

#endif
