#include "fuzz/contents.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/element.h"

namespace sinter::fuzz {
namespace {

/// The finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double drawn(const Contents& contents, bool whole, std::uint64_t seed, std::uint64_t position) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double special[] = {std::numeric_limits<double>::quiet_NaN(),
                                infinity,
                                -infinity,
                                1e-40,
                                -0.0,
                                1e30,
                                -6e-8,
                                -1e-45};
  const std::uint64_t bits = mixed(seed + position * 0x9e3779b97f4a7c15u);
  const std::uint64_t other = mixed(bits);
  if (contents.specials != 0 && other % contents.specials == 0) return special[(other >> 40) % 8];
  const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
  const double extent = contents.high - contents.low;
  return whole ? std::floor(contents.low + unit * (extent + 1)) : contents.low + unit * extent;
}

}  // namespace

std::vector<std::byte> elements(const Contents& contents, DType dtype, std::size_t count,
                                std::uint64_t turn) {
  if (!contents.given.empty()) return contents.given;
  std::vector<std::byte> bytes(count * item_size(dtype));
  const std::uint64_t seed = contents.seed + turn * 1000003;
  with_storage_type(dtype, [&]<typename T>(T) {
    for (std::size_t i = 0; i < count; ++i) {
      const T item = converted<T>(drawn(contents, !is_floating(dtype), seed, i));
      std::memcpy(bytes.data() + i * sizeof(T), &item, sizeof(T));
    }
  });
  return bytes;
}

const char* const drawing_text = R"(
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Numbers in [low, high], the same for the same seed; one in `specials` is an unusual one.
Tensor drawn(DType dtype, const Shape& shape, double low, double high, std::uint64_t seed,
             std::uint64_t specials) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double special[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity,
                            1e-40, -0.0, 1e30, -6e-8, -1e-45};
  std::vector<double> numbers(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint64_t bits = mixed(seed + i * 0x9e3779b97f4a7c15u), other = mixed(bits);
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
    if (specials != 0 && other % specials == 0) numbers[i] = special[(other >> 40) % 8];
    else if (is_floating(dtype)) numbers[i] = low + unit * (high - low);
    else numbers[i] = std::floor(low + unit * (high - low + 1));
  }
  const Tensor exact = from_host(numbers, shape);
  return cast(exact, dtype).evaluate();
}
)";

}  // namespace sinter::fuzz
