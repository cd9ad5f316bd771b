/// \file
/// Which element of a matrix a lane holds, as the formulas of the PTX ISA have it, one function for
/// each of them: 9.7.14.5.1 to 9.7.14.5.13. Names are those of the text: group_id is %laneid >> 2,
/// thread is threadID_in_group, i the number of the element in the lane's fragment.
#pragma once

#include <string_view>

namespace simgpu::by_text {

struct Place {
  int row = 0, column = 0;
  bool operator==(const Place&) const = default;
};
using Formula = Place (*)(int lane, int i);

inline int group_id(int lane) { return lane >> 2; }
inline int thread(int lane) { return lane % 4; }

/// What a shape's text says, for elements of so many bits.
struct ShapeText {
  std::string_view name;
  int bits;  ///< of an element of A and B
  int m, n, k;
  Formula a, b, c;
};

// 9.7.14.5.1, .m8n8k4 with .f16: of the group of lanes that computes one product.
inline Place quad_a_row(int lane, int i) { return {lane < 16 ? lane % 4 : lane % 4 + 4, i}; }
inline Place quad_a_column(int lane, int i) { return {lane < 16 ? i % 4 : i % 4 + 4, lane % 4}; }
inline Place quad_b_row(int lane, int i) { return {lane % 4, lane < 16 ? i : i + 4}; }
inline Place quad_b_column(int lane, int i) { return {i, lane < 16 ? lane % 4 : lane % 4 + 4}; }
inline Place quad_c_half(int lane, int i) { return {lane < 16 ? lane % 4 : lane % 4 + 4, i}; }
inline Place quad_c_single(int lane, int i) {
  const int x = (lane & 0b1) + (i & 0b10);
  return {lane < 16 ? x : x + 4, (i & 0b100) + (lane & 0b10) + (i & 0b1)};
}
/// MMA computation 1 to 4, from 0: lanes 0-3 and 16-19, 4-7 and 20-23, ...
inline int quad(int lane) { return lane % 16 / 4; }

// 9.7.14.5.2, .m8n8k4 with .f64
inline Place a_8_8_4(int lane, int) { return {lane >> 2, lane % 4}; }
inline Place b_8_8_4(int lane, int) { return {lane % 4, lane >> 2}; }
inline Place c_8_8(int lane, int i) { return {group_id(lane), thread(lane) * 2 + (i & 0x1)}; }

// 9.7.14.5.3, .m8n8k16
inline Place a_8_8_16(int lane, int i) { return {group_id(lane), thread(lane) * 4 + i}; }
inline Place b_8_8_16(int lane, int i) { return {thread(lane) * 4 + i, group_id(lane)}; }

// 9.7.14.5.4, .m8n8k32
inline Place a_8_8_32(int lane, int i) { return {group_id(lane), thread(lane) * 8 + i}; }
inline Place b_8_8_32(int lane, int i) { return {thread(lane) * 8 + i, group_id(lane)}; }

// 9.7.14.5.5, .m8n8k128
inline Place a_8_8_128(int lane, int i) { return {group_id(lane), thread(lane) * 32 + i}; }
inline Place b_8_8_128(int lane, int i) { return {thread(lane) * 32 + i, group_id(lane)}; }

// 9.7.14.5.6, .m16n8k4 with .tf32 and .f64
inline Place a_16_8_4(int lane, int i) {
  return {i == 0 ? group_id(lane) : group_id(lane) + 8, thread(lane)};
}
inline Place b_16_8_4(int lane, int) { return {thread(lane), group_id(lane)}; }
inline Place c_16_8(int lane, int i) {
  return {i < 2 ? group_id(lane) : group_id(lane) + 8, thread(lane) * 2 + (i & 0x1)};
}

// 9.7.14.5.7, .m16n8k8: .f16 and .bf16; .tf32 and .f64
inline Place a_16_8_8_half(int lane, int i) {
  return {i < 2 ? group_id(lane) : group_id(lane) + 8, thread(lane) * 2 + (i & 0x1)};
}
inline Place b_16_8_8_half(int lane, int i) { return {thread(lane) * 2 + i, group_id(lane)}; }
inline Place a_16_8_8(int lane, int i) {
  return {i == 0 || i == 2 ? group_id(lane) : group_id(lane) + 8,
          i == 0 || i == 1 ? thread(lane) : thread(lane) + 4};
}
inline Place b_16_8_8(int lane, int i) {
  return {i == 0 ? thread(lane) : thread(lane) + 4, group_id(lane)};
}

// 9.7.14.5.8, .m16n8k16: .f16 and .bf16; .f64
inline Place a_16_8_16_half(int lane, int i) {
  const bool first = (0 <= i && i < 2) || (4 <= i && i < 6);
  return {first ? group_id(lane) : group_id(lane) + 8,
          i < 4 ? thread(lane) * 2 + (i & 0x1) : thread(lane) * 2 + (i & 0x1) + 8};
}
inline Place b_16_8_16_half(int lane, int i) {
  return {i < 2 ? thread(lane) * 2 + (i & 0x1) : thread(lane) * 2 + (i & 0x1) + 8, group_id(lane)};
}
inline Place a_16_8_16_double(int lane, int i) {
  return i % 2 == 0 ? Place{group_id(lane), i * 2 + thread(lane)}
                    : Place{group_id(lane) + 8, i * 2 - 2 + thread(lane)};
}
inline Place b_16_8_16_double(int lane, int i) { return {thread(lane) + i * 4, group_id(lane)}; }

// 9.7.14.5.9, .m16n8k16 with integers and .e4m3, .e5m2
inline Place a_16_8_16_byte(int lane, int i) {
  return {i < 4 ? group_id(lane) : group_id(lane) + 8, thread(lane) * 4 + (i & 0x3)};
}
inline Place b_16_8_16_byte(int lane, int i) { return {thread(lane) * 4 + i, group_id(lane)}; }

// 9.7.14.5.10, .m16n8k32: .s4 and .u4; .s8, .u8, .e4m3 and .e5m2
inline Place a_16_8_32_nibble(int lane, int i) {
  return {i < 8 ? group_id(lane) : group_id(lane) + 8, thread(lane) * 8 + (i & 0x7)};
}
inline Place b_16_8_32_nibble(int lane, int i) {
  return {thread(lane) * 8 + (i & 0x7), group_id(lane)};
}
inline Place a_16_8_32_byte(int lane, int i) {
  const bool first = (0 <= i && i < 4) || (8 <= i && i < 12);
  return {first ? group_id(lane) : group_id(lane) + 8,
          i < 8 ? thread(lane) * 4 + (i & 0x3) : thread(lane) * 4 + (i & 0x3) + 16};
}
inline Place b_16_8_32_byte(int lane, int i) {
  return {i < 4 ? thread(lane) * 4 + (i & 0x3) : thread(lane) * 4 + (i & 0x3) + 16, group_id(lane)};
}

// 9.7.14.5.11, .m16n8k64
inline Place a_16_8_64(int lane, int i) {
  const bool first = (0 <= i && i < 8) || (16 <= i && i < 24);
  return {first ? group_id(lane) : group_id(lane) + 8,
          i < 16 ? thread(lane) * 8 + (i & 0x7) : thread(lane) * 8 + (i & 0x7) + 32};
}
inline Place b_16_8_64(int lane, int i) {
  return {i < 8 ? thread(lane) * 8 + (i & 0x7) : thread(lane) * 8 + (i & 0x7) + 32, group_id(lane)};
}

// 9.7.14.5.12, .m16n8k128
inline Place a_16_8_128(int lane, int i) {
  return {i < 32 ? group_id(lane) : group_id(lane) + 8, thread(lane) * 32 + (i & 0x1F)};
}
inline Place b_16_8_128(int lane, int i) { return {thread(lane) * 32 + i, group_id(lane)}; }

// 9.7.14.5.13, .m16n8k256: the text has i where i & 0x1F is meant, for 32 <= i < 64
inline Place a_16_8_256(int lane, int i) {
  const bool first = (0 <= i && i < 32) || (64 <= i && i < 96);
  return {first ? group_id(lane) : group_id(lane) + 8,
          i < 64 ? thread(lane) * 32 + (i & 0x1F) : thread(lane) * 32 + (i & 0x1F) + 128};
}
inline Place b_16_8_256(int lane, int i) {
  return {i < 32 ? thread(lane) * 32 + (i & 0x1F) : thread(lane) * 32 + (i & 0x1F) + 128,
          group_id(lane)};
}

inline constexpr ShapeText shapes[] = {
    {"m8n8k4", 64, 8, 8, 4, a_8_8_4, b_8_8_4, c_8_8},
    {"m8n8k16", 8, 8, 8, 16, a_8_8_16, b_8_8_16, c_8_8},
    {"m8n8k32", 4, 8, 8, 32, a_8_8_32, b_8_8_32, c_8_8},
    {"m8n8k128", 1, 8, 8, 128, a_8_8_128, b_8_8_128, c_8_8},
    {"m16n8k4", 32, 16, 8, 4, a_16_8_4, b_16_8_4, c_16_8},
    {"m16n8k4", 64, 16, 8, 4, a_16_8_4, b_16_8_4, c_16_8},
    {"m16n8k8", 16, 16, 8, 8, a_16_8_8_half, b_16_8_8_half, c_16_8},
    {"m16n8k8", 32, 16, 8, 8, a_16_8_8, b_16_8_8, c_16_8},
    {"m16n8k8", 64, 16, 8, 8, a_16_8_8, b_16_8_8, c_16_8},
    {"m16n8k16", 16, 16, 8, 16, a_16_8_16_half, b_16_8_16_half, c_16_8},
    {"m16n8k16", 64, 16, 8, 16, a_16_8_16_double, b_16_8_16_double, c_16_8},
    {"m16n8k16", 8, 16, 8, 16, a_16_8_16_byte, b_16_8_16_byte, c_16_8},
    {"m16n8k32", 4, 16, 8, 32, a_16_8_32_nibble, b_16_8_32_nibble, c_16_8},
    {"m16n8k32", 8, 16, 8, 32, a_16_8_32_byte, b_16_8_32_byte, c_16_8},
    {"m16n8k64", 4, 16, 8, 64, a_16_8_64, b_16_8_64, c_16_8},
    {"m16n8k128", 1, 16, 8, 128, a_16_8_128, b_16_8_128, c_16_8},
    {"m16n8k256", 1, 16, 8, 256, a_16_8_256, b_16_8_256, c_16_8},
};

}  // namespace simgpu::by_text
