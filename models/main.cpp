// captioner: trains, measures and shows the image captioner.

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <span>

#include "models/accuracy.h"
#include "models/arguments.h"
#include "models/checkpoint.h"
#include "models/digits.h"
#include "models/picture.h"
#include "models/progress.h"
#include "models/synthetic.h"
#include "models/trainer.h"

namespace sinter::models {
namespace {

constexpr std::uint64_t training_seed = 1, held_out_seed = 2;
constexpr std::int64_t held_out_samples = 1000;

struct Choices {
  std::string data = "digits";
  std::string preset = "tiny";
  std::string out = "captioner-checkpoint";
  std::string resume;
  std::int64_t save_every = 0;
  std::int64_t stop_after = 0;
  std::int64_t count = 4;
  std::int64_t first = 0;
  std::int64_t samples = held_out_samples;
  int workers = 1;
  double dropout = -1;
  bool show = false;
  bool help = false;
};

std::shared_ptr<const Dataset> training_data(const Choices& choices, const Preset& sizes) {
  if (choices.data == "digits")
    return std::make_shared<DigitCaptions>(DigitPool::training, training_seed, INT64_C(1) << 40);
  return std::make_shared<SyntheticCaptions>(
      SyntheticOptions{.image_side = sizes.model.encoder.image_size,
                       .longest_caption = sizes.longest_caption,
                       .vocabulary = sizes.model.decoder.vocabulary});
}

TrainerData trainer_data(const Choices& choices, const Preset& sizes) {
  const std::int64_t columns = choices.data == "digits" ? digit_columns : sizes.longest_caption;
  return {training_data(choices, sizes),
          {.columns = columns},
          choices.workers,
          {{"data", choices.data}, {"preset", choices.preset}}};
}

void set_dropout(CaptionerConfig& config, double p) {
  config.decoder.embedding_dropout = p;
  config.decoder.attention_dropout = p;
  config.decoder.residual_dropout = p;
}

void print_accuracy(const Accuracy& accuracy) {
  fmt::print("held-out digits {:.1f} %, captions {:.1f} % of {}\n", 100 * accuracy.by_word(),
             100 * accuracy.by_caption(), accuracy.captions);
}

Accuracy measure(const Captioner& captioner, std::int64_t samples) {
  const DigitCaptions held_out(DigitPool::held_out, held_out_seed, samples);
  return measure_accuracy(captioner, held_out, samples, digit_columns);
}

void show_captions(const Captioner& captioner, std::int64_t first, std::int64_t count) {
  const DigitCaptions held_out(DigitPool::held_out, held_out_seed, first + count);
  const PictureStyle style =
      ::isatty(STDOUT_FILENO) == 1 ? PictureStyle::shades : PictureStyle::letters;
  for (std::int64_t i = first; i < first + count; ++i) {
    const Sample sample = held_out.sample(i);
    const Batch batch = collate({&sample, 1}, canvas_side, {.columns = digit_columns});
    const auto captions = captioner.caption(batch.pixels, digit_columns);
    constexpr std::size_t plane = canvas_side * canvas_side;
    fmt::print("{}  caption: {}\n  truth:   {}\n\n",
               picture(std::span(sample.pixels).first(plane), canvas_side, 2.0f, style),
               digit_words().text(captions[0]), digit_words().text(sample.words));
  }
}

void check_choices(const Choices& choices) {
  if (choices.save_every < 0) throw UsageError("--save-every: must not be negative");
  if (choices.stop_after < 0) throw UsageError("--stop-after: must not be negative");
  if (std::isnan(choices.dropout)) throw UsageError("--dropout: must be a number");
}

/// Finds out before the first step, and not after the last, that nothing can be written.
void prepare_directory(const std::string& directory) {
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem || ::access(directory.c_str(), W_OK) != 0)
    throw FileError(fmt::format("{}: no directory that can be written", directory));
}

Trainer start_trainer(const Choices& choices, const Recipe& recipe, const Preset& sizes) {
  const TrainerData data = trainer_data(choices, sizes);
  if (!choices.resume.empty()) return Trainer::resume(choices.resume, data);
  CaptionerConfig config = sizes.model;
  if (choices.data == "digits") {
    config.encoder.initializer_range = config.decoder.initializer_range = 0.125;
    set_dropout(config, 0);
  }
  if (choices.dropout >= 0) set_dropout(config, choices.dropout);
  return {config, recipe, data};
}

/// What is learned, how, and with which numbers: a resumed run has those of its checkpoint.
std::vector<Option> run_options(Choices& choices, Recipe& recipe) {
  return {
      {"data", "what to learn", choices.data, {"digits", "synthetic"}},
      {"preset", "size of the model", choices.preset, {"tiny", "small", "base"}},
      {"steps", "optimizer steps", recipe.steps},
      {"batch", "images a step", recipe.batch},
      {"accumulation", "parts a batch is cut into", recipe.accumulation},
      {"rate", "peak learning rate", recipe.peak_rate},
      {"warmup", "steps of warm-up", recipe.warmup_steps},
      {"beta2", "Adam's second decay", recipe.beta2},
      {"weight-decay", "decoupled weight decay", recipe.weight_decay},
      {"clip", "largest norm of the gradients, 0 for none", recipe.clip_norm},
      {"dropout", "of GPT-2, in place of the recipe's; negative for that", choices.dropout},
      {"seed", "of first values and dropout", recipe.seed},
      {"bf16", "matrix products in bf16", recipe.bf16},
  };
}

std::vector<Option> train_options(Choices& choices, Recipe& recipe) {
  std::vector<Option> options = run_options(choices, recipe);
  const std::vector<Option> others{
      {"workers", "threads that make batches", choices.workers},
      {"out", "directory of the checkpoint; resumed, that one", choices.out},
      {"resume", "go on from this checkpoint, with its data and recipe", choices.resume},
      {"save-every", "steps between checkpoints, 0 for one at the end", choices.save_every},
      {"stop-after", "end after this many steps in all, as if interrupted", choices.stop_after},
      {"show", "print accuracy and some captions at the end", choices.show},
      {"help", "this list", choices.help},
  };
  options.insert(options.end(), others.begin(), others.end());
  return options;
}

std::string stored_name(const TrainingState& record, const Choices& choices,
                        std::string_view name) {
  const auto found = record.names.find(name);
  if (found == record.names.end())
    throw UsageError(
        fmt::format("--resume: the checkpoint in {} does not say its {}", choices.resume, name));
  return found->second;
}

/// Puts what the checkpoint was made with into `choices` and `recipe`. \throws UsageError where an
/// option that was given says otherwise.
void take_resumed(Choices& choices, Recipe& recipe,
                  const std::set<std::string, std::less<>>& given) {
  const TrainingState record = load_training_record(choices.resume);
  Choices stored = choices;
  Recipe stored_recipe = recipe_from(record.counters);
  const std::vector<Option> kept = run_options(stored, stored_recipe);
  for (const Option& option : kept)
    if (option.name() == "data" || option.name() == "preset")
      option.fill(stored_name(record, choices, option.name()));
  stored.dropout = load_config(choices.resume).decoder.residual_dropout;
  const std::vector<Option> asked = run_options(choices, recipe);
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (given.contains(asked[i].name()) && asked[i].value() != kept[i].value())
      throw UsageError(fmt::format("--{} {}: the checkpoint in {} has {}, and goes on with it",
                                   asked[i].name(), asked[i].value(), choices.resume,
                                   kept[i].value()));
  if (!given.contains("out")) stored.out = choices.resume;
  choices = stored;
  recipe = stored_recipe;
}

/// Steps to the end, or to where it is to stop, saving on the way and then.
void run_steps(Trainer& trainer, const Choices& choices) {
  const std::int64_t total = trainer.recipe().steps;
  const std::int64_t end = choices.stop_after > 0 ? std::min(choices.stop_after, total) : total;
  if (trainer.steps_done() >= end)
    fmt::print("no step is left: {} of {} are done\n", trainer.steps_done(), total);
  Progress progress("training", total, trainer.steps_done());
  while (trainer.steps_done() < end) {
    const Tensor loss = trainer.step();
    const std::int64_t done = trainer.steps_done();
    if (progress.due(done)) progress.show(done, loss.item<double>());
    const bool saves = choices.save_every > 0 && done % choices.save_every == 0;
    if (saves && done < end) trainer.save(choices.out);
  }
  trainer.save(choices.out);
}

int train(std::span<const char* const> arguments) {
  Choices choices;
  Recipe recipe = digits_recipe();
  const std::vector<Option> options = train_options(choices, recipe);
  const auto given = read_arguments(arguments, options);
  if (choices.help) {
    fmt::print("captioner train [options]\n{}", help(options));
    return 0;
  }
  check_choices(choices);
  if (!choices.resume.empty()) take_resumed(choices, recipe, given);
  prepare_directory(choices.out);
  Trainer trainer = start_trainer(choices, recipe, preset(choices.preset));
  run_steps(trainer, choices);
  fmt::print("checkpoint in {}\n", choices.out);
  if (choices.show) {
    print_accuracy(measure(trainer.captioner(), held_out_samples));
    show_captions(trainer.captioner(), 0, choices.count);
  }
  return 0;
}

std::unique_ptr<Captioner> load_captioner(const std::string& directory) {
  auto captioner = std::make_unique<Captioner>(load_config(directory));
  load_parameters(directory, captioner->parameters());
  return captioner;
}

int evaluate_checkpoint(std::span<const char* const> arguments) {
  Choices choices;
  const std::vector<Option> options{
      {"checkpoint", "directory that train wrote", choices.out},
      {"samples", "held-out images", choices.samples},
      {"help", "this list", choices.help},
  };
  read_arguments(arguments, options);
  if (choices.help) {
    fmt::print("captioner eval [options]\n{}", help(options));
    return 0;
  }
  if (choices.samples < 1) throw UsageError("--samples: must be at least 1");
  print_accuracy(measure(*load_captioner(choices.out), choices.samples));
  return 0;
}

int caption(std::span<const char* const> arguments) {
  Choices choices;
  const std::vector<Option> options{
      {"checkpoint", "directory that train wrote", choices.out},
      {"first", "number of the first held-out image", choices.first},
      {"count", "images to show", choices.count},
      {"help", "this list", choices.help},
  };
  read_arguments(arguments, options);
  if (choices.help) {
    fmt::print("captioner caption [options]\n{}", help(options));
    return 0;
  }
  if (choices.first < 0) throw UsageError("--first: must not be negative");
  if (choices.count < 1) throw UsageError("--count: must be at least 1");
  if (choices.first > INT64_MAX - choices.count) throw UsageError("--first: there are not so many");
  show_captions(*load_captioner(choices.out), choices.first, choices.count);
  return 0;
}

int run(std::span<const char* const> arguments) {
  const std::string_view command = arguments.empty() ? "" : arguments[0];
  if (command == "train") return train(arguments.subspan(1));
  if (command == "eval") return evaluate_checkpoint(arguments.subspan(1));
  if (command == "caption") return caption(arguments.subspan(1));
  const bool asked = command == "--help";
  if (!asked && !command.empty()) fmt::print(stderr, "captioner: no command \"{}\"\n", command);
  fmt::print(asked ? stdout : stderr,
             "usage: captioner COMMAND [options]\n"
             "  train    trains, writes a checkpoint\n"
             "  eval     measures a checkpoint on held-out digits\n"
             "  caption  shows held-out images with their captions\n"
             "Each lists its options with --help.\n");
  return asked ? 0 : 2;
}

}  // namespace
}  // namespace sinter::models

int main(int count, char** arguments) {
  return sinter::models::run_program("captioner", sinter::models::run, count, arguments);
}
