// The part of platform/thread.h that differs between operating systems.
#pragma once

#include "platform/thread.h"

namespace ashlar {

// Sets the calling thread's name and priority as far as the system allows it.
void DescribeCurrentThread(const ThreadOptions& options);

}  // namespace ashlar
