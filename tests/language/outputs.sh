#!/bin/sh
# outputs.sh GANTRY INCLUDES: options, odd names, failures, and what is written when.
gantry=$1
includes=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp "a folder" inc || exit 1
TMPDIR=$work/tmp
export TMPDIR

fail()
{
    echo "$1"
    exit 1
}

# Names with blanks and quotes, a nested include, macros from the command line.
source="a folder/it's one.gk"
printf '#include "scale.h"\nARGS(s_args) { PTR(float) x; uint n; };\n' >"$source"
printf 'KERNEL(s, s_args)\n{\n    if (GLOBAL_ID.x < args.n)\n' >>"$source"
printf '        AT(args.x, GLOBAL_ID.x) *= SCALE;\n}\n' >>"$source"
printf '#include "factor.h"\n#define SCALE (FACTOR * TWICE)\n' >inc/scale.h
printf '#define FACTOR 3.0f\n' >inc/factor.h
"$gantry" compile "$source" -I "$includes" -I inc -D TWICE=2.0f --targets spirv,source -o one.gpk \
    --header one.h --depfile one.d || fail "a name with blanks did not compile"
grep -q '^one.gpk one.h: ' one.d && grep -q '^ inc/factor.h' one.d &&
    grep -qF "a\\ folder/it's\\ one.gk" one.d || fail "the make rule lacks a file: $(cat one.d)"
grep -q 'it_s_one' one.h || fail "the header's names were not made identifiers"
"$gantry" inspect one.gpk | grep -q 'inc\|factor.h' || fail "an included file is not in the package"

# A prefix is for C names alone.
"$gantry" compile "$source" -I "$includes" -I inc -D TWICE=2.0f --targets spirv -o two.gpk \
    --header two.h --prefix my_ --embed || fail "--prefix did not compile"
for name in 'struct my_s_args {' 'define my_s_LAYOUT' 'my_s_create(' 'my_s_launch(' \
    'gantry_kernel_create(module, "s",' 'my_it_s_one_gpk_size'; do
    grep -qF "$name" two.h || fail "--prefix: the header lacks $name"
done

# A failure leaves the old output as it was, and nothing else.
cp one.gpk before.gpk
"$gantry" compile "$source" -I "$includes" -I inc --targets spirv,source -o one.gpk 2>errors &&
    fail "an undefined macro was accepted"
grep -qF "it's one.gk:6: error: " errors || fail "the error does not name the line: $(cat errors)"
cmp -s one.gpk before.gpk || fail "a failed compilation changed its output"
[ -z "$(ls -A tmp)" ] || fail "left behind: $(ls -A tmp)"

# Mistakes on the command line: status 2; tools and files that are missing: status 1.
expect()
{
    status=$1
    words=$2
    shift 2
    "$@" 2>errors
    [ $? = "$status" ] || fail "$*: exit status is not $status: $(cat errors)"
    grep -qF -- "$words" errors || fail "$*: $(cat errors)"
}
expect 2 "no kernel source is named" "$gantry" compile -o x.gpk
expect 2 "no package is named" "$gantry" compile "$source"
expect 2 "unknown target" "$gantry" compile "$source" -o x.gpk --targets spirv,metal
expect 2 "--embed needs --header" "$gantry" compile "$source" -o x.gpk --embed
expect 2 "C names are made of" "$gantry" compile "$source" -o x.gpk --prefix 2_
expect 1 "can't read absent.gk" "$gantry" compile absent.gk -I "$includes" -o x.gpk
expect 1 "can't run ./absent" env GLSLC=./absent "$gantry" compile "$source" -I "$includes" -o x.gpk
expect 1 "is no CUDA architecture" env NVCC=true PTXAS=true "$gantry" compile "$source" \
    -I "$includes" -o x.gpk --targets cuda --cuda-archs "90 fermi"
expect 1 "can't write absent/x.gpk" "$gantry" compile "$source" -I "$includes" -I inc \
    -D TWICE=1.0f --targets spirv -o absent/x.gpk
[ ! -e x.gpk ] || fail "a failed compilation wrote a package"

# Two files of one name could not be told apart by NVRTC.
mkdir inc/inc
printf '#define OTHER 1\n' >inc/inc/factor.h
printf '#include "inc/more.h"\n' >>inc/scale.h
printf '#include "factor.h"\n' >inc/inc/more.h
expect 1 "are both included as \"factor.h\"" "$gantry" compile "$source" -I "$includes" -I inc \
    -D TWICE=2.0f --targets spirv -o x.gpk
