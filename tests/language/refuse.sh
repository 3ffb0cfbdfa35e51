#!/bin/sh
# refuse.sh GANTRY INCLUDES FILE: the file must be refused at the line, and with the words, of its
# comment "// refused: WORDS", and nothing must be left behind.
gantry=$1
includes=$2
file=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp" || exit 1

line=$(grep -n '// refused: ' "$file" | cut -d: -f1)
words=$(sed -n 's|.*// refused: ||p' "$file")
[ -n "$words" ] || { echo "$file says nothing of what is refused"; exit 1; }

TMPDIR=$work/tmp "$gantry" compile "$file" -I "$includes" --targets spirv -o "$work/out.gpk" \
    --header "$work/out.h" 2>"$work/errors"
status=$?
cat "$work/errors"
[ $status = 1 ] || { echo "exit status $status instead of 1"; exit 1; }
grep -F -- "$file:$line: error: " "$work/errors" | grep -qF -- "$words" ||
    { echo "expected: $file:$line: error: … $words"; exit 1; }
[ ! -e "$work/out.gpk" ] && [ ! -e "$work/out.h" ] || { echo "output was written"; exit 1; }
[ -z "$(ls -A "$work/tmp")" ] || { echo "left behind: $(ls -A "$work/tmp")"; exit 1; }
