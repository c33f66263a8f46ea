/* SPDX-License-Identifier: MIT */
/* How the HTML report looks: one sheet for light and dark, desktop and phone. */
#ifndef MOUNTWATCH_CLIENT_HTML_SHEET_H
#define MOUNTWATCH_CLIENT_HTML_SHEET_H

extern const char html_sheet[];

#endif
