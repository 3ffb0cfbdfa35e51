#!/bin/sh
# Makes the tables of docs/reliability.md from what tests print: table.sh DOCUMENT LOG…
#
# A test that has something to count ends with a line of its own
#
#     reliability: PART KEY=NUMBER KEY=NUMBER …
#
# where PART is KIND/NAME, and KIND says which keys the line has:
#
#     faults/NAME  faults= survived= leaked= crashed=    every failure injected, a line a backend
#     fuzz/NAME    executions= findings=                 a line a target
#     model/NAME   steps= differences=                   of the randomised test of the API
#     life/NAME    rounds= leaked= crashed=              objects opened and closed
#
# Logs are ctest's (Testing/Temporary/LastTest.log) or any other text. Of several lines of one PART
# the one with the largest first number counts, so a long run beats a short one. The tables replace
# what stands in DOCUMENT between its two lines "<!-- tables -->".
set -eu
document=$1
shift
tables=$(mktemp)
trap 'rm -f "$tables" "$tables.new"' EXIT

cat "$@" | sed -n 's/^.*reliability: \([a-z]*\)\/\([^ ]*\) \(.*\)$/\1 \2 \3/p' | awk '
function number(pair) { sub(/.*=/, "", pair); return pair + 0 }
{
    part = $1 " " $2
    if (part in lines && number($3) <= first[part])
        next
    lines[part] = $0
    first[part] = number($3)
}
END { for (part in lines) print lines[part] }' | sort | awk '
BEGIN {
    title["faults"] = "failures injected into"
    title["fuzz"] = "fuzz target"
    title["life"] = "opened and closed"
    title["model"] = "model"
}
$1 != kind {
    if (kind)
        print ""
    kind = $1
    head = "| " title[kind] " |"
    rule = "|---|"
    for (i = 3; i <= NF; i++) {
        split($i, pair, "=")
        head = head " " pair[1] " |"
        rule = rule "---:|"
    }
    print head
    print rule
}
{
    row = "| " $2 " |"
    for (i = 3; i <= NF; i++) {
        split($i, pair, "=")
        row = row " " pair[2] " |"
    }
    print row
}' >"$tables"
[ -s "$tables" ] || { echo "table.sh: no line \"reliability: …\" in $*" >&2; exit 1; }

awk -v tables="$tables" '
/^<!-- tables -->$/ {
    print
    if (++marks == 1) {
        print ""
        while ((getline line < tables) > 0)
            print line
        print ""
    }
    next
}
marks != 1 { print }' "$document" >"$tables.new"
cat "$tables.new" >"$document"
