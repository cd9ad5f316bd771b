#include "jit/prelude.h"

#include <initializer_list>
#include <string>

namespace sinter::jit {
namespace {

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

}  // namespace

std::string_view prelude() {
  static const std::string text = joined({
#include "jit/prelude.inc"
  });
  return text;
}

std::string_view cuda_prelude() {
  static const std::string text = joined({
#include "jit/cuda_prelude.inc"
  });
  return text;
}

}  // namespace sinter::jit
