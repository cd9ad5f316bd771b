#include "tools/simgpu/code/plain_name.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "tools/simgpu/code/word_order.h"

namespace simgpu {
namespace {

using Slots = std::span<const std::string_view>;

// A slot is what may stand at a place of an opcode: words, or several joined by dots, each with
// what becomes of it behind `=`. One that begins with `?` may be left out.
constexpr std::string_view load_order =
    "?weak= volatile=strong mmio.relaxed.sys=strong relaxed.cta=strong relaxed.cluster=strong "
    "relaxed.gpu=strong relaxed.sys=strong acquire.cta=strong acquire.cluster=strong "
    "acquire.gpu=strong acquire.sys=strong";
constexpr std::string_view store_order =
    "?weak= volatile=strong mmio.relaxed.sys=strong relaxed.cta=strong relaxed.cluster=strong "
    "relaxed.gpu=strong relaxed.sys=strong release.cta=release release.cluster=release "
    "release.gpu=release release.sys=release";
constexpr std::string_view atomic_order = "?relaxed= acquire= release=release acq_rel=release";
constexpr std::string_view scope = "?cta= cluster= gpu= sys=";
constexpr std::string_view load_space =
    "?global=global shared=shared shared::cta=shared local=local const=global";
constexpr std::string_view store_space =
    "?global=global shared=shared shared::cta=shared local=local";
constexpr std::string_view atomic_space = "?global=global shared=shared shared::cta=shared";
constexpr std::string_view load_cache = "?ca= cg= cs= lu= cv=";
constexpr std::string_view store_cache = "?wb= cg= cs= wt=";
constexpr std::string_view read_only = "?nc=";
constexpr std::string_view level1 =
    "?L1::evict_normal= L1::evict_unchanged= L1::evict_first= L1::evict_last= L1::no_allocate=";
constexpr std::string_view level2 = "?L2::evict_normal= L2::evict_first= L2::evict_last=";
constexpr std::string_view hint = "?L2::cache_hint=";
constexpr std::string_view prefetched = "?L2::64B= L2::128B= L2::256B=";
constexpr std::string_view vector = "?v2=v2 v4=v4 v8=v8";
constexpr std::string_view load_type =
    "b8=b8 u8=b8 s8=s8 b16=b16 u16=b16 s16=s16 b32=b32 u32=b32 f32=b32 s32=s32 b64=b64 u64=b64 "
    "s64=b64 f64=b64 b128=b128";
constexpr std::string_view store_type =
    "b8=b8 u8=b8 s8=b8 b16=b16 u16=b16 s16=b16 b32=b32 u32=b32 f32=b32 s32=b32 b64=b64 u64=b64 "
    "s64=b64 f64=b64 b128=b128";
constexpr std::string_view ordinary_operation =
    "add=add min=min max=max and=and or=or xor=xor inc=inc dec=dec";
constexpr std::string_view exchange = "exch=exch cas=cas";
constexpr std::string_view add_half = "add.noftz=add";
constexpr std::string_view ordinary_type =
    "b32=b32 b64=b64 u32=u32 u64=u64 s32=s32 s64=s64 f32=f32 f64=f64";
constexpr std::string_view exchange_type = "b16=b16 b32=b32 b64=b64";
constexpr std::string_view half_type = "f16=f16 f16x2=f16x2 bf16=bf16 bf16x2=bf16x2";
constexpr std::string_view fence_order = "?sc= acq_rel= acquire= release=";
constexpr std::string_view fence_scope = "cta=cta cluster=gpu gpu=gpu gl=gpu sys=gpu";
constexpr std::string_view proxies =
    "proxy.alias= proxy.async= proxy.async.global= proxy.async.shared::cta= "
    "proxy.async.shared::cluster=";
constexpr std::string_view arrive_order =
    "?release.cta= release.cluster= relaxed.cta= relaxed.cluster=";
constexpr std::string_view wait_order =
    "?acquire.cta= acquire.cluster= relaxed.cta= relaxed.cluster=";
constexpr std::string_view object_space = "?shared=shared shared::cta=shared";
constexpr std::string_view copied_to = "shared::cta= shared::cluster=";
constexpr std::string_view copy_way =
    "ca.shared.global= ca.shared::cta.global= cg.shared.global=cg "
    "cg.shared::cta.global=cg";
constexpr std::string_view policy_priority =
    "L2::evict_last= L2::evict_normal= L2::evict_first= L2::evict_unchanged=";
constexpr std::string_view other_priority = "?L2::evict_first= L2::evict_unchanged=";

struct Rule {
  std::string_view begins;  ///< the opcode
  std::string_view becomes;
  std::string_view slots[10];
};

/// PTX ISA 9.7.9 (data movement) and 9.7.13 (synchronisation).
constexpr Rule rules[] = {
    {"ld",
     "ld",
     {load_order, load_space, load_cache, read_only, level1, level2, hint, prefetched, vector,
      load_type}},
    {"ldu", "ld", {"?global=global", vector, load_type}},
    {"st", "st", {store_order, store_space, store_cache, level1, level2, hint, vector, store_type}},
    {"atom", "atom", {atomic_order, scope, atomic_space, ordinary_operation, hint, ordinary_type}},
    {"atom", "atom", {atomic_order, scope, atomic_space, exchange, hint, exchange_type}},
    {"atom", "atom", {atomic_order, scope, atomic_space, add_half, hint, half_type}},
    {"atom",
     "atom",
     {atomic_order, scope, "?global=global", "add=add", hint, "v2=v2 v4=v4", "f32=f32"}},
    {"atom", "atom", {atomic_order, scope, "?global=global", add_half, hint, vector, half_type}},
    {"red", "red", {atomic_order, scope, atomic_space, ordinary_operation, hint, ordinary_type}},
    {"red", "red", {atomic_order, scope, atomic_space, add_half, hint, half_type}},
    {"red",
     "red",
     {atomic_order, scope, "?global=global", "add=add", hint, "v2=v2 v4=v4", "f32=f32"}},
    {"red", "red", {atomic_order, scope, "?global=global", add_half, hint, vector, half_type}},
    {"membar", "fence", {fence_scope}},
    {"fence", "fence", {fence_order, fence_scope}},
    {"fence", "fence none", {proxies}},
    {"fence", "fence none", {"mbarrier_init.release.cluster="}},
    {"cp.async", "cp.async", {copy_way, hint, prefetched}},
    {"cp.async.bulk",
     "bulk copy",
     {copied_to, "global=", "mbarrier::complete_tx::bytes=load", hint}},
    {"cp.async.bulk", "bulk copy", {"global=", "shared::cta=", "bulk_group=store", hint}},
    {"cp.async.mbarrier.arrive", "mbarrier copies", {"?noinc=noinc", object_space, "b64="}},
    {"mbarrier", "mbarrier", {"init=init inval=inval", object_space, "b64="}},
    {"mbarrier",
     "mbarrier",
     {"arrive.expect_tx=expect_arrive arrive_drop.expect_tx=expect_drop arrive.noComplete=arrive "
      "arrive_drop.noComplete=drop arrive=arrive arrive_drop=drop",
      arrive_order, object_space, "b64="}},
    {"mbarrier",
     "mbarrier",
     {"expect_tx=expect complete_tx=complete", "?relaxed.cta= relaxed.cluster=", object_space,
      "b64="}},
    {"mbarrier",
     "mbarrier",
     {"test_wait=wait try_wait=wait", "?parity=parity", wait_order, object_space, "b64="}},
    {"prefetch", "prefetch", {"?global= local=", "L1= L2= L2::evict_last= L2::evict_normal="}},
    {"prefetchu", "prefetch", {"L1="}},
    {"applypriority", "applypriority", {"?global=", "L2::evict_normal="}},
    {"discard", "discard", {"?global=", "L2="}},
    {"createpolicy.fractional",
     "createpolicy.fractional",
     {policy_priority, other_priority, "b64="}},
    {"createpolicy.range",
     "createpolicy.range",
     {"?global=", policy_priority, other_priority, "b64="}},
};

/// Whether the rest of an opcode, which begins with a dot, fits the slots; adds what it becomes.
bool fits(std::string_view rest, Slots slots, std::string& made) {
  if (slots.empty() || slots.front().empty()) return rest.empty();
  std::string_view words = slots.front();
  const bool is_optional = words.starts_with('?');
  if (is_optional) words.remove_prefix(1);
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    const std::size_t equals = word.find('=');
    const std::string_view text = word.substr(0, equals), becomes = word.substr(equals + 1);
    if (!rest.starts_with('.') || !rest.substr(1).starts_with(text)) continue;
    const std::string_view behind = rest.substr(1 + text.size());
    if (!behind.empty() && behind[0] != '.') continue;
    const std::size_t size = made.size();
    if (!becomes.empty()) made.append(" ").append(becomes);
    if (fits(behind, slots.subspan(1), made)) return true;
    made.resize(size);
  }
  return is_optional && fits(rest, slots.subspan(1), made);
}

/// Where the word belongs: its slot, and its place where that has several; -1 for none.
int place_of(std::string_view word, Slots slots) {
  constexpr int most_words = 8;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    std::string_view rest = slots[slot];
    if (rest.starts_with('?')) rest.remove_prefix(1);
    while (!rest.empty()) {
      const std::string_view choice = rest.substr(0, rest.find('='));
      rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
      const std::vector<std::string_view> words = split_words(choice);
      const auto found = std::find(words.begin(), words.end(), word);
      if (found != words.end())
        return static_cast<int>(slot) * most_words + static_cast<int>(found - words.begin());
    }
  }
  return -1;
}

}  // namespace

std::optional<std::string> usual_order_of_memory(std::string_view opcode) {
  for (const Rule& rule : rules) {
    if (!opcode.starts_with(rule.begins) || opcode.size() == rule.begins.size() ||
        opcode[rule.begins.size()] != '.')
      continue;
    std::vector<std::pair<int, std::string_view>> words;
    for (const std::string_view word : split_words(opcode.substr(rule.begins.size() + 1)))
      words.emplace_back(place_of(word, rule.slots), word);
    std::stable_sort(words.begin(), words.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string rest, plain;
    for (const auto& [place, word] : words) rest.append(".").append(word);
    if (words.front().first >= 0 && fits(rest, rule.slots, plain))
      return std::string(rule.begins) + rest;
  }
  return std::nullopt;
}

std::optional<std::string> plain_name(std::string_view opcode) {
  for (const Rule& rule : rules) {
    if (!opcode.starts_with(rule.begins)) continue;
    std::string made(rule.becomes);
    if (fits(opcode.substr(rule.begins.size()), rule.slots, made)) return made;
  }
  return std::nullopt;
}

}  // namespace simgpu
