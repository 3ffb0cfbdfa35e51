#!/bin/sh
# C41: fork_calls.c makes every call that the header declares, gantry_open() apart, which is how a
# child begins anew.
#
#     calls.sh SOURCE_DIR
set -eu
failed=0
names=$(sed -n '/GANTRY_API/,/;/p' "$1/include/gantry/gantry.h" | grep -oE '\bgantry_[a-z_]+\(' |
    tr -d '(' | sort -u)
[ -n "$names" ]
for name in $names; do
    [ "$name" = gantry_open ] && continue
    grep -qw "$name" "$1/tests/life/fork_calls.c" || {
        echo "tests/life/fork_calls.c does not call $name in a child"
        failed=1
    }
done
exit $failed
