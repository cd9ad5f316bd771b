#include "models/safetensors.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/error.h"
#include "tests/temporary_directory.h"

namespace sinter::models {
namespace {

std::string length_prefix(std::uint64_t length) {
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes;
}

std::string file_of(const std::string& header, std::size_t data_size) {
  std::string content = length_prefix(header.size()) + header;
  for (std::size_t i = 0; i < data_size; ++i) content.push_back(static_cast<char>(i));
  return content;
}

/// What opening a file of this content throws; empty when it opens and every tensor can be read.
std::string error_of(const TemporaryDirectory& directory, const std::string& content) {
  write_file(directory / "t.safetensors", content);
  try {
    const Safetensors file(directory / "t.safetensors");
    for (const auto& [name, tensor] : file.tensors())
      CHECK(file.read(name).size() ==
            static_cast<std::size_t>(element_count(tensor.shape)) * item_size(tensor.dtype));
    return "";
  } catch (const FileError& error) {
    return error.what();
  }
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

void write(const std::filesystem::path& path, const std::vector<TensorBytes>& tensors,
           const Metadata& metadata = {}) {
  write_safetensors(path, tensors, metadata);
}

struct Malformed {
  const char* header;
  std::size_t data_size;
  const char* tensor;
  const char* cause;
};

// One entry, "w", unless the fault is elsewhere.
const Malformed malformed_headers[] = {
    {"", 0, "", "not a JSON object"},
    {"[]", 0, "", "not a JSON object"},
    {" {}", 0, "", "not a JSON object"},
    {"\xEF\xBB\xBF{}", 0, "", "not a JSON object"},
    {"{", 0, "", "not JSON"},
    {"{}x", 0, "", "not JSON"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},})", 4, "", "not JSON"},
    {"{\"\xFF\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1, "", "not JSON"},
    {R"({"w":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"w":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
     1, "\"w\"", "twice"},
    {R"({"w":{"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1, "\"w\"", "dtype"},
    {R"({"w":{"dtype":"U8","shape":[],"shape":[],"data_offsets":[0,1]}})", 1, "\"w\"", "shape"},
    {R"({"w":{"dtype":"U8","shape":[],"data_offsets":[0,1],"data_offsets":[0,1]}})", 1, "\"w\"",
     "data_offsets"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "\"w\"", "end before"},
    {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "\"w\"", "past the end"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,18446744073709551615]}})",
     4, "\"w\"", "past the end"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551620]}})", 4, "\"w\"",
     "the number 18446744073709551620"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", 4, "\"w\"", "negative"},
    {R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "\"w\"", "negative"},
    {R"({"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "\"w\"", "the number 1.0"},
    {R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8, "\"w\"", "needs 12 bytes"},
    {R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,4]}})", 4, "\"w\"", "needs 0 bytes"},
    {R"({"w":{"dtype":"F32","shape":[8589934592,8589934592],"data_offsets":[0,4]}})", 4, "\"w\"",
     "too large"},
    {R"({"w":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "\"w\"",
     "too large"},
    {R"({"w":{"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0, "\"w\"",
     "too large"},
    {R"({"w":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,1]}})", 1, "\"w\"",
     "too large"},
    {R"({"w":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1, "\"w\"",
     "more than 8 dimensions"},
    {R"({"w":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1, "\"w\"", "F8_E4M3"},
    {R"({"w":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}})", 4, "\"w\"", "the dtype \"f32\""},
    {R"({"v":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"w":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
     7, "\"w\"", "overlapping"},
    {R"({"v":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
     4, "\"w\"", "overlapping"},
    {R"({"v":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"w":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})",
     4, "\"w\"", "overlapping"},
    {R"({"v":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"w":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})",
     9, "\"w\"", "gap"},
    {R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5, "\"w\"", "gap"},
    {R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 6, "", "2 bytes follow"},
    {R"({})", 1, "", "1 bytes follow"},
    {R"({"w":{"shape":[],"data_offsets":[0,1]}})", 1, "\"w\"", "no dtype"},
    {R"({"w":{"dtype":"U8","data_offsets":[0,1]}})", 1, "\"w\"", "no shape"},
    {R"({"w":{"dtype":"U8","shape":[]}})", 1, "\"w\"", "data_offsets"},
    {R"({"w":{"dtype":"U8","shape":[],"data_offsets":[0]}})", 1, "\"w\"", "data_offsets"},
    {R"({"w":{"dtype":"U8","shape":[],"data_offsets":[0,1,2]}})", 1, "\"w\"", "more than two"},
    {R"({"w":{"dtype":"U8","shape":[],"data_offsets":[0,1],"more":1}})", 1, "\"w\"", "\"more\""},
    {R"({"w":{"dtype":8,"shape":[],"data_offsets":[0,1]}})", 1, "\"w\"", "the number 8"},
    {R"({"w":{"dtype":"U8","shape":"[]","data_offsets":[0,1]}})", 1, "\"w\"", "the string"},
    {R"({"w":{"dtype":"U8","shape":{},"data_offsets":[0,1]}})", 1, "\"w\"", "an object"},
    {R"({"w":{"dtype":"U8","shape":[[]],"data_offsets":[0,1]}})", 1, "\"w\"", "an array"},
    {R"({"w":{"dtype":"U8","shape":[null],"data_offsets":[0,1]}})", 1, "\"w\"", "null"},
    {R"({"w":{"dtype":"U8","shape":[true],"data_offsets":[0,1]}})", 1, "\"w\"", "a boolean"},
    {R"({"w":[]})", 0, "\"w\"", "an array"},
    {R"({"w":1})", 0, "\"w\"", "not an object"},
    {R"({"__metadata__":[]})", 0, "__metadata__", "an array"},
    {R"({"__metadata__":"x"})", 0, "__metadata__", "not an object"},
    {R"({"__metadata__":{"a":1}})", 0, "__metadata__", "the number 1"},
    {R"({"__metadata__":{"a":{}}})", 0, "__metadata__", "an object"},
    {R"({"__metadata__":{"a":"1","a":"2"}})", 0, "__metadata__", "twice"},
    {R"({"__metadata__":{},"__metadata__":{}})", 0, "__metadata__", "twice"},
};

std::string small_valid_file() {
  return file_of(
      R"({"__metadata__":{"by":"hand"},"a":{"dtype":"I32","shape":[2],)"
      R"("data_offsets":[0,8]},"b":{"dtype":"BOOL","shape":[1,3],"data_offsets":[8,11]}})",
      11);
}

void fuzz(std::chrono::milliseconds time, unsigned seed) {
  const TemporaryDirectory directory;
  const std::string valid = small_valid_file();
  const std::array<std::string, 14> pieces = {"{",   "}",  "[",    "]",   ",",      ":",       "\"",
                                              "\"w", "-1", "1e99", "0,0", "\"U8\"", "\"shape", " "};
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return random() % n; };
  const auto end = std::chrono::steady_clock::now() + time;
  int opened = 0, refused = 0;
  while (std::chrono::steady_clock::now() < end || opened == 0) {
    std::string content = valid;
    if (below(8) == 0) {
      content.resize(8 + below(100));
      for (char& c : content) c = static_cast<char>(random());
    }
    for (std::size_t changes = below(4); changes > 0; --changes) {
      const std::size_t at = 8 + below(content.size() - 7);
      switch (below(4)) {
        case 0: content.insert(at, pieces[below(pieces.size())]); break;
        case 1: content.erase(at, below(12)); break;
        case 2: content.insert(at, 1, static_cast<char>(random())); break;
        default: content[below(content.size())] = static_cast<char>(random());
      }
    }
    if (below(4) != 0) content.replace(0, 8, length_prefix(below(content.size())));
    ++(error_of(directory, content).empty() ? opened : refused);
  }
  CHECK(refused > 0);
}

}  // namespace

TEST_CASE("safetensors: each malformed header is an error naming file, tensor and cause") {
  const TemporaryDirectory directory;
  for (const Malformed& bad : malformed_headers) {
    CAPTURE(bad.header);
    const std::string message = error_of(directory, file_of(bad.header, bad.data_size));
    CAPTURE(message);
    CHECK(mentions(message, "t.safetensors: "));
    CHECK(mentions(message, bad.tensor));
    CHECK(mentions(message, bad.cause));
  }
}

TEST_CASE("safetensors: a zero byte does not end the header") {
  const TemporaryDirectory directory;
  const std::string header = std::string("{}") + '\0' + "[[[";
  CHECK(mentions(error_of(directory, file_of(header, 0)), "zero byte"));
}

TEST_CASE("safetensors: header lengths that do not fit are errors") {
  const TemporaryDirectory directory;
  for (const int size : {0, 1, 7})
    CHECK(
        mentions(error_of(directory, std::string(static_cast<std::size_t>(size), 'x')), "too few"));
  CHECK(mentions(error_of(directory, length_prefix(0)), "not a JSON object"));
  for (const std::uint64_t length :
       {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{100'000'001}})
    CHECK(mentions(error_of(directory, length_prefix(length) + "{}"), "longer than"));
  CHECK(mentions(error_of(directory, length_prefix(3) + "{}"), "does not fit"));
}

TEST_CASE("safetensors: deep nesting is refused at its second level") {
  const TemporaryDirectory directory;
  for (const char* start : {"", R"({"w":)", R"({"w":{"shape":)", R"({"__metadata__":{"a":)"})
    for (const char* level : {"[", R"({"a":)"}) {
      std::string header = start;
      for (int i = 0; i < 300'000; ++i) header += level;
      CHECK(!error_of(directory, file_of(header, 0)).empty());
    }
}

TEST_CASE("safetensors: a missing file and a directory are errors") {
  const TemporaryDirectory directory;
  CHECK_THROWS_AS(Safetensors(directory / "none"), FileError);
  CHECK_THROWS_AS(Safetensors(directory.path()), FileError);
}

TEST_CASE("safetensors: scalars, empty tensors, metadata and unaligned data load") {
  const TemporaryDirectory directory;
  // The header's length is odd, so the four-byte data lies at odd addresses.
  std::string header =
      R"({"__metadata__":{"k":"v"},"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
      R"("e":{"dtype":"F64","shape":[0],"data_offsets":[4,4]},)"
      R"("m":{"dtype":"BF16","shape":[0,7,3],"data_offsets":[0,0]},)"
      R"("r":{"data_offsets":[4,12],"shape":[2,1],"dtype":"I32"}}  )";
  if (header.size() % 2 == 0) header += ' ';
  write_file(directory / "t", file_of(header, 12));
  const Safetensors file(directory / "t");
  CHECK(file.metadata() == Metadata{{"k", "v"}});
  CHECK(file.tensors().size() == 4);
  CHECK(file.info("s").shape == Shape{});
  CHECK(file.info("e").shape == Shape{0});
  CHECK(file.info("m").shape == Shape{0, 7, 3});
  CHECK(file.info("r").dtype == i32);
  CHECK(file.read("e").empty());
  std::array<std::int32_t, 2> values{};
  file.read("r", std::as_writable_bytes(std::span(values)));
  CHECK(values[0] == 0x07060504);
  CHECK(values[1] == 0x0b0a0908);
  CHECK(file.contains("s"));
  CHECK_FALSE(file.contains("x"));
  CHECK_THROWS_AS(file.info("x"), FileError);
}

TEST_CASE("safetensors: a file cut at any byte is an error") {
  const TemporaryDirectory directory;
  const std::string valid = small_valid_file();
  CHECK(error_of(directory, valid).empty());
  for (std::size_t size = 0; size < valid.size(); ++size) {
    CAPTURE(size);
    CHECK(!error_of(directory, valid.substr(0, size)).empty());
  }
}

TEST_CASE("safetensors: a file cut after it was opened is an error when read") {
  const TemporaryDirectory directory;
  write_file(directory / "t", small_valid_file());
  const Safetensors file(directory / "t");
  std::filesystem::resize_file(directory / "t", small_valid_file().size() - 2);
  CHECK(file.read("a").size() == 8);
  CHECK_THROWS_AS(file.read("b"), FileError);
}

TEST_CASE("safetensors: random bytes never do more than throw FileError") {
  fuzz(std::chrono::milliseconds(700), 1);
}

TEST_SUITE("fuzz_long") {
  TEST_CASE("safetensors: random bytes for a minute") { fuzz(std::chrono::minutes(1), 2); }
}

TEST_CASE("safetensors: what is written reads back, in every dtype and odd shapes") {
  const TemporaryDirectory directory;
  std::vector<std::byte> data(8 * 24);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i % 2);
  std::vector<TensorBytes> tensors;
  for (int code = 0; code < dtype_count; ++code) {
    const auto dtype = static_cast<DType>(code);
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{2, 0, 3}, Shape{2, 3, 4}}) {
      const std::size_t size = static_cast<std::size_t>(element_count(shape)) * item_size(dtype);
      tensors.push_back({std::string(to_string(dtype)) + to_string(shape), dtype, shape,
                         std::span(data).first(size)});
    }
  }
  const Metadata metadata = {{"quote\"", "line\n\xC3\xA9"}, {"", ""}};
  write_safetensors(directory / "t", tensors, metadata);
  const Safetensors file(directory / "t");
  CHECK(file.metadata() == metadata);
  REQUIRE(file.tensors().size() == tensors.size());
  for (const TensorBytes& tensor : tensors) {
    CAPTURE(tensor.name);
    const StoredTensor& stored = file.info(tensor.name);
    CHECK(stored.dtype == tensor.dtype);
    CHECK(stored.shape == tensor.shape);
    CHECK(stored.begin % item_size(tensor.dtype) == 0);
    CHECK(std::ranges::equal(file.read(tensor.name), tensor.bytes));
  }
}

TEST_CASE("safetensors: the order of the tensors given does not change the file") {
  const TemporaryDirectory directory;
  const std::vector<std::byte> data(16, std::byte{7});
  std::vector<TensorBytes> tensors = {{"b", f32, {4}, data},
                                      {"a", f32, {4}, data},
                                      {"c", u8, {3}, std::span(data).first(3)},
                                      {"d", i64, {2}, data}};
  write_safetensors(directory / "1", tensors);
  std::ranges::reverse(tensors);
  write_safetensors(directory / "2", tensors);
  CHECK(read_file(directory / "1") == read_file(directory / "2"));
  write(directory / "empty", {});
  CHECK(Safetensors(directory / "empty").tensors().empty());
}

TEST_CASE("safetensors: a write that cannot be made leaves the old file and nothing else") {
  const TemporaryDirectory directory;
  const std::vector<std::byte> data(16);
  write_file(directory / "t", "old");
  CHECK_THROWS_AS(write(directory / "t", {{"a", f32, {5}, data}}), UsageError);
  CHECK_THROWS_AS(write(directory / "t", {{"a", f32, {4}, data}, {"a", f32, {4}, data}}),
                  UsageError);
  CHECK_THROWS_AS(write(directory / "t", {{"__metadata__", f32, {4}, data}}), UsageError);
  CHECK_THROWS_AS(write(directory / "t", {{"\xFF", f32, {4}, data}}), UsageError);
  CHECK_THROWS_AS(write(directory / "t", {{"a", f32, {4}, data}}, {{"\xFF", ""}}), UsageError);
  CHECK_THROWS_AS(write(directory / "none" / "t", {}), FileError);
  CHECK(read_file(directory / "t") == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);
}

}  // namespace sinter::models
