#!/bin/sh
# bytes.sh GANTRY INCLUDES SOURCE: the same source gives the same bytes, whatever the folder for
# intermediate files and however the source is reached.
gantry=$1
includes=$2
source=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/a" "$work/b" || exit 1

TMPDIR=$work/a "$gantry" compile "$source" -I "$includes" --cuda-archs "90 75-ptx" -o "$work/a.gpk" \
    --header "$work/a.h" --embed || exit 1
cd "$(dirname "$source")" || exit 1
TMPDIR=$work/b "$gantry" compile "$(basename "$source")" -I "$includes" --cuda-archs "90 75-ptx" \
    -o "$work/b.gpk" --header "$work/b.h" --embed --keep "$work/kept" || exit 1
cmp "$work/a.gpk" "$work/b.gpk" && cmp "$work/a.h" "$work/b.h" || exit 1
ls "$work"/kept/*.spv >/dev/null || { echo "--keep kept no SPIR-V"; exit 1; }
[ -z "$(ls -A "$work/a" "$work/b" | grep -v :)" ] || { echo "files were left behind"; exit 1; }
