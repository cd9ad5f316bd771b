/// \file
/// The handles that programs hold. A handle is a number that looks like a pointer, and leads
/// nowhere when it is used as one; no number is given out twice, so that a handle of what has been
/// destroyed is known as such.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tools/simgpu/driver/call.h"

namespace simgpu::driver {

/// What sets the handles of a type apart: it has one, `T::identity`.
struct Identity {
  std::uint64_t number;  ///< its own
  const char* noun;
  CUresult invalid = CUDA_ERROR_INVALID_HANDLE;  ///< the error of a handle that is none
};

template <class H>
struct Handled {
  using Handle = H;
  H handle = nullptr;
};

/// The objects of a type, which is a Handled one.
template <class T>
class Table {
 public:
  using Handle = typename T::Handle;
  using Objects = std::map<std::uint64_t, std::shared_ptr<T>>;

  /// Sets `object->handle`.
  Handle add(const std::shared_ptr<T>& object) {
    put(object, reinterpret_cast<Handle>(tag | ++last_ << 4));
    return object->handle;
  }
  /// Under a handle that this table gave out.
  void put(const std::shared_ptr<T>& object, Handle handle) {
    object->handle = handle;
    objects_[number(handle)] = object;
  }
  /// Null where there is none.
  std::shared_ptr<T> find(Handle handle) const {
    const auto found = objects_.find(number(handle));
    return found == objects_.end() ? nullptr : found->second;
  }
  /// \throws Refusal where there is none.
  std::shared_ptr<T> get(Handle handle) const {
    std::shared_ptr<T> object = find(handle);
    if (object) return object;
    const std::uint64_t value = number(handle);
    const bool was_destroyed = value > tag && value <= (tag | last_ << 4) && value % 16 == 0;
    refuse(T::identity.invalid,
           was_destroyed ? fmt::format("the {} was destroyed", T::identity.noun) : "");
  }
  std::shared_ptr<T> remove(Handle handle) {
    std::shared_ptr<T> object = get(handle);
    objects_.erase(number(handle));
    return object;
  }
  template <class Test>
  void remove_if(Test test) {
    std::erase_if(objects_, [&](const auto& entry) { return test(*entry.second); });
  }
  const Objects& objects() const { return objects_; }

 private:
  static constexpr std::uint64_t tag = (0x5300 + T::identity.number) << 48;
  static std::uint64_t number(Handle handle) { return reinterpret_cast<std::uint64_t>(handle); }

  std::uint64_t last_ = 0;
  Objects objects_;
};

/// The table of a type. Under the lock of the driver.
template <class T>
Table<T>& table() {
  static auto& never_destroyed = *new Table<T>;
  return never_destroyed;
}
template <class T>
std::shared_ptr<T> get(typename T::Handle handle) {
  return table<T>().get(handle);
}

}  // namespace simgpu::driver
