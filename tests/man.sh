#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The man pages are what mandoc and groff understand, and name every verb, method and key that exists.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v mandoc >/dev/null || { echo "mandoc is not installed"; exit 77; }
bad=0
pages=(docs/man/*.[1-8])
mandoc -Tlint -Wwarning "${pages[@]}" || bad=1
if command -v groff >/dev/null; then
    for page in "${pages[@]}"; do
        warnings=$(groff -mdoc -Tutf8 -ww -z "$page" 2>&1)
        [ -z "$warnings" ] || { echo "$warnings"; bad=1; }
    done
fi

names() { # PAGE WORD...
    local page=$1 word
    shift
    for word in "$@"; do
        grep -qE "(^|[^A-Za-z])$word([^A-Za-z]|\$)" "$page" || { echo "$page does not name '$word'"; bad=1; }
    done
}
mapfile -t methods < <(sed -n 's/^method \([A-Za-z]*\).*/\1/p; s/^error \([A-Za-z]*\).*/\1/p' common/io.mountwatch.varlink)
names docs/man/mountwatch-api.7 "${methods[@]}"

mapfile -t verbs < <(sed -n 's/^ *\.name = "\([a-z ]*\)",.*/\1/p' client/main.c | grep -vxE 'help|version')
[ ${#verbs[@]} -gt 10 ] || { echo "the verbs are not found any more"; bad=1; }
for verb in "${verbs[@]}"; do
    grep -q "^\.It Cm $verb\b" docs/man/mountwatch.1 || { echo "mountwatch.1 does not describe '$verb'"; bad=1; }
done
mapfile -t keys < <(sed -n 's/^ *{"\([A-Z][A-Za-z]*\)", offsetof.*/\1/p' daemon/config_keys.c)
[ ${#keys[@]} -gt 10 ] || { echo "the keys of the configuration are not found any more"; bad=1; }
names docs/man/mountwatch.conf.5 "${keys[@]}"

# the words for what was not seen: where they are said, where they are explained, and in both documents
mapfile -t said < <(grep -rhoE '(put_loss|add_loss|add_loss_all)\([^;]*"[a-z-]+"' daemon --include='*.c' | grep -oE '"[a-z-]+"' | tr -d '"' | sort -u)
mapfile -t explained < <(sed -n 's/^ *{"\([a-z-]*\)",.*/\1/p' common/loss_reason.c)
[ ${#said[@]} -gt 10 ] && [ ${#explained[@]} -gt 10 ] || { echo "the words of losses are not found any more"; bad=1; }
for word in "${said[@]}"; do
    printf '%s\n' "${explained[@]}" | grep -qxe "$word" || { echo "common/loss_reason.c does not explain '$word'"; bad=1; }
done
names docs/man/mountwatchd.8 "${explained[@]}"
names docs/architecture.md "${explained[@]}"
exit $bad
