# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Receivers of webhooks with a CA of their own. Source it after lib.sh.
need openssl
unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
KEYS=$TOP/keys
mkdir -p "$KEYS"

certificate() { # NAME SUBJECT-ALT-NAME
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$KEYS/$1.key" -out "$KEYS/$1.csr" -subj "/CN=$1" 2>/dev/null &&
        openssl x509 -req -in "$KEYS/$1.csr" -CA "$KEYS/ca.pem" -CAkey "$KEYS/ca.key" -CAcreateserial -days 2 \
            -extfile <(echo "subjectAltName=$2") -out "$KEYS/$1.pem" 2>/dev/null || fail "openssl cannot make a certificate"
}

make_keys() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$KEYS/ca.key" -out "$KEYS/ca.pem" -days 2 \
        -subj /CN=mountwatch-test-ca 2>/dev/null || fail "openssl cannot make a CA"
    certificate server DNS:localhost
    certificate client DNS:client
    (umask 077 && echo "$SECRET" >"$KEYS/secret")
}

# receiver NAME [ARGUMENT...]: its folder is $TOP/NAME; the port in $PORT
receiver() {
    local dir=$TOP/$1
    shift
    mkdir -p "$dir"
    python3 "$HERE/webhook_receiver.py" "$dir" "$@" &
    wait_for test -e "$dir/port"
    # shellcheck disable=SC2034 # for the tests
    PORT=$(<"$dir/port")
}

plan() { printf '%s\n' "${@:2}" >"$TOP/hooks/$1.plan"; }
# got NAME N: it has N requests
got() { [ "$(grep -c . "$TOP/hooks/$1.log" 2>/dev/null)" = "$2" ]; }
got_some() { [ -s "$TOP/hooks/$1.log" ]; }
# request NAME N EXPRESSION: of the Nth request (from 0): r the line, b its body as JSON
request() {
    python3 -c '
import json, sys
r = json.loads(open(sys.argv[1]).read().splitlines()[int(sys.argv[2])])
b = json.loads(r["body"])
print(eval(sys.argv[3]))' "$TOP/hooks/$1.log" "$2" "$3" || fail "no request $2 of $1"
}
# hook NAME MEMBER: of the status
hook() {
    mountwatch status --json | python3 -c '
import json, sys
print(next(w for w in json.load(sys.stdin)["webhooks"] if w["name"] == sys.argv[1]).get(sys.argv[2]))' "$1" "$2"
}
hook_is() { [ "$(hook "$1" "$2")" = "$3" ]; }
