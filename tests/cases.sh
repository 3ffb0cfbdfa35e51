#!/bin/sh
# The table of tests/README.md: every case has a row, every test of a row exists, and knows the case's
# number.
#
#     cases.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1
build=$2
failed=0
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT

ctest --test-dir "$build/tests" -N 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: //p' >"$lists/ctest"
"$build/tests/conform/conform" --list >"$lists/cases"
"$build/tests/life/life" --list >>"$lists/cases"
[ -s "$lists/ctest" ] && [ -s "$lists/cases" ] || {
    echo "there is no list of tests"
    exit 1
}
# Without its plugin Vulkan has no tests.
vulkan=$(grep -c '^vulkan/plugin$' "$lists/ctest" || :)

complain() {
    echo "tests/README.md, $case: $*"
    failed=1
}

# In a file that mentions the case, the function is one of the tests.
knows() {
    lower=$(echo "$case" | tr C c)
    files=$(grep -rlE "\b$1\b" "$source/tests" --include='*.c') || return 1
    grep -qE "\b$case\b|\b(test_)?${lower}_" $files
}

check() {
    case $1 in
    */* | profiles)
        if grep -qxF -e "$1" "$lists/ctest"; then
            return
        elif grep -qE "^$1 .*\b$case\b" "$lists/cases"; then
            return
        elif grep -q "^$1 " "$lists/cases"; then
            complain "$1 does not say that it retells the case"
        elif [ "$vulkan" != 0 ] || ! echo "$1" | grep -q vulkan; then
            complain "neither ctest nor a program's --list has a test $1"
        fi
        ;;
    *)
        knows "$1" || complain "no test $1 in a file that mentions the case"
        ;;
    esac
}

number=1
while [ $number -le 51 ]; do
    case=$(printf 'C%02d' $number)
    row=$(grep "^| $case " "$source/tests/README.md") || row=
    tests=$(echo "$row" | cut -d'|' -f3 | grep -o '`[^`]*`' | tr -d '`') || tests=
    [ -n "$tests" ] || complain "there is no row, or it names no test"
    for name in $tests; do
        check "$name"
    done
    number=$((number + 1))
done
exit $failed
