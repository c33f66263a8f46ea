/* SPDX-License-Identifier: MIT */
/* A server on a socket in a folder of its own, on a loop that runs only while a test waits for an answer. */
#ifndef TESTS_UNIT_API_FIXTURE_H
#define TESTS_UNIT_API_FIXTURE_H

#include "daemon/api/api.h"

#define FIXTURE_CALLS_MAX 64

/*
 * Its methods: GetStatus and ListSessions answer at once, ListSessions with {"sessions":[]}; StartSession and GetOperations keep
 * the call for the test; KillSession drops it; Blame answers with `blame_size` bytes. MarkSession counts. No others.
 */
typedef struct Fixture {
        sd_event *event;
        ApiServer *server;
        char folder[32];
        char path[64];
        ApiCall *calls[FIXTURE_CALLS_MAX]; /* kept, each with a reference */
        size_t n_calls;
        unsigned n_marks, n_drained;
        size_t blame_size;
        Peer peer; /* of the last call */
} Fixture;

int fixture_setup(void **state);
int fixture_teardown(void **state);
/* Lets the loop work off what is ready. */
void fixture_settle(Fixture *f);
/* Runs the loop until something happened; a test that waits for ever fails. */
void fixture_wait(Fixture *f);

int client_connect(Fixture *f);
void client_write(Fixture *f, int fd, const void *data, size_t size);
/* A text and the NUL behind it. */
void client_send(Fixture *f, int fd, const char *text);
/* The next message, without its NUL; NULL: the connection has ended. The caller frees. */
char *client_receive(Fixture *f, int fd);
void client_expect(Fixture *f, int fd, const char *text);
void client_expect_end(Fixture *f, int fd);

#endif
