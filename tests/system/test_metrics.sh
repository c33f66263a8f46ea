#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# mountwatch metrics: right numbers, in formats that their owners' parsers accept.
. "$(dirname "$0")/lib.sh"
scratch
mkdir "$MNT/other"
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
Allow=fine
[Watch refuses]
Path=$MNT/other
Policy=deny
CONF

value() { # SAMPLE, out of $OUT
    local line
    line=$(grep -F -- "$1 " <<<"$OUT") || fail "no $1 in: $OUT"
    echo "${line##* }"
}
counts() { is "$2" "$(value "$1")" "$1"; }

note "nothing has happened"
status 0 mw metrics
counts mountwatch_up 1
counts 'mountwatch_operations_total{watch="case"}' 0
counts 'mountwatch_watch_state{watch="case",state="idle"}' 1
counts mountwatch_sessions_started_total 0
is '# EOF' "$(tail -n 1 <<<"$OUT")" "the last line"

note "it is counted"
quietly run touch "$WATCHED/fine"
session_over
run touch "$WATCHED/bad"
session_over
run sh -c ': >"$0/refused"' "$MNT/other"
session_over
mkfifo "$TOP/go" "$TOP/up"
run sh -c 'echo >"$0"; read -r x <"$1"' "$TOP/up" "$TOP/go" &
read -r _ <"$TOP/up"
id=$(mountwatch session list | awk '/ active / { print $1 }')
status 0 mw session freeze "$id"
status 0 mw metrics
counts 'mountwatch_sessions{state="active"}' 1
counts mountwatch_sessions_frozen 1
counts mountwatch_sessions_started_total 4
counts 'mountwatch_sessions_ended_total{verdict="clean"}' 1
counts 'mountwatch_sessions_ended_total{verdict="dirty"}' 2
counts 'mountwatch_violations_total{watch="refuses"}' 1
counts 'mountwatch_refused_total{watch="refuses"}' 1
counts 'mountwatch_alerts_total{kind="violation"}' 2
counts 'mountwatch_alerts_total{kind="summary"}' 2
counts 'mountwatch_watch_state{watch="case",state="armed"}' 1
[ "$(value 'mountwatch_operations_total{watch="case"}')" -ge 2 ] || fail "operations"
[ "$(value mountwatch_processes)" -ge 1 ] || fail "processes"
[ "$(value mountwatch_store_bytes)" -gt 0 ] || fail "store"
status 0 mw session thaw "$id"
echo >"$TOP/go"
session_over "$id"

note "a file appears whole, with up 0 when there is no daemon"
mkdir "$TOP/collector"
status 0 mw metrics --prometheus --output "$TOP/collector/mountwatch.prom"
is mountwatch.prom "$(ls "$TOP/collector")" "nothing is left beside it"
cp "$TOP/collector/mountwatch.prom" "$TOP/prometheus"
mw metrics >"$TOP/openmetrics"
daemon_kill
status 125 mw metrics --prometheus --output "$TOP/collector/mountwatch.prom"
matches 'mountwatch' "$ERR" "and it is said"
OUT=$(<"$TOP/collector/mountwatch.prom")
counts mountwatch_up 0
status 1 mw metrics --output "$TOP/nowhere/x"
daemon_again

note "the unit's command, as the unit has it"
unit=$HERE/../../systemd/mountwatch-metrics.service
command=$(sed -n 's/^ExecStart=@BINDIR@\///p' "$unit" | sed "s|\${MOUNTWATCH_METRICS_DIR}|$TOP/collector|")
rm "$TOP/collector/mountwatch.prom"
# shellcheck disable=SC2086 # a list of words
status 0 $command
[ -s "$TOP/collector/mountwatch.prom" ] || fail "the unit writes nothing"

note "by the book: Prometheus"
need promtool
for f in "$TOP/prometheus" "$TOP/collector/mountwatch.prom"; do
    status 0 promtool check metrics <"$f"
    is '' "$OUT$ERR" "what promtool says"
done

note "by the book: OpenMetrics"
python3 - "$TOP/openmetrics" <<'PY'
import sys
try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    print("  not tried: no python3-prometheus-client")
    sys.exit(0)
families = {f.name: f for f in text_string_to_metric_families(open(sys.argv[1]).read())}
assert families["mountwatch_operations"].type == "counter" and families["mountwatch_up"].type == "gauge", families
PY
is 0 $? "the parser of OpenMetrics"
