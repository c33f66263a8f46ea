#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Alerts in the journal, written by a journald of the test's own: fields, message ids, the catalog; and no loop when the journal itself
# lies on a watched filesystem.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/journald.sh"
scratch

note "a journald of our own"
journald_start

daemon_start - <<CONF
[Daemon]
AlertInterval=1
[Watch case]
Path=$WATCHED
Policy=alert
[Watch journal]
Path=$J
Untagged=alert
CONF

note "every alert of a session is found by its id"
mountwatch run --label 'with a blank' --fail-on never -- python3 - "$WATCHED" <<'PY' >/dev/null 2>&1
import os, sys
os.chdir(sys.argv[1].encode())
open(b"line\nfeed\xff", "w").close()
os.unlink(b"line\nfeed\xff")
PY
session_over
id=$(field last session.id)
summary_is_there() { [ -n "$(entries "MOUNTWATCH_SESSION=$id" MOUNTWATCH_KIND=summary)" ]; }
wait_for summary_is_there
entries "MOUNTWATCH_SESSION=$id" -o json >"$TOP/entries"
python3 - "$TOP/entries" "$id" "$WATCHED" "$HERE/../../daemon/sinks/journal.h" <<'PY' || fail "$(cat "$TOP/entries")"
import json, re, sys
file, session, watched, header = sys.argv[1:]
ids = dict(re.findall(r'#define JOURNAL_ID_(\w+) "([0-9a-f]{32})"', open(header).read()))
e = {x["MOUNTWATCH_KIND"]: x for x in map(json.loads, open(file))}
first, end = e["violation"], e["summary"]
want = {
    "MESSAGE_ID": ids["VIOLATION"], "PRIORITY": "5", "SYSLOG_IDENTIFIER": "mountwatch", "MOUNTWATCH_SEVERITY": "created",
    "MOUNTWATCH_LABEL": "with a blank", "MOUNTWATCH_WATCH": "case", "MOUNTWATCH_OPERATION": "create", "MOUNTWATCH_ACTION": "alerted",
    "MOUNTWATCH_TOTAL": "1", "MOUNTWATCH_FRESH": "1", "MOUNTWATCH_USER": "root", "MOUNTWATCH_UID": "0",
    "MOUNTWATCH_NEXT": "mountwatch report " + session,
}
for k, v in want.items():
    assert first.get(k) == v, (k, first.get(k), v)
# bytes as they are: journalctl gives what is not UTF-8 as a list of numbers
assert bytes(first["MOUNTWATCH_PATH"]) == watched.encode() + b"/line\nfeed\xff", first["MOUNTWATCH_PATH"]
assert first["MOUNTWATCH_EXE"].rsplit("/", 1)[1].startswith("python3") and first["MOUNTWATCH_CMDLINE"].startswith("python3 - "), first
assert int(first["MOUNTWATCH_PID"]) > 1 and first["MOUNTWATCH_ALERT_ID"].startswith("msg_"), first
assert "\n" not in first["MESSAGE"] and "\\x0a" in first["MESSAGE"], first["MESSAGE"]
assert end["MESSAGE_ID"] == ids["SUMMARY"] and end["MOUNTWATCH_VERDICT"] == "dirty", end
assert end["MOUNTWATCH_SEVERITY"] == "removed" and set(end["MOUNTWATCH_OPERATION"]) >= {"create", "delete"}, end
PY
entries MOUNTWATCH_SEVERITY=created MOUNTWATCH_LABEL='with a blank' | grep -q . || fail "not found by its label"
! grep -q changes "$LOG" || fail "what is in the journal is on stderr as well: $(cat "$LOG")"

note "a clean session is one line"
mountwatch run --label clean -- true >/dev/null 2>&1 || fail "run"
session_over
clean=$(field last session.id)
clean_is_there() { [ "$(entries "MOUNTWATCH_SESSION=$clean" MOUNTWATCH_VERDICT=clean -o cat)" = "session $clean ended clean: 0 changes" ]; }
wait_for clean_is_there
is 1 "$(entries "MOUNTWATCH_SESSION=$clean" | wc -l)" "lines of it"

note "the catalog"
# where it is read from cannot be told to journalctl of systemd 252
mkdir -p "$TOP/root/usr/lib/systemd/catalog" "$TOP/root/var/lib/systemd/catalog"
cp "$HERE/../../systemd/mountwatch.catalog" "$TOP/root/usr/lib/systemd/catalog"
status 0 journalctl --update-catalog --root="$TOP/root"
[ -d /var/lib/systemd/catalog ] || skip "no /var/lib/systemd/catalog"
mount_for --bind "$TOP/root/var/lib/systemd/catalog" /var/lib/systemd/catalog
while read -r i; do
    journalctl --dump-catalog "$i" >"$TOP/dump" 2>&1 || fail "the catalog does not know $i"
    grep -q '^Subject: ' "$TOP/dump" || fail "no subject of $i: $(cat "$TOP/dump")"
done < <(sed -n 's/.*define JOURNAL_ID_.* "\(.*\)".*/\1/p' "$HERE/../../daemon/sinks/journal.h")
entries -x "MOUNTWATCH_SESSION=$id" MOUNTWATCH_KIND=violation >"$TOP/explained"
grep -q 'Subject: A change to the watch case that is not allowed' "$TOP/explained" || fail "not explained: $(cat "$TOP/explained")"
grep -q "To see more: mountwatch report $id" "$TOP/explained" || fail "no next step: $(cat "$TOP/explained")"
entries -x "MOUNTWATCH_SESSION=$clean" | grep -q "Subject: Session $clean ended clean" || fail "the clean end is not explained"

note "the journal on a watched filesystem: its own writing is recorded, and never told"
of_journal() { entries MOUNTWATCH_WATCH=journal "$@"; }
echo one >$J/by-somebody
told() { of_journal -o json | grep -q "$1"; }
wait_for told "$J/by-somebody"
for i in 1 2 3 4 5 6 7 8; do mountwatch run --label "noise$i" --fail-on never -- mkdir "$WATCHED/noise$i" >/dev/null 2>&1; done
wait_for eval '[ "$(entries MOUNTWATCH_KIND=summary | grep -c noise)" = 8 ]'
echo two >$J/by-somebody-else
wait_for told "$J/by-somebody-else"
# the changes of journald came in between, and are in the store
mountwatch blame "$(echo $J/*/system.journal)" >"$TOP/blame" 2>&1
grep -q systemd-journald "$TOP/blame" || fail "journald's writing was not seen, so this tests nothing: $(cat "$TOP/blame")"
! of_journal -o verbose | grep -E 'MOUNTWATCH_(EXE|PATH)=.*(journald|\.journal)' || fail "an alert about the journal's own writing"
n=$(of_journal | wc -l)
[ "$n" -le 5 ] || fail "$n alerts of two files"

note "without a journal the line goes to stderr"
daemon_stop
MW_DAEMON_PREFIX=
daemon_again
mountwatch run --fail-on never -- mkdir "$WATCHED/plain" >/dev/null 2>&1
wait_for grep -q "notice: session .* changes watch 'case': create of '$WATCHED/plain' by .*/mkdir (pid" "$LOG"
journald_stop
