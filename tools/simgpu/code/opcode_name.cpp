#include "tools/simgpu/code/opcode_name.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace simgpu {
namespace {

using Slots = std::span<const std::string_view>;

// A slot is what may stand at a place of an opcode: words, or several joined by dots, each with
// what becomes of it behind `=` where that is not the same. One that begins with `?` may be left
// out.
constexpr std::string_view load_order =
    "?weak= volatile=strong mmio.relaxed.sys=strong relaxed.cta=strong relaxed.cluster=strong "
    "relaxed.gpu=strong relaxed.sys=strong acquire.cta=strong acquire.cluster=strong "
    "acquire.gpu=strong acquire.sys=strong";
constexpr std::string_view store_order =
    "?weak= volatile=strong mmio.relaxed.sys=strong relaxed.cta=strong relaxed.cluster=strong "
    "relaxed.gpu=strong relaxed.sys=strong release.cta=release release.cluster=release "
    "release.gpu=release release.sys=release";
constexpr std::string_view atomic_order = "?relaxed= acquire= release acq_rel=release";
constexpr std::string_view scope = "?cta= cluster= gpu= sys=";
constexpr std::string_view load_space = "?global shared shared::cta=shared local const=global";
constexpr std::string_view store_space = "?global shared shared::cta=shared local";
constexpr std::string_view atomic_space = "?global shared shared::cta=shared";
constexpr std::string_view parameter = "param param::entry=param param::func=param";
constexpr std::string_view load_cache = "?ca= cg= cs= lu= cv=";
constexpr std::string_view store_cache = "?wb= cg= cs= wt=";
constexpr std::string_view read_only = "?nc=";
constexpr std::string_view level1 =
    "?L1::evict_normal= L1::evict_unchanged= L1::evict_first= L1::evict_last= L1::no_allocate=";
constexpr std::string_view level2 = "?L2::evict_normal= L2::evict_first= L2::evict_last=";
constexpr std::string_view hint = "?L2::cache_hint=";
constexpr std::string_view prefetched = "?L2::64B= L2::128B= L2::256B=";
constexpr std::string_view vector = "?v2 v4 v8";
constexpr std::string_view load_type =
    "b8 u8=b8 s8 b16 u16=b16 s16 b32 u32=b32 f32=b32 s32 b64 u64=b64 s64=b64 f64=b64 b128";
constexpr std::string_view store_type =
    "b8 u8=b8 s8=b8 b16 u16=b16 s16=b16 b32 u32=b32 f32=b32 s32=b32 b64 u64=b64 s64=b64 f64=b64 "
    "b128";
constexpr std::string_view ordinary_operation = "add min max and or xor inc dec";
constexpr std::string_view exchange = "exch cas";
constexpr std::string_view add_half = "add.noftz=add";
constexpr std::string_view ordinary_type = "b32 b64 u32 u64 s32 s64 f32 f64";
constexpr std::string_view exchange_type = "b16 b32 b64";
constexpr std::string_view half_type = "f16 f16x2 bf16 bf16x2";
constexpr std::string_view fence_order = "?sc= acq_rel= acquire= release=";
constexpr std::string_view fence_scope = "cta cluster=gpu gpu gl=gpu sys=gpu";
constexpr std::string_view proxies =
    "proxy.alias= proxy.async= proxy.async.global= proxy.async.shared::cta= "
    "proxy.async.shared::cluster= mbarrier_init.release.cluster=";
constexpr std::string_view arrive_order =
    "?release.cta= release.cluster= relaxed.cta= relaxed.cluster=";
constexpr std::string_view wait_order =
    "?acquire.cta= acquire.cluster= relaxed.cta= relaxed.cluster=";
constexpr std::string_view object_space = "?shared shared::cta=shared";
constexpr std::string_view copied_to = "shared::cta= shared::cluster=";
constexpr std::string_view copy_way =
    "ca.shared.global= ca.shared::cta.global= cg.shared.global=cg cg.shared::cta.global=cg";
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
    {"ldu", "ld", {"?global", vector, load_type}},
    {"ld", "ld", {parameter, vector, load_type}},
    {"st", "st", {parameter, vector, store_type}},
    {"st", "st", {store_order, store_space, store_cache, level1, level2, hint, vector, store_type}},
    {"atom", "atom", {atomic_order, scope, atomic_space, ordinary_operation, hint, ordinary_type}},
    {"atom", "atom", {atomic_order, scope, atomic_space, exchange, hint, exchange_type}},
    {"atom", "atom", {atomic_order, scope, atomic_space, add_half, hint, half_type}},
    {"atom", "atom", {atomic_order, scope, "?global", "add", hint, "v2 v4", "f32"}},
    {"atom", "atom", {atomic_order, scope, "?global", add_half, hint, vector, half_type}},
    {"red", "red", {atomic_order, scope, atomic_space, ordinary_operation, hint, ordinary_type}},
    {"red", "red", {atomic_order, scope, atomic_space, add_half, hint, half_type}},
    {"red", "red", {atomic_order, scope, "?global", "add", hint, "v2 v4", "f32"}},
    {"red", "red", {atomic_order, scope, "?global", add_half, hint, vector, half_type}},
    {"membar", "fence", {fence_scope}},
    {"fence", "fence", {fence_order, fence_scope}},
    {"fence", "fence none", {proxies}},
    {"cp.async", "cp.async", {copy_way, hint, prefetched}},
    {"cp.async.bulk",
     "bulk copy",
     {copied_to, "global=", "mbarrier::complete_tx::bytes=load", hint}},
    {"cp.async.bulk", "bulk copy", {"global=", "shared::cta=", "bulk_group=store", hint}},
    {"cp.async.mbarrier.arrive", "mbarrier copies", {"?noinc", object_space, "b64="}},
    {"mbarrier", "mbarrier", {"init inval", object_space, "b64="}},
    {"mbarrier",
     "mbarrier",
     {"arrive.expect_tx=expect_arrive arrive_drop.expect_tx=expect_drop arrive.noComplete=arrive "
      "arrive_drop.noComplete=drop arrive arrive_drop=drop",
      arrive_order, object_space, "b64="}},
    {"mbarrier",
     "mbarrier",
     {"expect_tx=expect complete_tx=complete", "?relaxed.cta= relaxed.cluster=", object_space,
      "b64="}},
    {"mbarrier",
     "mbarrier",
     {"test_wait=wait try_wait=wait", "?parity", wait_order, object_space, "b64="}},
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

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

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
    const std::string_view text = word.substr(0, equals);
    const std::string_view becomes = equals == word.npos ? text : word.substr(equals + 1);
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

bool is_type(std::string_view word) {
  for (const std::string_view begins :
       {"bf16", "tf32", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8"})
    if (word.starts_with(begins)) return true;
  return word.size() > 1 && std::string_view("bsuf").find(word[0]) != std::string_view::npos &&
         word[1] >= '0' && word[1] <= '9';
}

/// Of words of one kind that has an order, the first says something else than the second.
enum class Kind : std::uint8_t { unordered, type, layout, space };

Kind kind_of(std::string_view word) {
  if (is_type(word)) return Kind::type;
  if (word == "row" || word == "col") return Kind::layout;
  if (word == "global" || word.starts_with("shared")) return Kind::space;
  return Kind::unordered;
}

/// Where the word belongs: its slot, and its place where that has several; -1 for none.
int place_of(std::string_view word, Slots slots) {
  constexpr int most_words = 8;
  for (std::size_t slot = 0; slot < slots.size(); ++slot)
    for (std::string_view choice : split(slots[slot], ' ')) {
      if (choice.starts_with('?')) choice.remove_prefix(1);
      const std::vector<std::string_view> words = split(choice.substr(0, choice.find('=')), '.');
      const auto found = std::find(words.begin(), words.end(), word);
      if (found != words.end())
        return static_cast<int>(slot) * most_words + static_cast<int>(found - words.begin());
    }
  return -1;
}

/// The rest of an opcode with its words where the slots have them.
std::string sorted(std::string_view rest, Slots slots) {
  std::vector<std::pair<int, std::string_view>> words;
  for (const std::string_view word : split(rest.substr(1), '.'))
    words.emplace_back(place_of(word, slots), word);
  std::stable_sort(words.begin(), words.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string made;
  for (const auto& [place, word] : words) made.append(".").append(word);
  return made;
}

}  // namespace

std::optional<std::string> memory_name(std::string_view opcode) {
  for (const bool in_order : {true, false})
    for (const Rule& rule : rules) {
      if (!opcode.starts_with(rule.begins)) continue;
      const std::string_view rest = opcode.substr(rule.begins.size());
      if (!rest.starts_with('.')) continue;
      const std::string usual = in_order ? std::string(rest) : sorted(rest, rule.slots);
      std::string made(rule.becomes);
      if (fits(usual, rule.slots, made) && (in_order || order_key(usual) == order_key(rest)))
        return made;
    }
  return std::nullopt;
}

std::string order_key(std::string_view opcode) {
  std::vector<std::string_view> words = split(opcode, '.');
  std::stable_sort(words.begin() + 1, words.end(), [](std::string_view a, std::string_view b) {
    const Kind kind = kind_of(a);
    if (kind != kind_of(b)) return kind < kind_of(b);
    return kind == Kind::unordered && a < b;
  });
  std::string key;
  for (const std::string_view word : words) key.append(word).append(".");
  return key;
}

}  // namespace simgpu
