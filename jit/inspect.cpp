#include "jit/inspect.h"

namespace sinter::jit {

Inspectors::Inspectors(const Inspection& wanted, const Trace& trace) {
  if (wanted.nan) observers_.push_back(&finite_.emplace(trace));
}

void Inspectors::finish() const {
  if (finite_) finite_->finish();
}

}  // namespace sinter::jit
