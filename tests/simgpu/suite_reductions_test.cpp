// Many threads, one result: tests/simgpu/kernels/reductions.cu.
#include <algorithm>
#include <numeric>

#include "tests/simgpu/kernel_suite.h"

namespace simgpu {
namespace {

using S32 = std::int32_t;
using U32 = std::uint32_t;
using S64 = std::int64_t;
using U64 = std::uint64_t;

/// Multiples of 1/8, whose sums are exact.
template <class T>
std::vector<T> eighths(std::size_t count, std::uint64_t seed) {
  std::vector<T> made = numbers<T>(count, seed, -64, 64);
  for (T& each : made) each = std::floor(each) / 8;
  return made;
}

std::vector<KernelRow> sum_rows() {
  const auto a = words<S32>(512, 1);
  std::vector<S32> sums;
  for (std::size_t i = 0; i < 512; i += 128) sums.push_back(std::accumulate(&a[i], &a[i] + 128, 0));
  const auto b = eighths<double>(1000, 2);
  const std::vector<double> total{std::accumulate(b.begin(), b.end(), 0.0)};
  const auto c = eighths<float>(350, 3);
  std::vector<float> extremes;
  for (std::size_t i = 0; i < 350; i += 70) {
    extremes.push_back(*std::min_element(&c[i], &c[i] + 70));
    extremes.push_back(*std::max_element(&c[i], &c[i] + 70));
  }
  const auto d = eighths<float>(2000, 4);
  std::vector<float> parts(6);
  for (std::size_t i = 0; i < 2000; ++i) parts[i / 64 % 6] += d[i];
  const std::vector<float> sum{std::accumulate(parts.begin(), parts.end(), 0.0f)};
  const auto p = words<U32>(96, 5);
  std::vector<U32> reduced;
  for (std::size_t i = 0; i < 96; i += 32) {
    U32 values[] = {0, ~0u, 0, ~0u, 0, 0, INT32_MAX, 0x8000'0000u};
    for (std::size_t k = i; k < i + 32; ++k) {
      const auto as_signed = static_cast<S32>(p[k]);
      values[0] += p[k];
      values[1] = std::min(values[1], p[k]);
      values[2] = std::max(values[2], p[k]);
      values[3] &= p[k] | 15;
      values[4] |= p[k] & 0xff00;
      values[5] ^= p[k];
      values[6] = static_cast<U32>(std::min(static_cast<S32>(values[6]), as_signed));
      values[7] = static_cast<U32>(std::max(static_cast<S32>(values[7]), as_signed));
    }
    reduced.insert(reduced.end(), std::begin(values), std::end(values));
  }
  return {
      row("tree_sum", grid(4, 128, 512), exactly(sums), a),
      row("shuffled_sum", grid(4, 64), exactly(total, {0}), b, 1000),
      row("row_extremes", grid(5, 64), exactly(extremes), c, 70),
      row("reduced_by_sync", threads(96), exactly(reduced), p),
      row("last_block", grid(6, 64), exactly(sum), exactly(parts), exactly<U32>({6}, {0}), d, 2000),
  };
}

std::vector<KernelRow> place_rows() {
  std::vector<float> a = numbers<float>(540, 6, -9, 9);
  for (float& each : a) each = std::floor(each);  // with the greatest more than once
  std::vector<S64> places;
  for (std::size_t i = 0; i < 540; i += 90)
    places.push_back(std::max_element(&a[i], &a[i] + 90) - &a[i]);
  const auto b = numbers<float>(960, 7, -9, 9);
  const auto at = static_cast<U32>(std::max_element(b.begin(), b.end()) - b.begin());
  const U64 greatest = U64{std::bit_cast<U32>(b[at]) | 0x8000'0000u} << 32 | ~at;
  return {
      row("row_argmax", grid(6, 32), exactly(places), a, 90),
      row("atomic_argmax", threads(960), exactly<U64>({greatest}, {0}), b, 960),
  };
}

using Wide = long double;

std::vector<KernelRow> norm_rows() {
  const auto a = numbers<float>(400, 8, -3, 5), gain = numbers<float>(100, 9, 0, 2),
             bias = numbers<float>(100, 10, -1, 1);
  const auto brains = numbers<Brain>(480, 11, -3, 3), brain_gain = numbers<Brain>(120, 12, 0, 2);
  std::vector<Wide> layer, rms;
  for (std::size_t r = 0; r < 4; ++r) {
    Wide mean = 0, squares = 0;
    for (std::size_t i = 0; i < 100; ++i) mean += a[r * 100 + i] / 100.0L;
    for (std::size_t i = 0; i < 100; ++i)
      squares += (a[r * 100 + i] - mean) * (a[r * 100 + i] - mean) / 100.0L;
    for (std::size_t i = 0; i < 100; ++i)
      layer.push_back((a[r * 100 + i] - mean) / std::sqrt(squares + 1e-5L) * gain[i] + bias[i]);
    Wide sum = 0;
    for (std::size_t i = 0; i < 120; ++i) sum += std::pow(Wide{double{brains[r * 120 + i]}}, 2);
    for (std::size_t i = 0; i < 120; ++i)
      rms.push_back(double{brains[r * 120 + i]} * double{brain_gain[i]} /
                    std::sqrt(sum / 120 + 1e-6L));
  }
  return {
      row("layer_norm", grid(4, 64), near<float>(layer, 4, 4e-6), a, gain, bias, 100, 1e-5f),
      row("rms_norm", grid(4, 64), near<Brain>(rms, 1, 1e-6), brains, brain_gain, 120, 1e-6f),
  };
}

std::vector<KernelRow> softmax_rows() {
  const auto a = numbers<float>(390, 13, -5, 5);
  std::vector<Wide> softmax;
  for (std::size_t r = 0; r < 390; r += 130) {
    Wide sum = 0;
    for (std::size_t i = r; i < r + 130; ++i) sum += std::exp(a[i] * 0.5L);
    for (std::size_t i = r; i < r + 130; ++i) softmax.push_back(std::exp(a[i] * 0.5L) / sum);
  }
  const auto b = numbers<float>(300, 14, -5, 5);
  const std::vector<S64> targets = {3, 49, -1, 0, 20, 7};
  std::vector<Wide> entropy;
  for (std::size_t r = 0; r < 6; ++r) {
    Wide sum = 0;
    for (std::size_t i = 0; i < 50; ++i) sum += std::exp(Wide{b[r * 50 + i]});
    const bool counts = targets[r] >= 0;
    const auto target = static_cast<std::size_t>(targets[r]);
    for (std::size_t i = 0; i < 50; ++i)
      entropy.push_back(counts ? std::exp(Wide{b[r * 50 + i]}) / sum - (i == target ? 1 : 0) : 0);
    entropy.push_back(counts ? std::log(sum) - b[r * 50 + target] : 0);
  }
  return {
      row("softmax", grid(3, 96, 520), near<float>(softmax, 20, 1e-7), a, 130, 0.5f),
      row("cross_entropy", grid(6, 32), near<float>(entropy, 20, 2e-6), b, targets, 50),
  };
}

std::vector<KernelRow> order_rows() {
  const auto a = words<S32>(512, 15);
  std::vector<S32> scanned(512);
  for (std::size_t i = 0; i < 512; ++i) scanned[i] = a[i] + (i % 256 == 0 ? 0 : scanned[i - 1]);
  std::vector<std::uint8_t> starts = words<std::uint8_t>(96, 16);
  std::vector<S32> segments(96);
  for (std::size_t i = 0; i < 96; ++i) {
    starts[i] = starts[i] % 5 == 0;
    segments[i] = a[i] + (i % 32 == 0 || starts[i] != 0 ? 0 : segments[i - 1]);
  }
  const std::vector<S32> some(a.begin(), a.begin() + 192);
  std::vector<S32> positive{0};
  std::copy_if(some.begin(), some.end(), std::back_inserter(positive), [](S32 x) { return x > 0; });
  positive[0] = static_cast<S32>(positive.size()) - 1;
  std::vector<S32> keys = some, bins(10);
  for (S32& key : keys) ++bins[static_cast<std::size_t>(key = (key % 10 + 10) % 10)];
  std::vector<S32> met(96);
  for (std::size_t i = 0; i < 96; ++i) met[i] = 1032 + (i < 64 ? 40000 : 0);
  const auto p = words<U32>(512, 17);
  auto sorted = p, split = p;
  for (std::size_t i = 0; i < 512; i += 256) std::sort(&sorted[i], &sorted[i] + 256);
  split.resize(96);
  for (std::size_t i = 0; i < 96; i += 32)
    std::stable_partition(&split[i], &split[i] + 32, [](U32 x) { return x % 2 == 0; });
  return {
      row("block_scan", grid(2, 256), exactly(scanned), a),
      row("segmented_scan", threads(96), exactly(segments), a, starts),
      row("compacted", grid(1, 192), exactly(positive), some),
      row("matched_histogram", threads(192), exactly(bins, std::vector<S32>(10)), keys),
      row("barriers", grid(1, 96), exactly(met)),
      row("bitonic_sort", grid(2, 256), exactly(sorted), p),
      row("radix_split", threads(96), exactly(split), p),
  };
}

/// Which value an exchange finds depends on the order; that each is found once does not.
KernelRow exchange_row() {
  return {"atomic_words", [](SimulatedDevice& device) {
            const auto a = words<U32>(960, 18);
            std::vector<U32> wanted = {0, 0, ~0u, 0, ~0u, 0, 0, 60, 40, INT32_MAX, 0x8000'0000u};
            std::vector<U32> before = {0, 0, ~0u, 0, ~0u, 0, 0, 0, 0, INT32_MAX, 0x8000'0000u, 7};
            for (const U32 v : a) {
              wanted[0] += v, wanted[1] -= v;
              wanted[2] = std::min(wanted[2], v), wanted[3] = std::max(wanted[3], v);
              wanted[4] &= v | 0xff, wanted[5] |= v & 0xff00, wanted[6] ^= v;
              const auto as_signed = static_cast<S32>(v);
              wanted[9] = static_cast<U32>(std::min(static_cast<S32>(wanted[9]), as_signed));
              wanted[10] = static_cast<U32>(std::max(static_cast<S32>(wanted[10]), as_signed));
            }
            U32* out = device.upload(before);
            U32* old = device.allocate<U32>(960);
            check_ran(device.launch("atomic_words", threads(960), out, old, device.upload(a)));
            CHECK(device.download(out, wanted.size()) == wanted);
            std::vector<U32> found = device.download(old, 960), given = a;
            found.push_back(device.download(out + 11, 1)[0]);
            given.push_back(7);
            std::sort(found.begin(), found.end());
            std::sort(given.begin(), given.end());
            CHECK(found == given);
          }};
}

std::vector<KernelRow> atomic_rows() {
  const auto a = words<U64>(480, 19);
  const std::vector<U64> before = {0, ~U64{0}, 0, ~U64{0}, 0, 0, INT64_MAX, U64{1} << 63};
  std::vector<U64> longs = before;
  for (const U64 v : a) {
    const auto as_signed = static_cast<S64>(v);
    longs[0] += v, longs[1] = std::min(longs[1], v), longs[2] = std::max(longs[2], v);
    longs[3] &= v | 0xff, longs[4] |= v & 0xff00, longs[5] ^= v;
    longs[6] = static_cast<U64>(std::min(static_cast<S64>(longs[6]), as_signed));
    longs[7] = static_cast<U64>(std::max(static_cast<S64>(longs[7]), as_signed));
  }
  const auto b = numbers<float>(480, 20, 0, 9);
  const auto c = words<S32>(384, 21);
  std::vector<S32> shared;
  for (std::size_t i = 0; i < 384; i += 128) {
    S32 sum = 0, most = 0, least = 1000, bits = 0;
    for (std::size_t k = i; k < i + 128; ++k) {
      sum += c[k];
      most = std::max(most, c[k]);
      least = std::min(least, c[k]);
      bits |= static_cast<S32>(1u << (static_cast<U32>(c[k]) & 31));
    }
    shared.insert(shared.end(), {sum, most, least, bits, 128});
  }
  return {
      exchange_row(),
      row("atomic_longs", threads(480), exactly(longs, before), a),
      row("atomic_floats", threads(200), exactly<float>({100}, {0}), exactly<double>({-50}, {0}),
          exactly<Half>({25}, {0}), exactly<Brain>({200}, {0}), exactly<Half>({200, -400}, {0, 0}),
          200),
      row("swapped", threads(480), exactly<float>({*std::max_element(b.begin(), b.end())}, {0}),
          exactly<std::uint16_t>({1440}, {0}), b),
      row("shared_atomics", grid(3, 128), exactly(shared), c),
  };
}

}  // namespace

TEST_CASE("simgpu suite: many threads, one result" * doctest::skip(!has_nvrtc())) {
  std::vector<KernelRow> rows;
  for (auto make : {sum_rows, place_rows, norm_rows, softmax_rows, order_rows, atomic_rows})
    for (KernelRow& each : make()) rows.push_back(std::move(each));
  check_kernels("reductions.cu", rows, {"--fmad=false"});
}

}  // namespace simgpu
