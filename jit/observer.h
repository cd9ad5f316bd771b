/// \file
/// Who looks on while a program runs. Without observers a run does nothing for them.
#pragma once

#include <cstddef>
#include <exception>
#include <span>

#include "kernels/view.h"

namespace sinter::jit {

class LiveValues;
struct LaunchPart;
struct Operation;

class Observer {
 public:
  virtual ~Observer() = default;

  /// A step of a Program has computed `results`, one for each of its values. \return why it fails
  /// all the same; null where it does not.
  virtual std::exception_ptr after_step(std::size_t /*step*/,
                                        std::span<const kernels::ConstView> /*results*/) {
    return nullptr;
  }

  /// An operation of a Plan is about to run, and all that it reads is there.
  virtual void before_operation(const LiveValues& /*values*/, const Operation& /*operation*/) {}

  /// It has run, and all that it gives is there; what it read may have been overwritten. \return
  /// whether the Plan goes on; else all is computed again at the level eager.
  virtual bool after_operation(const LiveValues& /*values*/, const Operation& /*operation*/) {
    return true;
  }

  /// Generated kernels are about to run, and have run, as a part of an operation.
  virtual void before_launch(std::span<const LaunchPart> /*parts*/) {}
  virtual void after_launch(std::span<const LaunchPart> /*parts*/) {}

  /// Whether it may fail a step or refuse an operation: then nothing of a Variable may have been
  /// overwritten.
  virtual bool may_refuse() const { return true; }
};

using Observers = std::span<Observer* const>;

/// What `launch()` gives, which runs the parts while the observers look on.
template <class Launch>
bool observed_launch(Observers observers, std::span<const LaunchPart> parts, Launch launch) {
  for (Observer* const observer : observers) observer->before_launch(parts);
  const bool accepted = launch();
  for (Observer* const observer : observers) observer->after_launch(parts);
  return accepted;
}

}  // namespace sinter::jit
