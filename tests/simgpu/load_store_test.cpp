// What loads and stores move, and by which names they go.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/simgpu/checked_block.h"
#include "tools/simgpu/code/opcode_name.h"

namespace simgpu {
namespace {

/// What a name and pattern of the table say.
struct Form {
  bool is_signed = false;
  int bytes = 0, registers = 0, count = 1;  // of an element, of a register

  Form(std::string_view name, std::string_view pattern) {
    const std::string_view type = name.substr(name.rfind(' ') + 1);
    is_signed = type[0] == 's';
    bytes = std::stoi(std::string(type.substr(1))) / 8;
    const std::size_t v = name.find(" v");
    if (v != std::string_view::npos) count = name[v + 2] - '0';
    const std::size_t at = pattern[0] == 'm' ? pattern.find(' ') + 2 : 1;
    registers = std::stoi(std::string(pattern.substr(at)));
  }
};

/// Byte `n` of a memory of test data: all bits are used, and signs of both kinds.
std::uint8_t byte_at(std::uint64_t n) { return static_cast<std::uint8_t>(n * 167 + 13 + n / 251); }

/// The bytes of a number in memory as a register holds them. PTX ISA 9.4.1, table 28.
std::vector<std::uint8_t> as_register(std::uint64_t offset, const Form& form) {
  std::vector<std::uint8_t> made;
  for (int n = 0; n < form.bytes; ++n)
    made.push_back(byte_at(offset + static_cast<std::uint64_t>(n)));
  const bool is_negative = form.is_signed && (made.back() & 0x80) != 0;
  made.resize(static_cast<std::size_t>(form.registers), is_negative ? 0xff : 0);
  return made;
}

std::uint64_t lane_offset(int layout, int lane, int bytes) {
  const auto size = static_cast<std::uint64_t>(bytes), n = static_cast<std::uint64_t>(lane);
  if (layout == 0) return n * size;
  if (layout == 1) return 3 * size;
  return (n * 7 + 5) % 37 * size;
}

/// The space that an entry works in: a base for offsets, which its operands and the host add.
std::uint64_t base_of(std::string_view name, CheckedBlock& block, std::uint64_t global) {
  if (name.find("local") != std::string_view::npos) return block.local(0);
  return name.find("shared") != std::string_view::npos ? 0 : global;
}

const std::uint8_t* host(std::uint64_t address) {
  return reinterpret_cast<const std::uint8_t*>(address);
}

template <class Body>
void each_entry(std::string_view family, Body body) {
  for (const HostIsa& isa : host_isas()) {
    CheckedGrid grid(1);
    CheckedBlock block(grid, 0, isa);
    for (const Opcode& opcode : family_opcodes(isa, family)) {
      const std::string name(opcode.name), pattern(opcode.pattern);
      CAPTURE(isa.name);
      CAPTURE(name);
      CAPTURE(pattern);
      const bool is_local = name.find("local") != std::string::npos;
      const bool is_shared = name.find("shared") != std::string::npos;
      for (const int layout : {0, 1, 2}) {
        for (const std::uint32_t lanes : {all_lanes, 0x8421'0f0eu}) {
          // Fresh memory each time: accesses to the old are those of another block.
          const std::uint64_t global = grid.allocate(2048);
          const std::uint64_t base = base_of(name, block, global);
          const Form form(name, pattern);
          const AddressOf offset = [&](int lane) {
            // A lane has no other's local memory.
            if (is_local) return static_cast<std::uint64_t>(lane) * CheckedGrid::local_bytes;
            return lane_offset(layout, lane, form.bytes * form.count);
          };
          const std::uint64_t start = base + (is_shared ? block.shared() : 0);
          body(block, name, pattern, form, base, start, offset, lanes);
          grid.memory().free(global, "");
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("simgpu loads: every entry of the table, in each layout") {
  each_entry("load", [](CheckedBlock& block, const std::string& name, const std::string& pattern,
                        const Form& form, std::uint64_t base, std::uint64_t start,
                        const AddressOf& offset, std::uint32_t lanes) {
    block.begin(0);
    const std::uint64_t size = name.find("local") != std::string::npos
                                   ? std::uint64_t{CheckedGrid::local_bytes} * 32
                                   : 2048;
    for (std::uint64_t n = 0; n < size; ++n)
      *reinterpret_cast<std::uint8_t*>(start + n) = byte_at(n);
    block.write_states();
    const auto operands = block.access(
        0, name.c_str(), pattern.c_str(), [&](int lane) { return base + offset(lane); },
        0x1122'3344'5566'7788, lanes);
    bool same = true;
    for (int n = 0; n < form.count; ++n) {
      const std::uint8_t* made =
          block.warp(0).at<std::uint8_t>(operands[static_cast<std::size_t>(n)]);
      for (int lane = 0; lane < 32; ++lane) {
        const std::uint8_t* own = made + lane * form.registers;
        const bool active = (lanes >> lane & 1u) != 0;
        const auto expected = as_register(
            offset(lane) + static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(form.bytes),
            form);
        if (active) same = same && std::memcmp(own, expected.data(), expected.size()) == 0;
        else if (form.registers == 4)
          same = same && *reinterpret_cast<const std::uint32_t*>(own) == 0x5566'7788;
      }
    }
    CHECK(same);
  });
}

TEST_CASE("simgpu stores: every entry of the table, in each layout") {
  each_entry("store", [](CheckedBlock& block, const std::string& name, const std::string& pattern,
                         const Form& form, std::uint64_t base, std::uint64_t start,
                         const AddressOf& offset, std::uint32_t lanes) {
    block.begin(0);
    const std::uint64_t size = name.find("local") != std::string::npos
                                   ? std::uint64_t{CheckedGrid::local_bytes} * 32
                                   : 2048;
    std::vector<std::uint8_t> expected(size, 0xee);
    std::memset(reinterpret_cast<void*>(start), 0xee, size);
    constexpr std::uint64_t value = 0x1122'3344'5566'7788;
    for (int lane = 0; lane < 32; ++lane) {
      if ((lanes >> lane & 1u) == 0) continue;
      for (int n = 0; n < form.bytes * form.count; ++n) {
        // The low bytes of the register, first the lowest; 16-byte registers hold it twice, lane by
        // lane: see CheckedBlock::access.
        const int byte = n % form.bytes % 8;
        expected[offset(lane) + static_cast<std::uint64_t>(n)] =
            static_cast<std::uint8_t>(value >> (8 * byte));
      }
    }
    block.access(
        0, name.c_str(), pattern.c_str(), [&](int lane) { return base + offset(lane); }, value,
        lanes);
    CHECK(std::memcmp(host(start), expected.data(), size) == 0);
  });
}

TEST_CASE("simgpu memory opcodes: names that differ in nothing else have one entry") {
  const auto plain = [](const char* opcode) { return memory_name(opcode).value_or(""); };
  CHECK(plain("ld.global.f32") == "ld global b32");
  CHECK(plain("ld.u8") == "ld b8");
  CHECK(plain("ld.shared::cta.s16") == "ld shared s16");
  CHECK(plain("ld.const.v2.f64") == "ld global v2 b64");
  CHECK(plain("ld.weak.global.ca.L2::cache_hint.L2::128B.v4.u32") == "ld global v4 b32");
  CHECK(plain("ld.global.nc.L1::no_allocate.L2::256B.v4.f32") == "ld global v4 b32");
  CHECK(plain("ld.global.L1::evict_last.L2::evict_first.L2::cache_hint.v8.b32") ==
        "ld global v8 b32");
  CHECK(plain("ld.volatile.shared.u32") == "ld strong shared b32");
  CHECK(plain("ld.acquire.gpu.global.u64") == "ld strong global b64");
  CHECK(plain("ld.relaxed.sys.b8") == "ld strong b8");
  CHECK(plain("ldu.global.v4.f32") == "ld global v4 b32");
  CHECK(plain("st.global.wt.f32") == "st global b32");
  CHECK(plain("st.release.sys.global.s32") == "st release global b32");
  CHECK(plain("st.local.v4.u8") == "st local v4 b8");
  CHECK(plain("atom.global.add.u32") == "atom global add u32");
  CHECK(plain("atom.acq_rel.gpu.global.cas.b64") == "atom release global cas b64");
  CHECK(plain("atom.add.noftz.bf16x2") == "atom add bf16x2");
  CHECK(plain("atom.relaxed.sys.global.add.L2::cache_hint.v4.f32") == "atom global add v4 f32");
  CHECK(plain("red.release.cta.shared.max.s64") == "red release shared max s64");
  CHECK(plain("membar.gl") == "fence gpu");
  CHECK(plain("membar.cta") == "fence cta");
  CHECK(plain("fence.sc.sys") == "fence gpu");
  CHECK(plain("fence.acq_rel.cta") == "fence cta");
  CHECK(plain("cp.async.cg.shared.global.L2::128B") == "cp.async cg");
  CHECK(plain("cp.async.ca.shared::cta.global.L2::cache_hint.L2::64B") == "cp.async");
  CHECK(plain("prefetch.global.L2::evict_last") == "prefetch");
  CHECK(plain("ld.f32.global") == "ld global b32");
  CHECK(plain("ld.param.v2.s8") == "ld param v2 s8");
  CHECK(plain("st.param::func.s8") == "st param b8");
  for (const char* wrong : {"ld",
                            "ld.global",
                            "ld.global.f31",
                            "ld.global.f32.f32",
                            "ld.globalf32",
                            "ldglobal.f32",
                            "ld.strong.global.b32",
                            "ld global b32",
                            "ld.global.v3.f32",
                            "ld.global.",
                            "ld.acquire.f32",
                            "st.global.nc.f32",
                            "st.const.f32",
                            "atom.global.sub.u32",
                            "atom.add.f16",
                            "red.global.exch.b32",
                            "membar",
                            "fence.sc",
                            "cp.async.cg.global.shared",
                            "lda.global.f32",
                            ""}) {
    CAPTURE(wrong);
    CHECK(plain(wrong).empty());
  }
  CHECK(opcodes("ld.global.nc.f32").size() == opcodes("ld.global.b32").size());
  CHECK(opcodes("ld.global.nc.f31").empty());
}

TEST_CASE("simgpu memory opcodes: the number beside an address is added") {
  for (const HostIsa& isa : host_isas()) {
    CheckedGrid grid(1);
    CheckedBlock block(grid, 0, isa);
    const std::uint64_t data = grid.allocate(1024);
    for (int n = 0; n < 256; ++n) reinterpret_cast<int*>(data)[n] = n;
    OneWarp& warp = block.warp(0);
    const std::uint32_t at = warp.add<std::uint64_t>(at_lanes(data + 512, 4));
    const std::uint32_t to = warp.add<std::uint32_t>([](int) { return 0; });
    warp.run(find_opcode(isa, "ld global b32", "d4 m"), {to, at}, -256);
    CHECK(warp.at<int>(to)[3] == 128 - 64 + 3);
    const std::uint32_t narrow = warp.add<std::uint32_t>([](int lane) { return 4 * lane; });
    warp.run(find_opcode(isa, "st shared b32", "m4 s4"), {narrow, to}, 16);
    CHECK(reinterpret_cast<int*>(block.shared())[4 + 31] == 128 - 64 + 31);
  }
}

}  // namespace simgpu
