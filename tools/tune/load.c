#include "load.h"

struct way *load_way(struct gantry_side *side, const struct load *load, struct gantry_size block)
{
    switch (load->kind) {
    case LOAD_REPLAY:
        return gantry_way_replay(side, &load->work);
    case LOAD_STREAM:
        return gantry_way_stream(side, &load->work);
    case LOAD_JOB:
        break;
    }
    return job_way(side, load->job, block);
}

uint32_t load_blocks(const struct load *load)
{
    return load->kind == LOAD_JOB ? 1 : work_all_blocks(&load->work);
}
