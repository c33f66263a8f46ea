#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A command under `run` finds everything as it would without: descriptors, environment, folder, umask, signals, priority.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start

note "standard input and output pass through, nothing is added to standard output"
got=$(printf 'one\ntwo\n' | mountwatch run -- cat 2>"$TOP/report")
is $'one\ntwo' "$got" "standard output"
got=$(mountwatch run -- sh -c 'echo out; echo err >&2' 2>/dev/null)
is out "$got"
head -c 3000000 /dev/urandom >"$TOP/big"
# shellcheck disable=SC2094
mountwatch run -- cat <"$TOP/big" 2>/dev/null | cmp - "$TOP/big" || fail "three megabytes differ"

note "what is printed to a full or closed standard output is the command's own affair"
status 1 mw run -- sh -c 'echo x >/dev/full 2>/dev/null || exit 1'
(exec >&-; mountwatch run -- sh -c '[ ! -e /proc/self/fd/1 ] || exit 9' 2>/dev/null)
is 0 $? "closed standard output stays closed"

note "inherited descriptors: the same ones, and no others"
exec 7>"$WORK/seven" 8<"$TOP/big"
cat >"$TOP/list.py" <<'PY'
import os
for fd in sorted(map(int, os.listdir("/proc/self/fd"))):
    try:
        print(fd, os.readlink("/proc/self/fd/%d" % fd))
    except OSError:
        pass  # the one that listed them
PY
python3 "$TOP/list.py" </dev/null >"$TOP/without" 2>/dev/null
mountwatch run -- python3 "$TOP/list.py" </dev/null >"$TOP/with" 2>/dev/null
diff <(sed "s|$TOP/with[a-z]*|OUT|" "$TOP/without") <(sed "s|$TOP/with[a-z]*|OUT|" "$TOP/with") || fail "the descriptors differ"
mountwatch run -- sh -c 'echo inherited >&7' 2>/dev/null
is inherited "$(cat "$WORK/seven")" "what went through descriptor 7"
exec 7>&- 8<&-

note "environment, folder, umask, ignored and blocked signals, priority"
look='env | grep -v "^\(_\|SHLVL\)="; pwd; umask; grep -E "^Sig(Blk|Ign)" /proc/self/status; nice; ulimit -n'
(
    cd "$WORK" && umask 027 && trap '' USR1
    export ODD=$'a b\n"c' EMPTY=
    sh -c "$look" >"$TOP/without"
    mountwatch run -- sh -c "$look" >"$TOP/with" 2>/dev/null
)
diff "$TOP/without" "$TOP/with" || fail "these differ"

note "arguments arrive as they are"
got=$(mountwatch run -- printf '<%s>' '' 'a b' '--' '-x' $'new\nline' 2>/dev/null)
is $'<><a b><--><-x><new\nline>' "$got"
got=$(mountwatch run echo --json -n 2>/dev/null)
is "--json -n" "$got" "options after the command"

note "the files of --json and --junit"
status 0 mw run --fail-on never --json "$WORK/r.json" --junit "$WORK/r.xml" -- touch "$WATCHED/a"
python3 -c 'import json,sys,xml.dom.minidom; json.load(open(sys.argv[1]))["session"]; xml.dom.minidom.parse(sys.argv[2])' \
    "$WORK/r.json" "$WORK/r.xml" || fail "a file cannot be read"
