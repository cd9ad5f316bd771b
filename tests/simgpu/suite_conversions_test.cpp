// From one type of number to another: tests/simgpu/kernels/conversions.cu, against exact integers.
#include <algorithm>

#include "tests/simgpu/kernel_suite.h"

namespace simgpu {
namespace {

using exact::Layout;
using exact::Round;

constexpr std::size_t count = 480;
/// As the suffixes _rn, _rz, _rd and _ru name them.
constexpr Round rounds[] = {Round::even, Round::zero, Round::down, Round::up};

template <class T>
const Layout& layout_of() {
  if constexpr (is_small<T>) return T::format;
  else if constexpr (std::is_same_v<T, float>) return exact::f32;
  else return exact::f64;
}
template <class T>
std::uint64_t word_of(T value) {
  if constexpr (is_small<T>) return value.word;
  else if constexpr (std::is_same_v<T, float>) return std::bit_cast<std::uint32_t>(value);
  else return std::bit_cast<std::uint64_t>(value);
}
template <class T>
T from_word(std::uint64_t word) {
  T made{};
  if constexpr (is_small<T>) made.word = static_cast<std::uint16_t>(word);
  else if constexpr (std::is_same_v<T, float>)
    made = std::bit_cast<float>(static_cast<std::uint32_t>(word));
  else made = std::bit_cast<double>(word);
  return made;
}

/// Numbers of all sizes between two powers of two, of both signs.
template <class T>
std::vector<T> spread(std::uint64_t seed, int least, int most) {
  std::vector<T> made;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = random_word(seed, i);
    const double mantissa = 1 + static_cast<double>(word >> 12) * 0x1p-52;
    const int exponent = least + static_cast<int>(word % static_cast<unsigned>(most - least));
    const double size = std::ldexp(i % 4 == 0 ? std::floor(mantissa * 8) / 8 : mantissa, exponent);
    made.push_back(static_cast<T>((word >> 9 & 1) != 0 ? -size : size));
  }
  return made;
}

template <class Out, class In>
Out converted(Round round, In value) {
  if constexpr (is_number<In> && is_number<Out>) {
    return from_word<Out>(exact::convert(layout_of<In>(), word_of(value), layout_of<Out>(), round));
  } else if constexpr (is_number<Out>) {
    const bool negative = value < 0;
    const auto word = static_cast<std::uint64_t>(value);
    return from_word<Out>(
        exact::from_integer(layout_of<Out>(), round, negative, negative ? 0 - word : word));
  } else {
    // What is too great becomes the greatest integer: PTX ISA 9.7.9.22.
    const exact::Sum sum = exact::value_of(layout_of<In>(), word_of(value));
    const std::uint64_t size = sum.magnitude_of_integer(round).value_or(~std::uint64_t{0});
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<Out>::max());
    if (!sum.is_negative()) return static_cast<Out>(std::min(size, most));
    if (std::is_unsigned_v<Out>) return 0;
    return static_cast<Out>(0 - std::min(size, most + 1));
  }
}

template <class Out, class F, class... In>
KernelRow rounded(const char* name, F f, const std::vector<In>&... in) {
  std::vector<Out> made;
  for (std::size_t i = 0; i < count; ++i)
    for (const Round round : rounds) made.push_back(f(round, in[i]...));
  return row(name, threads(count), exactly(made), in...);
}
template <class Out, class In>
KernelRow conversion(const char* name, const std::vector<In>& in) {
  return rounded<Out>(name, converted<Out, In>, in);
}

std::vector<KernelRow> conversion_rows() {
  using S64 = std::int64_t;
  using U64 = std::uint64_t;
  const auto floats = spread<float>(1, -4, 70);
  const auto doubles = spread<double>(2, -4, 70);
  const auto halves = spread<Half>(3, -4, 16);
  const auto brains = spread<Brain>(4, -4, 40);
  const auto s32 = words<std::int32_t>(count, 5);
  const auto u32 = words<std::uint32_t>(count, 6);
  auto s64 = words<S64>(count, 7);
  auto u64 = words<U64>(count, 8);
  for (std::size_t i = 0; i < count; ++i) s64[i] >>= i % 60, u64[i] >>= i % 60;
  auto near_half = s32;
  for (std::size_t i = 0; i < count; ++i) near_half[i] >>= i % 30;
  return {
      conversion<std::int32_t>("float_to_s32", floats),
      conversion<std::uint32_t>("float_to_u32", floats),
      conversion<S64>("float_to_s64", floats),
      conversion<U64>("float_to_u64", floats),
      conversion<std::int32_t>("double_to_s32", doubles),
      conversion<S64>("double_to_s64", doubles),
      conversion<U64>("double_to_u64", doubles),
      conversion<float>("s32_to_float", s32),
      conversion<float>("u32_to_float", u32),
      conversion<float>("s64_to_float", s64),
      conversion<float>("u64_to_float", u64),
      conversion<double>("s64_to_double", s64),
      conversion<double>("u64_to_double", u64),
      conversion<float>("double_to_float", spread<double>(9, -152, 130)),
      conversion<Half>("float_to_half", spread<float>(10, -27, 18)),
      conversion<Brain>("float_to_brain", spread<float>(11, -135, 128)),
      conversion<std::int32_t>("half_to_s32", halves),
      conversion<std::uint16_t>("half_to_u16", halves),
      conversion<std::int32_t>("brain_to_s32", brains),
      conversion<Half>("s32_to_half", near_half),
      conversion<Half>("u64_to_half", u64),
      conversion<Brain>("s32_to_brain", near_half),
  };
}

/// An operation of exact.h as a function of numbers.
template <class T, class Operation>
auto operation(Operation of) {
  return [of](Round round, auto... values) {
    return from_word<T>(of(layout_of<T>(), round, word_of<T>(values)...));
  };
}
template <class T>
auto reciprocal() {
  return [](Round round, T value) {
    const Layout& layout = layout_of<T>();
    return from_word<T>(exact::divide(layout, round, layout.one(), word_of(value)));
  };
}
template <class T>
std::vector<T> positive(std::vector<T> values) {
  for (T& value : values) value = std::fabs(value);
  return values;
}

std::vector<KernelRow> arithmetic_rows() {
  const auto a = spread<float>(12, -20, 20), b = spread<float>(13, -20, 20),
             c = spread<float>(14, -40, 40);
  const auto x = spread<double>(15, -50, 50), y = spread<double>(16, -50, 50),
             z = spread<double>(17, -99, 99);
  return {
      rounded<float>("reciprocal_f32", reciprocal<float>(), spread<float>(18, -130, 127)),
      rounded<double>("reciprocal_f64", reciprocal<double>(), x),
      rounded<float>("root_f32", operation<float>(exact::square_root),
                     positive(spread<float>(19, -140, 127))),
      rounded<double>("root_f64", operation<double>(exact::square_root), positive(z)),
      rounded<float>("sum_f32", operation<float>(exact::add), a, b),
      rounded<float>("product_f32", operation<float>(exact::multiply), a, c),
      rounded<float>("quotient_f32", operation<float>(exact::divide), a, c),
      rounded<double>("sum_f64", operation<double>(exact::add), x, y),
      rounded<double>("product_f64", operation<double>(exact::multiply), x, z),
      rounded<double>("quotient_f64", operation<double>(exact::divide), x, z),
      rounded<float>("fused_f32", operation<float>(exact::multiply_add), a, b, c),
      rounded<double>("fused_f64", operation<double>(exact::multiply_add), x, y, z),
  };
}

std::vector<KernelRow> cast_rows() {
  const auto a = numbers<float>(count, 20, 0, 120);
  const auto b = numbers<double>(count, 21, 0, 2e9);
  const auto words_32 = words<std::int32_t>(count, 22);
  const auto bytes = words<std::uint8_t>(count, 23);
  const auto shorts = words<std::int16_t>(count, 24);
  std::vector<std::int64_t> integers;
  std::vector<double> doubles;
  for (std::size_t i = 0; i < count; ++i) {
    const auto whole = static_cast<std::int64_t>(a[i]), wide = static_cast<std::int64_t>(b[i]);
    for (const std::int64_t each : {whole, whole, whole, whole, wide, wide, wide, std::int64_t{1}})
      integers.push_back(each);
    doubles.insert(doubles.end(),
                   {double{a[i]}, double(words_32[i]), double(bytes[i]), double(shorts[i]),
                    double{static_cast<float>(static_cast<std::uint32_t>(words_32[i]))}});
  }
  const auto halves = words<Half>(count, 25);
  std::vector<Brain> brains;
  for (const Half each : halves) {
    brains.push_back(Brain(double{each}));
    brains.push_back(Brain(double{each} * 0.1));
  }
  const auto doubles_in = spread<double>(26, -27, 18);
  const auto brains_in = numbers<Brain>(count, 31, -300, 300);
  std::vector<std::int16_t> chars;
  for (const Brain x : brains_in)
    for (const double least : {-128.0, 0.0})
      chars.push_back(
          static_cast<std::int16_t>(std::clamp(std::trunc(double{x}), least, least + 255)));
  return {
      row("casts_from_float", threads(count), exactly(integers), a, b),
      row("casts_to_double", threads(count), exactly(doubles), a, words_32, bytes, shorts),
      row("half_to_brain", threads(count), exactly(brains), halves),
      row("double_to_half", threads(count),
          exactly(each<Half>([](double x) { return Half(x); }, doubles_in)), doubles_in),
      row("brain_to_chars", threads(count), exactly(chars), brains_in),
  };
}

std::vector<KernelRow> narrow_rows() {
  const auto pairs = numbers<float>(2 * count, 27, -600, 600);
  std::vector<std::uint8_t> eights;
  for (std::size_t i = 0; i < count; ++i)
    for (const Layout* layout : {&exact::e4m3, &exact::e5m2})
      for (std::size_t k = 0; k < 2; ++k)
        eights.push_back(static_cast<std::uint8_t>(
            exact::convert(exact::f32, word_of(pairs[2 * i + k]), *layout, Round::even, true)));
  std::vector<std::uint8_t> all(288);
  std::vector<float> numbers_of_eight;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<std::uint8_t>(i);
    for (const Layout* layout : {&exact::e4m3, &exact::e5m2})
      numbers_of_eight.push_back(static_cast<float>(exact::number(*layout, all[i])));
  }
  const auto fours = numbers<float>(4 * count, 28, -100, 100);
  std::vector<std::int8_t> quantised;
  for (std::size_t i = 0; i < fours.size(); i += 4) {
    const float scaled = std::clamp(std::rint(fours[i] * 2.5f), -127.0f, 127.0f);
    for (const float each :
         {scaled, std::floor(fours[i + 1]), std::ceil(fours[i + 2]), std::trunc(fours[i + 3])})
      quantised.push_back(static_cast<std::int8_t>(each));
  }
  return {
      row("eight_bits", threads(count), exactly(eights), pairs),
      row("from_eight_bits", threads(all.size()), exactly(numbers_of_eight), all),
      row("quantised", threads(count), exactly(quantised), fours, 2.5f),
  };
}

std::vector<KernelRow> whole_rows() {
  auto a = spread<float>(29, -3, 24);
  auto b = spread<double>(30, -3, 22);
  for (std::size_t i = 0; i < count; i += 3) {
    a[i] = std::floor(a[i]) + 0.5f;  // halves go to even, or away
    b[i] = std::floor(b[i]) + 0.5;
  }
  std::vector<float> whole;
  std::vector<std::uint64_t> bits;
  for (std::size_t i = 0; i < count; ++i) {
    const float x = a[i];
    const double y = b[i];
    whole.insert(whole.end(),
                 {std::floor(x), std::ceil(x), std::trunc(x), std::rint(x), std::round(x)});
    for (const double each : {std::floor(y), std::ceil(y), std::trunc(y), std::rint(y)})
      whole.push_back(static_cast<float>(each));
    whole.push_back(std::clamp(x, 0.0f, 1.0f));
    const std::uint64_t low = static_cast<std::uint32_t>(0 - i);
    bits.insert(bits.end(),
                {word_of(x), word_of(y),
                 static_cast<std::uint64_t>(static_cast<std::int64_t>(word_of(y)) >> 32),
                 std::uint64_t{i} << 32 | low});
  }
  return {
      row("rounded_to_integers", threads(count), exactly(whole), a, b),
      row("same_bits", threads(count), exactly(bits), a, b),
  };
}

}  // namespace

TEST_CASE("simgpu suite: from one type of number to another" * doctest::skip(!has_nvrtc())) {
  std::vector<KernelRow> rows;
  for (auto make : {conversion_rows, arithmetic_rows, cast_rows, narrow_rows, whole_rows})
    for (KernelRow& each : make()) rows.push_back(std::move(each));
  check_kernels("conversions.cu", rows);
}

}  // namespace simgpu
