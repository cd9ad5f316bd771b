// golden_captioner DIR [LEVEL]: the captioner against golden vectors, one line a quantity.
//
// DIR is a checkpoint directory with a golden.safetensors beside it, as
// tests/golden/make_captioner.py writes; any configuration. Every quantity's largest error,
// relative to the largest golden value, may be four times PyTorch's own (the file's `spread`), or
// 1e-6 where that is more.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/adam.h"
#include "models/captioner.h"
#include "models/checkpoint.h"
#include "models/safetensors.h"

namespace sinter::models {
namespace {

using Values = std::vector<double>;

double largest(const Values& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

class GoldenCheck {
 public:
  explicit GoldenCheck(const std::filesystem::path& directory)
      : directory_(directory), file_(directory / "golden.safetensors") {
    const auto spread = nlohmann::json::parse(file_.metadata().at("spread"));
    for (const auto& [key, value] : spread.items()) spread_[key] = value.get<double>();
  }

  int run() {
    Captioner captioner(load_config(directory_));
    load_parameters(directory_, captioner.parameters());
    const Batch batch{tensor("in.pixels"), tensor("in.tokens"), tensor("in.labels")};
    const Pass pass{.training = true};
    const Tensor states = captioner.encode(batch.pixels, pass);
    const Tensor logits = captioner.decode(batch.tokens, states, pass);
    const Tensor loss = captioner.loss(batch, pass);
    const std::vector<Tensor> gradients = grad(loss, captioner.parameters());
    compare("out.encoder", states);
    compare("out.logits", logits);
    compare("out.loss", loss);
    compare_gradients(captioner, gradients);
    train(captioner, batch);
    compare_captions(captioner, batch);
    fmt::print("{} quantities, {} out of bounds\n", compared_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  Tensor tensor(const std::string& key) const { return file_.tensor(key); }

  double number(const std::string& key) const {
    const std::string& text = file_.metadata().at(key);
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  void report(const std::string& key, double error, double allowed) {
    ++compared_;
    const bool good = error <= allowed;  // false for NaN
    if (!good) ++failed_;
    fmt::print("{:<70} error {:9.3e}  allowed {:9.3e}{}\n", key, error, allowed,
               good ? "" : "  OUT OF BOUNDS");
  }

  void compare(const std::string& key, const Values& mine) {
    const Values golden = tensor(key).to_host<double>();
    double error = mine.size() == golden.size() ? 0 : std::nan("");
    for (std::size_t i = 0; i < std::min(mine.size(), golden.size()); ++i) {
      const double difference = std::abs(mine[i] - golden[i]);
      if (!(difference <= error)) error = difference;  // also keeps a NaN
    }
    const double scale = std::max(largest(golden), 1e-30);
    report(key, error / scale, std::max(4 * spread_.at(key), 1e-6));
  }

  void compare(const std::string& key, const Tensor& mine) { compare(key, mine.to_host<double>()); }

  void compare_gradients(const Captioner& captioner, const std::vector<Tensor>& gradients) {
    std::map<std::string, Values> by_name;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      by_name[captioner.parameters()[i].name()] = gradients[i].to_host<double>();
    for (const auto& [name, values] : by_name) {
      if (file_.contains("grad." + name)) {
        compare("grad." + name, values);
        continue;
      }
      // The true gradient of a key bias is 0: compared with the query bias's.
      std::string query = name;
      query.replace(query.rfind("key"), 3, "query");
      report("grad." + name, largest(values) / largest(by_name.at(query)), 1e-6);
    }
  }

  /// Five Adam steps on the one batch.
  void train(Captioner& captioner, const Batch& batch) {
    Adam optimizer(captioner.parameters(),
                   {.learning_rate = number("lr"), .epsilon = number("eps")});
    const auto steps = static_cast<int>(number("steps"));
    Values losses;
    for (int step = 1; step <= steps; ++step) {
      const Tensor loss = captioner.loss(batch, {.training = true});
      optimizer.step(grad(loss, captioner.parameters()));
      losses.push_back(loss.item<double>());
      if (step != 1 && step != steps) continue;
      for (const Variable& parameter : captioner.parameters())
        compare(fmt::format("adam{}.{}", step, parameter.name()), parameter.value());
    }
    compare("out.losses", losses);
  }

  void compare_captions(const Captioner& captioner, const Batch& batch) {
    const Tensor golden = tensor("out.greedy");
    const std::int64_t length = golden.size(1);
    std::vector<std::int64_t> mine;
    for (std::vector<std::int64_t> row : captioner.caption(batch.pixels, length - 1)) {
      row.resize(static_cast<std::size_t>(length), captioner.config().pad_token);
      mine.insert(mine.end(), row.begin(), row.end());
    }
    const std::vector<std::int64_t> right = golden.to_host<std::int64_t>();
    double different = mine.size() == right.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(mine.size(), right.size()); ++i)
      different += mine[i] != right[i];
    report("out.greedy (tokens that differ)", different, 0);
  }

  std::filesystem::path directory_;
  Safetensors file_;
  std::map<std::string, double> spread_;
  int compared_ = 0, failed_ = 0;
};

}  // namespace
}  // namespace sinter::models

int main(int count, char** arguments) {
  if (count < 2 || count > 3) {
    fmt::print(stderr, "usage: golden_captioner DIR [interpret | eager | fused]\n");
    return 2;
  }
  try {
    const std::string name = count == 3 ? arguments[2] : "eager";
    const auto level = sinter::parse_level(name);
    if (!level) throw sinter::UsageError("there is no level " + name);
    sinter::set_level(*level);
    return sinter::models::GoldenCheck(arguments[1]).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "golden_captioner: {}\n", error.what());
    return 1;
  }
}
