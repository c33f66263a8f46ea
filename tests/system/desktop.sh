# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A desktop for a test, after lib.sh: an X server without a screen, a session bus, and Debian's notification-daemon, which draws real
# bubbles with real buttons. SHOTS=FOLDER keeps the screenshots.

NOTIFICATION_DAEMON=/usr/lib/notification-daemon/notification-daemon
SHOTS=${SHOTS:-$TOP}
SCREEN_WIDTH=1024 # high enough for many bubbles
X_SERVER='' BUS='' SCREEN='' AGENT=''

desktop_up() {
    need Xvfb dbus-daemon dbus-monitor xdotool import python3
    [ -x "$NOTIFICATION_DAEMON" ] || skip "needs notification-daemon"
    trap 'desktop_down $?; cleanup' EXIT
    Xvfb -displayfd 3 -screen 0 ${SCREEN_WIDTH}x2000x24 -nolisten tcp 3>"$TOP/display" >"$TOP/x.log" 2>&1 &
    X_SERVER=$!
    wait_for test -s "$TOP/display"
    # no theme, no accessibility, no settings of whoever runs the test
    DISPLAY=:$(<"$TOP/display")
    export DISPLAY GDK_BACKEND=x11 NO_AT_BRIDGE=1 GTK_A11Y=none GSETTINGS_BACKEND=memory HOME=$TOP
    unset WAYLAND_DISPLAY INVOCATION_ID
    bus_up
}

# nothing is started by activation: the test starts it, or it is not there
bus_up() {
    cat >"$TOP/bus.conf" <<CONF
<busconfig>
  <type>session</type><listen>unix:path=$TOP/bus</listen><auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
CONF
    dbus-daemon --config-file="$TOP/bus.conf" --nofork --nopidfile >"$TOP/bus.log" 2>&1 &
    BUS=$!
    wait_for test -S "$TOP/bus"
    export DBUS_SESSION_BUS_ADDRESS=unix:path=$TOP/bus
    dbus-monitor --session "interface='org.freedesktop.Notifications'" >"$TOP/notes" 2>/dev/null &
    wait_for grep -q NameAcquired "$TOP/notes"
}
bus_down() {
    kill "$BUS" && wait "$BUS" 2>/dev/null
    BUS=
}

# keeps $? for the one who cleans up next
desktop_down() {
    [ -z "$AGENT" ] || kill "$AGENT" 2>/dev/null
    [ -z "$SCREEN" ] || kill "$SCREEN" 2>/dev/null
    [ -z "$BUS" ] || kill "$BUS" 2>/dev/null
    # by its own hand, so that it takes its lock file and socket along
    [ -z "$X_SERVER" ] || { kill "$X_SERVER" 2>/dev/null && wait "$X_SERVER" 2>/dev/null; }
    return "$1"
}

name_is_owned() { dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
    string:"$1" | grep -q 'boolean true'; }

screen_up() {
    "$NOTIFICATION_DAEMON" >>"$TOP/screen.log" 2>&1 &
    SCREEN=$!
    wait_for name_is_owned org.freedesktop.Notifications
}
agent_up() {
    mountwatch agent 2>>"$TOP/agent.log" &
    AGENT=$!
    wait_for name_is_owned io.mountwatch.Agent
}
# agent_ends STATUS: what it was told to do it is doing already
agent_ends() {
    wait "$AGENT"
    local rc=$?
    AGENT=
    is "$1" $rc "status of the agent ($(<"$TOP/agent.log"))"
}

bubbles() { xdotool search --onlyvisible --name '^Notification$' 2>/dev/null; }
count_is() { [ "$(bubbles | wc -l)" = "$1" ]; }
bubbles_are() { wait_for count_is "$1"; }
# until the screen stands still: windows are drawn some time after they are there
settle() {
    local last='' now
    for _ in {1..100}; do
        now=$(import -window root -depth 8 gray:- | cksum)
        [ "$now" != "$last" ] || return 0
        last=$now
        sleep 0.1
    done
}
shot() { import -window root "$SHOTS/$1.png"; }

# how often the service was told something, and what the last ones said
notes() { grep -c "member=$1\$" "$TOP/notes"; }
notes_are() { [ "$(notes "$1")" -ge "$2" ]; }
last_note() { tac "$TOP/notes" | sed '/member=Notify$/q' | tac; }
note_says() { last_note | grep -qF -- "$1"; }

# Where the buttons of all bubbles are, a line for each: WINDOW X Y X Y ... They are the words in the lowest row of a bubble, with
# gaps that are wider than those of a space. One picture of the whole screen: a window can go while one looks at it.
buttons() {
    local w X Y WIDTH HEIGHT
    import -window root -depth 8 gray:"$TOP/screen.gray"
    bubbles | while read -r w; do
        eval "$(xdotool getwindowgeometry --shell "$w" 2>/dev/null | grep -E '^(X|Y|WIDTH|HEIGHT)=[0-9]+$')"
        echo "$w ${X:-} ${Y:-} ${WIDTH:-} ${HEIGHT:-}"
    done | python3 "$HERE/buttons.py" "$TOP/screen.gray" "$SCREEN_WIDTH"
}
with_buttons() { buttons | awk -v n="$1" 'NF == 1 + 2 * n'; }
# press COUNT N: the Nth button from the left, with the mouse, of the first bubble that has COUNT of them
press() {
    local at
    wait_for has_buttons "$1"
    settle
    at=$(with_buttons "$1" | awk -v n="$2" 'NR == 1 { print $(2 * n), $(2 * n + 1) }')
    # shellcheck disable=SC2086 # two numbers
    xdotool mousemove $at click 1
}
has_buttons() { with_buttons "$1" | grep -q .; }
