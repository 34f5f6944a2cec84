// SPDX-License-Identifier: BSD-3-Clause
#include "reporting/report_json.hpp"

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/units.hpp"
#include "reporting/weighing_json.hpp"

namespace windrow {
namespace {

using nlohmann::ordered_json;

// The order of the sums in a reduction.
enum Sum : size_t {
  bytes_written,
  bytes_read,
  write_requests,
  read_requests,
  messages,
  message_bytes,
  description_messages,
  description_bytes,
  bytes_copied,
  bytes_shared,
  direct_bytes,
  allocations,
  plans_made,
  writers,
  io_threads,
  shared_refused,
  bytes_mapped,
  bytes_broadcast,
  values_clamped,
  metadata_opens,
  data_opens,
  message_bytes_before_codec,
  description_bytes_before_codec,
  codec_description_nanoseconds,
  targets,
  rounds,
  messages_overlapped,
  messages_own_arm,
  probe_bytes,
  stage_nanoseconds  // one per stage
};
constexpr size_t k_total = static_cast<size_t>(k_stages), k_buffer = k_total + 1, k_batch = k_total + 2,
                 k_codec_memory = k_total + 3, k_targets = k_total + 4, k_buffer_elsewhere = k_total + 5;
static_assert(k_buffer_elsewhere + 1 == k_trace_maxima);
constexpr size_t k_predicted = k_trace_counters + k_codec_kinds * k_codec_numbers;  // where these begin
static_assert(stage_nanoseconds + static_cast<size_t>(k_stages) == k_trace_counters);

// Of one kind of message.
struct CodecSums {
  int64_t messages, bytes_in, bytes_out, encode_nanoseconds, decode_nanoseconds;
};
CodecSums codec_sums(const FlushReport& report, size_t kind) {
  const int64_t* at = report.sums.data() + k_trace_counters + kind * k_codec_numbers;
  return {at[0], at[1], at[2], at[3], at[4]};
}
std::string codec_kind_name(size_t kind) {
  return kind == k_codec_constant ? "equal elements" : kind == k_arm_off ? "uncompressed" : arm_name(kind);
}

int64_t nanoseconds(double seconds) {
  return static_cast<int64_t>(seconds * 1e9);
}
double seconds(int64_t nanoseconds_count) {
  return static_cast<double>(nanoseconds_count) * 1e-9;
}

ordered_json plan_json(const PlanReport& report) {
  const Plan& plan = report.plan;
  ordered_json json;
  json["direction"] = plan.reading ? "read" : "write";
  json["ranks"] = plan.ranks;
  json["strategy"] = plan.strategy.preset;
  const auto axes = axes_of(plan);
  for (size_t i = 0; i < axes.size(); ++i)
    json[k_axes[i]] = axes[i];
  json["writers"] = plan.writers;
  json["domain_bytes"] = ordered_json::array();
  for (const Extent& domain : plan.domains)
    json["domain_bytes"].push_back({domain.begin, domain.end});
  json["dealt_to_groups"] = plan.deal ? plan.deal->groups() : 0;
  // Not counted if holders move some of the pieces directly.
  json["stripes_with_two_writers"] =
      plan.stripes_cut && plan.direct_bytes == 0 ? ordered_json(*plan.stripes_cut) : ordered_json(nullptr);
  json["buffer"] = plan.window_bytes;
  json["expected"] = {{"messages", report.forecast.messages},
                      {"write_requests", report.forecast.write_requests},
                      {"read_requests", report.forecast.read_requests},
                      {"bytes", report.forecast.bytes}};
  json["cached"] = report.cached;
  json["reasons"] = plan.reasons;
  if (!report.codec_reason.empty())
    json["reasons"].push_back(report.codec_reason);
  if (plan.input) {
    json["predicted"] = alternatives_json(*plan.input, weigh(*plan.input));
    json["pattern"] = pattern_json(*plan.input);
  }
  return json;
}

int64_t bytes_moved(const FlushReport& report) noexcept {
  return std::accumulate(report.plans.begin(), report.plans.end(), int64_t{0},
                         [](int64_t sum, const PlanReport& plan) { return sum + plan.forecast.bytes; });
}

std::string line(std::string_view what, std::string value) {
  return fmt::format("  {:<22} {}\n", what, value);
}

// "3.10 ms for aligned, 1 writer, contiguous; next 3.40 ms for none, list (by what is usual for a local disk)"; without
// the opening of the file.
std::string predicted_text(const PlanInput& input) {
  const Weighing weighing = weigh(input);
  const Alternative* chosen = nullptr;
  const Alternative* next = nullptr;
  for (const Alternative& each : weighing.alternatives) {
    if (each.chosen)
      chosen = &each;
    else if (next == nullptr)
      next = &each;
  }
  const auto text = [&](const Alternative& each) {
    return fmt::format("{} for {}", format_seconds(each.seconds.flush()),
                       short_text(each.candidate, input.pattern.reading));
  };
  return fmt::format("{}{} (by {})", chosen ? text(*chosen) : "", next ? "; next " + text(*next) : "",
                     weighing.machine);
}

}  // namespace

void store_trace(const Trace& trace, std::span<int64_t> sums, std::span<int64_t> maxima) {
  const std::array<int64_t, stage_nanoseconds> values{trace.bytes_written,
                                                      trace.bytes_read,
                                                      trace.write_requests,
                                                      trace.read_requests,
                                                      trace.messages,
                                                      trace.message_bytes,
                                                      trace.description_messages,
                                                      trace.description_bytes,
                                                      trace.bytes_copied,
                                                      trace.bytes_shared,
                                                      trace.direct_bytes,
                                                      trace.allocations,
                                                      trace.plans_made,
                                                      trace.is_writer,
                                                      trace.io_threads,
                                                      trace.shared_refused,
                                                      trace.bytes_mapped,
                                                      trace.bytes_broadcast,
                                                      trace.values_clamped,
                                                      trace.metadata_opens,
                                                      trace.data_opens,
                                                      trace.message_bytes_before_codec,
                                                      trace.description_bytes_before_codec,
                                                      nanoseconds(trace.codec_description_seconds),
                                                      trace.targets,
                                                      trace.rounds,
                                                      trace.messages_overlapped,
                                                      trace.messages_own_arm,
                                                      trace.probe_bytes};
  std::copy(values.begin(), values.end(), sums.begin());
  for (size_t kind = 0; kind < k_codec_kinds; ++kind) {
    const CodecCount& count = trace.codecs[kind];
    const std::array<int64_t, k_codec_numbers> numbers{count.messages, count.bytes_in, count.bytes_out,
                                                       nanoseconds(count.encode_seconds),
                                                       nanoseconds(count.decode_seconds)};
    std::copy(numbers.begin(), numbers.end(),
              sums.begin() + static_cast<std::ptrdiff_t>(k_trace_counters + kind * k_codec_numbers));
  }
  std::fill(sums.begin() + static_cast<std::ptrdiff_t>(k_predicted), sums.end(), 0);
  maxima[k_batch] = 0;
  maxima[k_codec_memory] = trace.codec_memory;
  maxima[k_targets] = trace.targets;
  for (size_t i = 0; i < trace.seconds.size(); ++i)
    maxima[i] = sums[stage_nanoseconds + i] = nanoseconds(trace.seconds[i]);
  maxima[k_total] = nanoseconds(trace.total_seconds);
  maxima[k_buffer] = trace.buffer_bytes;
  maxima[k_buffer_elsewhere] = trace.is_writer != 0 ? 0 : trace.buffer_bytes;
}

void store_batch(double batch_seconds, std::span<int64_t> maxima) {
  maxima[k_batch] = nanoseconds(batch_seconds);
}
double read_batch(std::span<const int64_t> maxima) {
  return seconds(maxima[k_batch]);
}

void store_tuning(const Predicted& predicted, std::span<int64_t> sums) {
  for (size_t arm = 0; arm < k_most_arms; ++arm) {
    sums[k_predicted + arm] = nanoseconds(predicted.found[arm]);
    sums[k_predicted + k_most_arms + arm] = nanoseconds(predicted.quiet[arm]);
    sums[k_predicted + 2 * k_most_arms + arm] = nanoseconds(predicted.wire[arm]);
  }
}

void read_tuning(Predicted& predicted, std::span<const int64_t> sums) {
  for (size_t arm = 0; arm < k_most_arms; ++arm) {
    predicted.found[arm] = seconds(sums[k_predicted + arm]);
    predicted.quiet[arm] = seconds(sums[k_predicted + k_most_arms + arm]);
    predicted.wire[arm] = seconds(sums[k_predicted + 2 * k_most_arms + arm]);
  }
}

FlushNumbers flush_numbers(const FlushReport& report) noexcept {
  const auto& sums = report.sums;
  FlushNumbers numbers{report.maxima[k_total]};
  auto next = std::copy_n(report.maxima.begin(), k_stages, numbers.begin() + 1);
  next = std::copy_n(sums.begin() + stage_nanoseconds, k_stages, next);
  for (const int64_t count :
       {bytes_moved(report), sums[bytes_written], sums[bytes_read], sums[write_requests], sums[read_requests],
        sums[rounds], sums[messages], sums[message_bytes], sums[description_messages], sums[writers], sums[targets]})
    *next++ = count;
  return numbers;
}

std::array<std::string, k_axes.size()> axes_of(const Plan& plan) {
  const Strategy& s = plan.strategy;
  return {std::string(name_of(s.owner)),
          plan.team > 0 ? fmt::format("team({})", plan.team) : std::string(name_of(s.gather)),
          std::string(name_of(s.domains)),
          codec_text(s),
          std::string(name_of(s.access)),
          std::string(name_of(s.files))};
}

namespace {

struct NamedSum {
  const char* name;
  Sum sum;
};

void add_sums(ordered_json& json, const FlushReport& report, std::initializer_list<NamedSum> named) {
  for (const NamedSum& each : named)
    json[each.name] = report.sums[each.sum];
}

ordered_json stages_json(const FlushReport& report) {
  ordered_json json;
  json["total"] = seconds(report.maxima[k_total]);
  for (int stage = 0; stage < k_stages; ++stage)
    json[std::string(stage_name(static_cast<Stage>(stage)))] = seconds(report.maxima[static_cast<size_t>(stage)]);
  return json;
}

ordered_json codecs_json(const FlushReport& report) {
  ordered_json json = ordered_json::array();
  for (size_t kind = 0; kind < k_codec_kinds; ++kind) {
    const CodecSums of = codec_sums(report, kind);
    if (of.messages == 0 && of.decode_nanoseconds == 0)
      continue;
    json.push_back({{"codec", codec_kind_name(kind)},
                    {"messages", of.messages},
                    {"bytes_in", of.bytes_in},
                    {"bytes_out", of.bytes_out},
                    {"seconds_encode", seconds(of.encode_nanoseconds)},
                    {"seconds_decode", seconds(of.decode_nanoseconds)}});
  }
  return json;
}

}  // namespace

ordered_json report_object(const FlushReport& report) {
  ordered_json json;
  json["flushed"] = report.done;
  json["ranks"] = report.ranks;
  json["layout"] = report.layout;
  json["seconds"] = stages_json(report);
  const auto& sums = report.sums;
  json["bytes"] = bytes_moved(report);
  add_sums(json, report, {{"bytes_written", bytes_written}, {"bytes_read", bytes_read}});
  json["storage_requests"] = sums[write_requests] + sums[read_requests];
  add_sums(json, report,
           {{"write_requests", write_requests},
            {"read_requests", read_requests},
            {"rounds", rounds},
            {"messages", messages},
            {"bytes_sent", message_bytes},
            {"bytes_before_codec", message_bytes_before_codec},
            {"messages_overlapped", messages_overlapped},
            {"messages_own_way", messages_own_arm},
            {"link_probe_bytes", probe_bytes},
            {"description_messages", description_messages},
            {"description_bytes", description_bytes},
            {"description_bytes_before_codec", description_bytes_before_codec}});
  json["seconds_codec_descriptions"] = seconds(sums[codec_description_nanoseconds]);
  json["codecs"] = codecs_json(report);
  json["targets"] = {{"of_all_ranks", sums[targets]}, {"most_of_a_rank", report.maxima[k_targets]}};
  add_sums(json, report,
           {{"bytes_copied", bytes_copied},
            {"bytes_shared", bytes_shared},
            {"bytes_mapped", bytes_mapped},
            {"bytes_broadcast", bytes_broadcast},
            {"values_clamped", values_clamped},
            {"bytes_direct", direct_bytes},
            {"writers", writers},
            {"metadata_opens", metadata_opens},
            {"data_opens", data_opens},
            {"io_threads", io_threads},
            {"shared_memory_refused", shared_refused}});
  json["peak_memory"] = report.maxima[k_buffer];
  json["peak_memory_elsewhere"] = report.maxima[k_buffer_elsewhere];
  json["codec_memory"] = report.maxima[k_codec_memory];
  json["allocations"] = sums[allocations];
  json["plans_made"] = report.plans.empty() ? 0 : sums[plans_made] / report.ranks;
  json["plans"] = ordered_json::array();
  for (const PlanReport& plan : report.plans)
    json["plans"].push_back(plan_json(plan));
  if (!report.trace.empty())
    json["trace"] = {{"file", report.trace}, {"problem", report.trace_problem}};
  return json;
}

std::string report_json(const FlushReport& report) {
  ordered_json json = report_object(report);
  json["under_way"] = report.under_way;
  json["warnings"] = environment_warnings();
  for (const char* list : {"sent_by_this_rank", "targets_of_this_rank", "stripes_of_this_rank"})
    json[list] = ordered_json::array();
  for (const SentTo& sent : report.sent)
    json["sent_by_this_rank"].push_back(
        {{"to", sent.rank}, {"messages", sent.messages}, {"bytes", sent.bytes}, {"bytes_sent", sent.bytes_sent}});
  for (const auto& [target, of] : report.touched.targets())
    json["targets_of_this_rank"].push_back({{"target", target}, {"requests", of.requests}, {"bytes", of.bytes}});
  for (const StripeRun& run : report.touched.stripes())
    json["stripes_of_this_rank"].push_back({run.begin, run.stride, run.count});
  return json.dump(2);
}

namespace {

// A line for what there is only sometimes.
std::string line_if(bool is_there, std::string_view what, std::string value) {
  return is_there ? line(what, std::move(value)) : std::string();
}

std::string storage_text(const FlushReport& report) {
  const auto& sums = report.sums;
  std::string text = line(
      "written", fmt::format("{} in {}", format_bytes(sums[bytes_written]), counted(sums[write_requests], "request")));
  text +=
      line("read", fmt::format("{} in {}", format_bytes(sums[bytes_read]), counted(sums[read_requests], "request")));
  text += line_if(sums[bytes_mapped] > 0, "read without requests",
                  fmt::format("{}, mapped", format_bytes(sums[bytes_mapped])));
  text += line("layout", report.layout);
  text += line("writers and readers", fmt::format("{}", sums[writers]));
  text += line_if(sums[targets] > 0, "targets",
                  fmt::format("{} of a rank and a target that it accessed; at most {} per rank",
                              counted(sums[targets], "pair"), report.maxima[k_targets]));
  text += line("openings of the file", fmt::format("{} for metadata and {} for data, since it was created or opened",
                                                   sums[metadata_opens], sums[data_opens]));
  text +=
      line_if(sums[io_threads] > 0, "I/O threads", fmt::format("{}, working while the ranks copy", sums[io_threads]));
  return text;
}

std::string codecs_text(const FlushReport& report) {
  std::string text;
  for (size_t kind = 0; kind < k_codec_kinds; ++kind) {
    const CodecSums of = codec_sums(report, kind);
    if (of.messages == 0)
      continue;
    text += line(
        kind == k_arm_off ? "messages not compressed" : "messages compressed",
        fmt::format("{}: {} from {} to {}, {} to compress and {} to decompress", codec_kind_name(kind), of.messages,
                    format_bytes(of.bytes_in), format_bytes(of.bytes_out),
                    format_seconds(seconds(of.encode_nanoseconds)), format_seconds(seconds(of.decode_nanoseconds))));
  }
  return text;
}

std::string messages_text(const FlushReport& report) {
  const auto& sums = report.sums;
  std::string text =
      line_if(sums[shared_refused] > 0, "shared memory",
              fmt::format("too small for {}, which used messages instead", counted(sums[shared_refused], "rank")));
  text += line_if(sums[bytes_broadcast] > 0, "broadcast",
                  fmt::format("{} from one rank to all", format_bytes(sums[bytes_broadcast])));
  text += line_if(sums[values_clamped] > 0, "values clamped",
                  fmt::format("{} that did not fit into their new type", sums[values_clamped]));
  text += line("messages", fmt::format("{} with {} of data", sums[messages], format_bytes(sums[message_bytes])));
  text += line("descriptions", fmt::format("{}, {}", counted(sums[description_messages], "message"),
                                           format_bytes(sums[description_bytes])));
  text += codecs_text(report);
  text += line_if(sums[messages_overlapped] > 0, "overlapped",
                  fmt::format("{}, compressed while an earlier message of the same rank was sent",
                              counted(sums[messages_overlapped], "message")));
  text += line_if(sums[messages_own_arm] > 0, "own codec",
                  fmt::format("{}, because the receiver's data or link is unlike the others",
                              counted(sums[messages_own_arm], "message")));
  text += line_if(sums[probe_bytes] > 0, "link measured", fmt::format("with {}", format_bytes(sums[probe_bytes])));
  return text;
}

std::string plans_text(const FlushReport& report) {
  std::string text;
  for (const PlanReport& plan : report.plans)
    text += line_if(!plan.codec_reason.empty(), "because", plan.codec_reason);
  for (const PlanReport& plan : report.plans)
    if (plan.plan.input)
      text += line("predicted", predicted_text(*plan.plan.input));
  return text;
}

std::string memory_text(const FlushReport& report) {
  const auto& sums = report.sums;
  const int64_t codec_memory = report.maxima[k_codec_memory];
  std::string text = line("copied", fmt::format("{}, including {} through shared memory",
                                                format_bytes(sums[bytes_copied]), format_bytes(sums[bytes_shared])));
  text += line_if(codec_memory > 0, "codec memory", fmt::format("{} on one rank", format_bytes(codec_memory)));
  text += line("largest buffers", fmt::format("{} on one rank", format_bytes(report.maxima[k_buffer])));
  return text;
}

}  // namespace

std::string report_text(const FlushReport& report) {
  if (report.under_way)
    return "a flush is in progress: its report is available when it has ended\n";
  if (!report.done)
    return "nothing has been flushed yet\n";
  std::string text =
      fmt::format("flush of {}: {}\n", counted(report.ranks, "rank"), format_seconds(seconds(report.maxima[k_total])));
  for (int stage = 0; stage < k_stages; ++stage)
    text += line(fmt::format("time to {}", stage_name(static_cast<Stage>(stage))),
                 format_seconds(seconds(report.maxima[static_cast<size_t>(stage)])));
  text += storage_text(report) + messages_text(report) + plans_text(report) + memory_text(report);
  if (!report.trace.empty())
    text += line("trace", report.trace_problem.empty() ? report.trace
                                                       : fmt::format("warning: not written: {}", report.trace_problem));
  for (const std::string& warning : environment_warnings())
    text += line("warning", warning);
  text += "  (times are the slowest rank's)\n";
  return text;
}

std::string explain_text(const FlushReport& report) {
  std::string text;
  for (const PlanReport& plan : report.plans) {
    text += describe_text(plan.plan);
    text += fmt::format("  expects  {}, {} and {} for {}{}\n", counted(plan.forecast.messages, "message"),
                        counted(plan.forecast.write_requests, "write request"),
                        counted(plan.forecast.read_requests, "read request"), format_bytes(plan.forecast.bytes),
                        plan.cached ? "; cached from an earlier flush" : "");
  }
  if (text.empty())
    text = "nothing is queued and nothing has been flushed yet\n";
  for (const std::string& warning : environment_warnings())
    text += fmt::format("  warning  {}\n", warning);
  return text;
}

std::string explain_json(const FlushReport& report) {
  ordered_json json = ordered_json::array();
  for (const PlanReport& plan : report.plans)
    json.push_back(plan_json(plan));
  return json.dump(2);
}

}  // namespace windrow
