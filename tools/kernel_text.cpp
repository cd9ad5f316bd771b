#include "tools/kernel_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "kernels/loop_arguments.h"
#include "runtime/dtype.h"
#include "runtime/error.h"

namespace sinter::tools {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_embedded = 16 << 10;

/// tools/kernel_frame.cpp with the prelude of kernels.
std::string frame() {
  std::string text;
  for (const std::string_view part : {
#include "tools/kernel_frame.inc"
       })
    text += part;
  return text;
}

DType dtype_of(const std::string& name) {
  for (int i = 0; i < dtype_count; ++i)
    if (to_string(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  throw FileError(fmt::format("there is no dtype {}", name));
}

/// The bits of the exponent of a float; 0 for other dtypes.
std::uint64_t exponent_bits(DType dtype) {
  switch (dtype) {
    case DType::f16: return 0x7c00;
    case DType::bf16: return 0x7f80;
    case DType::f32: return 0x7f80'0000;
    case DType::f64: return 0x7ff0'0000'0000'0000;
    default: return 0;
  }
}

/// The memory of a launch, one piece after the other.
struct Memory {
  std::string bytes;
  std::string table;  ///< of what is where in it

  void add(const Json& piece, std::string_view all) {
    const auto size = piece.at("bytes").get<std::size_t>();
    const std::size_t before = append(piece.at("before").get<std::size_t>(), size, all);
    std::string after = "-1";
    if (piece.contains("after"))
      after = fmt::to_string(append(piece.at("after").get<std::size_t>(), size, all));
    table += fmt::format("    {{{}, {}, {}}},\n", size, before, after);
  }

 private:
  std::size_t append(std::size_t begin, std::size_t size, std::string_view all) {
    if (begin > all.size() || size > all.size() - begin)
      throw FileError("launch.bin is shorter than launch.jsonl says");
    bytes += all.substr(begin, size);
    return bytes.size() - size;
  }
};

std::string byte_list(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{},", i % 24 == 0 ? "\n    " : "",
                   static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
  return text;
}

std::string place_line(const Json& access) {
  const DType dtype = dtype_of(access.at("dtype").get<std::string>());
  return fmt::format("    {{{}, {}, {}, {:#x}u, {}}},\n", access.value("memory", -1),
                     access.value("offset", std::int64_t{0}), item_size(dtype),
                     exponent_bits(dtype), access.value("written", false));
}

std::string access_line(const Json& access) {
  return fmt::format(
      "    {{.base = nullptr, .origin = {}, .column_stride = {}, .index_stride = {}, "
      ".index_extent = {},\n     .row_strides = {{{}}}, .sums_rows = {}}},\n",
      access.at("origin").get<std::int64_t>(), access.at("column_stride").get<std::int64_t>(),
      access.at("index_stride").get<std::int64_t>(), access.at("index_extent").get<std::int64_t>(),
      fmt::join(access.at("row_strides").get<std::vector<std::int64_t>>(), ", "),
      access.at("sums_rows").get<bool>());
}

/// The tables that the frame declares.
std::string tables(const Json& launch, const std::string& name, const Memory& memory,
                   bool embedded) {
  std::string places, accesses, numbers;
  for (const Json& access : launch.at("accesses")) {
    places += place_line(access);
    accesses += access_line(access);
  }
  for (const Json& number : launch.at("numbers"))
    numbers += fmt::format("    {{.integer = static_cast<std::int64_t>({:#x}u)}},\n",
                           static_cast<std::uint64_t>(number.at("bits").get<std::int64_t>()));
  if (numbers.empty()) numbers = "    {},\n";
  const auto rows = launch.at("rows").get<std::vector<std::int64_t>>();
  std::int64_t row_count = 1;
  for (const std::int64_t size : rows) row_count *= size;
  std::string text;
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "const char name[] = \"{}\";\n", name);
  fmt::format_to(to, "const char data_file[] = \"{}\";\n", embedded ? "" : name + ".bin");
  fmt::format_to(to, "const long data_bytes = {};\n", memory.bytes.size());
  fmt::format_to(to, "const unsigned char embedded[] = {{{}}};\n",
                 embedded ? byte_list(memory.bytes) : "0");
  fmt::format_to(to, "const Memory memories[] = {{\n{}}};\n", memory.table);
  fmt::format_to(to, "const int memory_count = {};\n", launch.at("memory").size());
  fmt::format_to(to, "const Place places[] = {{\n{}}};\n", places);
  fmt::format_to(to, "static const LoopAccess accesses[] = {{\n{}}};\n", accesses);
  fmt::format_to(to, "static const LoopNumber numbers[] = {{\n{}}};\n", numbers);
  fmt::format_to(
      to,
      "const LoopArguments recorded = {{.accesses = accesses, .numbers = numbers, "
      ".access_count = {},\n    .axes = {}, .extents = {{{}}}, .rows = {}, .columns = {}, "
      ".unit_rows = {},\n    .unit_columns = {}, .host = nullptr, .device = {{}}}};\n",
      launch.at("accesses").size(), rows.size(), fmt::join(rows, ", "), row_count,
      launch.at("columns").get<std::int64_t>(), launch.at("unit_rows").get<std::int64_t>(),
      launch.at("unit_columns").get<std::int64_t>());
  return text;
}

std::string command_of(const TraceFolder& folder, const std::string& name) {
  std::vector<std::string> words = {"c++"};
  for (const auto& flag : folder.flags)
    if (flag != "-fPIC" && flag != "-fvisibility=hidden") words.push_back(flag);
  return fmt::format("{0} {1}.cpp -o {1} && ./{1}", fmt::join(words, " "), name);
}

/// What the program is, as comments; the loop too.
std::string head_of(const KernelText& text, const TraceFolder& folder, const Json& kernel,
                    bool embedded) {
  std::string head = fmt::format(
      "// The generated kernel {} of the program {}.\n"
      "// Runs on the memory that it had, compares all bits that it writes with those it wrote, "
      "NaNs\n"
      "// being equal, and prints the time. Ends with 0 where they are the same, else with 1.\n//\n"
      "//   {}\n//\n",
      text.name, folder.path.filename().string(), text.command);
  if (!embedded)
    head += fmt::format("// To be run where {}.bin is, which has the memory.\n//\n", text.name);
  std::string_view loop = kernel.at("loop").get_ref<const std::string&>();
  while (!loop.empty()) {
    const std::size_t end = std::min(loop.find('\n'), loop.size());
    head += fmt::format("// {}\n", loop.substr(0, end));
    loop.remove_prefix(std::min(end + 1, loop.size()));
  }
  return head + "\n";
}

}  // namespace

KernelText kernel_text(const TraceFolder& folder, std::size_t kernel, std::string_view memory) {
  const Json& launch = *folder.launch_of(kernel);
  Memory kept;
  for (const Json& piece : launch.at("memory")) kept.add(piece, memory);
  const bool embedded = kept.bytes.size() <= most_embedded;
  KernelText text;
  text.name = folder.kernels[kernel].at("name").get<std::string>();
  text.command = command_of(folder, text.name);
  text.source = head_of(text, folder, folder.kernels[kernel], embedded) + frame() +
                "\nnamespace sinter::kernels {\n\n#define SINTER_KERNEL_NAME sinter_kernel\n" +
                folder.kernels[kernel].at("source").get<std::string>() + "\nnamespace frame {\n\n" +
                tables(launch, text.name, kept, embedded) +
                "\n}  // namespace frame\n}  // namespace sinter::kernels\n";
  if (!embedded) text.data = std::move(kept.bytes);
  return text;
}

}  // namespace sinter::tools
