#include "models/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

namespace sinter::models {
namespace {

using Json = nlohmann::json;

/// Indexed by DType.
constexpr std::array<std::string_view, dtype_count> dtype_names = {"BOOL", "U8",   "I32", "I64",
                                                                   "F16",  "BF16", "F32", "F64"};

/// A name out of a file as it may be shown: control characters escaped, length bounded.
std::string shown_name(const std::string& name) {
  constexpr std::size_t longest = 200;
  std::string shown = Json(name).dump(-1, ' ', true, Json::error_handler_t::replace);
  if (shown.size() > longest) shown = shown.substr(0, longest) + "...\"";
  return shown;
}

/// One entry of the header as it is written there.
struct Entry {
  std::optional<std::string> dtype;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

/// Receives the parser's events. The header has three levels and no other shape, so the place in it
/// is one of a few; nothing nested deeper is ever stored. Every callback returns true: a fault
/// throws.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(const std::string& file, SafetensorsHeader& header, std::uint64_t data_size)
      : file_(file), header_(header), data_size_(data_size) {}

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_float(double, const std::string& text) override {
    return unexpected("the number " + text.substr(0, 40));
  }
  bool number_integer(std::int64_t value) override {
    if (value < 0) return unexpected(fmt::format("the negative number {}", value));
    return number_unsigned(static_cast<std::uint64_t>(value));
  }
  bool binary(Json::binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ == Place::shape) {
      if (entry_.shape->size() == max_rank)
        fail(fmt::format("has more than {} dimensions", max_rank));
      entry_.shape->push_back(value);
    } else if (place_ == Place::offsets) {
      if (entry_.offsets->size() == 2) fail("has more than two data_offsets");
      entry_.offsets->push_back(value);
    } else {
      return unexpected(fmt::format("the number {}", value));
    }
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata) {
      if (!header_.metadata.emplace(key_, value).second)
        fail(fmt::format("has the key {} twice", shown_name(key_)));
    } else if (place_ == Place::entry && key_ == "dtype" && !entry_.dtype) {
      entry_.dtype = value;
    } else {
      return unexpected("the string " + shown_name(value));
    }
    return true;
  }

  bool key(std::string& value) override {
    key_ = value;
    if (place_ != Place::root) return true;
    tensor_ = value;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::start) {
      place_ = Place::root;
    } else if (place_ == Place::root && key_ == "__metadata__") {
      if (std::exchange(metadata_seen_, true)) fail("appears twice");
      place_ = Place::metadata;
    } else if (place_ == Place::root) {
      if (header_.tensors.contains(tensor_)) fail("appears twice");
      entry_ = {};
      place_ = Place::entry;
    } else {
      return unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::entry) header_.tensors.emplace(tensor_, checked_entry());
    place_ = place_ == Place::root ? Place::end : Place::root;
    if (place_ == Place::root) tensor_.clear();
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::entry && key_ == "shape" && !entry_.shape) {
      entry_.shape.emplace();
      place_ = Place::shape;
    } else if (place_ == Place::entry && key_ == "data_offsets" && !entry_.offsets) {
      entry_.offsets.emplace();
      place_ = Place::offsets;
    } else {
      return unexpected("an array");
    }
    return true;
  }

  bool end_array() override {
    place_ = Place::entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const Json::exception& error) override {
    tensor_.clear();
    fail(fmt::format("the header is not JSON at its byte {}: {}", position, error.what()));
  }

  /// Throws FileError with `problem`, naming the tensor that is being read, if any.
  [[noreturn]] void fail(const std::string& problem) const {
    if (tensor_.empty()) throw FileError(fmt::format("{}: {}", file_, problem));
    if (tensor_ == "__metadata__")
      throw FileError(fmt::format("{}: __metadata__: {}", file_, problem));
    throw FileError(fmt::format("{}: tensor {}: {}", file_, shown_name(tensor_), problem));
  }

 private:
  enum class Place { start, root, metadata, entry, shape, offsets, end };

  bool unexpected(const std::string& what) const {
    if (place_ == Place::root && tensor_ == "__metadata__")
      fail(fmt::format("is {}, not an object", what));
    if (place_ == Place::root) fail(fmt::format("its entry is {}, not an object", what));
    fail(fmt::format("has {} where the format has none, in {}", what, shown_name(key_)));
  }

  StoredTensor checked_entry() const {
    if (!entry_.dtype) fail("has no dtype");
    if (!entry_.shape) fail("has no shape");
    if (!entry_.offsets || entry_.offsets->size() != 2) fail("has no two data_offsets");
    const auto name = std::find(dtype_names.begin(), dtype_names.end(), *entry_.dtype);
    if (name == dtype_names.end())
      fail(fmt::format("has the dtype {}; known are {}", shown_name(*entry_.dtype),
                       fmt::join(dtype_names, " ")));
    StoredTensor tensor;
    tensor.dtype = static_cast<DType>(name - dtype_names.begin());
    tensor.begin = (*entry_.offsets)[0];
    tensor.end = (*entry_.offsets)[1];
    const auto shown = fmt::format("data_offsets [{}, {}]", tensor.begin, tensor.end);
    if (tensor.end < tensor.begin) fail(shown + " end before they begin");
    if (tensor.end > data_size_)
      fail(fmt::format("{} reach past the end of the file, which has {} bytes of data", shown,
                       data_size_));
    for (const std::uint64_t size : *entry_.shape)
      if (size <= std::numeric_limits<std::int64_t>::max())
        tensor.shape.push_back(static_cast<std::int64_t>(size));
    check_byte_count(tensor);
    return tensor;
  }

  void check_byte_count(const StoredTensor& tensor) const {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    // Zero sizes are left out of this product, so that strides cannot overflow either.
    std::uint64_t product = item_size(tensor.dtype);
    bool empty = false;
    for (const std::uint64_t size : *entry_.shape) {
      empty = empty || size == 0;
      if (size != 0 && product > most / size)
        fail(fmt::format("shape [{}] is too large", fmt::join(*entry_.shape, ", ")));
      product *= std::max<std::uint64_t>(size, 1);
    }
    const std::uint64_t needed = empty ? 0 : product;
    if (needed != tensor.end - tensor.begin)
      fail(fmt::format("{} {} needs {} bytes, its data_offsets span {}", *entry_.dtype,
                       to_string(tensor.shape), needed, tensor.end - tensor.begin));
  }

  const std::string& file_;
  SafetensorsHeader& header_;
  std::uint64_t data_size_;
  Place place_ = Place::start;
  std::string key_;
  std::string tensor_;
  Entry entry_;
  bool metadata_seen_ = false;
};

/// The tensors in the order of their data must follow each other exactly.
void check_layout(const std::string& file, const TensorTable& tensors, std::uint64_t data_size) {
  std::vector<const TensorTable::value_type*> order;
  for (const auto& entry : tensors) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t expected = 0;
  for (const auto* entry : order) {
    const std::uint64_t begin = entry->second.begin;
    if (begin != expected)
      throw FileError(fmt::format(
          "{}: tensor {}: its data begins at byte {}, {} at {}", file, shown_name(entry->first),
          begin, begin < expected ? "overlapping data that ends" : "after a gap that starts",
          expected));
    expected = entry->second.end;
  }
  if (expected != data_size)
    throw FileError(fmt::format("{}: {} bytes follow the last tensor", file, data_size - expected));
}

}  // namespace

std::string_view safetensors_dtype_name(DType dtype) {
  return dtype_names[static_cast<std::size_t>(dtype)];
}

SafetensorsHeader parse_safetensors_header(const std::string& file, std::string_view text,
                                           std::uint64_t data_begin, std::uint64_t data_size) {
  // The parser would take a byte-order mark, and a zero byte for the end of the text.
  if (text.empty() || text.front() != '{')
    throw FileError(fmt::format("{}: the header is not a JSON object", file));
  if (text.find('\0') != text.npos)
    throw FileError(fmt::format("{}: the header has a zero byte", file));
  SafetensorsHeader header;
  HeaderReader reader(file, header, data_size);
  Json::sax_parse(text.begin(), text.end(), &reader);
  check_layout(file, header.tensors, data_size);
  for (auto& [name, tensor] : header.tensors) {
    tensor.begin += data_begin;
    tensor.end += data_begin;
  }
  return header;
}

}  // namespace sinter::models
