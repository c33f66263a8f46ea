#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `make install` puts into an empty root is complete, and `make uninstall` leaves nothing of it behind.
set -eu
cd "$(dirname "$0")/.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
fail() {
    echo "$1"
    exit 1
}

make -s install DESTDIR="$root" PREFIX=/usr >/dev/null
for f in usr/bin/mountwatch usr/sbin/mountwatchd usr/share/man/man1/mountwatch.1 usr/share/man/man8/mountwatchd.8 \
    usr/share/man/man5/mountwatch.conf.5 usr/share/man/man7/mountwatch-api.7 etc/mountwatch/mountwatch.conf \
    usr/share/bash-completion/completions/mountwatch usr/share/zsh/site-functions/_mountwatch \
    usr/share/fish/vendor_completions.d/mountwatch.fish usr/share/mountwatch/io.mountwatch.varlink usr/share/doc/mountwatch/journal.md usr/share/doc/mountwatch/fleet/mountwatch.rules.yml usr/share/doc/mountwatch/webhooks.md \
    usr/share/doc/mountwatch/alert.schema.json; do
    [ -f "$root/$f" ] || fail "not installed: $f"
done
catalog=$(find "$root" -name mountwatch.catalog)
[ -n "$catalog" ] || fail "no catalog"
if command -v journalctl >/dev/null; then
    journalctl --update-catalog --root="$root" || fail "the catalog is broken"
    rm -r "${root:?}/var"
fi
unit=$(find "$root" -name mountwatch.service)
[ -n "$unit" ] || fail "no unit"
metrics=$(find "$root" -name mountwatch-metrics.service)
[ -n "$metrics" ] && [ -e "${metrics%service}timer" ] || fail "no unit for the metrics"
agent=$(find "$root" -name mountwatch-agent.service) autostart=$root/etc/xdg/autostart/mountwatch-agent.desktop
grep -q 'ExecStart=/usr/bin/mountwatch agent' "$agent" || fail "the agent's unit starts another program"
grep -q 'Exec=/usr/bin/mountwatch agent' "$autostart" || fail "the autostart starts another program"
! grep -n '@[A-Z]*@' "$unit" "$metrics" "$agent" "$autostart" || fail "a placeholder is left in a unit"
grep -q 'ExecStart=/usr/bin/mountwatch metrics' "$metrics" || fail "the metrics unit starts another program"
grep -q 'ExecStart=/usr/sbin/mountwatchd' "$unit" || fail "the unit starts another program"
"$root/usr/bin/mountwatch" --help >/dev/null || fail "the installed client does not run"
bash -n "$root/usr/share/bash-completion/completions/mountwatch" || fail "bash does not take its completion"
"$root/usr/bin/mountwatch" config check "$root/etc/mountwatch/mountwatch.conf" || fail "the installed configuration is refused"

make -s uninstall DESTDIR="$root" PREFIX=/usr >/dev/null
left=$(find "$root" ! -type d; find "$root" -type d -name '*mountwatch*')
[ -z "$left" ] || fail "left behind: $left"

make -s install DESTDIR="$root" PREFIX=/usr >/dev/null
echo '# mine' >>"$root/etc/mountwatch/mountwatch.conf"
make -s install DESTDIR="$root" PREFIX=/usr >/dev/null
make -s uninstall DESTDIR="$root" PREFIX=/usr >/dev/null
grep -q '# mine' "$root/etc/mountwatch/mountwatch.conf" || fail "a changed configuration was not kept"
