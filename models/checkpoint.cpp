#include "models/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "models/atomic_file.h"
#include "models/file_set.h"

namespace sinter::models {
namespace {

constexpr const char* config_file = "config.json";
constexpr const char* model_file = "model.safetensors";
constexpr const char* optimizer_file = "optimizer.safetensors";
constexpr const char* trainer_file = "trainer.json";

void write_text(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

NamedTensors named_values(std::span<const Variable> parameters, Where where) {
  NamedTensors values;
  for (const Variable& parameter : parameters) {
    if (parameter.name().empty()) usage_error("save_checkpoint", "a parameter has no name", where);
    if (!values.emplace(parameter.name(), parameter.value()).second)
      usage_error("save_checkpoint",
                  fmt::format("two parameters have the name {}", parameter.name()), where);
  }
  return values;
}

/// The name this model uses for a stored tensor.
std::string canonical_name(const std::string& stored) {
  const auto starts = [&](const char* prefix) { return stored.starts_with(prefix); };
  if (starts("transformer.") || starts("lm_head.")) return "decoder." + stored;
  if (starts("h.") || starts("wte.") || starts("wpe.") || starts("ln_f."))
    return "decoder.transformer." + stored;
  return stored;
}

/// Tensors of published files that are no parameters of a captioner.
bool is_ignored(const std::string& name) {
  for (const char* buffer :
       {".attn.bias", ".attn.masked_bias", ".crossattention.bias", ".crossattention.masked_bias"})
    if (name.ends_with(buffer)) return true;
  return name.starts_with("encoder.pooler.");
}

/// What the file holds for the model: canonical name to stored name.
std::map<std::string, std::string> stored_names(const Safetensors& file) {
  std::map<std::string, std::string> names;
  for (const auto& [stored, tensor] : file.tensors()) {
    const std::string name = canonical_name(stored);
    if (is_ignored(name)) continue;
    const auto [entry, is_new] = names.emplace(name, stored);
    if (!is_new)
      throw FileError(fmt::format("{}: tensors {} and {} are the same parameter",
                                  file.path().string(), entry->second, stored));
  }
  return names;
}

/// A head that is stored must be the token embedding: the model has no other.
void drop_tied_head(const Safetensors& file, std::map<std::string, std::string>& names) {
  const auto head = names.find("decoder.lm_head.weight");
  const auto embedding = names.find("decoder.transformer.wte.weight");
  if (head == names.end() || embedding == names.end()) return;
  const StoredTensor& a = file.info(head->second);
  const StoredTensor& b = file.info(embedding->second);
  if (a.dtype != b.dtype || a.shape != b.shape ||
      file.read(head->second) != file.read(embedding->second))
    throw FileError(fmt::format("{}: tensor {} is not the token embedding {}", file.path().string(),
                                head->second, embedding->second));
  names.erase(head);
}

/// `what: a, b, c and 7 more`, or nothing for no names.
std::string list_of(std::string_view what, const std::vector<std::string>& names) {
  constexpr std::size_t shown = 8;
  if (names.empty()) return "";
  std::string text = fmt::format("; {}: ", what);
  for (std::size_t i = 0; i < std::min(names.size(), shown); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

void check_names(const Safetensors& file, const std::map<std::string, std::string>& names,
                 std::span<const Variable> parameters) {
  std::vector<std::string> missing, unexpected, misshaped;
  std::set<std::string> wanted;
  for (const Variable& parameter : parameters) {
    wanted.insert(parameter.name());
    const auto found = names.find(parameter.name());
    if (found == names.end()) {
      missing.push_back(parameter.name());
      continue;
    }
    const StoredTensor& stored = file.info(found->second);
    if (stored.shape != parameter.shape())
      misshaped.push_back(fmt::format("{} {} instead of {}", found->second, to_string(stored.shape),
                                      to_string(parameter.shape())));
    else if (stored.dtype != parameter.dtype() &&
             !(is_floating(stored.dtype) && is_floating(parameter.dtype())))
      misshaped.push_back(fmt::format("{} {} instead of {}", found->second, to_string(stored.dtype),
                                      to_string(parameter.dtype())));
  }
  for (const auto& [name, stored] : names)
    if (!wanted.contains(name)) unexpected.push_back(stored);
  const std::string problems = list_of("missing", missing) + list_of("not known", unexpected) +
                               list_of("of another shape or type", misshaped);
  if (!problems.empty())
    throw FileError(fmt::format("{}: does not fit the model{}", file.path().string(), problems));
}

}  // namespace

void save_checkpoint(const std::filesystem::path& directory, const CaptionerConfig& config,
                     std::span<const Variable> parameters, const TrainingState& state,
                     Where where) {
  check_config(config, where);
  const NamedTensors values = named_values(parameters, where);
  FileSet files(directory);
  // Readers in Python ask for this mark.
  write_safetensors(files.stage(model_file), values, {{"format", "pt"}}, where);
  write_safetensors(files.stage(optimizer_file), state.optimizer, {}, where);
  nlohmann::ordered_json record(state.counters);
  for (const auto& [name, value] : state.names) record[name] = value;
  write_text(files.stage(trainer_file), record.dump(2) + "\n");
  write_text(files.stage(config_file), to_json(config));
  files.commit();
}

CaptionerConfig load_config(const std::filesystem::path& directory) {
  return read_config(committed_path(directory, config_file));
}

void load_parameters(const std::filesystem::path& directory, std::span<const Variable> parameters,
                     Where where) {
  const Safetensors file(committed_path(directory, model_file));
  std::map<std::string, std::string> names = stored_names(file);
  drop_tied_head(file, names);
  check_names(file, names, parameters);
  std::vector<Tensor> values;
  for (const Variable& parameter : parameters) {
    const Tensor stored = file.tensor(names.at(parameter.name()), where);
    const bool same = stored.dtype() == parameter.dtype();
    values.push_back(same ? stored : cast(stored, parameter.dtype(), where));
  }
  for (std::size_t i = 0; i < values.size(); ++i) parameters[i].set(values[i], where);
}

TrainingState load_training_state(const std::filesystem::path& directory) {
  const Safetensors file(committed_path(directory, optimizer_file));
  TrainingState state = load_training_record(directory);
  for (const auto& [name, stored] : file.tensors()) state.optimizer[name] = file.tensor(name);
  return state;
}

TrainingState load_training_record(const std::filesystem::path& directory) {
  TrainingState state;
  const std::filesystem::path path = committed_path(directory, trainer_file);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw FileError(fmt::format("{}: cannot be opened", path.string()));
  try {
    const nlohmann::json record = nlohmann::json::parse(stream);
    if (!record.is_object())
      throw FileError(fmt::format("{}: is not an object of counters", path.string()));
    for (const auto& [name, value] : record.items()) {
      if (value.is_string()) state.names[name] = value.get<std::string>();
      else if (value.is_number_unsigned()) state.counters[name] = value.get<std::uint64_t>();
      else throw FileError(fmt::format("{}: {} is not a counter", path.string(), name));
    }
  } catch (const nlohmann::json::exception& error) {
    throw FileError(fmt::format("{}: is not JSON: {}", path.string(), error.what()));
  } catch (const std::ios_base::failure&) {  // a directory, or a disk that fails
    throw FileError(fmt::format("{}: cannot be read", path.string()));
  }
  return state;
}

}  // namespace sinter::models
