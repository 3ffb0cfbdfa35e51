#!/bin/sh
# C51: programs in C and C++ link with what pkg-config says of a moved installation, strictly, and
# find the plugins beside the library from wherever they are started.
#
#     link.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1/tests/consumer
here=$2/tests/consumer
moved=$here/moved
lib=$(dirname "$(dirname "$(find "$moved" -name gantry.pc)")")
work=$here/link
rm -rf "$work"
mkdir -p "$work/bin" "$work/elsewhere"

for tool in pkg-config cc c++; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "skip: there is no $tool"
        exit 77
    }
done
export PKG_CONFIG_PATH="$lib/pkgconfig"
cflags=$(pkg-config --define-prefix --cflags gantry)
libs=$(pkg-config --define-prefix --libs gantry)
static=$(pkg-config --define-prefix --static --libs gantry)
case "$libs $static" in
*cuda* | *vulkan* | *nvrtc*)
    echo "gantry.pc names a driver: $libs $static"
    exit 1
    ;;
esac
case $libs in
*"$moved"*) ;;
*)
    echo "--define-prefix does not lead into $moved: $libs"
    exit 1
    ;;
esac
kernels=$(pkg-config --define-prefix --variable=kernelsdir gantry)
[ -f "$kernels/gantry-kernels.gpk" ] || {
    echo "gantry.pc's kernelsdir, $kernels, has no gantry-kernels.gpk"
    exit 1
}
strict="-Wall -Wextra -Wpedantic -Werror -Wl,--as-needed -Wl,--no-undefined"
cc -std=c11 $cflags $strict "$source/hello.c" $libs -o "$work/bin/hello-c"
c++ -std=c++17 $cflags $strict -x c++ "$source/hello.c" -x none $libs -o "$work/bin/hello-c++"

# The kernel library's header is whole.
printf '#include <gantry/kernels/algorithms.h>\nint main(void) { return 0; }\n' >"$work/kernels.c"
cc -std=c11 $cflags $strict "$work/kernels.c" -c -o "$work/kernels.o"
c++ -std=c++17 $cflags $strict -x c++ "$work/kernels.c" -c -o "$work/kernels.o"

# run PROGRAM: from another folder, where a plugin lies that must not be used (C38).
echo "not a plugin" >"$work/elsewhere/gantry-cuda.so"
echo "not a plugin" >"$work/elsewhere/gantry-vulkan.so"
run() {
    (cd "$work/elsewhere" && GANTRY_CONFIG=none LD_LIBRARY_PATH="$lib" "$1") >"$work/out" || {
        cat "$work/out"
        echo "$1 failed"
        exit 1
    }
    cat "$work/out"
    grep '^backend ' "$work/out" | while read -r _ name path; do
        case $path in
        "$lib"/*) ;;
        *)
            echo "backend $name was loaded from $path, not from $lib"
            exit 1
            ;;
        esac
    done
    grep -q '^backend ' "$work/out" || {
        echo "$1 found no plugin"
        exit 1
    }
}
run "$work/bin/hello-c"
run "$work/bin/hello-c++"
ln -s "$work/bin/hello-c" "$work/elsewhere/linked"
run "$work/elsewhere/linked"
