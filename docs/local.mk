EXTRA_DIST += docs/add-a-backend.md docs/kernel-language.md docs/kernels.md docs/package-format.md docs/plan.md \
	docs/policy.md docs/doctor.md docs/streaming.md docs/transfers.md docs/memory.md docs/validation.md docs/device-loss.md docs/tuning.md \
	docs/backend-cuda.md docs/backend-vulkan.md docs/conformance.md docs/measurements.md docs/benchmarks.md docs/reliability.md
EXTRA_DIST += CONTRIBUTING.md NEWS.md LICENSE quickstart .clang-format .editorconfig
