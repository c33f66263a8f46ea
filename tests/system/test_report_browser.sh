#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A real browser opens the HTML report, short and long, runs nothing in it, and draws it at desktop and phone width.
# MW_SCREENSHOTS=FOLDER keeps the pictures for somebody to look at.
. "$(dirname "$0")/lib.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no chromium"
scratch
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
Preserve=yes
Untagged=record
CONF
mw run --label "</title><script>document.title='pwned'</script>" --fail-on never --html "$TOP/hostile.html" -- \
    python3 "$HERE/hostile_names.py" "$WATCHED" "<script>alert(1)</script>" 2>/dev/null || fail run
mw run --fail-on never --html "$TOP/many.html" -- python3 -c '
import os, sys
for d in range(60):
    os.mkdir(f"{sys.argv[1]}/d{d}")
    for f in range(100):
        open(f"{sys.argv[1]}/d{d}/f{f}", "w").close()' "$WATCHED" 2>/dev/null || fail run
daemon_stop || fail stop

browse() { # ARGUMENT...
    timeout -k 5 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --user-data-dir="$TOP/browser" "$@" \
        2>"$TOP/browser.log" </dev/null
}
for page in hostile many; do
    note "the browser's own view of $page"
    browse --dump-dom "file://$TOP/$page.html" >"$TOP/dom.html" || fail "the browser: $(tail -n 3 "$TOP/browser.log")"
    python3 "$HERE/html_check.py" "$TOP/dom.html" "DIRTY" || fail "the page as the browser understood it"
    ! grep -q '<title>pwned' "$TOP/dom.html" || fail "a name was run as a script"
    for size in 1280,2000 390,1600; do
        browse --hide-scrollbars --window-size=$size --screenshot="$TOP/$page-$size.png" "file://$TOP/$page.html" || fail "no picture"
        python3 - "$TOP/$page-$size.png" $size <<'PY' || fail "the picture of $page at $size"
import struct, sys
data = open(sys.argv[1], "rb").read()
assert struct.unpack(">II", data[16:24]) == tuple(map(int, sys.argv[2].split(",")))
assert len(data) > 30000, "nearly nothing was drawn"
PY
        [ -z "${MW_SCREENSHOTS:-}" ] || cp "$TOP/$page-$size.png" "$MW_SCREENSHOTS/"
    done
done
