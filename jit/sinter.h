/// \file
/// Everything a user of sinter needs. Includes only; embedders write `#include <sinter/sinter.h>`.
#pragma once

#include "../runtime/attributes.h"
#include "../runtime/autocast.h"
#include "../runtime/dlpack.h"
#include "../runtime/dtype.h"
#include "../runtime/error.h"
#include "../runtime/foreach.h"
#include "../runtime/grad.h"
#include "../runtime/inspection.h"
#include "../runtime/level.h"
#include "../runtime/log.h"
#include "../runtime/memory.h"
#include "../runtime/modes.h"
#include "../runtime/ops.h"
#include "../runtime/options.h"
#include "../runtime/random.h"
#include "../runtime/shape.h"
#include "../runtime/tensor.h"
#include "../runtime/threads.h"
#include "../runtime/variable.h"
#include "statistics.h"
