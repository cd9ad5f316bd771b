/// \file
/// What the kernels' headers take from the standard library, which NVRTC does not bring: in the
/// place of <cstddef>, <cstdint> and <utility>.
#pragma once

namespace std {

using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long;
static_assert(sizeof(int64_t) == 8 && sizeof(int32_t) == 4 && sizeof(uint16_t) == 2);

}  // namespace std
