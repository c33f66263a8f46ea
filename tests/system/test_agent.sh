#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The desktop agent against a real notification service on a real (if unseen) screen: bubbles are seen, buttons are pressed with the
# mouse, and processes that wait get their answers; daemon, notification service and bus come and go.
. "$(dirname "$0")/lib.sh"
. "$HERE/desktop.sh"
desktop_up
scratch ext4
mkdir "$WATCHED/photos" "$WATCHED/asked"
touch "$WATCHED"/asked/{a,b,c,d,e,f,g,h,i}
write_config - <<CONF
[Daemon]
AlertInterval=1
[Watch photos]
Path=$WATCHED/photos
[Watch asked]
Path=$WATCHED/asked
Policy=ask
CONF

# in_session NAME COMMAND...: in the background; its status comes to $WORK/NAME.rc
in_session() {
    local name=$1
    shift
    rm -f "$WORK/$name.rc"
    (
        mountwatch run --label "$name" --fail-on never -- "$@" >"$WORK/$name.out" 2>"$WORK/$name.err"
        echo $? >"$WORK/$name.rc"
    ) &
}
rc_of() { wait_for test -s "$WORK/$1.rc"; cat "$WORK/$1.rc"; }
held_ids() { mountwatch decide --json | python3 -c 'import json, sys
for h in json.load(sys.stdin)["held"]: print(h["id"])'; }
# what waits has three buttons, what has happened one
press_question() { press 3 "$1"; }
seven_wait() { [ "$(held_ids | wc -l)" = 7 ]; }
connected() { [ "$(grep -c 'connected to the daemon' "$TOP/agent.log")" -ge "$1" ]; }
none_waits() { [ -z "$(held_ids)" ]; }

# the terminal that "Show report" opens: it keeps what is shown in it
mkdir "$TOP/bin"
cat >"$TOP/bin/x-terminal-emulator" <<SH
#!/bin/sh
[ "\$1" = -e ] || exit 1
shift
"\$@" >"$TOP/terminal.part" 2>&1 </dev/null
mv "$TOP/terminal.part" "$TOP/terminal.out"
SH
chmod +x "$TOP/bin/x-terminal-emulator"
PATH=$TOP/bin:$PATH

note "first the agent, then the daemon, then the screen"
agent_up
daemon_again
wait_for grep -q 'connected to the daemon' "$TOP/agent.log"
# a session that goes on: it does what comes through the pipe
mkfifo "$WORK/orders"
in_session 'holiday tests' sh -c 'while read -r order; do eval "$order"; done <"$1"' x "$WORK/orders"
exec 7>"$WORK/orders"
hostile='<b>&amp; "summer" <img src=x>.jpg'
touch "$WATCHED/photos/$hostile" "$WATCHED"/photos/{1,2,3}.jpg
echo "rm '$WATCHED/photos/$hostile'" >&7
wait_for notes_are GetCapabilities 1
screen_up
bubbles_are 1
note_says "holiday tests removed" || fail "the title: $(last_note)"
note_says '&lt;b&gt;&amp;amp; &quot;summer&quot; &lt;img src=x&gt;.jpg' || fail "not escaped: $(last_note)"
note_says 'byte 2' || fail "not critical: $(last_note)"
settle; shot violation

note "what comes later takes its place"
echo "rm '$WATCHED'/photos/?.jpg; mkdir '$WATCHED/photos/new'" >&7
wait_for note_says '5 changes so far'
bubbles_are 1
note_says 'uint32 0' && fail "a new bubble: $(last_note)"
settle; shot update
before=$(notes Notify)
echo exit >&7
is 0 "$(rc_of 'holiday tests')" "the session"
wait_for note_says 'holiday tests ended dirty'
bubbles_are 1
is $((before + 1)) "$(notes Notify)" "one word more for its end"
settle; shot summary


note "show report"
press 1 1
wait_for test -s "$TOP/terminal.out"
matches 'holiday tests' "$(<"$TOP/terminal.out")" "the report in the terminal"
bubbles_are 0

note "deny, by the mouse"
in_session deny rm "$WATCHED/asked/a"
bubbles_are 1
note_says 'rm wants to remove a on asked' || fail "the question: $(last_note)"
settle; shot question
press_question 2
is 1 "$(rc_of deny)" "rm was refused"
[ -e "$WATCHED/asked/a" ] || fail "it was denied, and done"
wait_for none_waits

note "allow once, by the mouse"
in_session allow rm "$WATCHED/asked/a"
wait_for note_says 'rm wants to remove a on asked'
press_question 1
is 0 "$(rc_of allow)" "rm was let"
[ ! -e "$WATCHED/asked/a" ] || fail "allowed, and not done"

note "answered elsewhere"
in_session elsewhere rm "$WATCHED/asked/b"
wait_for note_says 'rm wants to remove b on asked'
status 0 mw decide "$(held_ids)" deny
is 1 "$(rc_of elsewhere)" "rm was refused"

note "five at a time, and how many more"
# what the agent asks for; where the screen has no room for it is the notification service's own affair
exited() { [ "$(cat "$WORK"/many*.rc 2>/dev/null | wc -l)" = "$1" ]; }
for f in c d e f g h i; do in_session "many $f" rm "$WATCHED/asked/$f"; done
wait_for seven_wait
wait_for grep -q 'and 2 more calls wait' "$TOP/notes"
status 0 mw decide "$(held_ids | tail -n 1)" deny
wait_for exited 1

note "the daemon goes, and with it all that waits; the next is found"
closed=$(notes CloseNotification)
before=$(grep -c 'connected to the daemon' "$TOP/agent.log")
daemon_kill
wait_for exited 7
wait_for notes_are CloseNotification $((closed + 6))
daemon_again
wait_for connected $((before + 1))

note "there is one agent for a session"
status 0 mw agent
matches 'an agent runs already' "$ERR" "the second one"

note "it takes its bubbles along"
touch "$WATCHED/asked/a"
in_session last rm "$WATCHED/asked/a"
wait_for note_says 'rm wants to remove a on asked'
closed=$(notes CloseNotification)
kill -TERM "$AGENT"
agent_ends 0
[ "$(notes CloseNotification)" -gt "$closed" ] || fail "its bubble stays"
status 0 mw decide "$(held_ids)" deny
is 1 "$(rc_of last)" "it has decided nothing"

note "no bus, no agent"
agent_up
bus_down
agent_ends 1
matches 'the bus of this session has gone' "$(tail -n 1 "$TOP/agent.log")" "why it ended"
status 1 mw agent
matches 'cannot talk to the bus' "$ERR" "no bus to begin with"
