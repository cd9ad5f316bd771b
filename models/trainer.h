/// \file
/// Trainer: a captioner, its optimizer and its data, step by step, saved and resumed to the bit.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "models/adam.h"
#include "models/captioner.h"
#include "models/checkpoint.h"
#include "models/loader.h"
#include "models/recipe.h"

namespace sinter::models {

/// How the batches are made; nothing here changes what is learned but `collation`.
struct TrainerData {
  std::shared_ptr<const Dataset> dataset;
  Collation collation;
  int workers = 1;
  /// Saved with a checkpoint, for who resumes it: what the data is called, and the like.
  std::map<std::string, std::string, std::less<>> names = {};
};

class Trainer {
 public:
  /// A fresh run.
  Trainer(const CaptionerConfig& config, const Recipe& recipe, const TrainerData& data,
          Where where = Where::current());
  /// Goes on where the checkpoint in `directory` was written, with its recipe: from there on the
  /// bits are those of a run that was never stopped. \throws FileError, UsageError
  static Trainer resume(const std::filesystem::path& directory, const TrainerData& data,
                        Where where = Where::current());

  /// One optimizer step. Returns its loss, not yet read.
  Tensor step();
  /// Writes everything that resume needs.
  void save(const std::filesystem::path& directory) const;

  std::int64_t steps_done() const { return steps_done_; }
  const Recipe& recipe() const { return recipe_; }
  const Captioner& captioner() const { return *captioner_; }
  double seconds_waited() const { return loader_->seconds_waited(); }

 private:
  Trainer(const CaptionerConfig& config, const Recipe& recipe, const TrainerData& data,
          std::int64_t position, Where where);
  /// The loss of the next part of a batch; its gradients are added to `gradients`.
  Tensor accumulate(std::vector<Tensor>& gradients);

  Recipe recipe_;
  std::unique_ptr<Captioner> captioner_;
  std::unique_ptr<Adam> optimizer_;
  std::unique_ptr<Loader> loader_;
  std::unique_ptr<Generator> dropout_;
  std::map<std::string, std::string, std::less<>> names_;
  std::int64_t steps_done_ = 0;
};

}  // namespace sinter::models
