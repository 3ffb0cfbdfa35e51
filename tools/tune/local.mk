# gantry tune. It knows devices by the names that the library's core gives them: two of its sources are
# built into the program again.
tools_gantry_SOURCES += \
	tools/tune/tune.c tools/tune/tuner.c tools/tune/tuner.h tools/tune/options.c \
	tools/tune/jobs.c tools/tune/plan.c tools/tune/run.c \
	tools/tune/contest.c tools/tune/contest.h tools/tune/estimate.c tools/tune/estimate.h \
	tools/tune/trial.c tools/tune/trial.h tools/tune/load.c tools/tune/load.h \
	tools/tune/job.c tools/tune/job.h tools/tune/job_args.c tools/tune/job_fill.c \
	tools/tune/job_kernel.c tools/tune/job_way.c tools/tune/shipped.c tools/tune/shipped.h \
	tools/tune/section.c tools/tune/section.h tools/tune/ini_lines.c tools/tune/ini_lines.h \
	tools/tune/tuned.c tools/tune/tuned.h tools/tune/result.c tools/tune/result.h \
	tools/tune/stale.c tools/tune/stale.h tools/tune/state.c tools/tune/report.c \
	tools/tune/userfile.c tools/tune/userfile.h tools/tune/progress.c tools/tune/progress.h \
	core/ascii.c core/ascii.h core/model.c core/model.h
tools_gantry_LDADD += -lm
