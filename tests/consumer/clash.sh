#!/bin/sh
# C40: a program with symbols of its own that are named as a driver's, and two copies of the library
# in one process.
#
#     clash.sh SOURCE_DIR BUILD_DIR
set -eu
here=$2/tests/consumer
lib=$(dirname "$(dirname "$(find "$here/moved" -name gantry.pc)")")
work=$here/clash
rm -rf "$work"
mkdir -p "$work"
cp -R "$lib" "$work/other"
include=$(PKG_CONFIG_PATH="$lib/pkgconfig" pkg-config --define-prefix --cflags gantry)
cc -std=c11 -Wall -Wextra -Werror $include -rdynamic "$1/tests/consumer/clash.c" -ldl \
    -o "$work/clash"
GANTRY_CONFIG=none "$work/clash" "$lib/libgantry.so" "$work/other/libgantry.so"
