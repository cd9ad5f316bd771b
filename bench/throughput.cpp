// throughput: optimizer steps a second of the captioner on synthetic data.
//
// One step is forward, backward and Adam. The clock of a step runs from the batch in memory to the
// updated parameters; making or waiting for the batch is timed apart.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "bench/median.h"
#include "bench/step_products.h"
#include "models/adam.h"
#include "models/arguments.h"
#include "models/captioner.h"
#include "models/draws.h"
#include "models/recipe.h"
#include "models/synthetic.h"

namespace sinter::models {
namespace {

struct Settings {
  std::string preset = "tiny";
  std::string collate = "max";
  std::int64_t align = 1;
  std::int64_t batch = 0;
  std::int64_t distinct = 40;
  std::string batches;
  std::string dtype = "f32";
  std::string level = "eager";
  double dropout = 0.1;
  std::int64_t warmup = 20;
  std::int64_t active = 100;
  int threads = 0;
  std::uint64_t seed = 42;
  bool json = false;
  bool help = false;
};

struct Figures {
  double first_step_s = 0;
  double warmup_s = 0;
  double steps_per_s = 0;
  double median_step_ms = 0;
  double data_wait_s = 0;
  double loss = 0;
  std::int64_t max_rss_mib = 0;
  std::size_t shapes = 0, batches = 0;
  std::int64_t batch = 0;                     // images in each of them
  double products_flops = 0;                  // of the middle one of the steps on the clock
  std::vector<std::string> largest_products;  // of the batch with the most columns
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::int64_t peak_resident_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

std::vector<Batch> make_batches(const Settings& settings, const Preset& sizes) {
  if (!settings.batches.empty()) return read_batches(settings.batches);
  const std::int64_t rows = settings.batch > 0 ? settings.batch : sizes.batch;
  const SyntheticCaptions data({.image_side = sizes.model.encoder.image_size,
                                .longest_caption = sizes.longest_caption,
                                .vocabulary = sizes.model.decoder.vocabulary,
                                .seed = settings.seed});
  const Collation collation{
      .columns = sizes.longest_caption,
      .padding = settings.collate == "max" ? Padding::maximum : Padding::longest,
      .multiple = settings.align};
  std::vector<Batch> batches;
  for (std::int64_t i = 0; i < settings.distinct; ++i) {
    std::vector<Sample> samples;
    for (std::int64_t row = 0; row < rows; ++row) samples.push_back(data.sample(i * rows + row));
    batches.push_back(collate(samples, sizes.model.encoder.image_size, collation));
  }
  return batches;
}

class Benchmark {
 public:
  explicit Benchmark(const Settings& settings)
      : settings_(settings),
        preset_(with_dropout(preset(settings.preset), settings.dropout)),
        batches_(make_batches(settings, preset_)),
        captioner_(preset_.model, settings.seed),
        optimizer_(captioner_.parameters(), AdamOptions{}),
        dropout_(dropout_seed(settings.seed)) {
    for (const Variable& parameter : captioner_.parameters()) parameter.value().evaluate();
  }

  Figures run() {
    Figures figures;
    // Every shape that will come is met in the warm-up.
    std::set<std::int64_t> lengths;
    const Clock::time_point start = Clock::now();
    for (const Batch& batch : batches_) {
      if (!lengths.insert(batch.tokens.size(1)).second) continue;
      step(batch).item<double>();
      if (lengths.size() == 1) figures.first_step_s = seconds_since(start);
    }
    for (std::int64_t i = 0; i < settings_.warmup; ++i) step(batch_at(i));
    figures.warmup_s = seconds_since(start);
    figures.shapes = lengths.size();
    figures.batches = batches_.size();
    figures.batch = batches_[0].tokens.size(0);

    std::vector<double> times;
    const Clock::time_point active = Clock::now();
    for (std::int64_t i = 0; i < settings_.active; ++i) {
      const Clock::time_point waiting = Clock::now();
      const Batch& batch = batch_at(settings_.warmup + i);
      figures.data_wait_s += seconds_since(waiting);
      const Clock::time_point begin = Clock::now();
      const Tensor loss = step(batch);
      times.push_back(1e3 * seconds_since(begin));
      if (i + 1 == settings_.active) figures.loss = loss.item<double>();
    }
    figures.steps_per_s = static_cast<double>(settings_.active) / seconds_since(active);
    figures.median_step_ms = median(times);
    figures.max_rss_mib = peak_resident_mib();
    count_products(figures, *lengths.rbegin());
    return figures;
  }

 private:
  void count_products(Figures& figures, std::int64_t longest) const {
    std::vector<double> flops;
    for (std::int64_t i = 0; i < settings_.active; ++i) {
      const std::int64_t columns = batch_at(settings_.warmup + i).tokens.size(1);
      flops.push_back(step_products(preset_.model, figures.batch, columns).flops);
    }
    figures.products_flops = median(flops);
    for (const Product& product : step_products(preset_.model, figures.batch, longest).largest)
      figures.largest_products.push_back(product.text());
  }

  static Preset with_dropout(Preset sizes, double p) {
    Gpt2Config& decoder = sizes.model.decoder;
    decoder.embedding_dropout = decoder.attention_dropout = decoder.residual_dropout = p;
    return sizes;
  }

  const Batch& batch_at(std::int64_t i) const {
    return batches_[static_cast<std::size_t>(i) % batches_.size()];
  }

  Tensor step(const Batch& batch) {
    Tensor loss;
    {
      std::optional<Autocast> autocast;
      if (settings_.dtype == "bf16") autocast.emplace(bf16);
      loss = captioner_.loss(batch, {.training = true, .generator = &dropout_});
    }
    optimizer_.step(grad(loss, captioner_.parameters()));
    return loss;
  }

  Settings settings_;
  Preset preset_;
  std::vector<Batch> batches_;
  Captioner captioner_;
  Adam optimizer_;
  Generator dropout_;
};

nlohmann::ordered_json as_json(const Settings& settings, const Figures& figures) {
  return {{"preset", settings.preset},
          {"collate", settings.collate},
          {"align", settings.align},
          {"dtype", settings.dtype},
          {"level", settings.level},
          {"threads", threads()},
          {"dropout", settings.dropout},
          {"batch", figures.batch},
          {"batches", figures.batches},
          {"warmup", settings.warmup},
          {"active", settings.active},
          {"shapes", figures.shapes},
          {"first_step_s", figures.first_step_s},
          {"warmup_s", figures.warmup_s},
          {"steps_per_s", figures.steps_per_s},
          {"median_step_ms", figures.median_step_ms},
          {"data_wait_s", figures.data_wait_s},
          {"loss", figures.loss},
          {"max_rss_mib", figures.max_rss_mib},
          {"products_flops", figures.products_flops},
          {"largest_products", figures.largest_products}};
}

void print_table(const Settings& settings, const Figures& figures) {
  fmt::print("{} {} {} at level {}, padding to {}, {} shapes\n", settings.preset, settings.dtype,
             "captioner", settings.level, settings.collate, figures.shapes);
  fmt::print("  {:<22}{:>10.3f} s\n", "first step", figures.first_step_s);
  fmt::print("  {:<22}{:>10.3f} s\n", "warm-up", figures.warmup_s);
  fmt::print("  {:<22}{:>10.2f} /s\n", "steps", figures.steps_per_s);
  fmt::print("  {:<22}{:>10.3f} ms\n", "median step", figures.median_step_ms);
  fmt::print("  {:<22}{:>10.3f} s\n", "waiting for data", figures.data_wait_s);
  fmt::print("  {:<22}{:>10.4f}\n", "loss", figures.loss);
  fmt::print("  {:<22}{:>10} MiB\n", "peak resident memory", figures.max_rss_mib);
  fmt::print("  {:<22}{:>10.3f} GFLOP a step\n", "matrix products", figures.products_flops / 1e9);
}

void check_settings(const Settings& settings) {
  if (settings.active < 1 || settings.distinct < 1 || settings.align < 1)
    throw UsageError("--active, --distinct and --align are at least 1");
  if (settings.warmup < 0) throw UsageError("--warmup is at least 0");
  if (settings.batch < 0 || settings.batch > most_batch)
    throw UsageError(fmt::format("--batch is from 0 to {}", most_batch));
}

int run(std::span<const char* const> arguments) {
  Settings settings;
  settings.level = to_string(level());
  const std::vector<Option> options{
      {"preset", "size of the model", settings.preset, {"tiny", "small", "base"}},
      {"collate", "columns of a batch", settings.collate, {"max", "longest"}},
      {"align", "with longest: columns are a multiple of this", settings.align},
      {"batch", "images a step, in place of the preset's; 0 for that", settings.batch},
      {"distinct", "batches made, used in turn", settings.distinct},
      {"batches", "safetensors file of batches, in place of made ones", settings.batches},
      {"dtype", "of matrix products", settings.dtype, {"f32", "bf16"}},
      {"level", "how graphs are evaluated", settings.level, {"interpret", "eager", "fused"}},
      {"dropout", "of GPT-2", settings.dropout},
      {"warmup", "steps before the clock", settings.warmup},
      {"active", "steps on the clock", settings.active},
      {"threads", "to run on; 0 for what the process may use", settings.threads},
      {"seed", "of data, first values and dropout", settings.seed},
      {"json", "one line of JSON in place of the table", settings.json},
      {"help", "this list", settings.help},
  };
  read_arguments(arguments, options);
  if (settings.help) {
    fmt::print("throughput [options]\n{}", help(options));
    return 0;
  }
  check_settings(settings);
  if (settings.threads != 0) set_threads(settings.threads);
  set_level(*parse_level(settings.level));
  const Figures figures = Benchmark(settings).run();
  if (settings.json) fmt::print("{}\n", as_json(settings, figures).dump());
  else print_table(settings, figures);
  return 0;
}

}  // namespace
}  // namespace sinter::models

int main(int count, char** arguments) {
  return sinter::models::run_program("throughput", sinter::models::run, count, arguments);
}
