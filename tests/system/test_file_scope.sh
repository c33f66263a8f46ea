#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A watch on one file is a watch on its family: a database changes in its -wal, -shm and -journal first.
. "$(dirname "$0")/lib.sh"
for fs in tmpfs ext4; do
    note "$fs"
    scratch $fs
    DB=$WATCHED/library.db
    python3 -c 'import sqlite3,sys
c = sqlite3.connect(sys.argv[1]); c.execute("create table t(x)"); c.execute("insert into t values(1)"); c.commit()' "$DB"
    daemon_start - <<CONF
[Watch db]
Path=$DB
Policy=alert
CONF
    is file "$(mw watch list --json | python3 -c 'import json,sys
d = json.load(sys.stdin)
print((d if isinstance(d, list) else d["watches"])[0]["scope"])')" scope

    note "a rollback journal"
    status 120 mw run -- python3 -c 'import sqlite3,sys
c = sqlite3.connect(sys.argv[1]); c.execute("delete from t"); c.commit()' "$DB"
    session_over last
    has_op last 'modify library.db'
    has_op last 'create library.db-journal'

    note "a write-ahead log that never reaches the database file"
    python3 -c 'import sqlite3,sys
c = sqlite3.connect(sys.argv[1]); c.execute("pragma journal_mode=wal")' "$DB"
    status 120 mw run -- python3 -c 'import os,sqlite3,sys
c = sqlite3.connect(sys.argv[1]); c.execute("insert into t values(2)"); c.commit(); os._exit(0)' "$DB"
    session_over last
    report last operations | grep -qx 'create library.db-wal' || fail "the log is not seen: $(report last operations)"

    note "its neighbours are not its family"
    touch "$WATCHED/library.db.bak" "$WATCHED/other.db"
    status 0 mw run -- sh -c 'echo x >>"$1/library.db.bak"; echo x >>"$1/other.db"; touch "$1/new"; mkdir "$1/library.dbx"' x "$WATCHED"
    session_over last
    expect_ops last <<<''

    note "replaced by a rename, moved away, removed and made again"
    status 120 mw run -- sh -c 'cp "$1" "$1.new" && mv "$1.new" "$1"' x "$DB"
    session_over last
    report last operations | grep -qE '^(create library.db( from library.db.new)?|rename library.db.new -> library.db)( replaced)?$' || fail "no replacement: $(report last operations)"
    status 120 mw run -- sh -c 'echo x >>"$1"' x "$DB"
    session_over last
    has_op last 'modify library.db'
    status 120 mw run -- rm "$DB"
    session_over last
    has_op last 'delete library.db'
    note "removed and made again by one session; and one that makes it where nothing is"
    touch "$DB"
    status 120 mw run -- sh -c 'rm "$1"; echo x >"$1"; echo y >>"$1"; rm "$1"' x "$DB"
    session_over last
    has_op last 'delete library.db'
    has_op last 'create library.db'
    # a path that is missing has no place to put a mark: what is done to it until it is seen to come is stated
    mw run --fail-on never -- bash -c 'echo x >"$1"; while ! mountwatch watch list --json | grep -q "\"armed\""; do sleep 0.02; done' x "$DB" 2>/dev/null
    session_over last
    report last operations | grep -q 'create library.db' || field last session.losses | grep -q not-watched || fail "neither seen nor stated"
    daemon_stop || fail stop
    umount "$MNT" || fail "the mount is held"
    rm -rf "$STATE"
done
