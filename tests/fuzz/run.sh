#!/bin/sh
# Fuzzes a target for some seconds: run.sh HAVE PROGRAM SEEDS FOUND SECONDS DICTIONARY
#
# HAVE is 1 when configure found a clang with libFuzzer. Inputs that reach new code are kept in the folder
# FOUND, for the next run, and so is the input of a finding. A target need not have a dictionary. The last
# line is for docs/reliability.md.
have=$1 program=$2 seeds=$3 found=$4 seconds=$5 dictionary=$6

if [ "$have" != 1 ]; then
    echo "skipped: configure found no clang with libFuzzer (Debian: apt install clang libclang-rt-14-dev)"
    exit 77
fi
mkdir -p "$found" || exit 1
[ -f "$dictionary" ] || dictionary=
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
{
    "$program" -max_total_time="$seconds" -max_len=8192 -timeout=10 -print_final_stats=1 \
        -error_exitcode=1 -timeout_exitcode=1 \
        -artifact_prefix="$found/finding-" ${dictionary:+-dict="$dictionary"} "$found" "$seeds"
    echo "ended with status $?"
} 2>&1 | tee "$log"
executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
findings=1
grep -q '^ended with status 0$' "$log" && findings=0
echo "reliability: fuzz/${program##*/fuzz_} executions=${executions:-0} findings=$findings"
exit $findings
