#include "tools/simgpu/driver/user_object.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace simgpu::driver {

void release(UserObject& object, std::uint64_t count) {
  require(count <= object.references);
  object.references -= count;
  if (object.references != 0) return;
  std::thread([destroy = object.destroy, data = object.data] {
    const InHostFunction marked;
    destroy(data);
  }).detach();
  table<UserObject>().remove(object.handle);
}

UserObjects::UserObjects(const UserObjects& other) : counts_(other.counts_) {
  for (const auto& [object, count] : counts_) get<UserObject>(object)->references += count;
}

UserObjects& UserObjects::operator=(UserObjects other) {
  std::swap(counts_, other.counts_);
  return *this;
}

UserObjects::~UserObjects() {
  for (const auto& [handle, count] : counts_)
    if (const auto object = table<UserObject>().find(handle))
      driver::release(*object, std::min(count, object->references));
}

void UserObjects::take(CUuserObject object, std::uint64_t count) { counts_[object] += count; }

void UserObjects::release(CUuserObject object, std::uint64_t count) {
  const auto found = counts_.find(object);
  require(found != counts_.end() && count <= found->second);
  found->second -= count;
  if (found->second == 0) counts_.erase(found);
  driver::release(*get<UserObject>(object), count);
}

}  // namespace simgpu::driver
