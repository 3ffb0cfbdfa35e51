#!/bin/sh
# headers.sh CC CXX INCLUDES PACKAGES: every generated header compiles by itself, twice in one file,
# and all together, as C11 and as C++17, without a warning.
cc=$1
cxx=$2
includes=$3
packages=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
warnings="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"

for header in "$packages"/*.h; do
    name=$(basename "$header")
    printf '#include "%s"\n#include "%s"\nint main(void) { return 0; }\n' "$name" "$name" \
        >"$work/one.c"
    printf '#include "%s"\n' "$name" >>"$work/all.c"
    # The compilers may be several words.
    $cc -std=c11 $warnings -I"$includes" -I"$packages" "$work/one.c" || exit 1
    $cxx -std=c++17 $warnings -I"$includes" -I"$packages" -x c++ "$work/one.c" || exit 1
done
[ -s "$work/all.c" ] || { echo "no headers in $packages"; exit 1; }
cat >>"$work/all.c" <<'C'
enum gantry_status use(struct gantry_module *module, struct gantry_list *list, gantry_ptr x);
enum gantry_status use(struct gantry_module *module, struct gantry_list *list, gantry_ptr x)
{
    struct gantry_kernel *kernel;
    struct gantry_size block = {0, 0, 0}, threads = {100, 1, 1};
    struct saxpy_args args = {x, x, 2.0f, 100};
    enum gantry_status status = saxpy_create(module, block, &kernel);
    saxpy_launch(list, kernel, threads, &args);
    return status;
}
C
$cc -std=c11 $warnings -I"$includes" -I"$packages" "$work/all.c" || exit 1
$cxx -std=c++17 $warnings -I"$includes" -I"$packages" -x c++ "$work/all.c" || exit 1
