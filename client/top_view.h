/* SPDX-License-Identifier: MIT */
/* What `mountwatch top` shows: draws what the model and the state say; decides nothing. */
#ifndef MOUNTWATCH_CLIENT_TOP_VIEW_H
#define MOUNTWATCH_CLIENT_TOP_VIEW_H

#include "client/top_model.h"
#include "client/top_screen.h"

typedef enum TopMode {
        TOP_MODE_LIST,
        TOP_MODE_KILL, /* asks whether `target` shall be killed */
        TOP_MODE_DECIDE, /* shows the held calls; `held` is the one that is asked about, 0: none is chosen */
        TOP_MODE_HELP,
} TopMode;

typedef struct TopState {
        TopMode mode;
        char *target; /* id of a session */
        int64_t held;
        size_t first, first_held; /* how far the lists are scrolled; kept by the view */
        const char *notice;       /* said instead of the keys; NULL: nothing */
        const char *trouble;      /* why what is shown is old; NULL: it is not */
        usec_t now;
} TopState;

void top_view_draw(TopScreen *v, const TopModel *m, TopState *state);

#endif
