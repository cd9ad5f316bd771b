/// \file
/// Inspect: the observers that are asked for, for one evaluation.
#pragma once

#include <optional>
#include <vector>

#include "jit/finite_check.h"
#include "jit/shadow.h"
#include "runtime/inspection.h"

namespace sinter::jit {

class Inspectors {
 public:
  Inspectors(const Inspection& wanted, const Trace& trace);
  Inspectors(const Inspectors&) = delete;
  Inspectors& operator=(const Inspectors&) = delete;

  Observers observers() const { return observers_; }
  /// After the evaluation. \throws InternalError where what was seen cannot be.
  void finish() const;

 private:
  std::optional<FiniteCheck> finite_;
  std::optional<Shadow> shadow_;
  std::vector<Observer*> observers_;
};

}  // namespace sinter::jit
