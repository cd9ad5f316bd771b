#include "tools/simgpu/machine/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "tools/simgpu/code/round_up.h"
#include "tools/simgpu/machine/checks.h"
#include "tools/simgpu/machine/fault.h"

namespace simgpu {
namespace {

/// Reads memory as the lane would.
class Reader {
 public:
  Reader(const Warp& warp, int lane) : warp_(warp), lane_(lane) {}

  template <class T>
  T read(std::uint64_t address) {
    if (AccessChecks* checks = warp_.block->checks) {
      std::array<std::uint64_t, warp_size> at{};
      at[static_cast<std::size_t>(lane_)] = address;
      checks->access(warp_, 1u << lane_, at.data(), sizeof(T), Access::load, AddressSpace::generic);
    }
    T value;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
  }
  std::string text(std::uint64_t address) {
    if (address == 0) return "(null)";
    std::string text;
    while (const char character = read<char>(address++)) text += character;
    return text;
  }

 private:
  const Warp& warp_;
  int lane_;
};

/// One after the other.
class Arguments {
 public:
  Arguments(Reader& reader, std::uint64_t address) : reader_(reader), next_(address) {}
  template <class T>
  T take() {
    next_ = round_up(next_, sizeof(T));
    const T value = reader_.read<T>(next_);
    next_ += sizeof(T);
    ++count_;
    return value;
  }
  std::int32_t count() const { return count_; }

 private:
  Reader& reader_;
  std::uint64_t next_;
  std::int32_t count_ = 0;
};

/// Of what one call prints: the rest is cut off. A width may be any number, of which the first six
/// digits count.
constexpr std::size_t most_characters = 1 << 20;
constexpr int most_digits = 6, widest = 999'999;

/// %[flags][width][.precision][size]type
struct Conversion {
  std::string start;  ///< flags, width and precision, with the numbers that stars stand for
  bool is_long = false;
  char type = 0;  ///< 0 where the format ends before it
};

Conversion take_conversion(std::string_view& format, Arguments& arguments) {
  Conversion made;
  const auto at_one_of = [&](const char* set) {
    return !format.empty() && std::strchr(set, format[0]) != nullptr;
  };
  for (int digits = 0; at_one_of("#0- +.123456789*");) {
    digits = format[0] >= '0' && format[0] <= '9' ? digits + 1 : 0;
    if (format[0] == '*')
      made.start += fmt::format("{}", std::clamp(arguments.take<std::int32_t>(), -widest, widest));
    else if (digits <= most_digits) made.start += format[0];
    format.remove_prefix(1);
  }
  while (at_one_of("hlLjzt")) {
    if (format[0] != 'h') made.is_long = true;
    format.remove_prefix(1);
  }
  if (format.empty()) return made;
  made.type = format[0];
  format.remove_prefix(1);
  return made;
}

template <class T>
std::string formatted(const std::string& format, T value) {
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  if (size < 0) return "";
  std::string text(std::min(static_cast<std::size_t>(size), most_characters) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  return text;
}

std::string convert(const Conversion& conversion, Reader& reader, Arguments& arguments) {
  const std::string start = "%" + conversion.start;
  const char type = conversion.type;
  const auto is_one_of = [type](const char* set) {
    return type != 0 && std::strchr(set, type) != nullptr;
  };
  if (type == '%') return "%";
  if (is_one_of("diouxX") && conversion.is_long)
    return formatted(start + "ll" + type, static_cast<long long>(arguments.take<std::int64_t>()));
  if (is_one_of("cdiouxX")) return formatted(start + type, arguments.take<std::int32_t>());
  if (is_one_of("eEfFgGaA")) return formatted(start + type, arguments.take<double>());
  if (type == 'p')
    return formatted(start + type, reinterpret_cast<void*>(arguments.take<std::uint64_t>()));
  if (type == 's')
    return formatted(start + type, reader.text(arguments.take<std::uint64_t>()).c_str());
  // What CUDA says nothing of is printed as it is.
  return type == 0 ? start : start + type;
}

}  // namespace

std::int32_t print_formatted(const Warp& warp, int lane, std::uint64_t format,
                             std::uint64_t arguments) {
  if (format == 0) return -1;
  Reader reader(warp, lane);
  Arguments rest(reader, arguments);
  const std::string whole = reader.text(format);
  std::string text;
  for (std::string_view left = whole; !left.empty() && text.size() < most_characters;) {
    const std::size_t percent = left.find('%');
    text += left.substr(0, percent);
    if (percent == std::string_view::npos) break;
    left.remove_prefix(percent + 1);
    text += convert(take_conversion(left, rest), reader, rest);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return rest.count();
}

void print_assertion(const Warp& warp, int lane, const Assertion& assertion) {
  Reader reader(warp, lane);
  const Size3& block = warp.block->index;
  const Size3& size = warp.block->grid->block_size;
  const std::uint64_t thread = warp.thread(lane);
  const std::string text =
      fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n",
                  reader.text(assertion.file), assertion.line, reader.text(assertion.function),
                  block.x, block.y, block.z, thread % size.x, thread / size.x % size.y,
                  thread / size.x / size.y, reader.text(assertion.message));
  std::fputs(text.c_str(), stderr);
}

void fail_assertion(const Warp& warp, int lane, const Assertion& assertion) {
  Reader reader(warp, lane);
  throw Fault(
      FaultKind::asserted, lane, 0,
      fmt::format("`{}` does not hold in {}, {}:{}", reader.text(assertion.message),
                  reader.text(assertion.function), reader.text(assertion.file), assertion.line));
}

}  // namespace simgpu
