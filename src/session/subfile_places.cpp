// SPDX-License-Identifier: BSD-3-Clause
// Places of a set whose format finds them late, and of what grows in it.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

// Small numbers of either sign in few bytes.
uint64_t folded(int64_t value) noexcept {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
void append_text(std::vector<std::byte>& message, const std::string& text) {
  append_varint(message, text.size());
  for (const char each : text)
    message.push_back(static_cast<std::byte>(each));
}
int64_t unfolded(uint64_t value) noexcept {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

}  // namespace

// Local: of each subfile that this rank looks after its fault, for some with a text, and of each variable with a part
// in it that has no chunks the offset + 1, 0 where it is not known, and the stride.
Status File::tell_of_subfiles(std::vector<std::byte>& message) {
  for (int64_t number = 0; number < subfiles_->used(); ++number) {
    if (subfiles_->owner_of(number, comm_->size()) != comm_->rank())
      continue;
    std::map<int, Placement> places;
    const auto fault = subfiles_->examine(number, catalog_, places);
    if (!fault.ok())
      return fault.status();
    ++metadata_opens_;
    append_varint(message, folded(fault.value()));
    append_varint(message, subfiles_->file_number_of(number));
    if (Subfiles::contradicts(fault.value()))
      append_text(message, subfiles_->contradiction(number));
    for (const auto& [variable, split] : subfiles_->variables()) {
      if (number >= split.split.parts() || !split.chunk.empty())
        continue;
      const auto place = places.find(variable);
      append_varint(message, place == places.end() ? 0 : static_cast<uint64_t>(place->second.offset) + 1);
      append_varint(message, place == places.end() ? 0 : static_cast<uint64_t>(place->second.stride));
    }
  }
  return {};
}

// Local: the messages of all ranks, one behind the other, which is in the order of the subfiles.
Status File::learn_of_subfiles(std::span<const std::byte> message) {
  const Status malformed(Code::internal, "internal error: malformed subfile message");
  size_t position = 0;
  for (int64_t number = 0; number < subfiles_->used(); ++number) {
    const auto fault = read_varint(message, position), file = read_varint(message, position);
    if (!fault || !file)
      return malformed;
    subfiles_->set_file_number(number, *file);
    data_->set_number(number + 1, *file);
    subfiles_->set_fault(number, unfolded(*fault));
    if (Subfiles::contradicts(unfolded(*fault))) {
      const auto length = read_varint(message, position);
      if (!length || *length > message.size() - position)
        return malformed;
      subfiles_->set_contradiction(number,
                                   std::string(reinterpret_cast<const char*>(message.data()) + position, *length));
      position += *length;
    }
    for (auto& [variable, split] : subfiles_->variables()) {
      if (number >= split.split.parts() || !split.chunk.empty())
        continue;
      const auto offset = read_varint(message, position), stride = read_varint(message, position);
      if (!offset || !stride)
        return malformed;
      split.offsets[static_cast<size_t>(number)] = static_cast<int64_t>(*offset) - 1;
      split.strides[static_cast<size_t>(number)] = static_cast<int64_t>(*stride);
    }
  }
  return position == message.size() ? Status() : malformed;
}

// Collective, agreed. What the ranks have found in the subfiles that they look after goes to rank 0, and from there to
// all.
Status File::examine_subfiles(Status local) {
  std::vector<SparseMessage> out, in;
  MessageCounters counters;
  if (local.ok())
    local = guard([&] {
      std::vector<std::byte> message;
      Status status = tell_of_subfiles(message);
      if (!message.empty())
        out.push_back({0, std::move(message)});
      return status;
    });
  local = sparse_exchange(*comm_, std::move(local), out, in, counters);
  std::vector<std::byte> all;
  if (local.ok() && comm_->rank() == 0)
    local = guard([&] {
      for (const SparseMessage& message : in)
        all.insert(all.end(), message.bytes.begin(), message.bytes.end());
      return Status{};
    });
  local = share_from_root(*comm_, std::move(local), all);
  if (local.ok())
    local = guard([&] { return learn_of_subfiles(all); });
  return agree(*comm_, std::move(local));
}

// Collective, agreed. Each rank gives places to what is in the subfiles that it looks after, unless it comes with an
// error. The places that there are are in force on all ranks, also after an error: some subfiles may have moved.
Status File::place_subfiles(Status local) {
  std::vector<int64_t>
      found;  // whether something has moved; of each part of each split variable the offset and the stride
  Status memory = guard([&] {
    size_t length = 1;
    for (const auto& [variable, split] : subfiles_->variables())
      length += 2 * split.offsets.size();
    found.assign(length, std::numeric_limits<int64_t>::min());
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(memory)); !verdict.ok())
    return verdict;
  if (local.ok())
    local = guard([&] {
      return for_own_subfiles(subfiles_->used(),
                              [&](int64_t number, Format& format) { return subfiles_->finish_format(number, format); });
    });
  found[0] = subfiles_->moved() ? 1 : 0;
  size_t at = 1;
  for (const auto& [variable, split] : subfiles_->variables())
    for (size_t part = 0; part < split.offsets.size(); ++part, at += 2) {
      if (subfiles_->owner_of(static_cast<int64_t>(part), comm_->size()) != comm_->rank())
        continue;
      found[at] = split.offsets[part];
      found[at + 1] = split.strides[part];
    }
  // In parts for which nobody needs memory: a rank that has none left must not keep all from hearing what has moved.
  Status verdict;
  for (std::span<int64_t> left(found); !left.empty();
       left = left.subspan(std::min(left.size(), k_numbers_without_memory))) {
    Status told =
        agree(*comm_, std::exchange(local, Status{}),
              Reduction{.maximum = left.first(std::min(left.size(), k_numbers_without_memory)), .sum = {}, .bits = {}});
    if (told.code() == Code::mpi)
      return told;
    if (verdict.ok())
      verdict = std::move(told);
  }
  subfiles_->forget_moves();
  learn_places(std::span(found).subspan(1));
  if (found[0] == 1) {
    (void)data_->close();  // of subfiles that had the name before
    data_->forget_subfile_numbers();
    planner_.cache().clear();
  }
  fit_line();
  return verdict;
}

// Local, and the same on every rank: how many records there are.
void File::tell_set_of_growth() noexcept {
  if (!subfiles_)
    return;
  for (auto& [number, split] : subfiles_->variables()) {
    if (!split.grows || split.records == catalog_.variables[static_cast<size_t>(number)].shape.front())
      continue;
    split.records = catalog_.variables[static_cast<size_t>(number)].shape.front();
    sealed_ = false;                                           // the subfiles are to hear of them
    write_state_[static_cast<size_t>(number)].changed = true;  // new records may be filled, and put by nobody
  }
}

// Local: the parts in the subfiles that this rank looks after get so many records.
Status File::extend_own_parts(int variable, const SplitVariable& split, int64_t records) {
  for (int64_t part = 0; part < split.split.parts(); ++part) {
    if (subfiles_->owner_of(part, comm_->size()) != comm_->rank())
      continue;
    auto format = subfiles_->format(part, mode_ == Mode::create ? FormatMode::create : FormatMode::update);
    if (!format.ok())
      return format.status();
    std::vector<int64_t> shape = split.split.box(part).count;
    shape[0] = records;
    if (!grown_.contains({variable, part}) && !split.chunk.empty()) {
      const auto is_it = [&](const SplitVariable& each) { return each.path == split.path; };
      // A last chunk without filters is changed where it is, so its sum goes before. One with filters is written to
      // another place: the new index and the missing sum come into the file together.
      Status status;
      if (split.filters.empty())
        status = withdraw_sums(part, *format.value(), is_it);
      else if (mode_ == Mode::update && subfiles_->is_summed(part))
        status = subfiles_->drop_sum(*format.value(), split.path);
      if (!status.ok())
        return status;
    }
    if (Status status = blank_part(*format.value(), variable, split, part, subfiles_->leftover(variable, part));
        !status.ok())
      return status;
    subfiles_->forget_leftover(variable, part);
    if (Status status = format.value()->extend(split.path, shape); !status.ok())
      return status;
  }
  return {};
}

// Whether the files of a set have room for so many records of all that grows.
bool File::has_room_for(int64_t records) const noexcept {
  if (!subfiles_)
    return true;
  int64_t bytes = 0;
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    const Variable& variable = catalog_.variables[i];
    if (!variable.extendible || !variable.chunking.empty())
      continue;
    int64_t row = element_bytes(variable.type, variable.details) + 4;
    for (size_t dimension = 1; dimension < variable.shape.size(); ++dimension)
      row *= variable.shape[dimension];  // of one record: known to fit
    bytes += row;
  }
  const auto all = checked_multiply(bytes, records);
  return all && *all < subfiles_->longest_file() / 2;
}

}  // namespace windrow
