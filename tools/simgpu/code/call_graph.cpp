#include "tools/simgpu/code/call_graph.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "tools/simgpu/code/decode_calls.h"

namespace simgpu {
namespace {

class CallGraph {
 public:
  explicit CallGraph(const ModuleNames& names) : names_(names) {}

  /// The least number of a function on the path that this one leads back to.
  std::size_t visit(const ptx::Function& function) {
    constexpr std::size_t deepest = 256;
    if (depth_ == deepest)
      throw ptx::Error(function.position, "calls too deep: more than " + std::to_string(deepest) +
                                              " functions in one another");
    ++depth_;
    const std::size_t own = numbers_.size() + 1;
    std::size_t least = own;
    numbers_[&function] = own;
    open_.push_back(&function);
    const std::vector<const ptx::Function*> callees = callees_of(function);
    reached_.calls += callees.size();
    for (const ptx::Function* callee : callees) {
      const auto known = numbers_.find(callee);
      if (known == numbers_.end()) least = std::min(least, visit(*callee));
      else if (known->second != done) least = std::min(least, known->second);
      if (callee == &function) reached_.recursive.insert(callee);
    }
    --depth_;
    if (least == own) close(function);
    reached_.order.push_back(&function);
    return least;
  }

  ReachedFunctions callers_first() {
    std::reverse(reached_.order.begin(), reached_.order.end());
    return std::move(reached_);
  }

 private:
  static constexpr std::size_t done = 0;
  static constexpr std::size_t most_calls = 1 << 22;

  /// The functions from this one on call each other.
  void close(const ptx::Function& first) {
    const auto from = std::find(open_.begin(), open_.end(), &first);
    if (open_.end() - from > 1) reached_.recursive.insert(from, open_.end());
    for (auto each = from; each != open_.end(); ++each) numbers_[*each] = done;
    open_.erase(from, open_.end());
  }

  std::vector<const ptx::Function*> callees_of(const ptx::Function& function) const {
    std::vector<const ptx::Function*> callees;
    std::set<std::pair<std::size_t, std::size_t>> shapes;  // of calls through pointers
    function.each_instruction([&](const ptx::Instruction& made) {
      if (!is_call(made)) return;
      const CallParts parts = parts_of(made);
      if (parts.callee == nullptr) return;
      const auto found = names_.functions.find(parts.callee->name);
      if (found == names_.functions.end()) {
        if (!shapes.emplace(parts.results.parts.size(), parts.arguments.parts.size()).second)
          return;
        for (const ptx::Function* each : names_.callable)
          if (has_shape(*each, parts)) callees.push_back(each);
      } else if (found->second->entry) {
        throw ptx::Error(made.position, "a call of an entry");
      } else if (found->second->defined) {
        callees.push_back(found->second);
      }
      if (reached_.calls + callees.size() > most_calls)
        throw ptx::Error(made.position, "too many calls");
    });
    return callees;
  }
  static bool has_shape(const ptx::Function& function, const CallParts& call) {
    return function.results.size() == call.results.parts.size() &&
           function.parameters.size() == call.arguments.parts.size();
  }

  const ModuleNames& names_;
  std::size_t depth_ = 0;
  std::vector<const ptx::Function*> open_;
  std::unordered_map<const ptx::Function*, std::size_t> numbers_;  // in the order of visits, from 1
  ReachedFunctions reached_;
};

}  // namespace

ReachedFunctions functions_of(const ptx::Function& entry, const ModuleNames& names) {
  CallGraph graph(names);
  graph.visit(entry);
  return graph.callers_first();
}

}  // namespace simgpu
