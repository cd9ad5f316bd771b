/// \file
/// Checkpoints: a directory in the layout that Hugging Face's VisionEncoderDecoderModel saves and
/// loads, with what a training run needs to go on beside it.
///
/// - `config.json`: the model's sizes;
/// - `model.safetensors`: the parameters. Weights of ViT's linear layers are [out, in], those of
///   GPT-2's are [in, out], as published; the head is the token embedding and is not stored again;
/// - `optimizer.safetensors`: the optimizer's tensors;
/// - `trainer.json`: counters of the run, and names of what it was made with.
///
/// The four are replaced as one (file_set.h): a program or machine that stops at any time leaves
/// the checkpoint before or the one after.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include <sinter/sinter.h>

#include "models/config.h"
#include "models/safetensors.h"

namespace sinter::models {

/// What a run needs beside the parameters to go on with the same bits.
struct TrainingState {
  NamedTensors optimizer;
  /// Steps, positions, seeds and the like.
  std::map<std::string, std::uint64_t, std::less<>> counters;
  /// What the program that trains wants to find again, such as the name of its data.
  std::map<std::string, std::string, std::less<>> names = {};
};

/// Writes a checkpoint; makes the directory if need be and leaves other files in it alone.
/// Evaluates. \throws FileError when it cannot be written, then the old one is still there;
/// UsageError for parameters without or with equal names.
void save_checkpoint(const std::filesystem::path& directory, const CaptionerConfig& config,
                     std::span<const Variable> parameters, const TrainingState& state,
                     Where where = Where::current());

/// \throws FileError, as read_config.
CaptionerConfig load_config(const std::filesystem::path& directory);

/// Sets each parameter to the tensor of its name, in its own dtype. Nothing is set when this
/// throws.
///
/// Understood beside the names that save_checkpoint writes: those of a plain GPT-2 file (`h.0...`,
/// with or without `transformer.`), which fit parameters named `decoder.transformer.h.0...`. Left
/// out are the mask buffers `attn.bias` and `attn.masked_bias`, ViT's pooler, which a captioner has
/// not, and a head that equals the token embedding.
/// \throws FileError naming the tensors that are missing, not known, or of another shape.
void load_parameters(const std::filesystem::path& directory, std::span<const Variable> parameters,
                     Where where = Where::current());

/// The state that save_checkpoint wrote. \throws FileError also for a directory that has none, as
/// published checkpoints.
TrainingState load_training_state(const std::filesystem::path& directory);
/// The same without the optimizer's tensors.
TrainingState load_training_record(const std::filesystem::path& directory);

}  // namespace sinter::models
