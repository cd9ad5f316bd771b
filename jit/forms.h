/// \file
/// Forms: the ways in which one Program has been lowered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "jit/lower.h"

namespace sinter::jit {

/// A Plan, and its layout for the trace at hand.
struct Form {
  const Lowered* lowered;
  const PlanLayout* layout;
};

/// Numbers that composites carry may make other parts of them: with a label smoothing of 0
/// cross_entropy needs no mean of the logits. Traces that one Program fits are then lowered in
/// several forms, of which those that were used last are kept. Guarded by the launch lock.
class Forms {
 public:
  static constexpr std::size_t most_forms = 4;

  explicit Forms(std::shared_ptr<const Lowered> first) : forms_{std::move(first)} {}

  /// The form that serves the trace; nothing where its composites have other parts in all of them.
  std::optional<Form> find(const Trace& trace);
  /// Lowers a trace that no form serves, and tells so. \return nothing where that gives no kernels.
  /// \throws as lower() does.
  std::optional<Form> add(const Trace& trace, std::uint64_t program);

 private:
  const Lowered& use(std::size_t form);

  std::vector<std::shared_ptr<const Lowered>> forms_;  // used last comes last
};

}  // namespace sinter::jit
