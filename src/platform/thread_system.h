// The part of platform/thread.h that differs between operating systems.
#pragma once

#include "platform/thread.h"

namespace ashlar {

// Gives the calling thread its name and priority, as far as the system lets it.
void DescribeCurrentThread(const ThreadOptions& options);

}  // namespace ashlar
