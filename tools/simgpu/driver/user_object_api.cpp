// cuUserObject*, cuGraph*UserObject.
#include <climits>

#include "tools/simgpu/driver/graph.h"

namespace simgpu::driver::api {
namespace {

void require_count(unsigned count) { require(count != 0 && count <= INT_MAX); }

}  // namespace

CUuserObject cuUserObjectCreate(void* data, CUhostFn destroy, unsigned count, unsigned flags) {
  require(destroy != nullptr && flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  require_count(count);
  auto made = std::make_shared<UserObject>();
  made->destroy = destroy;
  made->data = data;
  made->references = count;
  return table<UserObject>().add(made);
}

void cuUserObjectRetain(CUuserObject object, unsigned count) {
  require_count(count);
  get<UserObject>(object)->references += count;
}

void cuUserObjectRelease(CUuserObject object, unsigned count) {
  require_count(count);
  release(*get<UserObject>(object), count);
}

void cuGraphRetainUserObject(CUgraph graph, CUuserObject handle, unsigned count, unsigned flags) {
  require_count(count);
  require(flags == 0 || flags == CU_GRAPH_USER_OBJECT_MOVE);
  const auto owner = get<Graph>(graph);
  const auto object = get<UserObject>(handle);
  if (flags == 0) object->references += count;
  else require(count <= object->references);
  owner->user_objects.take(handle, count);
}

void cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  require_count(count);
  get<Graph>(graph)->user_objects.release(object, count);
}

}  // namespace simgpu::driver::api
