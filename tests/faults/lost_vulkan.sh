#!/bin/sh
# lost_vulkan.sh BUILD SCENARIO COMMAND:COUNT:CODE: loses a Vulkan device by a failure of the driver,
# injected by the loader in tests/faults/vulkan.
set -u
loader=$(PATH=$PATH:/sbin ldconfig -p 2>/dev/null | sed -n 's/.*libvulkan\.so\.1 .*=> //p' | head -n 1)
[ -n "$loader" ] || { echo "skipped: there is no Vulkan loader"; exit 77; }
export FAULTS_VULKAN_LOADER="$loader" FAULTS_VULKAN_FAIL="$3" GANTRY_BACKEND=vulkan
export LD_LIBRARY_PATH="$1/tests/faults/vulkan/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$1/tests/faults/lost" vulkan:0 "$2" --injected
