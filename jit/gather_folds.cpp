#include "jit/gather_folds.h"

#include <algorithm>
#include <optional>

#include "jit/reading.h"

namespace sinter::jit {
namespace {

class Gatherer {
 public:
  Gatherer(const Trace& trace, Primitives& primitives) : trace_(trace), primitives_(primitives) {
    primitives_.gathered.assign(primitives_.steps.size(), false);
    count_readers();
  }

  void run() {
    for (PrimitiveId i = 0; i < primitives_.steps.size(); ++i)
      if (node(i).op == Op::concatenate) gather(i);
  }

 private:
  using Steps = std::vector<ListFold::Step>;

  /// What an operand of a concatenation is computed from, step by step.
  struct Chain {
    Operand from;
    Steps before, after;
    std::optional<DType> sum;
    std::vector<PrimitiveId> parts;
  };

  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }
  bool is_single(Operand o) const { return element_count(shape_of(trace_, primitives_, o)) == 1; }

  /// Whoever keeps a value counts as a reader.
  void count_readers() {
    readers_.assign(primitives_.steps.size(), 0);
    last_reader_.assign(primitives_.steps.size(), 0);
    for (PrimitiveId i = 0; i < primitives_.steps.size(); ++i)
      for (const Operand o : primitives_.operands_of(i))
        if (!o.leaf) {
          ++readers_[o.index];
          last_reader_[o.index] = i;
        }
    for (std::size_t s = 0; s < trace_.steps.size(); ++s)
      if (trace_.keeps_value(s) && !primitives_.value_of[s].leaf) {
        ++readers_[primitives_.value_of[s].index];
        last_reader_[primitives_.value_of[s].index] = UINT32_MAX;
      }
  }

  void gather(PrimitiveId i) {
    std::vector<Chain> chains;
    for (const Operand o : primitives_.operands_of(i)) {
      if (!is_single(o)) return;
      chains.push_back(chain_of(o));
    }
    const auto summed = std::find_if(chains.begin(), chains.end(),
                                     [](const Chain& chain) { return chain.sum.has_value(); });
    if (chains.size() < 2 || summed == chains.end()) return;
    const ListFold fold{dtype_of(trace_, primitives_, summed->from), summed->before, *summed->sum,
                        summed->after};
    for (const Chain& chain : chains)
      if (!is_like(chain, fold) || !outlives(chain.from, i)) return;
    for (std::size_t k = 0; k < chains.size(); ++k) {
      primitives_.operands[primitives_.first_operand[i] + k] = chains[k].from;
      for (const PrimitiveId part : chains[k].parts) primitives_.gathered[part] = true;
    }
    primitives_.folds.emplace(i, fold);
  }

  /// Whether a value is in memory after primitive i anyway: nothing is held for its sum.
  bool outlives(Operand o, PrimitiveId i) const { return o.leaf || last_reader_[o.index] > i; }

  Chain chain_of(Operand o) const {
    Chain chain{o, {}, {}, {}, {}};
    while (!chain.from.leaf && readers_[chain.from.index] == 1) {
      const PrimitiveId i = chain.from.index;
      const Node& n = node(i);
      const bool is_view = n.op == Op::reshape || n.op == Op::expand;
      const bool applies =
          n.op == Op::cast || (info(n.op).kind == OpKind::elementwise && info(n.op).arity == 1);
      if (!applies && !is_view && n.op != Op::sum) break;
      const Operand read = primitives_.operands_of(i)[0];
      const DType dtype = dtype_of(trace_, primitives_, read);
      if (!is_floating(dtype) || !is_floating(n.dtype)) break;
      if (is_view && !is_single(read)) break;
      if (n.op == Op::sum) {
        if (chain.sum || !is_single(chain.from)) break;
        chain.sum = n.dtype;
      } else if (applies) {
        Steps& steps = chain.sum ? chain.before : chain.after;
        steps.insert(steps.begin(), {n.op, n.dtype, compute_dtype(dtype)});
      }
      chain.parts.push_back(i);
      chain.from = read;
    }
    return chain;
  }

  /// A tensor of one element may come without a sum.
  bool is_like(const Chain& chain, const ListFold& fold) const {
    if (dtype_of(trace_, primitives_, chain.from) != fold.read) return false;
    if (chain.sum)
      return chain.before == fold.before && chain.after == fold.after && *chain.sum == fold.sum;
    const DType summed = fold.before.empty() ? fold.read : fold.before.back().dtype;
    Steps all = fold.before;
    all.insert(all.end(), fold.after.begin(), fold.after.end());
    return summed == fold.sum && chain.after == all;
  }

  const Trace& trace_;
  Primitives& primitives_;
  std::vector<int> readers_;
  std::vector<PrimitiveId> last_reader_;
};

}  // namespace

void gather_folds(const Trace& trace, Primitives& primitives) { Gatherer(trace, primitives).run(); }

}  // namespace sinter::jit
