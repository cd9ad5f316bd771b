#include "kernels/tile_loop.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

const TileFunction* f32_functions() { return OpTable<float>::functions; }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
