#include "kernels/tiles.h"

#include "kernels/by_isa.h"

namespace sinter::kernels {

SINTER_DECLARE_BY_ISA(const Tiles& tiles_of_isa();)

const Tiles& tiles() { return SINTER_CALL_BY_ISA(tiles_of_isa); }

}  // namespace sinter::kernels
