/// \file
/// DLPack's structures, as version 0.8 lays them out. Do not include beside DLPack's own header.
#pragma once

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): the names are DLPack's
extern "C" {

/// kDLCPU and so on.
enum DLDeviceType : std::int32_t { kDLCPU = 1 };

struct DLDevice {
  DLDeviceType device_type;
  std::int32_t device_id;
};

enum DLDataTypeCode : std::uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null for row-major elements without gaps
  std::uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
}
// NOLINTEND(readability-identifier-naming)
