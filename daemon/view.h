/* SPDX-License-Identifier: MIT */
/* Sessions and watches as the API shows them (types Session and Watch of io.mountwatch). */
#ifndef MOUNTWATCH_VIEW_H
#define MOUNTWATCH_VIEW_H

#include "daemon/manager.h"

/* NULL for lack of memory. `outer` is "" for none. */
json_object *view_session(const Session *s, const char *outer);
json_object *view_live(Live *l); /* with its processes */
json_object *view_held(const Held *h);
json_object *view_watched(const Watched *w);
/* As it was when the session began; what it is now fills in the rest. */
json_object *view_stored_watch(Manager *m, const StoredWatch *w);

#endif
