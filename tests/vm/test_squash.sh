#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317,SC2046,SC2086 # functions are called by name; lists of words
# On a server that squashes root a user who is in no session opens his own files as if nobody watched.
. "$(dirname "$0")/lib.sh"
grep -q ^squash "$LAB/mounts" || skip "no NFS server that squashes root"
id joe >/dev/null 2>&1 || useradd -M -u 1600 joe
configure deny
bystander() {
    chmod 777 "$S"
    install -d -o joe -m 700 "$S/joe" && install -o joe -m 600 /etc/hostname "$S/joe/mine"
    install -o joe -m 600 /etc/hostname "$S/mine"
    cold
    sleep 60 &
    local pid=$! as="setpriv --reuid=1600 --regid=1600 --clear-groups"
    mountwatch session start --pid $pid >"$TOP/id" 2>"$TOP/said"
    cat "$TOP/said"
    for f in mine joe/mine; do
        $as cat "$M/$f" >/dev/null || fail "the user cannot read $f"
        $as sh -c "echo more >>'$M/$f'" || fail "the user cannot write to $f"
        $as sh -c "echo new >'$M/$f.new'" || fail "the user cannot create $f.new"
    done
    kill $pid
    wait_for over
    mountwatch report last --json >"$TOP/r"
    field "$TOP/r" session.losses
    [[ $(field "$TOP/r" session.losses) == *not-enforced* ]] || fail "nothing is held here, and the report does not say so"
}
over() { mountwatch report last --json >"$TOP/r" && case $(field "$TOP/r" session.state) in active | lingering) false ;; esac; }
for_each_kind bystander squash
finish
