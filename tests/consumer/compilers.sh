#!/bin/sh
# C50: without a compiler that a build needs, configure says so, and what to install; nothing is left
# to a make that fails.
#
#     compilers.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1
work=$2/tests/consumer/compilers
[ ! -e "$source/config.status" ] || {
    echo "skip: the source folder was configured itself, which rules out other builds of it"
    exit 77
}
rm -rf "$work"
mkdir -p "$work/tools" "$work/build"

# Every tool there is, but none that compiles shaders.
IFS=:
for folder in $PATH; do
    for tool in "$folder"/*; do
        [ -x "$tool" ] && [ ! -e "$work/tools/${tool##*/}" ] && printf '%s\n' "$tool"
    done
done | xargs -d '\n' ln -s -t "$work/tools" 2>/dev/null || : # the same name in several folders
unset IFS
rm -f "$work/tools/glslc" "$work/tools/glslangValidator" "$work/tools/glslang"

# refuses WORDS: configure ends with a failure that names them, and makes no Makefile.
refuses() {
    cd "$work/build"
    if "$source/configure" --with-cuda=no --cache-file="$work/cache" >"$work/out" 2>&1; then
        echo "configure goes on $1"
        exit 1
    fi
    for words in "$2" "apt install glslc"; do
        grep -q "error:.*$words" "$work/out" || {
            tail -n 3 "$work/out"
            echo "configure does not say \"$words\" $1"
            exit 1
        }
    done
    [ ! -e Makefile ] || {
        echo "configure makes a Makefile $1"
        exit 1
    }
    rm -f "$work/cache.paths"
    sed '/^ac_cv_path_/d' "$work/cache" >"$work/cache.paths"
    mv "$work/cache.paths" "$work/cache"
}

PATH=$work/tools
export PATH
refuses "without glslc" "glslc is missing"
printf '#!/bin/sh\necho broken >&2\nexit 1\n' >"$work/tools/glslc"
chmod +x "$work/tools/glslc"
refuses "with a glslc that fails" "glslc does not work"
rm -rf "$work"
