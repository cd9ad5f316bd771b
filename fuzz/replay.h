/// \file
/// A Script run: recorded call by call, evaluated at one level, read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/script.h"
#include "runtime/options.h"
#include "runtime/tensor.h"

namespace sinter::fuzz {

/// What reading one value gave: elements, or an error.
struct Reading {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::byte> bytes;  ///< row-major
  std::string error;             ///< kind and message; empty where there is none
};

struct RunOptions {
  Level level = Level::eager;
  int threads = 1;
  std::uint64_t turn = 0;  ///< other drawn data for each
  int rounds = 1;          ///< how often the steps run, on the same Variables and other data
};

/// For each round one Reading for each output, then one for each Variable that was written. What
/// recording or evaluating throws becomes the error of all that is then missing.
std::vector<Reading> run(const Script& script, const RunOptions& options);

/// The readings of all steps at the level interpret: values to put in a step's place.
std::vector<Reading> run_all(const Script& script);

/// The outputs, recorded and not evaluated. Variables are ordinary leaves, and what they are
/// written is what is read from them.
std::vector<Tensor> record(const Script& script);

/// Dtypes and shapes as recording gives them; nothing is evaluated. \throws UsageError for a Script
/// that no program could have recorded.
Script inferred(const Script& script);

/// A leaf that takes no memory, to record with.
Tensor placeholder(DType dtype, const Shape& shape);

}  // namespace sinter::fuzz
