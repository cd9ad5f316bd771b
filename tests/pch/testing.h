// runtime/pch/standard.h and doctest, for the sources of tests.

#include "runtime/pch/standard.h"

#include <doctest/doctest.h>
