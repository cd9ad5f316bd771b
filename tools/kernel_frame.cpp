// The frame of a generated kernel that runs alone: it is printed before the kernel and its data by
// `tools/inspect kernel`, with what it includes from the tree in the place of the #include lines.

#include "kernels/generated_loop.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/loop_host.h"

// What kernels call, which the library compiles apart from them.
#include "kernels/loop_host.cpp"         // NOLINT(bugprone-suspicious-include)
#include "kernels/random_tiles_isa.cpp"  // NOLINT(bugprone-suspicious-include)

namespace sinter::kernels {

const RandomTiles& random_tiles() { return random_tiles_of_isa(); }

}  // namespace sinter::kernels

namespace sinter::kernels::frame {

/// Memory the kernel touches: where its bytes are in the data, before and, if it writes there,
/// after.
struct Memory {
  long bytes, before, after;
};
/// What an access addresses, and how its elements are compared: a mask of the exponent for floats.
struct Place {
  int memory;
  long offset;
  int item;
  unsigned long long exponent;
  bool written;
};

// What follows the frame.
extern const char name[];
extern const char data_file[];  // empty where the data is in the program
extern const unsigned char embedded[];
extern const long data_bytes;
extern const Memory memories[];
extern const int memory_count;
extern const Place places[];
extern const LoopArguments recorded;  // but for the addresses
extern "C" void sinter_kernel(const LoopArguments*, std::int64_t, std::int64_t);

long refused = 0;

void refuse_index(const LoopArguments&, std::int64_t access, std::int64_t index) {
  if (refused++ == 0)
    std::printf("index %lld of access %lld is out of range\n", static_cast<long long>(index),
                static_cast<long long>(access));
}

void* scratch(int slot, std::int64_t bytes) {
  static void* blocks[loop_max_row_buffers];
  static std::int64_t sizes[loop_max_row_buffers];
  if (sizes[slot] < bytes) {
    std::free(blocks[slot]);
    sizes[slot] = (bytes + 63) / 64 * 64;
    blocks[slot] = std::aligned_alloc(64, static_cast<std::size_t>(sizes[slot]));
  }
  return blocks[slot];
}

const unsigned char* load_data() {
  if (data_file[0] == '\0') return embedded;
  std::FILE* file = std::fopen(data_file, "rb");
  auto* data = static_cast<unsigned char*>(std::malloc(static_cast<std::size_t>(data_bytes)));
  if (file == nullptr || data == nullptr ||
      std::fread(data, 1, static_cast<std::size_t>(data_bytes), file) !=
          static_cast<std::size_t>(data_bytes)) {
    std::printf("%s cannot be read; it lies beside the source\n", data_file);
    std::exit(2);
  }
  std::fclose(file);
  return data;
}

void fill(unsigned char* const* memory, const unsigned char* data) {
  for (int m = 0; m < memory_count; ++m)
    std::memcpy(memory[m], data + memories[m].before, static_cast<std::size_t>(memories[m].bytes));
}

unsigned long long bits_at(const unsigned char* bytes, int item) {
  unsigned long long bits = 0;
  std::memcpy(&bits, bytes, static_cast<std::size_t>(item));
  return bits;
}

bool is_nan(unsigned long long bits, const Place& place) {
  const unsigned long long mantissa = (place.exponent & (~place.exponent + 1)) - 1;
  return place.exponent != 0 && (bits & place.exponent) == place.exponent && (bits & mantissa) != 0;
}

void print_element(const Place& place, unsigned long long bits) {
  std::printf("0x%0*llx", 2 * place.item, bits);
  if (place.item == 4 && place.exponent != 0) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    std::printf(" (%.9g)", static_cast<double>(value));
  }
  if (place.item == 8 && place.exponent != 0) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    std::printf(" (%.17g)", value);
  }
}

/// How many elements of what an access writes are not as they were; NaNs are equal.
long differences(int access, const unsigned char* memory, const unsigned char* data) {
  const Place& place = places[access];
  const Memory& whole = memories[place.memory];
  long different = 0;
  for (long at = 0; at + place.item <= whole.bytes; at += place.item) {
    const unsigned long long given = bits_at(memory + at, place.item),
                             expected = bits_at(data + whole.after + at, place.item);
    if (given == expected || (is_nan(given, place) && is_nan(expected, place))) continue;
    if (different++ > 0) continue;
    std::printf("access %d, element %ld: gives ", access, (at - place.offset) / place.item);
    print_element(place, given);
    std::printf(", not ");
    print_element(place, expected);
    std::printf("\n");
  }
  return different;
}

int run() {
  const unsigned char* data = load_data();
  auto** memory = static_cast<unsigned char**>(
      std::calloc(static_cast<std::size_t>(memory_count), sizeof(unsigned char*)));
  for (int m = 0; m < memory_count; ++m)
    memory[m] = static_cast<unsigned char*>(
        std::aligned_alloc(64, static_cast<std::size_t>((memories[m].bytes + 63) / 64 * 64)));
  LoopAccess accesses[loop_max_accesses];
  for (std::int64_t k = 0; k < recorded.access_count; ++k) {
    accesses[k] = recorded.accesses[k];
    accesses[k].base = places[k].memory < 0 ? nullptr : memory[places[k].memory] + places[k].offset;
  }
  LoopHost host{};
  host.begin_unit = begin_unit;
  host.next_row = next_row;
  host.refuse_index = refuse_index;
  host.draw_uniform = draw_uniform;
  host.scratch = scratch;
  LoopArguments arguments = recorded;
  arguments.accesses = accesses;
  arguments.host = &host;

  const std::int64_t units = unit_count(arguments);
  fill(memory, data);
  sinter_kernel(&arguments, 0, units);
  long different = refused;
  for (int k = 0; k < recorded.access_count; ++k)
    if (places[k].written) different += differences(k, memory[places[k].memory], data);

  double best = 1e30, spent = 0;
  int runs = 0;
  for (; runs < 3 || (runs < 1000 && spent < 1); ++runs) {
    fill(memory, data);
    const auto begin = std::chrono::steady_clock::now();
    sinter_kernel(&arguments, 0, units);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
    spent += took.count();
  }
  for (int m = 0; m < memory_count; ++m) std::free(memory[m]);
  std::free(memory);
  std::printf("%s: %s, %.3f us, the best of %d runs on one thread\n", name,
              different == 0 ? "as expected" : "NOT as expected", best * 1e6, runs);
  return different == 0 ? 0 : 1;
}

}  // namespace sinter::kernels::frame

int main() { return sinter::kernels::frame::run(); }
