// SPDX-License-Identifier: BSD-3-Clause
// ByteFile: opening.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/message.hpp"
#include "bytefile/byte_file.hpp"
#include "bytefile/byte_file_message.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "dataio/io_thread.hpp"
#include "engine/engine_options.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

const char* name_of(ByteFile::Mode mode) noexcept {
  return mode == ByteFile::Mode::read ? "read" : mode == ByteFile::Mode::update ? "update" : "create";
}

}  // namespace

std::vector<std::byte> ByteFileMessage::encode() const {
  std::vector<std::byte> out;
  for (const std::string* text : {&data_path, &layout_reason, &trace, &trace_problem, &machine_text})
    append_text(out, *text);
  append_varint(out, file_number);
  append_varint(out, static_cast<uint64_t>(size));
  append_varint(out, has_locks ? 1 : 0);
  append_layout(out, layout);
  return out;
}

Result<ByteFileMessage> ByteFileMessage::decode(std::span<const std::byte> bytes) {
  ByteFileMessage message;
  MessageReader reader(bytes);
  for (std::string* text :
       {&message.data_path, &message.layout_reason, &message.trace, &message.trace_problem, &message.machine_text})
    *text = reader.text();
  message.file_number = reader.number();
  message.size = static_cast<int64_t>(reader.number());
  message.has_locks = reader.number() != 0;
  message.layout = reader.field<StorageLayout>(read_layout);
  if (!reader.is_whole())
    return Status(Code::internal, "internal error: malformed message about an opened file");
  return message;
}

// What the ranks exchange when a file is opened.
struct ByteFile::Opening {
  // The first two are those of SameArguments. All ranks plan with what rank 0 finds.
  enum Number {
    file_system = 2,
    buffers,
    cores,
    count
  };

  uint64_t arguments = 0;
  std::array<int64_t, count> numbers{};
  ByteFileMessage message;       // made by rank 0, then received by all ranks
  std::vector<std::byte> bytes;  // the encoded message
};

ByteFile::ByteFile(std::string path, Mode mode, std::shared_ptr<Comm> comm)
    : comm_(std::move(comm)), path_(std::move(path)), mode_(mode), engine_(*comm_) {}

ByteFile::~ByteFile() {
  if (comm_)
    comm_->leave(identity_);
}

// Sets `arguments` to the hash of what must be the same on all ranks.
Status ByteFile::take_options(const Settings& program, uint64_t& arguments) {
  identity_.path = path_;
  if (path_.empty())
    return {Code::bad_argument, "the path of the file is empty"};
  auto options = resolve_engine_options(program, comm_->rank());
  if (!options.ok())
    return options.status();
  EngineOptions& resolved = options.value();
  if (const Files files = resolved.strategy.files; files == Files::subfiles || files == Files::per_rank)
    return {Code::bad_argument, "option \"files\": a file of plain bytes is one file"};
  arguments = hash_of({path_, name_of(mode_), resolved.text});
  settings_ = std::move(resolved.settings);
  engine_.planner.set_ways(settings_.boolean("shared_memory"), settings_.boolean("check_messages"));
  engine_.planner.set_strategy(std::move(resolved.strategy));
  engine_.planner.limits() = std::move(resolved.limits);
  storage_.striping_options = std::move(resolved.striping);
  storage_.store_options = std::move(resolved.store);
  return {};
}

// Opens the file once, so that open() reports what is wrong with it, and keeps it open.
Status ByteFile::hold_on_root() {
  const int access = mode_ == Mode::read ? O_RDONLY : O_RDWR;
  // O_NONBLOCK: a pipe must not wait for its other end.
  const auto open = [&](int flags) { return ::open(path_.c_str(), access | flags | O_CLOEXEC | O_NONBLOCK, 0666); };
  int descriptor = open(0);
  if (descriptor < 0 && errno == ENOENT && mode_ == Mode::create) {
    descriptor = open(O_CREAT | O_EXCL);
    is_new_ = descriptor >= 0;
    if (descriptor < 0 && errno == EEXIST)  // another program has just made it
      descriptor = open(0);
  }
  if (descriptor < 0)
    return system_status("open of", path_, errno);
  held_ = HeldFile(descriptor);
  struct stat about {};
  if (::fstat(descriptor, &about) != 0)
    return system_status("stat of", path_, errno);
  if (!S_ISREG(about.st_mode))
    return {Code::bad_argument, fmt::format("\"{}\" is {}, not a regular file", path_,
                                            S_ISDIR(about.st_mode) ? "a folder" : "a device or a pipe")};
  size_ = about.st_size;
  return {};
}

// Removes the file that a failed open() has made.
void ByteFile::remove_new() noexcept {
  struct stat about {};
  if (is_new_ && ::fstat(held_.descriptor(), &about) == 0 && about.st_size == 0 && held_.is_reached_by(path_))
    (void)::unlink(path_.c_str());
}

// Opens everything, and fills the message to all ranks.
Status ByteFile::open_on_root(Opening& opening) {
  if (Status status = storage_.read_machine(settings_); !status.ok())
    return status;
  if (Status status = hold_on_root(); !status.ok())
    return status;
  ByteFileMessage& message = opening.message;
  message.data_path = std::filesystem::absolute(path_).string();
  message.file_number = file_number(held_.descriptor());
  message.size = size_;
  message.has_locks = mode_ == Mode::read || held_.has_locks();
  storage_.striping = find_striping(storage_.striping_options, message.data_path);
  message.layout = storage_.striping.layout;
  message.layout_reason = storage_.striping.why;
  message.machine_text = storage_.machine_text;
  engine_.tracer.open_on_root(settings_.text("trace"), path_, engine_.report);
  message.trace = engine_.report.trace;
  message.trace_problem = engine_.report.trace_problem;
  opening.numbers[Opening::file_system] = static_cast<int64_t>(file_system_at(message.data_path, settings_));
  opening.numbers[Opening::cores] = usable_cores();
  const int64_t buffers = engine_.planner.limits().buffers;
  opening.numbers[Opening::buffers] = buffers != 0 ? buffers : buffers_for(*comm_);
  opening.bytes = message.encode();
  return {};
}

// Takes what rank 0 has found.
Status ByteFile::receive(Opening& opening) {
  auto decoded = ByteFileMessage::decode(opening.bytes);
  if (!decoded.ok())
    return decoded.status();
  ByteFileMessage& message = decoded.value();
  size_ = message.size;
  storage_.machine_text = std::move(message.machine_text);
  storage_.take_striping(std::move(message.layout), std::move(message.layout_reason));
  engine_.report.layout = layout_text(storage_.striping.layout);
  engine_.report.trace = std::move(message.trace);
  engine_.report.trace_problem = std::move(message.trace_problem);
  engine_.tracer.make_recorder(*comm_, engine_.report);
  data_ = std::make_unique<DataFile>(message.data_path, mode_ != Mode::read, storage_.store_options);
  data_->set_number(0, message.file_number);
  data_->take_past_end_as_zeros();
  data_->tally_by(storage_.layout);
  engine_.executor.use_io_thread(wants_io_thread(settings_, *comm_), false);
  PlanLimits& limits = engine_.planner.limits();
  limits.buffers = opening.numbers[Opening::buffers];
  limits.may_sieve_writes = message.has_locks;
  const auto kind = static_cast<FileSystem>(opening.numbers[Opening::file_system]);
  if (Status status = storage_.take_machine(settings_, kind, opening.numbers[Opening::cores], limits); !status.ok())
    return status;
  storage_.fit_limits(settings_, limits);
  engine_.planner.set_objects(1);
  return engine_.planner.grow(1);
}

void ByteFile::start_trace() {
  if (Recording* recording = engine_.tracer.recording(); recording != nullptr)
    data_->record(recording, storage_.layout);
  static const std::string format = "bytes";
  engine_.tracer.start(*comm_,
                       {.path = path_,
                        .mode = name_of(mode_),
                        .format = format,
                        .layout = storage_.striping.layout,
                        .is_set = false,
                        .settings = settings_},
                       engine_.report);
}

// As File::open(): rank 0 opens the file before the ranks compare their arguments, which saves an agreement.
Result<std::unique_ptr<ByteFile>> ByteFile::open(MPI_Comm user, const std::string& path, Mode mode,
                                                 const Settings& program, Status local) {
  auto comm = Comm::for_file(user);
  if (!comm.ok())
    return comm.status();
  const Comm& ranks = *comm.value();
  const CallScope call(ranks, Call::open_bytes);
  std::unique_ptr<ByteFile> file;
  Opening opening;
  if (local.ok())
    local = guard([&] {
      file.reset(new ByteFile(path, mode, comm.value()));
      return file->take_options(program, opening.arguments);
    });
  SameArguments same(local, opening.arguments);
  if (ranks.rank() == 0 && local.ok())
    local = guard([&] { return file->open_on_root(opening); });
  std::copy_n(same.numbers().begin(), 2, opening.numbers.begin());
  local = share_from_root(ranks, std::move(local), opening.bytes, opening.numbers);
  std::copy_n(opening.numbers.begin(), 2, same.numbers().begin());
  if (same.differ()) {
    Status difference =
        name_difference(ranks, opening.arguments, "path, mode or options (or their environment variables)", [&] {
          std::vector<std::string> texts;
          if (file) {
            texts = texts_of(file->settings_);
            texts.insert(texts.begin(), {"the path \"" + path + "\"", name_of(mode)});
          }
          return texts;
        });
    if (local.code() != Code::bad_argument)
      local = std::move(difference);
  }
  if (local.ok())
    local = guard([&] { return file->receive(opening); });
  if (Status verdict = agree(ranks, std::move(local)); !verdict.ok()) {
    if (file)
      file->remove_new();
    if (verdict.code() != Code::mpi)
      Comm::end_unused(comm.value());
    return verdict;
  }
  file->comm_->enter(file->identity_);
  file->start_trace();
  return file;
}

}  // namespace windrow
