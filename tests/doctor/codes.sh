#!/bin/sh
# docs/doctor.md must list every finding of tools/doctor/codes.h with its severity, and no other.
# Usage: codes.sh TOP-OF-THE-SOURCES
set -eu
table=$1/tools/doctor/codes.h
page=$1/docs/doctor.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# X(CODE, topic, SEVERITY, MILD, …) becomes "CODE severity" or "CODE severity, mild with a GPU".
sed -n 's/^    X(\([A-Z_]*\), [A-Z]*, \([A-Z]*\), \([A-Z]*\),.*/\1 \2 \3/p' "$table" |
    while read -r code severity mild; do
        words=$(echo "$severity" | tr A-Z a-z)
        [ "$severity" = "$mild" ] || words="$words, $(echo "$mild" | tr A-Z a-z) with a GPU"
        echo "$code $words"
    done | sort >"$work/table"

# | `CODE` | severity | …
sed -n 's/^| `\([A-Z_]*\)` | \([a-z, A-Z]*\) |.*/\1 \2/p' "$page" | sort >"$work/page"

[ "$(wc -l <"$work/table")" -gt 50 ] || { echo "codes.h is not read rightly" >&2; exit 1; }
diff "$work/table" "$work/page" || {
    echo "docs/doctor.md and tools/doctor/codes.h differ" >&2
    exit 1
}
