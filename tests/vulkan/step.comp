// y[i] = a * x[(i + shift) % n] + b, so that the order of steps shows in the result.
// The direct entry; with FOLDED the entry that finds its arguments in a table; and with CHAINED too
// the entry whose one block walks the table.
#version 460
#ifdef CHAINED
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#define ACCESS nonprivate
#else
#define ACCESS
#endif
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer words {
    ACCESS uint at[];
};

struct step_args {
    words x, y;
    uint a, b, n, shift;
};

struct fold_launch {
    uint64_t first;
    uint x, y, z, reserved;
};

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer fold_launches {
    fold_launch at[];
};

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer step_table {
    step_args at;
};

#ifdef FOLDED
layout(push_constant, scalar) uniform push {
    fold_launches launches;
    uint64_t args, blocks;
    uint count, stride, equal, reserved;
} fold;
#else
layout(push_constant, scalar) uniform push {
    step_args args;
};
#endif

void step_one(step_args args, uint block)
{
    uint i = block * gl_WorkGroupSize.x + gl_LocalInvocationID.x;

    if (i < args.n)
        args.y.at[i] = args.a * args.x.at[(i + args.shift) % args.n] + args.b;
}

#ifdef FOLDED
step_args args_of(uint launch)
{
    return step_table(fold.args + uint64_t(launch) * fold.stride).at;
}
#endif

#ifdef CHAINED
void main()
{
    for (uint launch = 0; launch < fold.count; launch++) {
        fold_launch grid = fold.launches.at[launch];
        if (grid.x * grid.y * grid.z != 0)
            step_one(args_of(launch), 0);
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                       gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable |
                           gl_SemanticsMakeVisible);
    }
}
#elif defined(FOLDED)
void main()
{
    uint block = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint launch = 0;

    if (block >= fold.blocks)
        return;
    if (fold.equal > 0)
        launch = block / fold.equal;
    else
        while (launch + 1 < fold.count && fold.launches.at[launch + 1].first <= block)
            launch++;
    fold_launch grid = fold.launches.at[launch];
    block -= uint(grid.first);
    if (block < grid.x * grid.y * grid.z)
        step_one(args_of(launch), block);
}
#else
void main()
{
    step_one(args, gl_WorkGroupID.x);
}
#endif
