#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# mountwatch init: finds a share, a folder of backups and a database that are really there, asks, writes what the daemon takes, and has it
# used; never over what somebody else wrote.
. "$(dirname "$0")/lib.sh"
need sqlite3 bindfs python3
for SRV in /srv /media /opt; do [ ! -d "$SRV" ] || break; done
mount_for -t tmpfs init "$SRV" || skip "cannot mount a tmpfs on $SRV"
scratch
mkdir -p "$SRV/share" "$SRV/music" "$SRV/data/tank/restic" "$SRV/nightly-backups" "$SRV/empty/backups" "$SRV/.cache" "$TOP/remote"
touch "$SRV/nightly-backups/a"
mkdir "$SRV/data/tank/restic"/{data,index,keys,snapshots}
echo x >"$SRV/data/tank/restic/config"
# what sshfs is to the mount table
bindfs -o subtype=sshfs "$TOP/remote" "$SRV/share" || skip "no FUSE here"
MOUNTS+=("$SRV/share")
grep -q " $SRV/share .* fuse.sshfs " /proc/self/mountinfo || skip "bindfs cannot name its type here"

note "databases that are open, and one that is not"
cat >"$TOP/holder.py" <<'PY'
import sqlite3, sys
held = []
for path in sys.argv[1:]:
    c = sqlite3.connect(path)
    c.execute("create table t(x)")
    c.execute("insert into t values(1)")
    c.commit()
    held.append(c)
held.append(open(sys.argv[1] + ".txt", "w"))
print("ready", flush=True)
sys.stdin.read()
PY
sqlite3 "$SRV/music/closed.db" 'create table t(x)'
mkfifo "$TOP/hold"
python3 "$TOP/holder.py" "$SRV/music/library.db" "$SRV/.cache/cache.db" "$SRV/nightly-backups/catalog.db" "$SRV/share/far.db" <"$TOP/hold" >"$TOP/ready" &
HOLDER=$!
exec 7>"$TOP/hold"
wait_for grep -q ready "$TOP/ready"

ours() { grep -E "^ *Path=$SRV/" | sed "s|.*Path=$SRV/||" | sort | xargs; }
want='data/tank/restic music/library.db nightly-backups share'
mkdir "$TOP/mountwatch.conf.d"
CONF=$TOP/mountwatch.conf MINE=$TOP/mountwatch.conf.d/50-init.conf
printf '[Watch share]\nPath=%s\n' "$WATCHED" >"$CONF"
daemon_again

note "looks only"
status 0 mw init --dry-run --config "$MINE"
is "$want" "$(ours <<<"$OUT")" "what is proposed"
matches "sshfs mount $TOP/remote" "$OUT" "the share"
matches "restic repository" "$OUT" "the repository"
matches "in use by python3 \(pid $HOLDER\)" "$OUT" "the database"
matches "\[Watch share-2\]" "$OUT" "a name that is taken"
[ ! -e "$MINE" ] || fail "a dry run wrote"
note "nobody to ask"
status 1 mw init --config "$MINE" </dev/null
matches 'nothing was written' "$ERR" "the reason"
[ ! -e "$MINE" ] || fail "it wrote without a yes"

note "a person: no, nonsense, then numbers"
if command -v expect >/dev/null; then
    answer() { # ANSWER...
        expect -c 'set timeout 20; log_user 1; spawn -noecho mountwatch init --config $env(MINE)
            foreach a $env(ANSWERS) { expect {Write it?} { send "$a\r" } timeout { exit 9 } }
            expect eof; catch wait result; exit [lindex $result 3]' >"$TOP/answered" 2>&1
    }
    export MINE
    ANSWERS=n answer || fail "init after a no"
    [ ! -e "$MINE" ] || fail "it wrote after a no"
    number=$(mw init --dry-run --config "$MINE" | awk -v p="$SRV/music/library.db" '$2 == p { print $1 }')
    ANSWERS="maybe $number" answer || fail "init after a number: $(<"$TOP/answered")"
    grep -q 'neither y nor n' "$TOP/answered" || fail "nonsense was taken"
    is music/library.db "$(ours <"$MINE")" "the one that was chosen"
    is 644 "$(stat -c %a "$MINE")" "permissions"
    want='data/tank/restic nightly-backups share'
    echo '# mine' >>"$MINE"
else
    note "no expect: nobody could be asked"
    printf '# mine\n' >"$MINE"
fi

note "the rest, without a question, beside what is there"
cp "$MINE" "$TOP/before"
status 0 mw init --yes --config "$MINE"
matches 'whose content stays' "$OUT" "what is said of the old content"
matches 'The service watches it now' "$OUT" "the service"
head -c "$(stat -c %s "$TOP/before")" "$MINE" | cmp - "$TOP/before" || fail "the old content is gone"
is "$want" "$(tail -c +"$(($(stat -c %s "$TOP/before") + 1))" "$MINE" | ours)" "what was added"
status 0 mw watch list --json
matches "$SRV/nightly-backups" "$OUT" "the watches of the service"
matches "$SRV/music/library.db" "$OUT$(ours <"$MINE")" "the database"
note "and it is seen: the database that is in use"
run sqlite3 "$SRV/music/library.db" 'insert into t values(2)'
session_over last
report last operations >/dev/null
grep -q library.db "$TOP/report.json" || fail "the change was not seen"

note "twice is once"
cp "$MINE" "$TOP/before"
status 0 mw init --yes --config "$MINE"
case $OUT in *"$SRV"*) fail "proposed again: $OUT" ;; esac
matches 'Looked for' "$OUT" "what it says"
cmp "$MINE" "$TOP/before" || fail "the file was changed"

note "a configuration that is broken elsewhere is told, and the service keeps what it has"
printf '[Watch other]\n' >"$TOP/mountwatch.conf.d/60-broken.conf"
mkdir "$SRV/more-backups" && touch "$SRV/more-backups/x"
status 1 mw init --yes --config "$MINE"
matches 'has problems' "$ERR" "the complaint"
daemon_alive
rm "$TOP/mountwatch.conf.d/60-broken.conf"
note "one that is broken itself is not touched"
echo 'Nonsense' >>"$MINE"
mkdir "$SRV/third-backups" && touch "$SRV/third-backups/x"
cp "$MINE" "$TOP/before"
status 1 mw init --yes --config "$MINE"
matches 'nothing was written' "$ERR" "the complaint"
cmp "$MINE" "$TOP/before" || fail "the broken file was changed"

note "without the service"
daemon_stop || fail stop
rm -r "$TOP/mountwatch.conf.d"
status 0 mw init --yes --config "$MINE"
matches 'systemctl enable --now mountwatch' "$OUT" "what to do"
[ -s "$MINE" ] || fail "nothing was written"
exec 7>&-
wait "$HOLDER"
