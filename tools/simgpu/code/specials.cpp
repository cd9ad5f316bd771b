#include "tools/simgpu/code/specials.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>

namespace simgpu {
namespace {

using Kind = Preset::Kind;
using Base = Special::Base;

struct Named {
  std::string_view name;
  Special special;
};

/// With .x, .y and .z, whose kinds follow each other. Clusters have one block each: PTX ISA 10.13
/// to 10.20.
constexpr Named vectors[] = {
    {"%tid", {Kind::thread_x}},           {"%ntid", {Kind::block_size_x}},
    {"%ctaid", {Kind::block_x}},          {"%nctaid", {Kind::grid_size_x}},
    {"%clusterid", {Kind::block_x}},      {"%nclusterid", {Kind::grid_size_x}},
    {"%cluster_ctaid", {Kind::constant}}, {"%cluster_nctaid", {Kind::constant, 4, 1}},
};

constexpr Named singles[] = {
    {"%laneid", {Kind::lane}},
    {"%warpid", {Kind::warp}},
    {"%nwarpid", {Kind::warp_count}},
    {"%smid", {Kind::sm}},
    {"%nsmid", {Kind::sm_count}},
    {"%gridid", {Kind::grid_id, 8}},
    {"%lanemask_eq", {Kind::lanes_equal}},
    {"%lanemask_lt", {Kind::lanes_less}},
    {"%lanemask_le", {Kind::lanes_less_equal}},
    {"%lanemask_gt", {Kind::lanes_greater}},
    {"%lanemask_ge", {Kind::lanes_greater_equal}},
    {"%dynamic_smem_size", {Kind::dynamic_shared_size}},
    {"%total_smem_size", {Kind::total_shared_size}},
    {"%aggr_smem_size", {Kind::total_shared_size}},
    {"%reserved_smem_offset_begin", {Kind::constant, 4, 0, Base::reserved_shared}},
    {"%reserved_smem_offset_end",
     {Kind::constant, 4, reserved_shared_bytes, Base::reserved_shared}},
    {"%reserved_smem_offset_cap", {Kind::constant, 4, reserved_shared_bytes}},
    {"%reserved_smem_offset_0", {Kind::constant, 4, 0, Base::reserved_shared}},
    {"%reserved_smem_offset_1",
     {Kind::constant, 4, reserved_shared_bytes / 2, Base::reserved_shared}},
    {"%is_explicit_cluster", {Kind::constant, 0}},
    {"%cluster_ctarank", {Kind::constant}},
    {"%cluster_nctarank", {Kind::constant, 4, 1}},
    // What the driver says to a kernel: <cooperative_groups.h> reads the address of the workspace.
    {"%envreg1", {Kind::of_cooperative, 4, 0, Base::workspace_high}},
    {"%envreg2", {Kind::of_cooperative, 4, 0, Base::workspace}},
    {"%current_graph_exec", {Kind::constant, 8}},
    {"WARP_SZ", {Kind::constant, 4, warp_size}},
};

constexpr std::string_view dynamic_specials[] = {
    "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"};

const Named* find(std::string_view name, std::span<const Named> among) {
  const auto found = std::find_if(among.begin(), among.end(),
                                  [name](const Named& each) { return each.name == name; });
  return found == among.end() ? nullptr : &*found;
}

/// Whether it is the prefix, a number below `count`, and the suffix.
bool is_numbered(std::string_view name, std::string_view prefix, int count,
                 std::string_view suffix = "") {
  if (!name.starts_with(prefix)) return false;
  int number = count;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, number);
  return error == std::errc() && number < count && number >= 0 &&
         std::string_view(stop, end) == suffix;
}

}  // namespace

bool Special::differs_between_lanes() const {
  return (kind >= Kind::thread_x && kind <= Kind::thread_z) || kind == Kind::lane ||
         (kind >= Kind::lanes_equal && kind <= Kind::lanes_greater_equal);
}

std::optional<Special> find_special(std::string_view name) {
  if (const Named* single = find(name, singles)) return single->special;
  // Nobody counts what performance monitors would.
  if (is_numbered(name, "%envreg", 32) || is_numbered(name, "%pm", 8)) return Special{};
  if (is_numbered(name, "%pm", 8, "_64")) return Special{Kind::constant, 8};
  if (name.size() < 2 || name[name.size() - 2] != '.') return std::nullopt;
  const std::size_t axis = std::string_view("xyzw").find(name.back());
  const Named* vector = find(name.substr(0, name.size() - 2), vectors);
  if (axis == std::string_view::npos || vector == nullptr) return std::nullopt;
  if (axis == 3) return Special{};  // always zero
  Special made = vector->special;
  if (made.kind != Kind::constant)
    made.kind = static_cast<Kind>(static_cast<std::size_t>(made.kind) + axis);
  return made;
}

bool is_dynamic_special(std::string_view name) {
  return std::find(std::begin(dynamic_specials), std::end(dynamic_specials), name) !=
         std::end(dynamic_specials);
}

}  // namespace simgpu
