// Accesses to parameters: of entries, of functions and of calls. Source: PTX ISA 5.1.6 and 9.7.9.8.
#include <charconv>
#include <optional>
#include <string>

#include "tools/simgpu/code/decoder.h"

namespace simgpu {
namespace {

/// An access to a parameter: the opcode behind `ld.param`.
struct AccessType {
  std::string vector;  ///< `.v2`, `.v4`, or nothing
  bool is_signed = false;
  std::uint32_t bits = 0;
  std::uint32_t bytes = 0;  ///< of the whole access

  /// A store has no sign to extend.
  std::string suffix(bool load) const {
    return vector + (load && is_signed ? ".s" : ".b") + std::to_string(bits);
  }
};

std::optional<AccessType> access_type(std::string_view rest) {
  for (const std::string_view where : {"::entry", "::func"})
    if (rest.starts_with(where)) {
      rest.remove_prefix(where.size());
      break;
    }
  AccessType made;
  if (rest.starts_with(".v2") || rest.starts_with(".v4")) {
    made.vector = rest.substr(0, 3);
    rest.remove_prefix(3);
  }
  if (rest.size() < 3 || rest[0] != '.' || std::string_view("busf").find(rest[1]) == rest.npos)
    return std::nullopt;
  const char* end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data() + 2, end, made.bits);
  const bool is_size = made.bits >= 8 && made.bits <= 128 && (made.bits & (made.bits - 1)) == 0;
  if (error != std::errc() || stop != end || !is_size) return std::nullopt;
  made.is_signed = rest[1] == 's' && made.bits < 64;
  made.bytes = made.bits / 8 * (made.vector.empty() ? 1u : made.vector == ".v2" ? 2u : 4u);
  return made;
}

}  // namespace

/// Decodes ld.param and st.param; false for any other instruction.
bool Decoder::parameter_access(const ptx::Instruction& made) {
  const std::string_view opcode = made.opcode;
  const bool load = opcode.starts_with("ld.param");
  if (!load && !opcode.starts_with("st.param")) return false;
  const std::optional<AccessType> type = access_type(opcode.substr(8));
  if (!type) return false;
  bool of_function = !load;
  const std::size_t at = load ? 1 : 0;
  if (made.operands.size() > at && made.operands[at].kind == ptx::OperandKind::address) {
    const ptx::Operand& address = made.operands[at];
    const std::optional<Place> place =
        scopes_.find(address.parts[0].name, address.parts[0].position);
    if (place && place->kind == Place::Kind::slot) of_function = true;
    const bool known =
        place && (place->kind == Place::Kind::slot || place->kind == Place::Kind::entry_parameter);
    if (known && (address.bits > place->bytes || type->bytes > place->bytes - address.bits))
      fail(address.position, made.opcode + " behind the end of " + address.parts[0].name);
  }
  const std::string space = of_function ? "::func" : "::entry";
  decode_as(made, std::string(load ? "ld" : "st") + ".param" + space + type->suffix(load));
  return true;
}

}  // namespace simgpu
