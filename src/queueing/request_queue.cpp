// SPDX-License-Identifier: BSD-3-Clause
#include "queueing/request_queue.hpp"

#include <fmt/format.h>

#include "base/numbering.hpp"
#include "base/units.hpp"

namespace windrow {
namespace {

Status check_record(const Variable& variable, std::string_view verb, int64_t record) {
  constexpr int64_t k_most = int64_t{1} << 40;
  if (variable.shape.empty())
    return {Code::bad_argument, fmt::format("{} of \"{}\": a scalar has no records", verb, variable.path)};
  if (record == INT64_MAX)
    return {Code::bad_argument,
            fmt::format("{} of \"{}\": the number of a record must not be negative", verb, variable.path)};
  if (record < k_most && (variable.extendible || record < variable.shape.front()))
    return {};
  return {
      Code::bad_argument,
      fmt::format("{} of \"{}\": record {} of {}{}", verb, variable.path, shown_index(record), variable.shape.front(),
                  variable.extendible
                      ? ""
                      : fmt::format(", and it cannot grow: its {} dimension is not unlimited", slowest_side()))};
}

}  // namespace

Status check_out_of_range(const Settings& settings, int64_t out_of_range, const Staged& staged, bool put,
                          const std::string& path) {
  if (out_of_range == 0 || settings.text("conversion") != "error")
    return {};
  return {Code::bad_argument,
          fmt::format("{} of \"{}\": {} of type {} do{} not fit into {} (the option conversion is error)",
                      put ? "put" : "get", path, counted(out_of_range, "value"),
                      type_name(put ? staged.type : staged.stored), out_of_range == 1 ? "es" : "",
                      type_name(put ? staged.stored : staged.type))};
}

Status RequestQueue::add(NewRequest request) {
  Status status = guard([&]() -> Status {
    if (Status known = check_variable(request.put ? "put" : "get", request.variable); !known.ok())
      return known;
    return check_and_add({.put = request.put,
                          .variable = request.variable,
                          .decomposition = std::move(request.decomposition),
                          .data = request.data,
                          .record = request.record,
                          .staged = nullptr,
                          .stored = request.type == k_as_stored},
                         request.type);
  });
  refused_.update(status);
  return status;
}

void RequestQueue::clear() noexcept {
  list_.clear();
  refused_ = Status{};
}

Status RequestQueue::check_variable(std::string_view verb, int variable) const {
  const auto& variables = context_.catalog.variables;
  if (variable < 0 || variable >= static_cast<int>(variables.size()))
    return {Code::bad_argument,
            fmt::format("{}: \"{}\" has no variable number {}", verb, context_.path, shown_index(variable))};
  const Variable& target = variables[static_cast<size_t>(variable)];
  if (!target.unsupported.empty())
    return {Code::unsupported, fmt::format("{} of \"{}\": its elements cannot be read or written: {}", verb,
                                           target.path, target.unsupported)};
  if (is_moved_whole(target.type, target.details) && !target.null_space)
    return {Code::bad_argument,
            fmt::format("{} of \"{}\": it is of type {}: use windrow_put_texts() and windrow_get_texts()", verb,
                        target.path, target.type == Type::text ? "text of variable length" : type_name(target.type))};
  return {};
}

Status RequestQueue::check_decomposition(std::string_view verb, const QueuedRequest& request,
                                         const Variable& target) const {
  const SharedDecomposition* by = request.decomposition.get();
  if (by == nullptr)
    return {Code::bad_argument, fmt::format("{} of \"{}\": the decomposition is NULL", verb, target.path)};
  if (by->ranks() != context_.ranks)
    return {Code::bad_argument,
            fmt::format("{} of \"{}\": the decomposition was made for {}, but the file is open on {}", verb,
                        target.path, counted(by->ranks(), "rank"), context_.ranks)};
  if (by->rank() != context_.rank)
    return {Code::bad_argument,
            fmt::format("{} of \"{}\": the decomposition was made for the ranks in another order: rank {} of the file "
                        "is rank {} in it",
                        verb, target.path, context_.rank, by->rank())};
  return {};
}

Status RequestQueue::check_and_add(QueuedRequest request, std::optional<Type> type) {
  const Variable& target = context_.catalog.variables[static_cast<size_t>(request.variable)];
  const char* verb = request.put ? "put" : "get";
  if (Status fits = check_decomposition(verb, request, target); !fits.ok())
    return fits;
  if (request.record >= 0)
    if (Status known = check_record(target, verb, request.record); !known.ok())
      return known;
  const auto trailing = trailing_elements(request, target);
  if (!trailing.ok())
    return {trailing.status().code(), fmt::format("{} of \"{}\": {}", verb, target.path, trailing.status().message())};
  if (target.null_space)
    return {};  // a null dataspace has no elements, although it may have a shape
  if (request.data == nullptr && trailing.value() > 0 && !request.decomposition->holds_nothing())
    return {Code::bad_argument, fmt::format("{} of \"{}\": the data is NULL", verb, target.path)};
  request.rows = target.shape.empty() ? 0 : target.shape.front();
  const Type in_memory = request.stored || !type ? target.type : *type;
  if (in_memory != target.type || (!request.stored && pads_otherwise(target)))
    if (Status staged = stage(request, in_memory, trailing.value()); !staged.ok())
      return staged;
  list_.add(std::move(request));
  return {};
}

// Whether text is padded with blanks in the memory of the program, but with NULs in the file.
bool RequestQueue::pads_otherwise(const Variable& variable) const {
  return variable.type == Type::text && variable.details.text_padding != TextPadding::space_padded &&
         context_.settings.text("text_in_memory") == "blanks";
}

// Converts the elements of a put. For a get, allocates the memory that they are read to.
Status RequestQueue::stage(QueuedRequest& request, Type type, int64_t trailing) const {
  const Variable& target = context_.catalog.variables[static_cast<size_t>(request.variable)];
  const char* verb = request.put ? "put" : "get";
  const Type from = request.put ? type : target.type, to = request.put ? target.type : type;
  if (from != to && !is_convertible(from, to))
    return {Code::bad_argument, fmt::format("{} of \"{}\": elements of type {} cannot become {}", verb, target.path,
                                            type_name(from), type_name(to))};
  const int64_t stored = element_bytes(target.type, target.details);
  auto runs = runs_of(request, target, trailing * stored, run_options());
  if (!runs.ok())
    return runs.status();
  request.staged = std::make_unique<Staged>(Staged{.stored = target.type,
                                                   .type = type,
                                                   .stored_bytes = stored,
                                                   .memory_bytes = from == to ? stored : type_size(type),
                                                   .memory = request.data,
                                                   .bytes = nullptr,
                                                   .out_of_range = 0});
  request.staged->bytes =
      std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(memory_end(runs.value()->runs)));
  if (!request.put)
    return {};
  request.staged->out_of_range = convert_in(runs.value()->runs, *request.staged);
  return check_out_of_range(context_.settings, request.staged->out_of_range, *request.staged, true, target.path);
}

}  // namespace windrow
