#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "models/safetensors.h"
#include "tests/temporary_directory.h"

namespace sinter::models {
namespace {

TEST_CASE("safetensors: a file of the Python package reads and writes back to the same bytes") {
  const TemporaryDirectory directory;
  const std::filesystem::path golden = "tests/golden/captioner/model.safetensors";
  const Safetensors file(golden);
  CHECK(file.info("encoder.embeddings.cls_token").shape == Shape{1, 1, 32});
  NamedTensors tensors;
  for (const auto& [name, stored] : file.tensors()) tensors[name] = file.tensor(name);
  write_safetensors(directory / "again", tensors, file.metadata());
  CHECK(read_file(directory / "again") == read_file(golden));
}

TEST_CASE("safetensors: bools of other bytes than 0 and 1 do not become a tensor") {
  const TemporaryDirectory directory;
  const std::array<std::byte, 2> bytes = {std::byte{1}, std::byte{2}};
  write_safetensors(directory / "t", std::vector<TensorBytes>{{"w", boolean, {2}, bytes}});
  CHECK_THROWS_WITH_AS(Safetensors(directory / "t").tensor("w"), doctest::Contains("w"), FileError);
}

}  // namespace
}  // namespace sinter::models
