#!/bin/sh
# C07, C40: nothing that is installed needs a driver to start, and nothing but gantry's own names is
# seen from outside. What is mapped can't be written and run at once, and the library's own calls
# can't end in another copy of it.
#
#     symbols.sh BUILD_DIR
set -eu
moved=$1/tests/consumer/moved
lib=$(dirname "$(dirname "$(find "$moved" -name gantry.pc)")")
failed=0

for tool in readelf nm; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "skip: there is no $tool"
        exit 77
    }
done

for file in "$lib"/libgantry.so "$lib"/gantry/gantry-*.so "$moved"/bin/*; do
    readelf -h "$file" >/dev/null 2>&1 || continue
    if readelf -d "$file" | grep NEEDED | grep -E 'libcuda|libvulkan|libnvrtc'; then
        echo "$file needs a driver"
        failed=1
    fi
done

for file in "$lib"/libgantry.so "$lib"/gantry/gantry-*.so "$moved"/bin/gantry; do
    if readelf -dW "$file" | grep -E 'TEXTREL'; then
        echo "$file has text relocations"
        failed=1
    fi
    readelf -lW "$file" | grep 'GNU_STACK' | grep -q 'RW ' || {
        echo "$file asks for an executable stack, or does not say that it needs none"
        failed=1
    }
done
if readelf -rW "$lib/libgantry.so" | grep -E ' gantry_[a-z_]+'; then
    echo "libgantry.so calls these of its own functions through names that a program can take over"
    failed=1
fi

# exports FILE PATTERN: every name matches.
exports() {
    nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' | sort -u >"$lib/exports"
    if [ ! -s "$lib/exports" ] || grep -vE "$2" "$lib/exports"; then
        echo "$1 exports these names, or none at all; allowed is $2"
        failed=1
    fi
    rm -f "$lib/exports"
}
exports "$lib/libgantry.so" '^gantry_[a-z0-9_]+$'
for plugin in "$lib"/gantry/gantry-*.so; do
    exports "$plugin" '^gantry_backend$'
done

readelf -d "$lib/libgantry.so" | grep -q 'SONAME.*\[libgantry\.so\.[0-9]*\]' || {
    echo "libgantry.so has no versioned SONAME"
    failed=1
}
exit "$failed"
