#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill -9 of the daemon between an alert and its delivery, at random moments: every alert that came into the store arrives, and what
# arrives twice has the same id. A trigger in the database writes down what came in. MW_BIG=1 for 50 kills.
. "$(dirname "$0")/lib.sh"
. "$HERE/webhook.sh"
scratch
kills=6
[ -z "${MW_BIG:-}" ] || kills=50
make_keys
receiver hooks --cert "$KEYS/server.pem" --key "$KEYS/server.key"
plan slow 'wait 0.1'
plan bad 500 close 200 500 'wait 0.2' 200 close 200
daemon_start - <<EOF
[Watch case]
Path=$WATCHED
Policy=alert
[Webhook quick]
Url=https://localhost:$PORT/quick
CaFile=$KEYS/ca.pem
RetrySec=1
RateLimit=6000
[Webhook slow]
Url=https://localhost:$PORT/slow
CaFile=$KEYS/ca.pem
RetrySec=1
RateLimit=6000
[Webhook bad]
Url=https://localhost:$PORT/bad
CaFile=$KEYS/ca.pem
RetrySec=1
RateLimit=6000
EOF
daemon_stop || exit 1
database() {
    python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
for row in db.execute(sys.argv[2]): print(*row)' "$STATE/mountwatch.db" "$1" || fail "the database: $1"
}
database 'CREATE TABLE audit(target TEXT, alert TEXT)'
database 'CREATE TRIGGER audit AFTER INSERT ON delivery BEGIN INSERT INTO audit VALUES(NEW.target, NEW.alert); END'

daemon_again
waiting=0
for ((i = 0; i < kills; i++)); do
    # the command's session ends with the daemon's memory of it, so one change is one alert or two
    run touch "$WATCHED/$i" &
    sleep "0.$(printf %03d $((RANDOM % 250)))"
    daemon_kill
    wait $!
    [ "$(database 'SELECT count(*) FROM delivery WHERE dead = 0')" = 0 ] || waiting=$((waiting + 1))
    daemon_again
done
note "$kills kills, $waiting of them with alerts under way"
run touch "$WATCHED/last"
session_over
for name in quick slow bad; do
    wait_for hook_is $name pending 0
    is 0 "$(hook $name dead)" "given up by $name"
done
daemon_stop || exit 1

database 'SELECT target, alert FROM audit' >"$TOP/audit"
python3 - "$TOP/hooks" "$TOP/audit" <<'PY' || fail "not every alert arrived, or not as itself"
import collections, json, sys
want = {tuple(line.split()) for line in open(sys.argv[2])}
assert len(want) >= 6, want
got, same, twice = set(), collections.defaultdict(set), 0
for target in ("quick", "slow", "bad"):
    for line in open(f"{sys.argv[1]}/{target}.log"):
        r = json.loads(line)
        h = {k.lower(): v for k, v in r["headers"].items()}
        data = json.loads(r["body"])["data"]
        assert h["webhook-id"] == data["id"]
        # of the 500 and the close it is not known whether they took it
        if r["step"] not in ("500", "close"):
            twice += (target, data["id"]) in got
            got.add((target, data["id"]))
        same[json.dumps({k: v for k, v in data.items() if k != "id"}, sort_keys=True)].add(data["id"])
assert want <= got, want - got
assert all(len(ids) == 1 for ids in same.values()), same
print(f"- {len(want)} alerts to three targets, {twice} delivered twice")
PY
