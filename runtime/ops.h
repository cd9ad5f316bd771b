/// \file
/// All ops on tensors.
#pragma once

#include "creation.h"
#include "elementwise.h"
#include "foreach.h"
#include "indexing.h"
#include "nn.h"
#include "reductions.h"
#include "views.h"
