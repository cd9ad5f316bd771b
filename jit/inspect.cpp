#include "jit/inspect.h"

#include <algorithm>

namespace sinter::jit {

Inspectors::Inspectors(const Inspection& wanted, const Trace& trace, const std::string& folder,
                       const LoweringRecord& record) {
  // First what has run, then whether it was right, then what it made of the data.
  if (!folder.empty()) observers_.push_back(&report_.emplace(folder, record));
  if (wanted.shadow)
    observers_.push_back(
        &shadow_.emplace([this](const kernels::ConstView& given, const kernels::ConstView& meant) {
          if (report_) report_->expect(given, meant);
        }));
  if (wanted.nan) observers_.push_back(&finite_.emplace(trace));
}

bool Inspectors::may_refuse() const {
  return std::any_of(observers_.begin(), observers_.end(),
                     [](const Observer* observer) { return observer->may_refuse(); });
}

void Inspectors::finish() const {
  if (finite_) finite_->finish();
}

}  // namespace sinter::jit
