/// \file
/// Everything a user of sinter needs. Includes only; embedders write `#include <sinter/sinter.h>`.
#pragma once

#include "../runtime/dtype.h"
#include "../runtime/error.h"
#include "../runtime/shape.h"
