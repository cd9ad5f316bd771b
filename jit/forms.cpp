#include "jit/forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/log.h"

namespace sinter::jit {

std::optional<Form> Forms::find(const Trace& trace) {
  const std::vector<std::int64_t> key = layout_key(trace);
  for (std::size_t i = forms_.size(); i-- > 0;)
    if (const PlanLayout* layout = forms_[i]->layouts.find(key)) return Form{&use(i), layout};
  Layout made = make_layout(trace);
  for (std::size_t i = forms_.size(); i-- > 0;)
    if (const PlanLayout* layout = forms_[i]->layouts.take(made, forms_[i]->plan, trace))
      return Form{&use(i), layout};
  return std::nullopt;
}

std::optional<Form> Forms::add(const Trace& trace, std::uint64_t program) {
  std::shared_ptr<const Lowered> lowered = lower(trace);
  if (log_enabled(LogChannel::perf_hints))
    write_log(
        {LogChannel::perf_hints,
         fmt::format("program {}", program),
         fmt::format(
             "a number of a composite (such as label smoothing) is 0, or is not, unlike before: "
             "{}",
             lowered ? "lowered in one more form" : "the level eager runs"),
         {{"forms", fmt::format("{}", forms_.size() + (lowered != nullptr))},
          {"kept", fmt::format("{}", most_forms)}}});
  if (!lowered) return std::nullopt;
  if (forms_.size() == most_forms) forms_.erase(forms_.begin());
  forms_.push_back(std::move(lowered));
  const Lowered& added = *forms_.back();
  return Form{&added, added.layouts.find(trace, added.plan)};
}

const Lowered& Forms::use(std::size_t form) {
  const auto used = forms_.begin() + static_cast<std::ptrdiff_t>(form);
  std::rotate(used, used + 1, forms_.end());
  return *forms_.back();
}

}  // namespace sinter::jit
