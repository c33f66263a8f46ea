#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Targets that hang, each in its own way: a server that never answers, one that never ends its handshake, a name that is never found.
# Other targets, the API, a kill policy and the end of the daemon do not wait for them, and nothing is lost.
. "$(dirname "$0")/lib.sh"
. "$HERE/webhook.sh"
scratch
make_keys
receiver hooks --cert "$KEYS/server.pem" --key "$KEYS/server.key"
plan stalls stall
# takes connections and says nothing
python3 -c '
import socket, sys, time
s = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1] + ".new", "w").write(str(s.getsockname()[1]))
__import__("os").rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(3600)' "$TOP/mute" &
wait_for test -s "$TOP/mute"

name=localhost
if command -v cc >/dev/null && ! ldd "$BIN/mountwatchd" | grep -q 'lib[at]san'; then
    cat >"$TOP/names.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **res) {
        static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
        if (node && strcmp(node, "hangs.invalid") == 0)
                for (;;)
                        pause();
        if (!real)
                *(void **) &real = dlsym(RTLD_NEXT, "getaddrinfo");
        return real(node, service, hints, res);
}
C
    cc -shared -fPIC -o "$TOP/names.so" "$TOP/names.c" -ldl || fail "cc"
    MW_DAEMON_PREFIX="env LD_PRELOAD=$TOP/names.so"
    name=hangs.invalid
else
    note "without the name that is never found: no compiler, or a sanitizer in the way"
fi
mkdir "$WORK/killed"
{
    printf '[Watch case]\nPath=%s\nPolicy=alert\n[Watch killed]\nPath=%s\nPolicy=kill\n' "$WATCHED" "$WORK/killed"
    printf '[Webhook %s]\nUrl=https://%s\nTimeoutSec=600\nRetrySec=1\nRateLimit=6000\n' \
        stalls "localhost:$PORT/stalls" mute "localhost:$(<"$TOP/mute")/mute" nameless "$name:$PORT/nameless" good "localhost:$PORT/good"
} | sed "s|^TimeoutSec=.*|&\nCaFile=$KEYS/ca.pem|" >"$CONF"
daemon_again

note "other targets, the API and a policy go on"
run touch "$WATCHED/a"
wait_for got good 2
is 2 "$(hook stalls pending)" "pending of the one that stalls"
for i in 1 2 3 4 5; do
    status 0 timeout 20 mountwatch status
    run touch "$WATCHED/$i"
done
wait_for got good 12
quietly timeout 20 mountwatch run --fail-on never -- sh -c 'echo x >"$1"' x "$WORK/killed/b"
[ ! -s "$WORK/killed/b" ] || fail "the policy waited for a webhook"
is killed "$(field last operations.0.action)" action
wait_for got good 14

note "a test alert to one that hangs does not keep the daemon, nor others"
mountwatch alert test stalls >"$TOP/test" 2>&1 &
wait_for got stalls 2
status 0 mw alert test good

note "the end does not wait"
kill -TERM "$DAEMON"
gone() { ! kill -0 "$DAEMON" 2>/dev/null; }
wait_for gone
daemon_stop || exit 1

note "and nothing is lost"
plan stalls 200
n=$(grep -c . "$TOP/hooks/stalls.log")
daemon_again
wait_for hook_is stalls pending 0
is 14 $(($(grep -c . "$TOP/hooks/stalls.log") - n)) "what came after all"
is 14 "$(hook mute pending)" "pending of the mute one"
