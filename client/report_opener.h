/* SPDX-License-Identifier: MIT */
/* Shows a report to who sits at the desktop: in a terminal window, or where there is none as a page in the browser. */
#ifndef MOUNTWATCH_CLIENT_REPORT_OPENER_H
#define MOUNTWATCH_CLIENT_REPORT_OPENER_H

/* Starts it and does not wait. `program`: this one, as it was called. -EINVAL for what is no id of a session. */
int report_open(const char *program, const char *socket_path, const char *session);

#endif
