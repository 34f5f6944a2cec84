// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace windrow {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Sets an environment variable for the length of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

TEST(Registry, every_default_is_a_value_that_the_setting_takes) {
  for (const SettingInfo& info : setting_registry()) {
    Settings settings;
    EXPECT_TRUE(settings.set(info.key, info.default_text).ok()) << info.key;
    EXPECT_FALSE(info.documentation.empty()) << info.key;
    EXPECT_EQ(info.kind == SettingKind::choice, !info.values.empty()) << info.key;
    EXPECT_EQ(find_setting(info.key), &info) << "two settings with one key";
  }
}

TEST(Settings, unset_keys_have_their_defaults) {
  const Settings settings;
  EXPECT_EQ(settings.text("strategy"), "auto");
  EXPECT_EQ(settings.bytes("buffer"), int64_t{4} << 20);
  EXPECT_EQ(settings.integer("writers"), 0);
  EXPECT_TRUE(settings.boolean("shared_memory"));
  EXPECT_FALSE(settings.boolean("durable"));
  EXPECT_FALSE(settings.is_set("buffer"));
}

// If the program or the environment still sets one, the error says that it was removed.
TEST(Settings, that_were_removed_are_errors_that_say_so) {
  Settings settings;
  EXPECT_THAT(settings.set("learn", "off").message(), HasSubstr("\"learn\" was removed"));
  const Status refused = settings.set("plan_memory", "64MiB");
  EXPECT_EQ(refused.code(), Code::bad_argument);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("\"plan_memory\" was removed"), HasSubstr("128 plans")));
  EXPECT_THAT(settings.set("trace_detail", "full").message(),
              AllOf(HasSubstr("\"trace_detail\" was removed"), HasSubstr("numbers of every flush")));
  EXPECT_TRUE(settings.values().empty());
  {
    const Environment environment("WINDROW_PLAN_MEMORY", "0");
    const auto resolved = resolve(settings);
    EXPECT_EQ(resolved.status().code(), Code::bad_argument);
    EXPECT_THAT(resolved.status().message(), AllOf(HasSubstr("WINDROW_PLAN_MEMORY"), HasSubstr("was removed")));
  }
  EXPECT_TRUE(resolve(settings).ok());
}

TEST(Settings, takes_values_of_each_kind) {
  Settings settings;
  EXPECT_TRUE(settings.set("buffer", "4k").ok());
  EXPECT_EQ(settings.bytes("buffer"), 4096);
  EXPECT_TRUE(settings.set("writers", "12").ok());
  EXPECT_EQ(settings.integer("writers"), 12);
  EXPECT_TRUE(settings.set("durable", "yes").ok());
  EXPECT_TRUE(settings.boolean("durable"));
  EXPECT_TRUE(settings.set("pnetcdf_subfiling", "Enable").ok() && settings.boolean("pnetcdf_subfiling"));
  EXPECT_TRUE(settings.set("durable", "False").ok() && !settings.boolean("durable"));
  EXPECT_FALSE(settings.set("durable", "Tru").ok());
  EXPECT_TRUE(settings.set("gather", "team(16)").ok());
  EXPECT_EQ(settings.choice("gather"), (Choice{"team", 16, 0}));
  EXPECT_TRUE(settings.set("gather", "host").ok());
  EXPECT_EQ(settings.choice("gather"), (Choice{"host", 0, 0}));
  EXPECT_TRUE(settings.set("fault", "rank=1").ok());
  EXPECT_EQ(settings.text("fault"), "rank=1");
  EXPECT_EQ(settings.values().size(), 6u);
}

TEST(Settings, refuses_values_and_says_what_it_takes) {
  const std::pair<const char*, const char*> bad[] = {
      {"gather", "team"},   {"gather", "team()"},  {"gather", "team(0)"},  {"gather", "team(-1)"},
      {"gather", "team(4"}, {"gather", "host(4)"}, {"gather", "team(4)x"}, {"gather", "("},
      {"gather", ""},       {"strategy", "fast"},  {"strategy", "Auto"},   {"strategy", "auto|scorpio"},
      {"buffer", "1"},      {"buffer", "-4k"},     {"buffer", "lots"},     {"writers", "-1"},
      {"writers", "2.5"},   {"durable", "maybe"},  {"durable", ""}};
  for (const auto& [key, value] : bad) {
    Settings settings;
    const Status status = settings.set(key, value);
    EXPECT_EQ(status.code(), Code::bad_argument) << key << '=' << value;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(key), HasSubstr(value), HasSubstr("it takes")));
    EXPECT_FALSE(settings.is_set(key));
  }
  Settings settings;
  EXPECT_THAT(settings.set("gather", "all").message(), HasSubstr("one of auto, none, host, team(N), team(N,M)"));
  EXPECT_THAT(settings.set("buffer", "1").message(), HasSubstr("4096 or more"));
}

TEST(Settings, unknown_keys_are_answered_with_similar_ones) {
  Settings settings;
  EXPECT_EQ(settings.set("stratgey", "auto").code(), Code::bad_argument);
  EXPECT_EQ(settings.set("stratgey", "auto").message(), "there is no option \"stratgey\"; did you mean strategy?");
  EXPECT_THAT(settings.set("direct", "1").message(), HasSubstr("did you mean direct_bytes?"));
  EXPECT_THAT(settings.set("cb_nodes", "1").message(), AllOf(HasSubstr("there are strategy, "), HasSubstr("writers")));
  EXPECT_THAT(settings.set("", "1").message(), HasSubstr("there are strategy, "));
}

TEST(Resolve, program_wins_over_environment_wins_over_default) {
  const Environment buffer("WINDROW_BUFFER", "1MiB");
  const Environment writers("WINDROW_WRITERS", "3");
  Settings program;
  ASSERT_TRUE(program.set("writers", "5").ok());
  const Result<Settings> settings = resolve(program);
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  EXPECT_EQ(settings.value().bytes("buffer"), int64_t{1} << 20);
  EXPECT_EQ(settings.value().integer("writers"), 5);
  EXPECT_EQ(settings.value().text("codec"), "auto");
}

TEST(Resolve, names_the_variable_of_a_bad_value) {
  const Environment buffer("WINDROW_BUFFER", "plenty");
  const Result<Settings> settings = resolve({});
  EXPECT_EQ(settings.status().code(), Code::bad_argument);
  EXPECT_THAT(settings.status().message(),
              AllOf(HasSubstr("environment variable WINDROW_BUFFER"), HasSubstr("plenty")));
}

TEST(Page, agrees_with_the_registry) {
  std::ifstream file(WINDROW_SETTINGS_PAGE);
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_THAT(page.str(), HasSubstr(settings_table_markdown()))
      << "docs/settings.md is out of date; its table should be\n"
      << settings_table_markdown();
}

}  // namespace
}  // namespace windrow
