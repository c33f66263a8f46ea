/* SPDX-License-Identifier: MIT */
/*
 * A bubble: one notification on the desktop, what it stands for and what it says. Pure: no bus, no clock, no system calls.
 *
 * Texts are made short here, and safe for a service that takes markup: names of files and commands are somebody else's.
 */
#ifndef MOUNTWATCH_CLIENT_BUBBLE_H
#define MOUNTWATCH_CLIENT_BUBBLE_H

#include "client/held_view.h"
#include "common/alert.h"

#define BUBBLE_BUTTONS_MAX 3

typedef enum BubbleKind {
        BUBBLE_ALERT,  /* of a session (or of none) on a watch, or of its end */
        BUBBLE_LOSS,   /* likewise, of what was not seen: it must not hide what was */
        BUBBLE_FROZEN, /* of a session that nothing else is known of */
        BUBBLE_HELD,   /* a call that waits for an answer */
        BUBBLE_MORE,   /* the calls that wait beyond those that have a bubble */
        BUBBLE_MISSED, /* alerts that were lost on the way here */
} BubbleKind;

/* As the Desktop Notifications Specification numbers them. */
typedef enum Urgency {
        URGENCY_LOW = 0,
        URGENCY_NORMAL = 1,
        URGENCY_CRITICAL = 2,
} Urgency;

typedef enum Button {
        BUTTON_REPORT,
        BUTTON_ALLOW,
        BUTTON_DENY,
        BUTTON_KILL, /* the process that waits, as a policy kill would */
        BUTTON_THAW,
        BUTTON_KILL_SESSION,
        _BUTTON_MAX,
} Button;

typedef struct Bubble Bubble;
struct Bubble {
        Bubble *prev, *next;
        BubbleKind kind;
        char *session, *watch; /* NULL: of none, of all */
        int64_t held;          /* id of the call */
        char *title, *text;    /* plain */
        char *trouble;         /* what went wrong with the last button, or NULL */
        Severity severity;     /* the gravest so far */
        uint64_t total;
        bool summary; /* the session has ended */
        bool decided; /* a person here has answered all that it tells of */
        bool frozen;  /* its session is */

        /* The way to the screen. */
        uint32_t id;    /* there; 0: not there */
        bool pending;   /* it is on its way */
        bool stale;     /* it should be there as it is now */
        bool dismissed; /* a person has closed it */
        bool over;      /* it should be gone */
};

Bubble *bubble_free(Bubble *b);
DEFINE_CLEANUP(Bubble *, bubble_free)

/* These set the texts; -ENOMEM leaves them as they were. */
int bubble_tell_alert(Bubble *b, const Alert *a);
/* `cmdline`: of the process that waits; NULL: unknown. */
int bubble_tell_held(Bubble *b, const HeldView *h, char *const *cmdline);
int bubble_tell_frozen(Bubble *b);
int bubble_tell_more(Bubble *b, size_t n);
int bubble_tell_missed(Bubble *b, uint64_t n);

Urgency bubble_urgency(const Bubble *b);
/* How many. */
size_t bubble_buttons(const Bubble *b, Button ret[static BUBBLE_BUTTONS_MAX]);
/* What is under the title: escaped when the service takes markup. `buttons`: it shows them, so that no command need be told.
 * NULL for lack of memory. */
char *bubble_body(const Bubble *b, bool markup, bool buttons);

const char *button_key(Button button);
const char *button_label(Button button);
int button_from_key(const char *key); /* -EINVAL */

#endif
