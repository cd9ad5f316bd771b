// Which sizes the shape rules tie together: for each op exactly those that are equal by
// construction, whatever the sizes are.

#include "jit/size_classes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "runtime/options.h"
#include "tests/each_level.h"

namespace sinter::tests {
namespace {

using Tensors = std::vector<Tensor>;

/// Axes with one letter are in one class, axes with two are in two; `1` is a size of 1, of which
/// nothing is said. Operands are separated by commas, then come the results.
struct Row {
  const char* pattern;
  std::function<Tensors(const Tensors&)> record;
};

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words{""};
  for (const char letter : text) {
    if (letter == ',') words.emplace_back();
    else words.back() += letter;
  }
  return words;
}

/// Each letter another size, or all the same.
std::int64_t size_of_letter(char letter, bool alike) {
  if (letter == '1') return 1;
  return alike ? 6 : 6 * (1 + letter - 'a');
}

/// The class of every axis beside the letter it has in the pattern.
class Classes {
 public:
  void add(char letter, jit::SizeClass size_class) {
    if (letter == '1') return;
    of_letter_[letter].insert(size_class);
    of_class_[size_class].insert(letter);
  }
  void check() const {
    for (const auto& [letter, classes] : of_letter_) {
      CAPTURE(letter);
      CHECK(classes.size() == 1);  // else equal sizes are apart
    }
    for (const auto& [size_class, letters] : of_class_) {
      const std::string joined(letters.begin(), letters.end());
      CAPTURE(joined);
      CHECK(letters.size() == 1);  // else sizes that may differ are joined
    }
  }

 private:
  std::map<char, std::set<jit::SizeClass>> of_letter_;
  std::map<jit::SizeClass, std::set<char>> of_class_;
};

jit::Source source_of(const jit::Trace& trace, const Node* node) {
  const bool leaf = node->state() != NodeState::pending;
  const auto& nodes = leaf ? trace.leaves : trace.steps;
  const auto found = std::find(nodes.begin(), nodes.end(), node);
  REQUIRE(found != nodes.end());
  const auto index = static_cast<std::uint32_t>(found - nodes.begin());
  return leaf ? jit::Source::of_leaf(index) : jit::Source::of_step(index);
}

void check_row(const Row& row, bool alike) {
  const std::string_view pattern = row.pattern;
  const std::size_t arrow = pattern.find("->");
  std::vector<std::string> words = split_words(pattern.substr(0, arrow));
  Tensors tensors;
  for (const std::string& word : words) {
    Shape shape;
    for (const char letter : word) shape.push_back(size_of_letter(letter, alike));
    tensors.push_back(Variable(ones(shape)));  // that gradients reach
    tensors.back().evaluate();
  }
  const Tensors results = row.record(tensors);
  tensors.insert(tensors.end(), results.begin(), results.end());
  for (const std::string& word : split_words(pattern.substr(arrow + 2))) words.push_back(word);
  REQUIRE(words.size() == tensors.size());

  std::vector<NodeRef> roots;
  for (const Tensor& result : results) roots.push_back(result.ref());
  const jit::Trace trace = jit::linearise(roots, Level::eager);
  const jit::SizeClasses classes(trace);
  Classes found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Shape shape = tensors[i].shape();
    REQUIRE(static_cast<std::size_t>(shape.rank()) == words[i].size());
    for (int axis = 0; axis < shape.rank(); ++axis)
      found.add(words[i][static_cast<std::size_t>(axis)],
                classes.of(source_of(trace, tensors[i].node()), axis));
  }
  found.check();
}

/// One tensor, or the several of a call.
Tensors one(const Tensor& tensor) { return {tensor}; }

Tensor positions(const Tensor& a) { return cast(a, i64); }

std::vector<Row> basic_rows() {
  return {
      {"ab,b->ab", [](const Tensors& x) { return one(x[0] + x[1]); }},
      {"a1,1b->ab", [](const Tensors& x) { return one(x[0] * x[1]); }},
      {"ab,ab,b->ab", [](const Tensors& x) { return one(where(x[0] > 0, x[1], x[2])); }},
      {"ab->ab", [](const Tensors& x) { return one(detach(cumsum(x[0], 0))); }},
      {"a1->ab",
       [](const Tensors& x) {
         return one(expand(x[0], {x[0].size(0), 12}));
       }},
      {"abc->cab",
       [](const Tensors& x) {
         return one(permute(x[0], {2, 0, 1}));
       }},
      {"ab->ba", [](const Tensors& x) { return one(transpose(x[0])); }},
      {"ab->1a1b", [](const Tensors& x) { return one(unsqueeze(unsqueeze(x[0], 0), 2)); }},
      {"abc->ad", [](const Tensors& x) { return one(flatten(x[0], 1, -1)); }},
      {"abc->dc", [](const Tensors& x) { return one(flatten(x[0], 0, 1)); }},
      {"ab->c", [](const Tensors& x) { return one(slice(flatten(x[0]), 0, 2, 9)); }},
      {"ab->a1", [](const Tensors& x) { return one(sum(x[0], {1}, true)); }},
      {"ab->b", [](const Tensors& x) { return one(amax(x[0], {0})); }},
      {"ab->a", [](const Tensors& x) { return one(argmax(x[0], 1)); }},
      {"abc->a1c", [](const Tensors& x) { return one(mean(x[0], {1}, true)); }},
      {"ab->1b", [](const Tensors& x) { return one(var(x[0], {0}, 1, true)); }},
      {"ab->a1", [](const Tensors& x) { return one(logsumexp(x[0], {1}, true)); }},
      {"ab->a1", [](const Tensors& x) { return one(norm(x[0], {1}, true)); }},
  };
}

std::vector<Row> product_rows() {
  return {
      {"ab,bc->ac", [](const Tensors& x) { return one(matmul(x[0], x[1])); }},
      {"abc,cd->abd", [](const Tensors& x) { return one(matmul(x[0], x[1])); }},
      {"bc,acd->abd", [](const Tensors& x) { return one(matmul(x[0], x[1])); }},
      {"abc,acd->abd", [](const Tensors& x) { return one(matmul(x[0], x[1])); }},
      {"1bc,acd->abd", [](const Tensors& x) { return one(matmul(x[0], x[1])); }},
      {"aebc,1ecd->aebd", [](const Tensors& x) { return one(matmul(x[0], x[1])); }},
      {"a,ab->b", [](const Tensors& x) { return one(matmul(x[0], x[1])); }},
      {"abc,dc->abd", [](const Tensors& x) { return one(linear(x[0], x[1])); }},
      {"abc,dc,d,abd->abd",
       [](const Tensors& x) { return one(linear(x[0], x[1], x[2], Activation::none, x[3])); }},
  };
}

std::vector<Row> nn_rows() {
  return {
      {"ab,c->ab",
       [](const Tensors& x) {  // the other input may have any shape
         const auto twice = [](const Tensors& in) { return in[0] * 2; };
         const auto none = [](const Tensors& in, const Tensor&, const Tensor&) {
           return Tensors(in.size());
         };
         return one(custom_gradient(twice, none, x));
       }},
      {"ab->ab", [](const Tensors& x) { return one(log_softmax(softmax(x[0]), 0)); }},
      {"ab->ab", [](const Tensors& x) { return one(dropout(x[0], 0.5)); }},
      {"ab,b,b->ab", [](const Tensors& x) { return one(layer_norm(x[0], x[1], x[2])); }},
      {"abc,bc->abc", [](const Tensors& x) { return one(rms_norm(x[0], x[1])); }},
      {"ab,b,b,ab->ab,b,b",
       [](const Tensors& x) {
         return vjp({layer_norm(x[0], x[1], x[2])}, {x[3]}, {x[0], x[1], x[2]});
       }},
      {"ab,b,ab->ab,b",
       [](const Tensors& x) {
         return vjp({rms_norm(x[0], x[1])}, {x[2]}, {x[0], x[1]});
       }},
      {"abc,ab,c->ab",
       [](const Tensors& x) {
         return one(
             cross_entropy(x[0], positions(x[1]), {.reduction = Reduction::none, .weight = x[2]}));
       }},
      {"ab,a,b->",
       [](const Tensors& x) {
         return one(cross_entropy(x[0], positions(x[1]), {.weight = x[2]}));
       }},
      {"ab,a->ab",
       [](const Tensors& x) {
         return vjp({cross_entropy(x[0], positions(x[1]))}, {ones({})}, {x[0]});
       }},
      {"cbed,cafd,cafg,ef->cbeg",
       [](const Tensors& x) {
         return one(scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3]}));
       }},
      {"cbed,cafd,cafg,c11f->cbeg",
       [](const Tensors& x) {
         // Heads of q and of k are tied by a factor alone.
         return one(scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3] > 0}));
       }},
      {"cbed,cafd,cafg,cbeg->cbed,cafd,cafg",
       [](const Tensors& x) {
         return vjp({scaled_dot_product_attention(x[0], x[1], x[2])}, {x[3]}, {x[0], x[1], x[2]});
       }},
  };
}

std::vector<Row> index_rows() {
  return {
      {"ab,ac->ad",
       [](const Tensors& x) {
         return one(concatenate({x[0], x[1]}, 1));
       }},
      {"ab->cd",
       [](const Tensors& x) {
         return one(pad(x[0], {1, 0}, {0, 2}));
       }},
      {"ab,cd->ab",
       [](const Tensors& x) {
         return one(slice_update(x[0], slice(slice(x[1], 0, 0, 2), 1, 0, 2), {0, 0}));
       }},
      {"abc,de->adec", [](const Tensors& x) { return one(take(x[0], positions(x[1]), 1)); }},
      {"ab,c->cb", [](const Tensors& x) { return one(embedding(x[0], positions(x[1]))); }},
      {"ab,c,cb->ab",
       [](const Tensors& x) { return one(index_add(x[0], 0, positions(x[1]), x[2])); }},
      {"cb,da->da", [](const Tensors& x) { return one(gather(x[0], 0, positions(x[1]))); }},
      {"cb,da,da->cb",
       [](const Tensors& x) { return one(scatter_add(x[0], 0, positions(x[1]), x[2])); }},
      {"ab->ab,ab",
       [](const Tensors& x) {
         const auto sorted = sort(x[0]);
         return Tensors{sorted.first, sorted.second};
       }},
      {"ab->ac,ac",
       [](const Tensors& x) {
         const auto best = topk(x[0], 3);
         return Tensors{best.first, best.second};
       }},
      {"ab,c,ab,c->ab,c",
       [](const Tensors& x) {
         return foreach_map([](const Tensors& in) { return Tensors{in[0] + in[1]}; },
                            {{x[0], x[1]}, {x[2], x[3]}})[0];
       }},
      {",ab,ab->ab",
       [](const Tensors& x) {
         return foreach_map([](const Tensors& in) { return Tensors{in[0] * in[1]}; },
                            {{x[1]}, {x[2]}, {x[0]}})[0];
       }},
  };
}

}  // namespace

TEST_CASE("size classes: each op joins what is equal by construction and nothing else") {
  for (const bool alike : {false, true}) {
    CAPTURE(alike);
    for (const auto& rows : {basic_rows(), product_rows(), nn_rows(), index_rows()})
      for (const Row& row : rows) {
        const std::string pattern = row.pattern;
        CAPTURE(pattern);
        check_row(row, alike);
      }
  }
}

}  // namespace sinter::tests
