#include "runtime/log.h"

#include <doctest/doctest.h>

#include <mutex>
#include <thread>

#include "runtime/error.h"
#include "tests/log_recorder.h"

namespace sinter {
namespace {

using tests::LogRecorder;

TEST_CASE("log: a record reaches the sink only when its channel is on") {
  LogRecorder recorder;
  write_log({LogChannel::recompiles, "step/1", "size changed", {{"axis", "0"}}});
  CHECK(recorder.records.empty());
  set_logs("recompiles,plan");
  CHECK(log_enabled(LogChannel::recompiles));
  CHECK_FALSE(log_enabled(LogChannel::fusion));
  write_log({LogChannel::recompiles, "step/1", "size changed", {{"axis", "0"}, {"now", "17"}}});
  write_log({LogChannel::fusion, "", "merged", {}});
  REQUIRE(recorder.records.size() == 1);
  CHECK(to_string(recorder.records[0]) ==
        "sinter [recompiles] [step/1] size changed: axis=0, now=17");
  CHECK(to_string({LogChannel::fusion, "", "merged", {}}) == "sinter [fusion] merged");
}

TEST_CASE("log: a spec is read from left to right") {
  const auto parse = [](std::string_view spec, LogChannels current = {}) {
    return parse_log_channels("SINTER_LOGS", spec, current);
  };
  const LogChannels plan = parse("plan"), plan_and_cache = parse("plan,cache");
  CHECK(parse("+cache", plan) == plan_and_cache);
  CHECK(parse("-cache", plan_and_cache) == plan);
  CHECK(parse("cache", plan) == parse("cache"));
  CHECK(parse("plan,+cache,-plan") == parse("cache"));
  CHECK(parse("-plan,plan") == plan);
  CHECK(parse("all,-plan").has(LogChannel::replay));
  CHECK_FALSE(parse("all,-plan").has(LogChannel::plan));
  CHECK_FALSE(parse("all").has(LogChannel::warning));
  CHECK(parse("", plan) == plan);
}

TEST_CASE("log: an unknown channel lists the known ones and changes nothing") {
  LogRecorder recorder;
  set_logs("plan");
  CHECK_THROWS_WITH_AS(
      set_logs("cache,plans"),
      doctest::Contains(
          "set_logs: unknown channel \"plans\", known: graph_breaks, recompiles, perf_hints, "
          "guards, "
          "fusion, schedule, output_code, plan, cache, autotune, replay, all (log_test.cpp:"),
      UsageError);
  CHECK(log_enabled(LogChannel::plan));
  CHECK_FALSE(log_enabled(LogChannel::cache));
  for (const char* spec : {"+", "-", "plan,,cache", "warning", "Plan"})
    CHECK_THROWS_AS(set_logs(spec), UsageError);
}

TEST_CASE("log: a warning is shown once for each key, whatever is on") {
  LogRecorder recorder;
  warn("log_test first", "no compiler");
  warn("log_test first", "no compiler");
  warn("log_test second", "no huge pages");
  REQUIRE(recorder.records.size() == 2);
  CHECK(to_string(recorder.records[0]) == "sinter [warning] no compiler");
  CHECK(recorder.records[1].message == "no huge pages");
}

TEST_CASE("log: threads may write and switch channels at once") {
  LogRecorder recorder;
  set_logs("cache");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 100; ++i) {
        set_logs(t % 2 == 0 ? "+plan" : "-plan");
        write_log({LogChannel::cache, "", "hit", {}});
        warn("log_test threads", "once");
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(recorder.records.size() == 401);
}

}  // namespace
}  // namespace sinter
