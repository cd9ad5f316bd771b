#include "kernels/reduce_tiles.h"

#include "kernels/by_isa.h"

namespace sinter::kernels {

SINTER_DECLARE_BY_ISA(const ReduceTiles& reduce_tiles_of_isa();)

const ReduceTiles& reduce_tiles() { return SINTER_CALL_BY_ISA(reduce_tiles_of_isa); }

}  // namespace sinter::kernels
