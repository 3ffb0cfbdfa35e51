#!/bin/sh
# C07: where there is no driver, and where there is no plugin, everything starts and says why there is
# no device.
#
#     bare.sh BUILD_DIR
set -eu
here=$1/tests/consumer
bare=$here/bare
rm -rf "$bare"
cp -R "$here/moved" "$bare"
lib=$(dirname "$(dirname "$(find "$bare" -name gantry.pc)")")
export LD_LIBRARY_PATH="$lib" GANTRY_CONFIG=none
# Loaders look here first, and find nothing.
export VK_ICD_FILENAMES=/nonexistent.json VK_DRIVER_FILES=/nonexistent.json CUDA_VISIBLE_DEVICES=

info() {
    "$bare/bin/gantry" info >"$here/info.out" 2>&1 || {
        cat "$here/info.out"
        echo "gantry info failed $1"
        exit 1
    }
}
info "without a driver"
grep -qi vulkan "$here/info.out" || {
    cat "$here/info.out"
    echo "gantry info does not say what became of Vulkan"
    exit 1
}
rm -f "$lib"/gantry/gantry-*
info "without plugins"
for backend in cuda vulkan; do
    grep -q "gantry-$backend.so" "$here/info.out" || {
        cat "$here/info.out"
        echo "gantry info does not name the places where gantry-$backend.so was searched"
        exit 1
    }
done
rm -rf "$bare"
