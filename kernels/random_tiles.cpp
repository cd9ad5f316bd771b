#include "kernels/random_tiles.h"

#include "kernels/by_isa.h"

namespace sinter::kernels {

SINTER_DECLARE_BY_ISA(const RandomTiles& random_tiles_of_isa();)

const RandomTiles& random_tiles() { return SINTER_CALL_BY_ISA(random_tiles_of_isa); }

}  // namespace sinter::kernels
