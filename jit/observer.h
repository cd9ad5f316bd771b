/// \file
/// Who looks on while a program runs. Without observers a run does nothing for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "kernels/view.h"

namespace sinter::jit {

class LiveValues;
struct Launch;
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

  /// A kernel of a Plan begins, or has ended. What it reads may have been overwritten then.
  virtual void before_launch(const LiveValues& /*values*/, std::uint32_t /*group*/,
                             const Launch& /*launch*/) {}
  virtual void after_launch(const LiveValues& /*values*/, std::uint32_t /*group*/) {}

  /// An operation of a Plan has run, and what it gives is still there. \return whether the Plan
  /// goes on; else all is computed again at the level eager.
  virtual bool after_operation(const LiveValues& /*values*/, const Operation& /*operation*/) {
    return true;
  }
};

using Observers = std::span<Observer* const>;

}  // namespace sinter::jit
