/* Everything that the doctor can find. Codes are stable: scripts read them. docs/doctor.md lists
 * them for people, and a test compares the two.
 *
 * X(CODE, topic, severity, mild, remedy): mild is the severity where some GPU can be used all the
 * same. A finding may bring a remedy of its own; "": there is nothing to do. */
#ifndef GANTRY_DOCTOR_CODES_H
#define GANTRY_DOCTOR_CODES_H

/* X(NAME, heading), in the order in which they are shown: each rests on those above it. */
#define TOPIC_MAP(X)                       \
    X(CONFIG, "Configuration")             \
    X(PLUGINS, "Plugins")                  \
    X(MACHINE, "This machine")             \
    X(CUDA, "CUDA driver")                 \
    X(VULKAN, "Vulkan loader and drivers") \
    X(DEVICES, "Devices")                  \
    X(PACKAGES, "Kernel packages")

/* X(NAME, text), the mildest first. */
#define SEVERITY_MAP(X)   \
    X(OK, "ok")           \
    X(NOTE, "note")       \
    X(WARNING, "warning") \
    X(ERROR, "error")

/* clang-format off: a row a code */
#define CODE_MAP(X)                                                                                \
    X(CONFIG_READ, CONFIG, OK, OK, "")                                                             \
    X(CONFIG_MISTAKE, CONFIG, ERROR, ERROR,                                                        \
      "correct the line; gantry config --check FILE reads it again without using it")              \
    X(CONFIG_DOUBTFUL, CONFIG, WARNING, WARNING,                                                   \
      "look at the line again; conf/README.md and gantry(1) list every key")                       \
    X(CONFIG_UNREADABLE, CONFIG, ERROR, ERROR,                                                     \
      "make the file readable for this user, or take it out of GANTRY_CONFIG")                     \
    X(CONFIG_VARIABLE, CONFIG, ERROR, ERROR, "correct the variable's value, or unset it")          \
    X(CONFIG_VARIABLE_DOUBTFUL, CONFIG, WARNING, WARNING,                                          \
      "correct the variable's name, or unset it")                                                  \
    X(CONFIG_VARIABLE_UNKNOWN, CONFIG, NOTE, NOTE,                                                 \
      "unset it when it was meant for gantry: no key has this name")                               \
    X(CONFIG_REFUSED, CONFIG, ERROR, ERROR,                                                        \
      "correct what the sentence names; until then every program that uses gantry fails to open "  \
      "it")                                                                                        \
    X(CONFIG_LEFT_OUT, CONFIG, NOTE, NOTE,                                                         \
      "run gantry doctor again when the configuration is mended")                                  \
    X(PLUGIN_LOADED, PLUGINS, OK, OK, "")                                                          \
    X(PLUGIN_MISSING, PLUGINS, ERROR, WARNING,                                                     \
      "install gantry's plugins, name their folder in GANTRY_PLUGIN_PATH, or take the backend "    \
      "out "                                                                                       \
      "of the key backend")                                                                        \
    X(PLUGIN_UNREADABLE, PLUGINS, ERROR, ERROR, "give this user permission to read the file")      \
    X(PLUGIN_NOT_A_LIBRARY, PLUGINS, ERROR, ERROR,                                                 \
      "put the plugin that was built for this processor in the file's place, or remove the file")  \
    X(PLUGIN_DEPENDENCY_MISSING, PLUGINS, ERROR, ERROR,                                            \
      "install the library that the loader names, or rebuild the plugin on this system")           \
    X(PLUGIN_NO_DESCRIPTOR, PLUGINS, ERROR, ERROR,                                                 \
      "remove the file: it is a library, but no plugin of gantry")                                 \
    X(PLUGIN_WRONG_ABI, PLUGINS, ERROR, ERROR,                                                     \
      "install plugin and library of the same version of gantry, or rebuild the plugin")           \
    X(PLUGIN_REFUSED, PLUGINS, ERROR, ERROR,                                                       \
      "install or rebuild the plugin for this version of gantry")                                  \
    X(PLUGIN_PASSED_OVER, PLUGINS, WARNING, WARNING,                                               \
      "remove the file that can't be used, or its folder from GANTRY_PLUGIN_PATH")                 \
    X(PLUGIN_UNUSED, PLUGINS, NOTE, NOTE, "name it in the key backend to use it")                  \
    X(MACHINE, MACHINE, OK, OK, "")                                                                \
    X(CONTAINER, MACHINE, NOTE, NOTE, "")                                                          \
    X(WSL, MACHINE, NOTE, NOTE, "")                                                                \
    X(WSL_DEVICE_MISSING, MACHINE, ERROR, WARNING,                                                 \
      "update WSL (wsl --update) and the driver of Windows, and restart it (wsl --shutdown)")      \
    X(WSL_LIBRARY_SHADOWED, MACHINE, WARNING, WARNING,                                             \
      "remove the Linux driver: under WSL libcuda.so.1 must come from /usr/lib/wsl/lib")           \
    X(NVIDIA_DEVICES_MISSING, MACHINE, ERROR, WARNING,                                             \
      "load the kernel's driver (modprobe nvidia nvidia_uvm); start a container with --gpus all")  \
    X(NVIDIA_PERMISSION, MACHINE, ERROR, ERROR,                                                    \
      "let this user read and write the file: usually it belongs to a group (video) that the "     \
      "user "                                                                                      \
      "can join")                                                                                  \
    X(RENDER_NODE_MISSING, MACHINE, ERROR, WARNING,                                                \
      "load the kernel's driver of the GPU; start a container with --device /dev/dri")             \
    X(RENDER_PERMISSION, MACHINE, ERROR, WARNING,                                                  \
      "add the user to the group that owns the file (usermod -aG render USER) and log in again; "  \
      "in "                                                                                        \
      "a container add the group's number (--group-add)")                                          \
    X(CUDA_DRIVER, CUDA, OK, OK, "")                                                               \
    X(CUDA_NOT_NEEDED, CUDA, NOTE, NOTE, "")                                                       \
    X(CUDA_LIBRARY_MISSING, CUDA, ERROR, WARNING,                                                  \
      "install NVIDIA's driver; start a container with --gpus all (nvidia-container-toolkit)")     \
    X(CUDA_LIBRARY_BROKEN, CUDA, ERROR, ERROR,                                                     \
      "reinstall the driver, or take the folder of the library out of LD_LIBRARY_PATH")            \
    X(CUDA_STUB, CUDA, ERROR, ERROR,                                                               \
      "take the toolkit's stubs folder out of LD_LIBRARY_PATH and ld.so.conf: stubs are for "      \
      "linking "                                                                                   \
      "only, the driver's own libcuda.so.1 must be found")                                         \
    X(CUDA_DRIVER_OLD, CUDA, ERROR, WARNING, "update the driver")                                  \
    X(CUDA_DRIVER_LACKS, CUDA, NOTE, NOTE, "update the driver to have it")                         \
    X(CUDA_INIT_FAILED, CUDA, ERROR, ERROR, "see whether nvidia-smi works")                        \
    X(CUDA_NO_DEVICE, CUDA, ERROR, WARNING,                                                        \
      "see whether nvidia-smi lists the GPU; start a container with --gpus all")                   \
    X(CUDA_NO_GPU, CUDA, NOTE, NOTE, "")                                                           \
    X(CUDA_DEVICES_HIDDEN, CUDA, NOTE, NOTE, "unset CUDA_VISIBLE_DEVICES to see every GPU")        \
    X(CUDA_CRASHED, CUDA, ERROR, ERROR, "reinstall the driver")                                    \
    X(CUDA_HANGS, CUDA, ERROR, ERROR, "look at the kernel's log (dmesg), reset the GPU or reboot") \
    X(VULKAN_LOADER, VULKAN, OK, OK, "")                                                           \
    X(VULKAN_LIBRARY_MISSING, VULKAN, ERROR, NOTE, "install the Vulkan loader (libvulkan1)")       \
    X(VULKAN_LOADER_OLD, VULKAN, ERROR, NOTE, "update the Vulkan loader (libvulkan1)")             \
    X(VULKAN_INIT_FAILED, VULKAN, ERROR, WARNING,                                                  \
      "mend or remove the drivers that can't be used (below): one can keep all from being found")  \
    X(VULKAN_NO_DRIVER, VULKAN, ERROR, NOTE,                                                       \
      "install the GPU's Vulkan driver; without a GPU, Mesa's lavapipe (mesa-vulkan-drivers)")     \
    X(VULKAN_ICD, VULKAN, OK, OK, "")                                                              \
    X(VULKAN_ICD_NOT_THERE, VULKAN, WARNING, WARNING,                                              \
      "correct the variable that names it, or unset it")                                           \
    X(VULKAN_ICD_UNREADABLE, VULKAN, WARNING, WARNING, "make the manifest readable for this user") \
    X(VULKAN_ICD_BROKEN, VULKAN, WARNING, WARNING,                                                 \
      "reinstall the driver that the manifest belongs to, or remove the manifest")                 \
    X(VULKAN_ICD_LIBRARY_MISSING, VULKAN, WARNING, WARNING,                                        \
      "reinstall the driver that the manifest belongs to, or remove the manifest")                 \
    X(VULKAN_ICD_WRONG_ARCH, VULKAN, NOTE, NOTE,                                                   \
      "nothing, where the driver for this processor is installed too")                             \
    X(VULKAN_ICD_CRASHED, VULKAN, ERROR, ERROR,                                                    \
      "remove the manifest, or reinstall its driver: it takes every Vulkan program with it")       \
    X(VULKAN_ICD_SHADOWED, VULKAN, NOTE, NOTE, "unset the variable to have every driver found")    \
    X(VULKAN_CRASHED, VULKAN, ERROR, ERROR,                                                        \
      "find the driver that does so by naming one manifest at a time in VK_DRIVER_FILES")          \
    X(VULKAN_HANGS, VULKAN, ERROR, ERROR,                                                          \
      "find the driver that does so by naming one manifest at a time in VK_DRIVER_FILES")          \
    X(DEVICE, DEVICES, OK, OK, "")                                                                 \
    X(DEVICE_SOFTWARE, DEVICES, NOTE, NOTE, "")                                                    \
    X(DEVICE_SOFTWARE_ONLY, DEVICES, WARNING, NOTE,                                                \
      "see above why no driver of the GPU can be used")                                            \
    X(DEVICE_SKIPPED, DEVICES, WARNING, WARNING,                                                   \
      "update the device's driver; where the device itself lacks it nothing helps")                \
    X(DEVICE_VIEW_SKIPPED, DEVICES, NOTE, NOTE, "update this driver to have the choice")           \
    X(DEVICE_TWIN, DEVICES, NOTE, NOTE,                                                            \
      "name it (as vulkan:1) to use it through the other driver")                                  \
    X(DEVICE_NONE, DEVICES, ERROR, ERROR, "mend what is said above of drivers and plugins")        \
    X(DEVICE_SELECTION, DEVICES, ERROR, ERROR,                                                     \
      "correct the key device or backend, or the option --device; gantry info lists the devices")  \
    X(DEVICE_CHOSEN, DEVICES, OK, OK, "")                                                          \
    X(DEVICE_OPEN_FAILED, DEVICES, ERROR, ERROR,                                                   \
      "look at what the driver says, and at the values that gantry config shows for the device")   \
    X(DEVICE_MEMORY, DEVICES, OK, OK, "")                                                          \
    X(DEVICE_MEMORY_LOW, DEVICES, WARNING, WARNING,                                                \
      "end the programs that hold the device's memory (nvidia-smi lists them)")                    \
    X(DEVICES_CRASHED, DEVICES, ERROR, ERROR,                                                      \
      "leave the backend that does so out of the key backend")                                     \
    X(DEVICES_HANG, DEVICES, ERROR, ERROR,                                                         \
      "leave the backend that does so out of the key backend")                                     \
    X(POLICY_CLAMPED, DEVICES, WARNING, WARNING,                                                   \
      "set a value that the device takes, in a section for this device")                           \
    X(TUNING_STALE, DEVICES, WARNING, WARNING, "gantry tune --write measures again")               \
    X(PACKAGE, PACKAGES, OK, OK, "")                                                               \
    X(PACKAGE_BAD, PACKAGES, ERROR, ERROR, "compile the package again with this gantry")           \
    X(PACKAGE_NO_DEVICE, PACKAGES, NOTE, NOTE, "mend what is said above of devices")               \
    X(PACKAGE_KERNEL, PACKAGES, OK, OK, "")                                                        \
    X(PACKAGE_NO_IMAGE, PACKAGES, ERROR, ERROR,                                                    \
      "compile the package for this architecture (gantry compile), or with PTX for an earlier "    \
      "one, "                                                                                      \
      "or update the driver")                                                                      \
    X(PACKAGE_REQUIREMENT, PACKAGES, ERROR, ERROR,                                                 \
      "use a kernel that does without, or another device")                                         \
    X(PACKAGE_LIMIT, PACKAGES, ERROR, ERROR,                                                       \
      "use a smaller block, less shared memory or smaller arguments in the kernel")                \
    X(PACKAGE_KERNEL_FAILED, PACKAGES, ERROR, ERROR, "look at what the driver says")
/* clang-format on */

enum topic {
#define X(name, heading) TOPIC_##name,
    TOPIC_MAP(X)
#undef X
        TOPIC_COUNT
};

enum severity {
#define X(name, text) SEVERITY_##name,
    SEVERITY_MAP(X)
#undef X
};

enum code {
#define X(code, topic, severity, mild, remedy) CODE_##code,
    CODE_MAP(X)
#undef X
        CODE_COUNT
};

#endif
