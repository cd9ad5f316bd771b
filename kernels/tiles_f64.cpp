#include "kernels/tile_loop.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

const TileFunction* f64_functions() { return OpTable<double>::functions; }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
