// SPDX-License-Identifier: BSD-3-Clause
#include "comm/call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/comm.hpp"

namespace windrow {
namespace {

// upper bound of the number of calls, so that numbers of calls of different files differ
constexpr int64_t k_calls = 64;

constexpr std::array<std::string_view, 32> k_names{"another call",
                                                   "the creation of a decomposition",
                                                   "open",
                                                   "close",
                                                   "discard",
                                                   "sync",
                                                   "flush",
                                                   "flush_begin",
                                                   "flush_end",
                                                   "write_block",
                                                   "read_block",
                                                   "explain",
                                                   "set_strategy",
                                                   "define_group",
                                                   "define_variables",
                                                   "define_grid",
                                                   "define_field",
                                                   "define_link",
                                                   "define_dimension",
                                                   "name_dimensions",
                                                   "put_attribute",
                                                   "delete_attribute",
                                                   "put_texts",
                                                   "get_texts",
                                                   "write_references",
                                                   "check_subfiles",
                                                   "inquire_written",
                                                   "copy",
                                                   "the opening of a file of bytes",
                                                   "bytes_write",
                                                   "bytes_read",
                                                   "bytes_sum"};
static_assert(static_cast<size_t>(Call::sum) + 1 == k_names.size() && k_names.size() <= k_calls);

std::string describe(const Comm& comm, int64_t call) {
  const std::string name(name_of(static_cast<Call>(call % k_calls)));
  const int64_t number = call / k_calls;
  if (number == 0)
    return name;
  const OpenFile* file = comm.open_files();
  while (file != nullptr && file->number != number)
    file = file->next;
  return file != nullptr ? fmt::format("{} of \"{}\"", name, file->path)
                         : fmt::format("{} of file number {}", name, number);
}

}  // namespace

std::string_view name_of(Call call) noexcept {
  const auto number = static_cast<size_t>(call);
  return k_names[number < k_names.size() ? number : 0];
}

CallScope::CallScope(const Comm& comm, Call call, const OpenFile* file) noexcept
    : comm_(comm), call_(call), file_(file) {
  if (comm.scope_ == nullptr)
    comm.scope_ = this;
}

CallScope::~CallScope() {
  if (comm_.scope_ == this)
    comm_.scope_ = nullptr;
}

int64_t CallScope::number() const noexcept {
  return (file_ != nullptr ? file_->number * k_calls : 0) + static_cast<int64_t>(call_);
}

Mismatch Mismatch::of(int64_t rank, int64_t call) noexcept {
  const int64_t file = call / k_calls;
  return {rank, call, rank, call, file == 0 ? INT64_MAX : file, file};
}

void Mismatch::combine(const Mismatch& other) noexcept {
  const std::array all{std::array{rank, call}, std::array{other_rank, other_call}, std::array{other.rank, other.call},
                       std::array{other.other_rank, other.other_call}};
  const auto lowest = *std::min_element(all.begin(), all.end());
  auto differs = lowest;
  for (const auto& each : all)
    if (each[1] != lowest[1] && (differs[1] == lowest[1] || each < differs))
      differs = each;
  rank = lowest[0];
  call = lowest[1];
  other_rank = differs[0];
  other_call = differs[1];
  const int64_t first = std::min(first_file, other.first_file), last = std::max(last_file, other.last_file);
  const auto is_between = [&](int64_t file) { return file > first && file < last; };
  has_more_files = has_more_files || other.has_more_files || is_between(first_file) || is_between(last_file) ||
                   is_between(other.first_file) || is_between(other.last_file);
  first_file = first;
  last_file = last;
}

void Mismatch::store(int64_t* words) const noexcept {
  const std::array<int64_t, k_words> all{rank,       call,       other_rank,
                                         other_call, first_file, has_more_files ? -last_file : last_file};
  std::copy(all.begin(), all.end(), words);
}

namespace {

Status mismatch_status(const Comm& comm, const Mismatch& found) {
  return guard([&] {
    std::string which;
    if (found.call != found.other_call)
      which = fmt::format(": rank {} in {}, rank {} in {}", found.rank, describe(comm, found.call), found.other_rank,
                          describe(comm, found.other_call));
    else if (found.call != 0)
      which = fmt::format(": in different steps of {}", describe(comm, found.call));
    return Status{
        Code::mpi,
        fmt::format(
            "the ranks are in different calls{}; all ranks of a communicator must make the same collective calls in "
            "the same order",
            which)};
  });
}

}  // namespace

Status lose_step(const Comm& comm, const Mismatch& found) {
  comm.lose_step(found);
  return mismatch_status(comm, found);
}

Status CallScope::check_in_step() const {
  if (mismatch_)
    return mismatch_status(comm_, *mismatch_);
  return file_ != nullptr ? windrow::check_in_step(*file_) : Status{};
}

Status check_in_step(const OpenFile& file) {
  if (!file.out_of_step)
    return {};
  return guard([&] {
    return Status{Code::mpi,
                  fmt::format("\"{}\" cannot be used any more: the ranks made different calls earlier", file.path)};
  });
}

}  // namespace windrow
