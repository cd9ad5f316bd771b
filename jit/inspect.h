/// \file
/// Inspect: the observers that are asked for, for one evaluation.
#pragma once

#include <optional>
#include <vector>

#include "jit/finite_check.h"
#include "jit/report_launch.h"
#include "jit/shadow.h"
#include "runtime/inspection.h"

namespace sinter::jit {

class Inspectors {
 public:
  /// With a folder and a record, what runs is added to the report of the program, which is new.
  Inspectors(const Inspection& wanted, const Trace& trace, const std::string& folder,
             const LoweringRecord& record);
  Inspectors(const Inspectors&) = delete;
  Inspectors& operator=(const Inspectors&) = delete;

  Observers observers() const { return observers_; }
  /// Whether one of them may refuse what it sees.
  bool may_refuse() const;
  /// After the evaluation. \throws InternalError where what was seen cannot be.
  void finish() const;

 private:
  std::optional<FiniteCheck> finite_;
  std::optional<Shadow> shadow_;
  std::optional<LaunchReport> report_;
  std::vector<Observer*> observers_;
};

}  // namespace sinter::jit
