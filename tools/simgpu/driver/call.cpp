#include "tools/simgpu/driver/call.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <new>
#include <set>

#include "tools/simgpu/driver/driver.h"
#include "tools/simgpu/driver/exports.h"
#include "tools/simgpu/machine/report.h"

namespace simgpu::driver {
namespace {

thread_local Call* current_call = nullptr;
thread_local bool in_host_function = false;

/// `main (client+0x1234)`; empty for a frame of this library.
std::string text_of(void* frame) {
  Dl_info of, here;
  // The instruction before: a return address may lie behind the end of the function.
  if (dladdr(static_cast<char*>(frame) - 1, &of) == 0) return fmt::format("{}", frame);
  dladdr(reinterpret_cast<void*>(&tell), &here);
  if (of.dli_fbase == here.dli_fbase) return {};
  const std::string path = of.dli_fname;
  const auto offset = static_cast<char*>(frame) - static_cast<char*>(of.dli_fbase);
  const std::string place = fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), offset);
  return of.dli_sname == nullptr ? place : fmt::format("{} ({})", of.dli_sname, place);
}

/// Whether nobody has been told yet of a call of this name.
bool is_news(const char* name) {
  static auto& told = *new std::set<std::string>;  // never destroyed
  return told.insert(name).second;
}

}  // namespace

void refuse(CUresult code, std::string text) { throw Refusal(code, std::move(text)); }

std::string Origin::text() const {
  constexpr int most_shown = 3;
  std::string text = name;
  int shown = 0;
  for (void* frame : frames) {
    const std::string one = text_of(frame);
    if (one.empty()) continue;
    text += shown == 0 ? ", called from " : " from ";
    text += one;
    if (++shown == most_shown) break;
  }
  return text;
}

Call::Call(const char* name, Terms terms) : name_(name), terms_(terms), outer_(current_call) {
  current_call = this;
}
Call::~Call() { current_call = outer_; }
Call& Call::current() { return *current_call; }

void Call::begin() {
  if (!terms_.needs_no_init && in_host_function)
    refuse(CUDA_ERROR_NOT_PERMITTED, "called by a host function of a stream");
  lock_ = std::unique_lock(driver().mutex);
  if (terms_.needs_no_init) return;
  require(!driver().ended, CUDA_ERROR_DEINITIALIZED);
  require(driver().initialised, CUDA_ERROR_NOT_INITIALIZED);
  require_not_forked();
}

CUresult Call::failed() const {
  const auto because = [this](CUresult code, const char* text) {
    if (*text != '\0') tell(fmt::format("{}: {} [{}]", name_, text, error_name(code)));
    return code;
  };
  try {
    throw;
  } catch (const Refusal& refusal) {
    return because(refusal.code(), refusal.what());
  } catch (const std::bad_alloc&) {
    return because(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
  } catch (const std::exception& error) {
    return because(CUDA_ERROR_UNKNOWN, error.what());
  }
}

Origin Call::origin() const {
  constexpr int most_frames = 12;
  void* frames[most_frames];
  const int count = backtrace(frames, most_frames);
  return {name_, std::vector<void*>(frames, frames + count)};
}

InHostFunction::InHostFunction() { in_host_function = true; }
InHostFunction::~InHostFunction() { in_host_function = false; }

CUresult unsupported(const char* name) noexcept {
  return enter(name, {}, [name] {
    refuse(CUDA_ERROR_NOT_SUPPORTED, is_news(name) ? "the simulated GPU has no such function" : "");
  });
}

void tell(const std::string& text) { publish("simgpu: " + text + '\n'); }

}  // namespace simgpu::driver
