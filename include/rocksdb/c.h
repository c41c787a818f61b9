// RocksDB's name for ashlar/c.h. Valid C.
#pragma once

#include "ashlar/c.h"
