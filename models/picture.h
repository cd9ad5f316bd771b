/// \file
/// Images as text, to look at in a terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sinter::models {

enum class PictureStyle {
  shades,   ///< 24 grey levels of a terminal of 256 colours, two rows of pixels a line
  letters,  ///< plain ASCII, two rows of pixels a line
};

/// Grey values of `side` rows of `side` pixels, from 0 to `white`; `indent` spaces before each
/// line.
std::string picture(std::span<const float> pixels, std::int64_t side, float white,
                    PictureStyle style, int indent = 2);

}  // namespace sinter::models
