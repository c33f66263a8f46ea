/* SPDX-License-Identifier: MIT */
/* The lists of the net effect, read off the two trees (net.h). */
#ifndef MOUNTWATCH_COMMON_NET_LIST_H
#define MOUNTWATCH_COMMON_NET_LIST_H

#include "common/name_tree.h"
#include "common/net.h"

typedef struct NetList {
        NetLists lists; /* owns its strings */
} NetList;

void net_list_done(NetList *l);
/* Replaces what is in the list. Writes twins and `succeeded` into the trees. */
int net_list_make(NetList *l, const NameTree *names, Name *start, Name *now);

#endif
