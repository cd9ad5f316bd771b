#include <future>

#include "tests/simgpu/client.h"

namespace simgpu {
namespace {

/// A user object, whose one reference is the test's.
struct TestObject {
  TestObject() {
    REQUIRE(cuUserObjectCreate(&object, this, &destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) ==
            CUDA_SUCCESS);
  }
  ~TestObject() { done.wait(); }
  TestObject(const TestObject&) = delete;
  TestObject& operator=(const TestObject&) = delete;
  static void CUDA_CB destroy(void* self) {
    int count = 0;
    static_cast<TestObject*>(self)->destroyed.set_value(cuDeviceGetCount(&count));
  }
  bool is_there() const { return cuUserObjectRetain(object, 1) == CUDA_SUCCESS && give_back(); }
  bool give_back() const { return cuUserObjectRelease(object, 1) == CUDA_SUCCESS; }
  void move_to(CUgraph graph) const {
    CHECK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE) == CUDA_SUCCESS);
  }

  CUuserObject object = nullptr;
  std::promise<CUresult> destroyed;
  std::shared_future<CUresult> done = destroyed.get_future().share();
};

CUgraphExec instantiate(CUgraph graph) {
  CUgraphExec executable = nullptr;
  REQUIRE(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS);
  return executable;
}

}  // namespace

TEST_CASE("simgpu driver: the last reference to a user object calls its destructor") {
  const TestContext context;
  const TestObject object;
  CHECK(cuUserObjectRetain(object.object, 2) == CUDA_SUCCESS);
  CHECK(cuUserObjectRelease(object.object, 2) == CUDA_SUCCESS);
  CHECK(cuUserObjectRelease(object.object, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuUserObjectRetain(object.object, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(object.is_there());
  CHECK(cuUserObjectRelease(object.object, 1) == CUDA_SUCCESS);
  CHECK(object.done.get() == CUDA_ERROR_NOT_PERMITTED);  // it makes a call
  CHECK(cuUserObjectRetain(object.object, 1) == CUDA_ERROR_INVALID_VALUE);
  CUuserObject none = nullptr;
  CHECK(cuUserObjectCreate(&none, nullptr, &TestObject::destroy, 1, 0) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: graphs, their copies and executable graphs keep user objects") {
  const TestContext context;
  const TestObject object;
  CUgraph graph = nullptr, copy = nullptr;
  CHECK(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
  object.move_to(graph);
  CHECK(cuGraphReleaseUserObject(graph, object.object, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphClone(&copy, graph) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  CHECK(object.is_there());
  const CUgraphExec executable = instantiate(copy);
  CHECK(cuGraphReleaseUserObject(copy, object.object, 1) == CUDA_SUCCESS);
  CHECK(object.is_there());
  CHECK(cuGraphDestroy(copy) == CUDA_SUCCESS);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK_FALSE(object.is_there());
}

TEST_CASE("simgpu driver: user objects stay until launches of their graph are done") {
  const TestContext context;
  const TestObject before, after;
  CUgraph graph = nullptr, next = nullptr;
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future();
  const auto wait = [](void* data) { static_cast<std::shared_future<void>*>(data)->wait(); };
  const CUDA_HOST_NODE_PARAMS params{wait, &opened};
  CUgraphNode node = nullptr;
  for (CUgraph* one : {&graph, &next}) {
    CHECK(cuGraphCreate(one, 0) == CUDA_SUCCESS);
    CHECK(cuGraphAddHostNode(&node, *one, nullptr, 0, &params) == CUDA_SUCCESS);
  }
  before.move_to(graph);
  after.move_to(next);
  const CUgraphExec executable = instantiate(graph);
  CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  CHECK(cuGraphLaunch(executable, nullptr) == CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo info{};
  CHECK(cuGraphExecUpdate(executable, next, &info) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(next) == CUDA_SUCCESS);
  CHECK(before.is_there());
  CHECK(cuGraphLaunch(executable, nullptr) == CUDA_SUCCESS);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK(after.is_there());
  gate.set_value();
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK_FALSE(before.is_there());
  CHECK_FALSE(after.is_there());
}

}  // namespace simgpu
