#!/bin/sh
# What tuning is worth on this machine: for each backend, launches and the edge example without any
# section, then with the one that `gantry tune --quick --write` has made, by turns; then a second
# tuning, and whether it agrees with the first.
#
#     cd BUILD && SRC/tests/long/tune_check.sh
#
# GANTRY   the program (default: the build's, or the one in PATH)
# EDGE     the example (default: the build's)
# BACKENDS which to look at (default: all that open the device)
# ROUNDS   of each measurement (default: 3)
# COUNTS   of launches in the bench (default: 64,512,2048)
# TUNE     how to tune (default: --quick)
# KEEP     a folder for the outputs of all (default: a temporary one)
#
# Exit status: 0 done, 1 something failed, 77 there is no device.
set -eu

build=${BUILD:-$PWD}
if [ -z "${GANTRY:-}" ] && [ -x "$build/tools/gantry" ]; then
    GANTRY=$build/tools/gantry
fi
GANTRY=${GANTRY:-gantry}
EDGE=${EDGE:-$build/examples/edge}
ROUNDS=${ROUNDS:-3}
TUNE=${TUNE:---quick}
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work/none" "$work/state"
export XDG_STATE_HOME="$work/state"

"$EDGE" --make-test-picture "$work/in.png"
if [ -z "${BACKENDS:-}" ]; then
    BACKENDS=$("$GANTRY" tune --list --keys spin_us | sed -n 's/^  through \([a-z]*\), .*/\1/p')
fi
if [ -z "$BACKENDS" ]; then
    echo "tune_check: no backend opens a device"
    exit 77
fi

# The rows of a JSON report, as "CASE N NS" lines.
rows() {
    awk '{ gsub(/[",]/, "") }
         $1 == "case:" { name = $2 } $1 == "n:" { n = $2 }
         $1 == "gantry_ns:" { ns = $2 } $1 == "mean_ns:" { mean = $2 }
         /^    }/ { if (name) print name, n, mean ? mean : ns; name = mean = "" }' "$1"
}

# measure BACKEND CONFIG_HOME NAME: adds "FIGURE N NS" lines to the file of that name.
measure() {
    XDG_CONFIG_HOME=$2 "$GANTRY" bench submit --backend "$1" --json --n "${COUNTS:-64,512,2048}" \
        --case stream --case oneshot --case chain --case chain1 --case independent --case stages \
        --case mixed --case roundtrip --case roundtrip-stream > "$work/bench.json"
    rows "$work/bench.json" >> "$work/$3"
    XDG_CONFIG_HOME=$2 "$EDGE" --backend "$1" --repeat 300 "$work/in.png" "$work/out.png" |
        awk '/^each frame/ { print "edge", 300, $3 * 1e6 }' >> "$work/$3"
}

# medians FILE: "FIGURE N NS" lines, in the order in which the figures came.
medians() {
    awk '{ key = $1 " " $2; if (!(key in count)) order[++keys] = key; value[key, ++count[key]] = $3 }
         END { for (k = 1; k <= keys; k++) {
                   key = order[k]; n = count[key]
                   for (i = 2; i <= n; i++)
                       for (j = i; j > 1 && value[key, j] < value[key, j - 1]; j--) {
                           t = value[key, j]; value[key, j] = value[key, j - 1]; value[key, j - 1] = t
                       }
                   print key, value[key, int((n + 1) / 2)]
               } }' "$1"
}

# winners FILE: "KEY VALUE" lines of a tuning.
winners() {
    awk -F'"' '$2 == "key" { key = $4 } $2 == "winner" { print key, $4 }' "$1"
}

for backend in $BACKENDS; do
    home=$work/config-$backend
    without=$backend-without with=$backend-with
    first=$work/$backend-first.json second=$work/$backend-second.json
    rm -rf "$home" "$work/$without" "$work/$with"

    echo "== $backend: tuning"
    XDG_CONFIG_HOME=$home "$GANTRY" tune $TUNE --backend "$backend" --write --json > "$first"
    echo
    cat "$home"/gantry/gpu.d/*.ini

    round=0
    while [ $round -lt "$ROUNDS" ]; do
        measure "$backend" "$work/none" "$without"
        measure "$backend" "$home" "$with"
        round=$((round + 1))
    done
    echo
    echo "figure             n       without          with  ratio (ns; medians of $ROUNDS; below 1: faster with the section)"
    medians "$work/$without" > "$work/a"
    medians "$work/$with" > "$work/b"
    paste -d' ' "$work/a" "$work/b" |
        awk '{ printf "%-16s %5d %13.1f %13.1f %6.3f\n", $1, $2, $3, $6, $6 / $3 }'

    echo
    echo "== $backend: tuning again"
    XDG_CONFIG_HOME=$home "$GANTRY" tune $TUNE --backend "$backend" --write --json > "$second"
    echo
    echo "key                            first      second"
    winners "$first" > "$work/a"
    winners "$second" > "$work/b"
    paste -d' ' "$work/a" "$work/b" |
        awk '{ printf "%-30s %-10s %-10s %s\n", $1, $2, $4, $2 == $4 ? "same" : "ANOTHER" }'
    echo
    echo "what gantry config says of the file:"
    XDG_CONFIG_HOME=$home "$GANTRY" config --device "$backend:0" | grep -F "$home"
done
