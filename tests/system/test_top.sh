#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# mountwatch top on a terminal that tmux makes: what it shows, what its keys do, and how it leaves the terminal.
. "$(dirname "$0")/lib.sh"
need tmux
SCREENS=0
mux() { tmux -f /dev/null -S "$TOP/mux$SCREENS" "$@"; }
trap 'rc=$?; mux kill-server 2>/dev/null; (exit $rc); cleanup' EXIT
scratch
mkdir "$MNT/asked"
echo one >"$MNT/asked/important"
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
[Watch asked]
Path=$MNT/asked
Policy=ask
CONF

screen() { mux capture-pane -p; }
shows() { screen | grep -qE -- "$1"; }
shows_not() { ! shows "$1"; }
sees() {
    local i
    for ((i = 0; i < 600; i++)); do
        shows "$1" && return 0
        sleep 0.05
    done
    screen
    fail "the screen does not show '$1'"
}
loses() { wait_for shows_not "$1"; }
key() { mux send-keys "$@"; }

# top_start COLUMNS LINES: what comes after it is written to $TOP/after
cat >"$TOP/pane" <<PANE
trap : INT # it comes to all of the terminal
stty -g >"$TOP/stty.before"
PAGER='cat; read -r x </dev/tty' mountwatch top
echo "status \$?" >"$TOP/after.new"
stty -g >"$TOP/stty.after"
mv "$TOP/after.new" "$TOP/after"
exec sleep 1000
PANE
top_start() {
    rm -f "$TOP/after"
    # a server that ends is still there for a moment
    SCREENS=$((SCREENS + 1))
    LC_ALL=C.UTF-8 mux new-session -d -x "$1" -y "$2" "sh '$TOP/pane'" || fail "tmux does not start"
    sees 'q quit'
}
# top_ended STATUS
top_ended() {
    wait_for test -e "$TOP/after"
    is "status $1" "$(<"$TOP/after")" "how it ended"
    cmp "$TOP/stty.before" "$TOP/stty.after" || fail "the terminal is not as it was"
    is "0 1" "$(mux display-message -p '#{alternate_on} #{cursor_flag}')" "alternate screen, cursor"
    mux kill-server
}

note "without a terminal"
status 1 mw top
matches 'session list' "$ERR" "what to do instead"
# script(1) gives it one that it cannot use; a newterm() that fails loses memory in ncurses 6.4
status 1 env ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" script -qec 'TERM=nonsense mountwatch top' /dev/null
matches 'TERM=nonsense' "$OUT" "an unknown terminal"

note "no session"
top_start 100 30
sees 'no session is running'

note "a session, its processes and its changes"
mkfifo "$TOP/go" "$TOP/ready"
# shellcheck disable=SC2016 # for the inner shell
mountwatch run --label $'wor\033[31mker' --fail-on never -- \
    sh -c 'while read -r f; do : >"$1/$f"; done <"$2"' x "$WATCHED" "$TOP/go" 2>/dev/null &
worker=$!
exec 5>"$TOP/go"
id=$(wait_for test "$(mountwatch session list --json | grep -c '"id"')" = 1 && field last session.id)
sees "^wor\\\\x1b\[31mker +$id .* active "
echo first >&5
echo second >&5
sees 'created .*/watched/first +sh -c'
sees 'created .*/watched/second '
sees "^wor.* active +1 +2 .* 2$"
sees 'processes'

note "freeze, thaw"
key f
sees 'froze 1 process'
sees "^wor.* frozen "
status 0 mw session list
matches "$id +frozen" "$OUT" "frozen by the key"
key t
sees 'thawed 1 process'
sees "^wor.* active "

note "a held call is decided; the selection stays where it is"
mountwatch run --label asker --fail-on never -- rm "$MNT/asked/important" 2>/dev/null &
asker=$!
sees '1 call waits'
sees '^asker .* 1$'
sees "^── $id "
key d
sees 'delete .*/asked/important'
sees "by rm $MNT/asked/important \(pid [0-9]+\)"
[ -e "$MNT/asked/important" ] || fail "it was not held"
key a
sees 'call [0-9]+: allowed once'
wait $asker
is 0 $? "the call went on"
[ ! -e "$MNT/asked/important" ] || fail "it was not let"
sees '^asker .* ended '
sees "^── $id "
key d
sees 'nothing waits'

note "other sizes"
mux resize-window -x 40 -y 10
sees '^1 session  '
sees "^── $id .*──$"
sees 'q quit$'
matches '^SESSION +STATE .* HELD$' "$(screen | sed -n 2p)" "the heading of the table"
mux resize-window -x 30 -y 5
sees 'too small'
mux resize-window -x 120 -y 40
sees "^wor\\\\x1b\[31mker +$id .* active "

note "help, report"
key '?'
sees 'asks first'
key x
sees 'SESSION +ID'
key r
sees '2 changes|2 violations'
loses 'SESSION +ID'
key Enter
sees 'SESSION +ID'

note "the daemon goes away and comes back"
daemon_kill
sees 'the daemon is gone'
daemon_again
loses 'the daemon is gone'
sees "^wor.* active "

note "kill asks first"
key K
sees 'kill 1 process of wor.*y or n'
key n
sees 'not killed'
kill -0 $worker || fail "killed without a yes"
key K
sees 'y or n'
key y
sees 'killed 1 process'
wait $worker
is 137 $? "status of run"
sees '^wor.* ended '
exec 5>&-

note "how it ends"
key q
top_ended 0
top_start 80 24
key C-c
top_ended 130
top_start 80 24
kill -TERM "$(pgrep -f '^mountwatch top$' -P "$(mux display-message -p '#{pane_pid}')")"
top_ended 143
