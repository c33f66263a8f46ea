# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For tests of calls that are held: sourced after lib.sh, daemon_start with a watch `case` on $WATCHED.
#
#   member NAME [OPTION...] -- COMMAND...   a session that waits for `go NAME`; its status is in $TOP/NAME.rc when it has ended
#   go NAME
#   held N                   so many calls wait for a decision
#   all_end NAME...          none of them stays blocked

members=()

# the command of a session, started and tagged, and held back until it is told to go
member() {
    local name=$1
    shift
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    mkfifo "$TOP/$name.go" "$TOP/$name.up"
    (
        # shellcheck disable=SC2016 # for the inner shell
        mountwatch run --label "$name" --fail-on never "${options[@]}" -- \
            sh -c 'echo >"$1"; read -r x <"$2"; shift 2; exec "$@"' x "$TOP/$name.up" "$TOP/$name.go" "$@" \
            >"$TOP/$name.out" 2>"$TOP/$name.err"
        echo $? >"$TOP/$name.rc"
    ) &
    read -r _ <"$TOP/$name.up"
    members+=("$name")
}
go() { echo x >"$TOP/$1.go"; }

# a process outside every session
bystander() { # NAME COMMAND...
    local name=$1
    shift
    (
        "$@" >"$TOP/$name.out" 2>"$TOP/$name.err"
        echo $? >"$TOP/$name.rc"
    ) &
}

has_ended() { [ -s "$TOP/$1.rc" ]; }
all_end() {
    local name
    for name; do wait_for has_ended "$name"; done
}
status_of() { cat "$TOP/$1.rc"; }
is_blocked() { ! has_ended "$1"; }

held_is() { [ "$(mountwatch decide --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(len(d["held"] if isinstance(d, dict) else d))')" = "$1" ]; }
held() { wait_for held_is "$1"; }
id_of() { mountwatch session list --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
for s in d["sessions"] if isinstance(d, dict) else d:
    if s.get("label") == sys.argv[1]: print(s["id"])' "$1"; }

# has_loss ID REASON
has_loss() { [[ $(field "$1" session.losses) == *'"'$2'"'* ]] || fail "no loss '$2' in $1: $(field "$1" session.losses)"; }
