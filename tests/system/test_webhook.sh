#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Alerts to an HTTPS receiver with its own CA, which answers in every way there is: signed, retried, given up, never redirected, never to
# the wrong one; secrets stay secret. The signature is checked by code that is not ours.
. "$(dirname "$0")/lib.sh"
. "$HERE/webhook.sh"
scratch
make_keys
receiver mutual --cert "$KEYS/server.pem" --key "$KEYS/server.key" --client-ca "$KEYS/ca.pem"
mutual=$PORT
receiver hooks --cert "$KEYS/server.pem" --key "$KEYS/server.key"
common="CaFile=$KEYS/ca.pem
RetrySec=1
RateLimit=6000"

plan flaky 500 200
plan busy '429 Retry-After: 2' 200
plan slow '503 Retry-After: Thu, 01 Jan 1970 00:00:00 GMT' 200
plan discord 'body 429 {"message": "slow down", "retry_after": 1.5}' 204
plan closes close 200
plan stalls stall 200
plan drips drip 200
plan gone 410 200
plan refuses 'body 404 no /refuses?top-secret here' 200
plan away "302 Location: https://localhost:$PORT/trap"
plan follows "307 Location: https://localhost:$PORT/landed"
plan large "body 200 $(head -c 300000 /dev/zero | tr '\0' x)"

hook_section() { printf '\n[Webhook %s]\n%s\n' "$1" "$common"; printf '%s\n' "${@:2}"; }
url=https://localhost:$PORT
{
    printf '[Watch case]\nPath=%s\nPolicy=alert\n' "$WATCHED"
    hook_section signed "Url=$url/signed?top-secret" "SecretFile=$KEYS/secret"
    hook_section flaky "Url=$url/flaky"
    hook_section busy "Url=$url/busy"
    hook_section slow "Url=$url/slow"
    hook_section discord "Url=$url/discord" Format=discord
    hook_section slack "Url=$url/slack" Format=slack
    hook_section ntfy "Url=$url/ntfy/topic-of-mine" Format=ntfy "SecretFile=$KEYS/token"
    hook_section closes "Url=$url/closes"
    hook_section stalls "Url=$url/stalls" TimeoutSec=1
    hook_section drips "Url=$url/drips" TimeoutSec=1
    hook_section gone "Url=$url/gone"
    hook_section refuses "Url=$url/refuses?top-secret"
    hook_section away "Url=$url/away"
    hook_section follows "Url=$url/follows" FollowRedirects=yes
    hook_section large "Url=$url/large"
    hook_section grave "Url=$url/grave" MinSeverity=removed
    hook_section mutual "Url=https://localhost:$mutual/mutual" "ClientCertFile=$KEYS/client.pem" "ClientKeyFile=$KEYS/client.key"
    hook_section nocert "Url=https://localhost:$mutual/nocert"
    hook_section wrongname "Url=https://127.0.0.1:$PORT/wrongname"
    printf '\n[Webhook wrongca]\nUrlFile=%s\nRetrySec=1\n' "$KEYS/url"
} >"$CONF"
(umask 077 && echo "$url/wrongca" >"$KEYS/url" && echo tk_token >"$KEYS/token")
daemon_again

note "the first alert and the summary, signed, in order"
hostile=$'a\n@everyone <!channel> `x`'
run touch "$WATCHED/$hostile"
id=$(field last session.id)
wait_for got signed 2
is "POST mountwatch.violation created $id" "$(request signed 0 'r["method"], b["type"], b["data"]["severity"], b["data"]["session"]' | tr -d "'(),")" first
is "mountwatch.summary dirty" "$(request signed 1 'b["type"], b["data"]["verdict"]' | tr -d "'(),")" second
python3 - "$TOP/hooks/signed.log" "$SECRET" <<'PY' || fail "the signature is wrong"
import base64, hashlib, hmac, json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    h = {k.lower(): v for k, v in r["headers"].items()}
    signed = f'{h["webhook-id"]}.{h["webhook-timestamp"]}.{r["body"]}'.encode()
    key = base64.b64decode(sys.argv[2].removeprefix("whsec_"))
    want = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert h["webhook-signature"].split(" ") == [want], (h, want)
    assert h["webhook-id"] == json.loads(r["body"])["data"]["id"] and "." not in h["webhook-id"]
    assert abs(int(h["webhook-timestamp"]) - r["at"]) < 60
    assert h["content-type"] == "application/json" and h["user-agent"].startswith("mountwatch/"), h
    assert len(r["body"]) < 20000
PY

note "the bodies are what docs/alert.schema.json says"
cat >"$TOP/schema.py" <<'PY'
import json, sys
kinds = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
def check(s, v, where):
    if "enum" in s:
        assert v in s["enum"], (where, v)
    if "type" in s:
        assert type(v) is kinds[s["type"]], (where, v)
    if isinstance(v, dict):
        for key in s["required"]:
            assert key in v, (where, key)
        for key in v:
            assert key in s["properties"], (where, key)
            check(s["properties"][key], v[key], where + "." + key)
    if isinstance(v, list):
        for e in v:
            check(s["items"], e, where + "[]")
schema = json.load(open(sys.argv[1]))
for line in open(sys.argv[2]):
    check(schema, json.loads(json.loads(line)["body"]), "body")
PY
matches_schema() { python3 "$TOP/schema.py" "$HERE/../../docs/alert.schema.json" "$TOP/hooks/$1.log" || fail "the schema"; }
matches_schema signed

note "500, a close, a stall and a drip are tried again, with the same id; what 500 refused lets the next one pass"
ids() { for i in 0 1 2; do request "$1" $i 'r["headers"]["webhook-id"]'; done; }
order() { awk '{ if (!($1 in n)) n[$1] = ++k; printf "%d", n[$1] }'; }
for name in flaky closes stalls drips busy slow; do
    wait_for got $name 3
    case $name in flaky) want=121 ;; *) want=112 ;; esac
    is $want "$(ids $name | order)" "the order at $name"
done

note "Retry-After in seconds, as a date, and Discord's"
pause() { python3 -c 'import json,sys; a=[json.loads(l)["at"] for l in open(sys.argv[1])]; print(a[1]-a[0] >= float(sys.argv[2]))' "$TOP/hooks/$1.log" "$2"; }
is True "$(pause busy 2)" "pause of 429"
wait_for got discord 3
is True "$(pause discord 1.5)" "pause of Discord"

note "410 and 404 are final, and seen in status"
for name in gone refuses; do
    wait_for hook_is $name dead 1
    wait_for hook_is $name pending 0
    got $name 2 || fail "$name was asked again"
done
is "HTTP 404" "$(hook refuses lastError)" "reason"

note "a redirect is not followed, unless wanted"
wait_for got_some away
wait_for hook_is away lastError "HTTP 302, a redirect, which is not followed"
[ ! -e "$TOP/hooks/trap.log" ] || fail "the redirect was followed"
wait_for got landed 2
is "POST mountwatch.violation" "$(request landed 0 'r["method"], b["type"]' | tr -d "'(),")" landed
note "an answer of any length is an answer"
wait_for got large 2
wait_for hook_is large pending 0

note "certificates: of the right CA, with the right name, and the client's"
wait_for test -s "$TOP/mutual/mutual.log"
grep -q '"client": ".*client' "$TOP/mutual/mutual.log" || fail "no client certificate"
for name in nocert wrongname wrongca; do
    wait_for never_ran hook_is $name lastError None
    [ ! -e "$TOP/hooks/$name.log" ] && [ ! -e "$TOP/mutual/$name.log" ] || fail "$name was sent"
    is 2 "$(hook $name pending)" "pending of $name"
done

note "hostile names are text in every format"
wait_for got slack 2
wait_for got ntfy 2
matches '&lt;!channel&gt;' "$(request slack 0 'b["text"]')" slack
is True "$(request slack 0 '"<" not in r["body"] and "\n" not in b["text"]')" slack
is True "$(request discord 0 'b["allowed_mentions"] == {"parse": []} and "\n" not in b["content"]')" discord
is "topic-of-mine 3 Bearer tk_token" "$(request ntfy 0 'b["topic"], b["priority"], r["headers"]["Authorization"]' | tr -d "'(),")" ntfy 2>/dev/null ||
    fail ntfy

note "MinSeverity="
[ ! -e "$TOP/hooks/grave.log" ] || fail "a created file is not grave enough"
run rm "$WATCHED/$hostile"
wait_for got grave 2

note "alert test prints what was said, and no secret"
status 0 mw alert test signed
matches "> POST https://localhost:$PORT/\.\.\." "$OUT" "exchange"
matches '< HTTP/1.1 200 OK' "$OUT" "exchange"
matches 'delivered in' "$OUT" "exchange"
is mountwatch.test "$(request signed -1 'b["type"]')" "test alert"
matches_schema signed
grep -q 'test alert' "$LOG" || fail "the test alert is not in the log"
plan refuses 'body 404 no /refuses?top-secret here'
status 1 mw alert test refuses
matches '< no \.\.\. here' "$OUT" "the body"
matches 'not delivered: HTTP 404' "$OUT" "the outcome"
status 1 mw alert test wrongca --json
matches '"delivered": *false' "$OUT" json
status 0 mw alert test ntfy
status 2 mw alert test nobody
matches "no webhook 'nobody'" "$ERR" "unknown"
chmod 711 "$TOP"
status 1 setpriv --reuid 65534 --regid 65534 --clear-groups mountwatch alert test
matches 'not permitted' "$ERR" "a stranger"
{ mw status; mw status --json; mw alert test; mw alert test --json; cat "$LOG"; } >"$TOP/said" 2>&1
! grep -nE "top-secret|topic-of-mine|tk_token|whsec|MfKQ9r8" "$TOP/said" || fail "a secret was said"

note "a secret that others can read is refused, and so is a reload"
chmod 644 "$KEYS/secret"
status 1 mw config check "$CONF"
matches "SecretFile: '.*secret' is open to group or others .mode 0644." "$ERR" "config check"
status 1 mw reload
matches 'open to group or others' "$ERR" "reload"
! grep -q "MfKQ9r8" <<<"$ERR" || fail "the secret was said"
chmod 600 "$KEYS/secret"
status 1 mw config check "$CONF"
matches 'Url: this address is as good as a password' "$ERR" "Slack in an open file"
chmod 600 "$CONF"
status 0 mw config check "$CONF"

note "a reload: what waited goes to the new address, the webhook that is gone is said"
sed -i "/^\[Webhook wrongname\]/,/^\$/s|^Url=.*|Url=$url/rightname|; /^\[Webhook nocert\]/,/^\$/d" "$CONF"
status 0 mw reload
wait_for got rightname 4
wait_for grep -q "webhook 'nocert' is no longer configured; 4 alerts" "$LOG"

note "27,000 changes are five messages at most"
matches_schema flaky
before=$(grep -c . "$TOP/hooks/flaky.log")
run python3 -c 'import os,sys
for i in range(27000): os.close(os.open("%s/%d" % (sys.argv[1], i), os.O_CREAT | os.O_WRONLY, 0o600))' "$WATCHED"
session_over
wait_for hook_is flaky pending 0
is mountwatch.summary "$(request flaky -1 'b["type"]')" "the last one"
is 27000 "$(request flaky -1 'b["data"]["total"]')" "its total"
n=$(($(grep -c . "$TOP/hooks/flaky.log") - before))
note "$n messages"
[ $n -ge 2 ] && [ $n -le 5 ] || fail "$n messages for 27,000 changes"
daemon_stop || exit 1

note "no webhook at all; a proxy of the environment"
receiver proxy
printf '[Watch case]\nPath=%s\n' "$WATCHED" >"$CONF"
MW_DAEMON_PREFIX="env http_proxy=http://127.0.0.1:$PORT" daemon_again
status 1 mw alert test
matches 'no webhook is configured' "$ERR" "none"
printf '[Webhook far]\nUrl=http://far.invalid/x\n' >>"$CONF"
mw reload
status 0 mw alert test far
matches '"path": "http://far.invalid/x"' "$(cat "$TOP/proxy"/*.log)" "proxy"
