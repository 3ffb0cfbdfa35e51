#!/bin/sh
# Lets each entry of the stand-in driver fail in turn, once and for ever, for a reason that passes and
# for one that loses the device. The program must end by itself and leave nothing.
#
# torture.sh SELFTEST PLUGIN; the environment finds the stand-in.
set -u
report=$(mktemp) || exit 1
trap 'rm -f "$report" "$report.out"' EXIT
STANDIN_REPORT=$report "$1" "$2" torture untimed >"$report.out" 2>&1 || {
    cat "$report.out"
    exit 1
}
# What can't be destroyed stays: that is no fault of the plugin's. Nor can it know that work is done
# when the driver refuses to wait for it.
entries=$(sed -n 's/^calls: \([A-Za-z0-9_]*\) .*/\1/p' "$report" |
    grep -Ev 'Destroy|Free|Unregister|Unload|Release|PushCurrent|StreamSynchronize|GetError|GetProcAddress')
failed=0 runs=0
for entry in $entries; do
    for failure in 1:801 2:2 1+:801 1:700 3:719; do
        runs=$((runs + 1))
        STANDIN_STRICT=1 STANDIN_FAIL=$entry:$failure timeout 30 "$1" "$2" torture untimed \
            >"$report.out" 2>&1 && continue
        echo "$entry:$failure: exit status $?"
        cat "$report.out"
        failed=$((failed + 1))
    done
done
echo "$failed of $runs runs failed"
[ "$runs" -gt 100 ] && [ "$failed" -eq 0 ]
