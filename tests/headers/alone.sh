#!/bin/sh
# Compiles each public header alone, twice included, as C11 and as C++17, with every compiler that is
# there; and those of kernel packages likewise.
#
#     alone.sh SOURCE_DIR BUILD_DIR
set -u
source=$1
build=$2
warnings="-Wall -Wextra -Wpedantic -Werror"
failed=0
done=0

# compile COMPILER LANGUAGE STANDARD HEADER
compile() {
    command -v "$1" >/dev/null 2>&1 || return 0
    done=$((done + 1))
    printf '#include <%s>\n#include <%s>\n' "$4" "$4" |
        "$1" -x "$2" -std="$3" $warnings -I"$source/include" -I"$build" \
            -I"$source" -I"$build/kernels" -fsyntax-only - || {
        echo "$4 does not compile alone with $1 -std=$3"
        failed=1
    }
}

for header in gantry/gantry.h gantry/backend.h kernels/saxpy.h kernels/edge.h \
    kernels/gantry-kernels.h kernels/algorithms.h; do
    for compiler in cc gcc clang; do
        compile "$compiler" c c11 "$header"
    done
    for compiler in c++ g++ clang++; do
        compile "$compiler" c++ c++17 "$header"
    done
done
if [ "$done" = 0 ]; then
    echo "skip: there is no compiler named cc, gcc, clang, c++, g++ or clang++"
    exit 77
fi
echo "$done compilations"
exit "$failed"
