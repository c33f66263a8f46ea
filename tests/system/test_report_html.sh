#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The HTML report: whole or not at all, private, well formed and harmless whatever files and commands are called.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
Preserve=yes
Untagged=record
CONF
check() { python3 "$HERE/html_check.py" "$@" || fail "the page $1"; }

note "hostile names, a hostile label and command line"
mw run --label "</title><script>document.title='pwned'</script>" --fail-on never --html "$TOP/run.html" -- \
    python3 "$HERE/hostile_names.py" "$WATCHED" "<script>alert(1)</script>" $'\xff\x1b]0;x\a' 2>/dev/null || fail run
session_over last
id=$(field last session.id)
check "$TOP/run.html" "DIRTY" "mountwatch undo $id" "<img src=x onerror=\"document.title='pwned'\">" 'new\x0aline' 'caf\xe9' '\x1b[31m' '\xe2\x80\xaegpj.exe' \
    "<script>document.title='pwned'<" "policy alert" "What was watched" "<script>alert(1)</script>"
is 600 "$(stat -c %a "$TOP/run.html")" "permissions"
note "the same from report, over the old page, and on standard output alone"
echo old >"$TOP/page.html"
chmod 644 "$TOP/page.html"
ln -s page.html "$TOP/link.html"
status 0 mw report last --html "$TOP/link.html"
matches DIRTY "$OUT" "the text beside it"
[ -L "$TOP/link.html" ] || fail "the link was replaced"
check "$TOP/page.html" "DIRTY"
mw report last --html - >"$TOP/stdout.html" || fail "report --html -"
cmp "$TOP/page.html" "$TOP/stdout.html" || fail "standard output differs"
status 2 mw report last --json --html -
status 2 mw session stop --html -
status 125 mw run --html - -- true
note "no page rather than half of one"
status 1 mw report last --html "$TOP/none/page.html"
matches 'cannot write' "$ERR" "the complaint"
status 1 mw report last --html /dev/full
[ -c /dev/full ] || fail "a device was replaced"
mkdir "$TOP/small"
mount_for -t tmpfs -o size=8k small "$TOP/small"
echo old >"$TOP/small/page.html"
status 1 mw report last --html "$TOP/small/page.html"
is old "$(cat "$TOP/small/page.html")" "the page that was there"
is page.html "$(ls -A "$TOP/small")" "what is left behind"

note "a session that is stopped"
sid=$(mw session start --pid $$ 2>/dev/null) || fail "session start"
rm "$WATCHED/new"$'\n'line
mw session stop "$sid" --html "$TOP/stop.html" >/dev/null || fail "session stop"
check "$TOP/stop.html" "deleted" 'new\x0aline'

note "a lot"
mw run --fail-on never --html "$TOP/many.html" -- python3 -c '
import os, sys
for d in range(60):
    os.mkdir(f"{sys.argv[1]}/d{d}")
    for f in range(200):
        open(f"{sys.argv[1]}/d{d}/f{f}", "w").close()' "$WATCHED" 2>/dev/null || fail "run"
check "$TOP/many.html" "12060" "see report --json"
[ "$(stat -c %s "$TOP/many.html")" -lt 2000000 ] || fail "the page is too long to open"

daemon_stop || fail stop
