# The Vulkan plugin. Only headers and volk's source are needed to build it: it opens the loader itself.
VULKAN_CPPFLAGS = $(AM_CPPFLAGS) -idirafter $(VOLK_DIR)
VULKAN_SOURCES = \
	backends/vulkan/driver.h backends/vulkan/plugin.c \
	backends/vulkan/symbols.h backends/vulkan/symbols.c \
	backends/vulkan/status.h backends/vulkan/status.c \
	backends/vulkan/instance.c backends/vulkan/physical.c backends/vulkan/family.c \
	backends/vulkan/device.c backends/vulkan/fault.c backends/vulkan/memory.c backends/vulkan/register.c \
	backends/vulkan/spirv.h backends/vulkan/spirv.c backends/vulkan/kernel.c \
	backends/vulkan/occupancy.c \
	backends/vulkan/record.c backends/vulkan/table.c backends/vulkan/plan.c \
	backends/vulkan/ring.c backends/vulkan/shot.c backends/vulkan/queue.c

if HAVE_VULKAN
pkglib_LTLIBRARIES += gantry-vulkan.la
endif
gantry_vulkan_la_CPPFLAGS = $(VULKAN_CPPFLAGS)
gantry_vulkan_la_CFLAGS = $(AM_CFLAGS) -pthread
gantry_vulkan_la_LDFLAGS = $(PLUGIN_LINK)
gantry_vulkan_la_SOURCES = $(VULKAN_SOURCES)
