#include "tests/simgpu/training_step.h"

#include <cuda.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "runtime/cuda/nvrtc_library.h"
#include "tests/simgpu/kernel_file.h"

namespace simgpu {
namespace {

constexpr int rows = 64, inputs = 12, hidden = 24, classes = 5;

void require(const char* call, CUresult result) {
  if (result != CUDA_SUCCESS)
    throw std::runtime_error(std::string(call) + ": error " +
                             std::to_string(static_cast<int>(result)));
}
#define DRIVER(call) require(#call, call)

/// Memory of the device that is freed with it.
class Floats {
 public:
  explicit Floats(int count) : count_(count) {
    DRIVER(cuMemAlloc(&address_, sizeof(float) * size()));
    DRIVER(cuMemsetD32(address_, 0, size()));
  }
  ~Floats() { cuMemFree(address_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  CUdeviceptr at(int index = 0) const {
    return address_ + sizeof(float) * static_cast<std::size_t>(index);
  }
  int count() const { return count_; }
  std::size_t size() const { return static_cast<std::size_t>(count_); }

 private:
  int count_;
  CUdeviceptr address_ = 0;
};

/// What a layer learns: weight and bias one behind the other, their gradient, Adam's moments.
struct Layer {
  Layer(int from, int to) : in(from), out(to) {}
  CUdeviceptr bias() const { return value.at(in * out); }

  int in, out;
  Floats value{(in + 1) * out}, gradient{(in + 1) * out};
  Floats first{(in + 1) * out}, second{(in + 1) * out};
};

/// Numbers without a pattern between -1 and 1.
class Noise {
 public:
  float operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<std::int32_t>(state_ >> 32)) * 0x1p-31f;
  }

 private:
  std::uint64_t state_ = 2026;
};

/// Memory of the host that the device reads and writes.
struct Pinned {
  Pinned() {
    void* memory = nullptr;
    DRIVER(cuMemHostAlloc(&memory, sizeof(Values), 0));
    values = static_cast<Values*>(memory);
  }
  ~Pinned() { cuMemFreeHost(values); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  struct Values {
    float samples[rows * inputs];
    int targets[rows];
    float loss;
  };
  Values* values = nullptr;
};

class Training {
 public:
  explicit Training(const std::string& ptx) {
    DRIVER(cuModuleLoadData(&module_, ptx.c_str()));
    for (CUstream& each : streams_) DRIVER(cuStreamCreate(&each, CU_STREAM_NON_BLOCKING));
    for (CUevent& each : events_) DRIVER(cuEventCreate(&each, CU_EVENT_DISABLE_TIMING));
    Noise noise;
    for (float& each : centres_) each = noise();
    for (Layer* layer : {&below_, &above_}) {
      std::vector<float> start(layer->value.size());
      for (float& each : start) each = 0.3f * noise();
      DRIVER(cuMemcpyHtoD(layer->value.at(), start.data(), start.size() * sizeof(float)));
    }
    DRIVER(cuCtxSynchronize());  // the streams do not wait for copies that are on their way
    data_ = noise;
  }
  ~Training() {
    for (CUevent each : events_) cuEventDestroy(each);
    for (CUstream each : streams_) cuStreamDestroy(each);
    cuModuleUnload(module_);
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  TrainingResult run(Launches launches, int steps) {
    TrainingResult result;
    if (launches == Launches::replayed) capture();
    for (int step = 1; step <= steps; ++step) {
      next_batch();
      const int decays = step / 8;
      rate_ = 0.05f / static_cast<float>(1 + decays);
      step_ = step;
      launches == Launches::direct ? enqueue() : replay();
      DRIVER(cuStreamSynchronize(streams_[0]));
      result.losses.push_back(pinned_.values->loss);
    }
    for (const Layer* layer : {&below_, &above_}) {
      std::vector<float> end(layer->value.size());
      DRIVER(cuMemcpyDtoH(end.data(), layer->value.at(), end.size() * sizeof(float)));
      result.weights.insert(result.weights.end(), end.begin(), end.end());
    }
    if (executable_ != nullptr) DRIVER(cuGraphExecDestroy(executable_));
    if (graph_ != nullptr) DRIVER(cuGraphDestroy(graph_));
    return result;
  }

 private:
  CUfunction function(const char* name) const {
    CUfunction found = nullptr;
    DRIVER(cuModuleGetFunction(&found, module_, name));
    return found;
  }
  /// For `count` results.
  template <class... Values>
  void launch(int stream, const char* name, int count, Values... values) {
    void* each[] = {&values...};
    const auto blocks = static_cast<unsigned>((count + 63) / 64);
    DRIVER(cuLaunchKernel(function(name), blocks, 1, 1, count == 32 ? 32 : 64, 1, 1, 0,
                          streams_[static_cast<std::size_t>(stream)], each, nullptr));
  }
  /// What comes next in a stream is behind what is in the other now.
  void follow(int stream, int behind) {
    const CUevent event = events_[next_event_++ % events_.size()];
    DRIVER(cuEventRecord(event, streams_[static_cast<std::size_t>(behind)]));
    DRIVER(cuStreamWaitEvent(streams_[static_cast<std::size_t>(stream)], event, 0));
  }
  void update(int stream, Layer& layer) {
    launch(stream, "adam", layer.value.count(), layer.value.at(), layer.first.at(),
           layer.second.at(), layer.gradient.at(), layer.value.count(), rate_, step_);
  }

  /// A step in three streams, which begin and end with the first.
  void enqueue() {
    next_event_ = 0;
    const Pinned::Values& host = *pinned_.values;
    follow(1, 0);
    DRIVER(cuMemcpyHtoDAsync(samples_.at(), host.samples, sizeof host.samples, streams_[0]));
    DRIVER(cuMemcpyHtoDAsync(targets_.at(), host.targets, sizeof host.targets, streams_[1]));
    launch(0, "layer", rows * hidden, rectified_.at(), samples_.at(), below_.value.at(),
           below_.bias(), rows, inputs, hidden, 1);
    launch(0, "layer", rows * classes, logits_.at(), rectified_.at(), above_.value.at(),
           above_.bias(), rows, hidden, classes, 0);
    follow(0, 1);
    launch(0, "cross_entropy", rows, losses_.at(), slopes_.at(), logits_.at(), targets_.at(), rows,
           classes);
    follow(1, 0);
    follow(2, 0);
    launch(1, "mean", 32, loss_.at(), losses_.at(), rows);
    DRIVER(cuMemcpyDtoHAsync(&pinned_.values->loss, loss_.at(), sizeof(float), streams_[1]));
    launch(2, "weight_gradient", above_.value.count(), above_.gradient.at(), rectified_.at(),
           slopes_.at(), rows, hidden, classes);
    launch(0, "input_gradient", rows * hidden, hidden_slopes_.at(), slopes_.at(), above_.value.at(),
           rectified_.at(), rows, hidden, classes);
    follow(2, 0);  // whose weights the update changes
    update(2, above_);
    launch(0, "weight_gradient", below_.value.count(), below_.gradient.at(), samples_.at(),
           hidden_slopes_.at(), rows, inputs, hidden);
    update(0, below_);
    follow(0, 1);
    follow(0, 2);
  }

  void capture() {
    DRIVER(cuStreamBeginCapture(streams_[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
    enqueue();
    DRIVER(cuStreamEndCapture(streams_[0], &graph_));
    DRIVER(cuGraphInstantiate(&executable_, graph_, 0));
    std::size_t count = 0;
    DRIVER(cuGraphGetNodes(graph_, nullptr, &count));
    std::vector<CUgraphNode> nodes(count);
    DRIVER(cuGraphGetNodes(graph_, nodes.data(), &count));
    const CUfunction adam = function("adam");
    for (const CUgraphNode node : nodes) {
      CUgraphNodeType type{};
      CUDA_KERNEL_NODE_PARAMS params{};
      DRIVER(cuGraphNodeGetType(node, &type));
      if (type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
      DRIVER(cuGraphKernelNodeGetParams(node, &params));
      if (params.func == adam) updates_.push_back(node);
    }
    if (updates_.size() != 2) throw std::runtime_error("the graph has not two updates");
  }
  void replay() {
    for (const CUgraphNode node : updates_) {
      CUDA_KERNEL_NODE_PARAMS params{};
      DRIVER(cuGraphKernelNodeGetParams(node, &params));
      std::array<void*, 7> each{};
      std::copy_n(params.kernelParams, each.size(), each.begin());
      each[5] = &rate_;
      each[6] = &step_;
      params.kernelParams = each.data();
      DRIVER(cuGraphExecKernelNodeSetParams(executable_, node, &params));
    }
    DRIVER(cuGraphLaunch(executable_, streams_[0]));
  }

  /// Points around the centre of their class.
  void next_batch() {
    for (int row = 0; row < rows; ++row) {
      const int target = row % classes;
      pinned_.values->targets[row] = target;
      for (int k = 0; k < inputs; ++k)
        pinned_.values->samples[row * inputs + k] =
            centres_[static_cast<std::size_t>(target * inputs + k)] + 0.4f * data_();
    }
  }

  CUmodule module_ = nullptr;
  std::array<CUstream, 3> streams_{};
  std::array<CUevent, 8> events_{};
  std::size_t next_event_ = 0;
  Layer below_{inputs, hidden}, above_{hidden, classes};
  Floats samples_{rows * inputs}, targets_{rows}, rectified_{rows * hidden};
  Floats logits_{rows * classes}, losses_{rows}, loss_{1}, slopes_{rows * classes};
  Floats hidden_slopes_{rows * hidden};
  Pinned pinned_;
  std::array<float, classes * inputs> centres_{};
  Noise data_;
  float rate_ = 0;
  int step_ = 1;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
  std::vector<CUgraphNode> updates_;
};

}  // namespace

std::string training_kernels() {
  const sinter::cuda::NvrtcLibrary* nvrtc = sinter::cuda::nvrtc_library();
  if (nvrtc == nullptr) throw std::runtime_error("NVRTC is not installed");
  sinter::cuda::NvrtcProgram* program = nullptr;
  const std::string source = kernel_file("training.cu");
  nvrtc->CreateProgram(&program, source.c_str(), "training.cu", 0, nullptr, nullptr);
  const char* const options[] = {"--gpu-architecture=compute_80"};
  if (nvrtc->CompileProgram(program, 1, options) != 0)
    throw std::runtime_error("training.cu does not compile");
  std::size_t bytes = 0;
  nvrtc->GetPTXSize(program, &bytes);
  std::string ptx(bytes, '\0');
  nvrtc->GetPTX(program, ptx.data());
  nvrtc->DestroyProgram(&program);
  return ptx;
}

TrainingResult train(const std::string& ptx, Launches launches, int steps) {
  return Training(ptx).run(launches, steps);
}

std::string text_of(const TrainingResult& result) {
  std::string text;
  for (const std::vector<float>* values : {&result.losses, &result.weights})
    for (const float each : *values) {
      char word[16];
      std::snprintf(word, sizeof word, "%08x ", std::bit_cast<unsigned>(each));
      text += word;
    }
  return text;
}

}  // namespace simgpu
