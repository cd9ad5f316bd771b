#include "tools/simgpu/code/specials.h"

namespace simgpu {
namespace {

using Kind = Preset::Kind;

struct Named {
  std::string_view name;
  Special special;
};

// Clusters have one block each: PTX ISA 10.13 to 10.20.
constexpr Named specials[] = {
    {"%tid.x", {Kind::thread_x}},
    {"%tid.y", {Kind::thread_y}},
    {"%tid.z", {Kind::thread_z}},
    {"%ntid.x", {Kind::block_size_x}},
    {"%ntid.y", {Kind::block_size_y}},
    {"%ntid.z", {Kind::block_size_z}},
    {"%ctaid.x", {Kind::block_x}},
    {"%ctaid.y", {Kind::block_y}},
    {"%ctaid.z", {Kind::block_z}},
    {"%nctaid.x", {Kind::grid_size_x}},
    {"%nctaid.y", {Kind::grid_size_y}},
    {"%nctaid.z", {Kind::grid_size_z}},
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
    {"%is_explicit_cluster", {Kind::constant, 0}},
    {"%clusterid.x", {Kind::block_x}},
    {"%clusterid.y", {Kind::block_y}},
    {"%clusterid.z", {Kind::block_z}},
    {"%nclusterid.x", {Kind::grid_size_x}},
    {"%nclusterid.y", {Kind::grid_size_y}},
    {"%nclusterid.z", {Kind::grid_size_z}},
    {"%cluster_ctaid.x", {Kind::constant}},
    {"%cluster_ctaid.y", {Kind::constant}},
    {"%cluster_ctaid.z", {Kind::constant}},
    {"%cluster_nctaid.x", {Kind::constant, 4, 1}},
    {"%cluster_nctaid.y", {Kind::constant, 4, 1}},
    {"%cluster_nctaid.z", {Kind::constant, 4, 1}},
    {"%cluster_ctarank", {Kind::constant}},
    {"%cluster_nctarank", {Kind::constant, 4, 1}},
    {"%current_graph_exec", {Kind::constant, 8}},
    {"WARP_SZ", {Kind::constant, 4, warp_size}},
};

constexpr std::string_view dynamic_specials[] = {
    "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"};

}  // namespace

std::optional<Special> find_special(std::string_view name) {
  for (const Named& each : specials)
    if (each.name == name) return each.special;
  return std::nullopt;
}

bool is_dynamic_special(std::string_view name) {
  for (const std::string_view each : dynamic_specials)
    if (each == name) return true;
  return false;
}

}  // namespace simgpu
