/* SPDX-License-Identifier: MIT */
/*
 * Who may do what, and how much of it. `privileged` is root or a member of the configured group.
 *
 * Nothing here concerns `--policy`: a session's policy is a floor that is only ever combined with policy_stricter(), so
 * whatever somebody asks for cannot weaken a watch.
 */
#ifndef MOUNTWATCH_CORE_AUTHORISATION_H
#define MOUNTWATCH_CORE_AUTHORISATION_H

#include <stdbool.h>
#include <sys/types.h>

#define SESSIONS_PER_UID_MAX 64  /* live ones; the privileged are not counted */
#define LABEL_MAX 256            /* bytes, without the NUL */
#define MARK_MAX 1024            /* text of `session mark`, the same */
#define COMMAND_MAX (64 * 1024U) /* arguments with the NUL after each */

/* See a session, its report and its operations. */
bool authorise_see(uid_t peer, bool privileged, uid_t session_uid);
/* Stop, mark, freeze, thaw, kill a session. */
bool authorise_control(uid_t peer, bool privileged, uid_t session_uid);
/* Put a process (its effective uid) into a session. */
bool authorise_tag(uid_t peer, bool privileged, uid_t process_uid);

#endif
