#include "end.h"

namespace
{
struct Guard {
    void (*at_end)();

    ~Guard()
    {
        if (at_end)
            at_end();
    }
};

Guard early = {nullptr};
} // namespace

void destructor_keep(void (*at_end)())
{
    early.at_end = at_end;
}

void destructor_make_late(void (*at_end)())
{
    static Guard late = {at_end};
}
