#include "jit/inspect.h"

namespace sinter::jit {

Inspectors::Inspectors(const Inspection& wanted, const Trace& trace) {
  // First what a wrong kernel gives, then what a right one makes of it.
  if (wanted.shadow) observers_.push_back(&shadow_.emplace());
  if (wanted.nan) observers_.push_back(&finite_.emplace(trace));
}

void Inspectors::finish() const {
  if (finite_) finite_->finish();
}

}  // namespace sinter::jit
