#!/bin/sh
# Installs the build into a folder of its own and moves the result elsewhere: what the other tests of
# this folder use, at BUILD_DIR/tests/consumer/moved.
#
#     install.sh BUILD_DIR
set -eu
here=$1/tests/consumer
stage=$here/stage
moved=$here/moved

rm -rf "$stage" "$moved"
# Not the options of the make that runs the tests.
unset MAKEFLAGS MFLAGS MAKELEVEL
make -C "$1" install DESTDIR="$stage" >"$here/install.log" 2>&1 || {
    cat "$here/install.log"
    exit 1
}
pc=$(find "$stage" -name gantry.pc)
[ -n "$pc" ] || {
    echo "no gantry.pc was installed"
    exit 1
}
prefix=$(dirname "$(dirname "$(dirname "$pc")")")

# C51: nothing lies outside the prefix.
outside=$(find "$stage" ! -type d ! -path "$prefix/*")
[ -z "$outside" ] || {
    echo "installed outside the prefix:"
    echo "$outside"
    exit 1
}
mv "$prefix" "$moved"
rm -rf "$stage"
