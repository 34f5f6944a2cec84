// SPDX-License-Identifier: BSD-3-Clause
#include "state.hpp"

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace scorpio {
namespace {

struct Table {
  std::mutex mutex;
  std::map<int, std::unique_ptr<Group>> groups;
};

// Never destroyed: a program may be inside a call while another thread exits.
Table& table() {
  static Table* const only = new Table;
  return *only;
}

bool mpi_runs() {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

bool wants_messages() {
  const char* value = std::getenv("WINDROW_SCORPIO_MESSAGES");
  if (value == nullptr)
    return false;
  const std::string_view text(value);
  return text == "true" || text == "1" || text == "yes" || text == "on";
}

constexpr int k_file_bits = 20;  // bits of a file's number in fid of iofile_t

iofile_t closed_file() {
  iofile_t file{};
  file.fid = file.acc_tpl = file.xfer_plist = file.link_plist = file.sid = file.file_dataspace = file.mem_dataspace =
      file.dataset = file.groupid = FAILURE;
  return file;
}

}  // namespace

std::string OpenFile::path_to_write(std::string_view name) const {
  if (groups.empty() || name.starts_with('/'))
    return std::string(name);
  return groups.back().path + "/" + std::string(name);
}

void Group::make_room_for(int number) {
  const auto wanted = static_cast<size_t>(number) + 1;
  while (shown.size() < wanted)
    shown.push_back(std::make_unique<iofile_t>(closed_file()));
  if (!lists.empty() && lists.back().size() >= wanted)
    return;
  constexpr size_t k_least = 16;
  std::vector<iofile_t*> list(std::max(k_least, 2 * wanted));
  while (shown.size() < list.size())
    shown.push_back(std::make_unique<iofile_t>(closed_file()));
  for (size_t i = 0; i < list.size(); ++i)
    list[i] = shown[i].get();
  lists.push_back(std::move(list));
}

int64_t fid_of(int group, int file) noexcept {
  return -((int64_t{group} << k_file_bits) | file);
}

std::pair<int, int> group_and_file_of(int64_t fid) noexcept {
  if (fid >= FAILURE || fid == INT64_MIN || (-fid >> k_file_bits) > INT_MAX)
    return {0, 0};
  return {static_cast<int>(-fid >> k_file_bits), static_cast<int>(-fid & ((int64_t{1} << k_file_bits) - 1))};
}

int add_group(std::unique_ptr<Group> group) {
  const std::lock_guard lock(table().mutex);
  int number = 1;
  for (const auto& [taken, unused] : table().groups) {
    if (taken != number)
      break;
    ++number;
  }
  table().groups.emplace(number, std::move(group));
  return number;
}

Group* find_group(int number) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().groups.find(number);
  return found == table().groups.end() || !mpi_runs() ? nullptr : found->second.get();
}

std::unique_ptr<Group> remove_group(int number) {
  const std::lock_guard lock(table().mutex);
  auto node = table().groups.extract(number);
  return node.empty() ? nullptr : std::move(node.mapped());
}

std::vector<int> group_numbers() {
  const std::lock_guard lock(table().mutex);
  std::vector<int> numbers;
  for (const auto& [number, unused] : table().groups)
    numbers.push_back(number);
  return numbers;
}

Call::Call(const char* function, Group& group) : function_(function), group_(&group) {}

Call::Call(const char* function, const iogroup_t* group) : function_(function) {
  group_ = group == nullptr ? nullptr : find_group(group->number);
  if (group == nullptr)
    refuse("the group is NULL");
  else if (group_ == nullptr)
    refuse("%d is not a group: it was not initialized, was cleaned up, or MPI is not running", group->number);
}

Call::Call(const char* function, const iogroup_t* group, int file) : Call(function, group) {
  if (group_ == nullptr)
    return;
  same(file);
  if (file >= 1 && static_cast<size_t>(file) <= group_->files.size())
    file_ = group_->files[static_cast<size_t>(file) - 1].get();
  if (file_ == nullptr)
    refuse("%d is not an open file of the group", file);
}

void Call::refuse(const char* format, ...) {
  if (refused_)
    return;
  refused_ = true;
  const int head = group_ == nullptr
                       ? std::snprintf(message_.data(), message_.size(), "%s: ", function_)
                       : std::snprintf(message_.data(), message_.size(), "%s, rank %d: ", function_, group_->rank);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message_.data() + head, message_.size() - static_cast<size_t>(head), format, arguments);
  va_end(arguments);
}

void Call::mix(const void* bytes, size_t count) noexcept {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < count; ++i)
    hash_ = (hash_ ^ byte[i]) * 1099511628211U;
}

void Call::tell(const char* format, ...) noexcept {
  const size_t length = std::strlen(told_.data());
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(told_.data() + length, told_.size() - length, format, arguments);
  va_end(arguments);
}

void Call::same(int64_t value) noexcept {
  mix(&value, sizeof value);
  tell("%s%lld", told_[0] == '\0' ? "" : ", ", static_cast<long long>(value));
}

void Call::same(std::string_view text) noexcept {
  const size_t length = text.size();
  mix(&length, sizeof length);
  mix(text.data(), length);
  tell("%s\"%.*s\"", told_[0] == '\0' ? "" : ", ", static_cast<int>(std::min<size_t>(length, 100)), text.data());
}

void Call::same(const int* values, int count) noexcept {
  mix(&count, sizeof count);
  mix(values, sizeof(int) * static_cast<size_t>(std::max(count, 0)));
  tell("%s(", told_[0] == '\0' ? "" : ", ");
  for (int i = 0; i < count; ++i)
    tell("%s%d", i == 0 ? "" : " ", values[i]);
  tell(")");
}

// Collective: reports the values of the lowest rank that differs from rank 0, and those of rank 0.
void Call::name_difference() {
  uint64_t hash = hash_;
  std::array<char, 300> of_root = told_, of_other = told_;
  int other = INT_MAX, lowest = INT_MAX;
  bool ok = MPI_Bcast(&hash, 1, MPI_UINT64_T, 0, group_->comm) == MPI_SUCCESS;
  if (hash >> 1 != hash_ >> 1)
    other = group_->rank;
  ok = ok && MPI_Allreduce(&other, &lowest, 1, MPI_INT, MPI_MIN, group_->comm) == MPI_SUCCESS &&
       MPI_Bcast(of_root.data(), static_cast<int>(of_root.size()), MPI_CHAR, 0, group_->comm) == MPI_SUCCESS &&
       MPI_Bcast(of_other.data(), static_cast<int>(of_other.size()), MPI_CHAR, lowest, group_->comm) == MPI_SUCCESS;
  std::snprintf(message_.data(), message_.size(), "%s: arguments that must be equal on all ranks differ", function_);
  const size_t length = std::strlen(message_.data());
  if (ok)
    std::snprintf(message_.data() + length, message_.size() - length, ": rank %d has %s, rank 0 has %s", lowest,
                  of_other.data(), of_root.data());
}

bool Call::agreed() {
  if (group_ == nullptr)
    return false;
  // The lowest rank that refuses, and the minimum and maximum hash (negated).
  const int64_t nobody = INT64_MAX, hash = static_cast<int64_t>(hash_ >> 1);
  const std::array<int64_t, 3> mine{refused_ ? group_->rank : nobody, hash, -hash};
  std::array<int64_t, 3> least{};
  if (MPI_Allreduce(mine.data(), least.data(), 3, MPI_INT64_T, MPI_MIN, group_->comm) != MPI_SUCCESS) {
    refuse("MPI has failed");
    return false;
  }
  if (least[0] != nobody) {
    if (MPI_Bcast(message_.data(), static_cast<int>(message_.size()), MPI_CHAR, static_cast<int>(least[0]),
                  group_->comm) != MPI_SUCCESS)
      refuse("MPI has failed");
    refused_ = true;
  } else if (least[1] != -least[2]) {
    refused_ = true;
    name_difference();
  }
  return !refused_;
}

void Call::print() const {
  int rank = group_ == nullptr ? 0 : group_->rank;
  if (group_ == nullptr && mpi_runs())
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || !wants_messages())
    return;
  const char* message = windrow_error_message();
  const bool named = std::strncmp(message, function_, std::strlen(function_)) == 0;
  std::fprintf(stderr, "%s%s%s\n", named ? "" : function_, named ? "" : ": ", message);
}

int Call::failed() {
  if (refused_)
    (void)windrow_refuse(nullptr, message_.data());
  print();
  return -1;
}

int64_t Call::end(int code, int64_t result) {
  if (code == WINDROW_OK)
    return result;
  print();
  return -1;
}

int windrow_type_of(datatype_t type) noexcept {
  switch (type) {
    case SCORPIO_INTEGER:
      return WINDROW_INT32;
    case SCORPIO_DOUBLE:
      return WINDROW_FLOAT64;
    case SCORPIO_FLOAT:
      return WINDROW_FLOAT32;
    case SCORPIO_LONG:
      return sizeof(long) == 8 ? WINDROW_INT64 : WINDROW_INT32;
    case SCORPIO_CHAR:
      return CHAR_MIN < 0 ? WINDROW_INT8 : WINDROW_UINT8;
    case SCORPIO_BYTE:
      return WINDROW_OPAQUE;
    case SCORPIO_STRING:
      return WINDROW_TEXT;
  }
  return 0;
}

}  // namespace scorpio
