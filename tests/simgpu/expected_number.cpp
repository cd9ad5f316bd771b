#include "tests/simgpu/expected_number.h"

#include <algorithm>

namespace simgpu {
namespace {

using exact::Layout;

/// .ftz of the result, then .sat or .relu.
std::uint64_t finished(const OpcodeName& name, const Layout& layout, std::uint64_t word) {
  if (layout.is_nan(word)) return name.has("sat") ? 0 : word;
  if (name.has("ftz")) word = layout.flush(word);
  if ((name.has("sat") || name.has("relu")) && layout.is_negative(word)) return 0;
  return name.has("sat") ? std::min(word, layout.one()) : word;
}

/// A NaN gives way, or with .NaN does not; -0 is less than +0.
std::uint64_t extreme(const OpcodeName& name, const Layout& layout, std::uint64_t a,
                      std::uint64_t b) {
  if (layout.is_nan(a) && layout.is_nan(b)) return layout.nan();
  if (layout.is_nan(a) || layout.is_nan(b)) {
    if (name.has("NaN")) return layout.nan();
    return layout.is_nan(a) ? b : a;
  }
  const bool wants_less = name.first() == "min";
  const auto order = exact::compare(layout, a, b);
  const bool a_is_less = *order != 0 ? *order < 0 : layout.is_negative(a);
  return a_is_less == wants_less ? a : b;
}

std::uint64_t extreme_of_all(const OpcodeName& name, const Layout& layout, Operands v,
                             std::size_t count) {
  const std::uint64_t sign = (v[0] ^ v[1]) & layout.sign();
  for (std::uint64_t& value : v) {
    if (name.has("ftz")) value = layout.flush(value);
    if (name.has("abs")) value &= ~layout.sign();
  }
  std::uint64_t found = extreme(name, layout, v[0], v[1]);
  if (count == 3) found = extreme(name, layout, found, v[2]);
  return name.has("xorsign") && !layout.is_nan(found) ? found | sign : found;
}

}  // namespace

std::uint64_t expected_number(const OpcodeName& name, const Layout& layout, Operands v,
                              std::size_t count) {
  const std::string& mnemonic = name.first();
  if (mnemonic == "min" || mnemonic == "max") return extreme_of_all(name, layout, v, count);
  if (mnemonic == "copysign") return (v[0] & layout.sign()) | (v[1] & layout.nan());
  if (name.has("ftz"))
    for (std::uint64_t& value : v) value = layout.flush(value);
  const auto finish = [&](std::uint64_t word) { return finished(name, layout, word); };
  if (mnemonic == "abs") return finish(layout.is_nan(v[0]) ? layout.nan() : v[0] & ~layout.sign());
  if (mnemonic == "neg") return finish(layout.is_nan(v[0]) ? layout.nan() : v[0] ^ layout.sign());
  const exact::Round round = name.rounding();
  if (mnemonic == "add") return finish(exact::add(layout, round, v[0], v[1]));
  if (mnemonic == "sub") return finish(exact::add(layout, round, v[0], v[1] ^ layout.sign()));
  if (mnemonic == "mul") return finish(exact::multiply(layout, round, v[0], v[1]));
  if (mnemonic == "fma" || mnemonic == "mad")
    return finish(exact::multiply_add(layout, round, v[0], v[1], v[2]));
  if (mnemonic == "div") return finish(exact::divide(layout, round, v[0], v[1]));
  if (mnemonic == "rcp") return finish(exact::divide(layout, round, layout.one(), v[0]));
  if (mnemonic == "sqrt") return finish(exact::square_root(layout, round, v[0]));
  FAIL("nothing is expected of ", mnemonic);
  return 0;
}

}  // namespace simgpu
