#!/bin/sh
# The programs that README.md shows are the ones that the tests build and run.
#   readme.sh SOURCE-FOLDER
cd "$1" || exit 1
readme=$(cat README.md)
status=0
for file in kernels/saxpy.gk examples/saxpy.c; do
    shown=$(sed -e 's/^/    /' -e 's/^ *$//' "$file")
    case $readme in
    *"$shown"*) echo "README.md shows $file as it is" ;;
    *) echo "README.md does not show $file as it is: put it in again, indented by four" && status=1 ;;
    esac
done
exit $status
