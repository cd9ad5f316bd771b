#include "runtime/random.h"

namespace sinter {

Generator& default_generator() {
  static Generator generator;
  return generator;
}

}  // namespace sinter
