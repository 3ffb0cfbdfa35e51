# gantry doctor. It asks the drivers themselves, too, and links none; two of the core's sources are
# built into the program again.
tools_gantry_SOURCES += \
	tools/doctor/doctor.c tools/doctor/codes.h tools/doctor/report.c tools/doctor/report.h \
	tools/doctor/print.c tools/doctor/isolate.c tools/doctor/isolate.h \
	tools/doctor/machine.c tools/doctor/machine.h tools/doctor/container.c \
	tools/doctor/drivers.h tools/doctor/driver_cuda.c \
	tools/doctor/checks.h tools/doctor/config.c tools/doctor/plugins.c tools/doctor/devices.c \
	tools/doctor/packages.c \
	core/utf8.c core/utf8.h core/library_file.c core/library_file.h

if HAVE_VULKAN
tools_gantry_SOURCES += \
	tools/doctor/driver_vulkan.c tools/doctor/icd.c tools/doctor/icd_search.c tools/doctor/icd_search.h
tools_gantry_CPPFLAGS += -DGANTRY_DOCTOR_VULKAN=1
endif
