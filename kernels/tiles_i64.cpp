#include "kernels/tile_loop.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

const TileFunction* i64_functions() { return OpTable<std::int64_t>::functions; }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
