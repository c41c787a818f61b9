#include "observe/event_line.h"

#include <gtest/gtest.h>

#include <vector>

namespace ashlar {
namespace {

class LineKeeper final : public Logger {
 public:
  explicit LineKeeper(InfoLogLevel level) : Logger(level) {}
  void Log(InfoLogLevel, std::string_view message) override { lines_.emplace_back(message); }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

TEST(EventLine, ALineIsOneObject) {
  LineKeeper logger(INFO_LEVEL);
  const std::vector<uint64_t> files{2, 0, 7};
  EventLine(&logger, 5, 3, "flush_started")
      .Add("n", 1)
      .Add("ok", true)
      .Add("files", files)
      .Begin("in")
      .Add("a", "b")
      .End()
      .Add("last", 9);
  ASSERT_EQ(logger.lines().size(), 1u);
  EXPECT_EQ(logger.lines()[0],
            "EVENT_LOG_v1 {\"time_micros\": 5, \"job\": 3, \"event\": \"flush_started\", \"n\": 1, "
            "\"ok\": true, \"files\": [2, 0, 7], "
            "\"in\": {\"a\": \"b\"}, \"last\": 9}");
}

TEST(EventLine, TextsAreEscaped) {
  LineKeeper logger(INFO_LEVEL);
  EventLine(&logger, 0, 0, "e").Add("t", "a\"b\\c\n\xff");
  EXPECT_EQ(
      logger.lines().at(0),
      "EVENT_LOG_v1 {\"time_micros\": 0, \"event\": \"e\", \"t\": \"a\\\"b\\\\c\\u000a\\u00ff\"}");
}

TEST(EventLine, NothingIsWrittenWhereNobodyWantsIt) {
  LineKeeper quiet(WARN_LEVEL);
  EventLine(&quiet, 0, 0, "e").Add("t", 1);
  EXPECT_TRUE(quiet.lines().empty());
  EventLine(nullptr, 0, 0, "e").Add("t", 1);
}

}  // namespace
}  // namespace ashlar
