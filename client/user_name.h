/* SPDX-License-Identifier: MIT */
#ifndef MOUNTWATCH_CLIENT_USER_NAME_H
#define MOUNTWATCH_CLIENT_USER_NAME_H

#include <sys/types.h>

/* The name of a user, or the number when there is none. Asks NSS, which the daemon does not. Allocated; NULL: no memory. */
char *user_name_of(uid_t uid);

#endif
