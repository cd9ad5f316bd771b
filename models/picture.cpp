#include "models/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace sinter::models {
namespace {

/// 0 to levels - 1.
int level(float value, float white, int levels) {
  const float scaled = std::clamp(value / white, 0.0f, 1.0f) * static_cast<float>(levels - 1);
  return static_cast<int>(std::lround(scaled));
}

}  // namespace

std::string picture(std::span<const float> pixels, std::int64_t side, float white,
                    PictureStyle style, int indent) {
  constexpr std::string_view letters = " .:-=+*#%@";
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return row < side ? pixels[static_cast<std::size_t>(row * side + column)] : 0.0f;
  };
  std::string text;
  for (std::int64_t row = 0; row < side; row += 2) {
    text.append(static_cast<std::size_t>(indent), ' ');
    for (std::int64_t column = 0; column < side; ++column) {
      const float upper = at(row, column), lower = at(row + 1, column);
      if (style == PictureStyle::letters) {
        text += letters[static_cast<std::size_t>(
            level(std::max(upper, lower), white, static_cast<int>(letters.size())))];
      } else {
        // The upper half of the cell in the foreground's grey, the lower in the background's.
        text += fmt::format("\x1b[38;5;{};48;5;{}m▀", 232 + level(upper, white, 24),
                            232 + level(lower, white, 24));
      }
    }
    if (style == PictureStyle::shades) text += "\x1b[0m";
    text += '\n';
  }
  return text;
}

}  // namespace sinter::models
