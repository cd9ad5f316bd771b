/// \file
/// The one header an embedder includes, when sinter is built inside the embedder's own build.
#pragma once

#include "../../jit/sinter.h"
