// SPDX-License-Identifier: BSD-3-Clause
// File: opening, and the strategy by which it plans.
#include "session/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "comm/agree.hpp"
#include "comm/handle.hpp"
#include "comm/same.hpp"
#include "engine/engine_options.hpp"
#include "metadata/broadcasts.hpp"
#include "plan/limits.hpp"
#include "publication/format_sidecars.hpp"
#include "storage/file_system.hpp"

namespace windrow {

// What the ranks exchange when a file is opened.
struct File::Opening {
  // The first two are those of SameArguments. All ranks plan with what rank 0 finds.
  enum Number {
    file_system = 2,
    buffers,
    subfiles,
    cores,
    count
  };

  uint64_t arguments = 0;
  std::array<int64_t, count> numbers{};
  OpenBroadcast message;         // made by rank 0, then received by all ranks
  std::vector<std::byte> bytes;  // the encoded message
};

// Rank 0. If the file is replaced while it is opened, it is opened again, because everything must be read from one
// file.
Status File::open_format_on_root(OpenBroadcast& message) {
  if (mode_ == Mode::create)
    return create_format_on_root();
  for (;;) {
    Status status = open_existing_on_root(message);
    if (publication_.holds(path()))
      return status;
    if (format_)
      (void)format_->close();
    format_.reset();
  }
}

// Rank 0. Makes the temporary file of a new file, its format and its sidecars.
Status File::create_format_on_root() {
  const int64_t opened_before = stores_opened();
  opened_.format_name = settings_.text("format");
  if (opened_.format_name == "auto")
    opened_.format_name = format_of_name(path());
  if (opened_.format_name.empty())
    return {Code::bad_argument, fmt::format("the name \"{}\" does not select a format: use .h5, .hdf5, .nc4, .nc, "
                                            ".cdf or .raw, or the option format",
                                            path())};
  if (Status status = publication_.start(path()); !status.ok())
    return status;
  const TemporaryFile& temporary = publication_.temporary();
  if (Status status = stripe_on_root(); !status.ok())
    return status;
  subfile_folder_ = &publication_.add<SubfileFolder>(opened_.format_name, temporary.final_path);
  if (Status status = publication_.add<FormatSidecars>(opened_.format_name).start(temporary); !status.ok())
    return status;
  add_texts_on_root(temporary.final_path);
  auto format = open_format(opened_.format_name, temporary.temporary_path, FormatMode::create, format_options());
  if (!format.ok())
    return format.status();
  take_format_on_root(std::move(format).value(), opened_before);
  if (opened_.format_name == "hdf5")
    publication_.rely_on_locks_of_format();
  if (set_.wanted().files == 0)
    if (Status status = choose_files_on_root(); !status.ok())
      return status;
  if (set_.wanted().files > 1)
    if (Status status = make_set_on_root(set_.wanted().files); !status.ok())
      return status;
  return references_.start(temporary);
}

namespace {

// The time and the size of a file's last change. Another program may have replaced it.
struct LastChange {
  struct stat about {};
  explicit LastChange(const std::string& path) { (void)::stat(path.c_str(), &about); }
  bool is_followed_by(const LastChange& other) const noexcept {
    const bool is_same_file = about.st_dev == other.about.st_dev && about.st_ino == other.about.st_ino;
    return is_same_file &&
           (about.st_size != other.about.st_size || about.st_mtim.tv_sec != other.about.st_mtim.tv_sec ||
            about.st_mtim.tv_nsec != other.about.st_mtim.tv_nsec);
  }
};

}  // namespace

// Rank 0. Opens the format of a file that exists, and puts its catalog into the message. A writer may publish changes
// while a reader reads the metadata, which would then be partly old and partly new. So it is read again, but not for
// ever, because the writer may be writing elements.
Status File::open_existing_on_root(OpenBroadcast& message) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds k_most{1000}, k_pause{5};
  if (Status status = publication_.hold(path(), mode_ == Mode::update); !status.ok())
    return status;
  for (const auto end = Clock::now() + k_most;;) {
    const LastChange before(path());
    Status status = open_once_on_root(message);
    const bool is_torn = mode_ == Mode::read && before.is_followed_by(LastChange(path()));
    if (!is_torn || Clock::now() > end)
      return status;
    format_.reset();
    std::this_thread::sleep_for(k_pause);
  }
}

Status File::open_once_on_root(OpenBroadcast& message) {
  const int64_t opened_before = stores_opened();
  opened_.format_name = settings_.text("format");
  std::unique_ptr<Store> opened;
  if (opened_.format_name == "auto") {
    auto found = find_format(path(), format_mode());
    if (!found.ok())
      return found.status();
    opened_.format_name = std::move(found.value().name);
    opened = std::move(found.value().store);
  }
  if (opened_.format_name == "hdf5")
    publication_.rely_on_locks_of_format();
  auto format = open_format(opened_.format_name, path(), format_mode(), format_options(), std::move(opened));
  if (!format.ok())
    return format.status();
  take_format_on_root(std::move(format).value(), opened_before);
  auto catalog = format_->catalog();
  if (!catalog.ok())
    return catalog.status();
  message.catalog = std::move(catalog).value();
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path(), unknown);
  opened_.ends_early = !unknown && bytes < static_cast<uintmax_t>(end_of(message.catalog->variables));
  set_.hold_folder_of(*message.catalog, path());
  return {};
}

void File::take_format_on_root(std::unique_ptr<Format> format, int64_t opened_before) {
  format_ = std::move(format);
  metadata_.set_traits(format_->traits());
  opened_.metadata_opens = stores_opened() - opened_before;
}

// Rank 0. Adds the texts that are published beside a file that is written.
void File::add_texts_on_root(const std::string& path) {
  grids_.sidecar = &publication_.add<XdmfSidecar>(grids_, opened_.format_name, metadata_.path(), path);
  references_.add_to(publication_, metadata_.path(), path, mode_ == Mode::create);
}

std::vector<std::string> File::describe_opening() const {
  std::vector<std::string> texts{"the path \"" + path() + "\"", mode_ == Mode::create   ? "create"
                                                                : mode_ == Mode::update ? "open for update"
                                                                                        : "open for reading"};
  for (std::string& text : texts_of(settings_))
    texts.push_back(std::move(text));
  return texts;
}

// Local. Sets `subfiles` to the number that the options of a new file ask for; 0 if rank 0 is to choose it.
Status File::check_subfile_options(const Settings& settings, int64_t& subfiles) const {
  auto wanted = wanted_subfiles(settings, comm_->size());
  if (!wanted.ok())
    return wanted.status();
  subfiles = wanted.value();
  return check_split({.axes = settings.text("split"), .parts = settings.text("split_parts")});
}

// Local. Sets `arguments` to the hash of the arguments. It includes the resolved options, since ranks with different
// environments would make different files.
Status File::take_options(const Settings& program, uint64_t& arguments) {
  identity_.path = path();
  if (path().empty())
    return {Code::bad_argument, "the path of the file is empty"};
  auto options = resolve_engine_options(program, comm_->rank());
  if (!options.ok())
    return options.status();
  EngineOptions& resolved = options.value();
  int64_t subfiles = 1;
  if (mode_ == Mode::create)
    if (Status status = check_subfile_options(resolved.settings, subfiles); !status.ok())
      return status;
  arguments = hash_of({path(), std::to_string(static_cast<int>(mode_)), resolved.text});
  settings_ = std::move(resolved.settings);
  flush_.planner().set_ways(settings_.boolean("shared_memory"), settings_.boolean("check_messages"));
  flush_.planner().set_strategy(std::move(resolved.strategy));
  flush_.planner().limits() = std::move(resolved.limits);
  storage_.striping_options = std::move(resolved.striping);
  storage_.store_options = std::move(resolved.store);
  set_.want({subfiles, ""});
  return {};
}

// Rank 0. Opens everything, and fills the message to all ranks.
Status File::open_on_root(Opening& opening) {
  if (Status status = storage_.read_machine(settings_); !status.ok())
    return status;
  if (Status status = open_format_on_root(opening.message); !status.ok())
    return status;
  const std::string data_path =
      mode_ == Mode::create ? publication_.temporary().temporary_path : std::filesystem::absolute(path()).string();
  if (mode_ == Mode::update)
    add_texts_on_root(data_path);
  if (mode_ != Mode::create)
    storage_.striping = find_striping(storage_.striping_options, data_path);
  opening.numbers[Opening::file_system] = static_cast<int64_t>(file_system_at(data_path, settings_));
  opening.numbers[Opening::subfiles] = set_.wanted().files;
  flush_.tracer().open_on_root(settings_.text("trace"), path(), flush_.report());
  opening.numbers[Opening::cores] = usable_cores();
  const int64_t buffers = flush_.planner().limits().buffers;
  opening.numbers[Opening::buffers] = buffers != 0 ? buffers : buffers_for(*comm_);
  fill_message(data_path, opening.message);
  if (comm_->size() > 1)
    opening.bytes = opening.message.encode();
  return {};
}

// Local. Takes what rank 0 has found.
Status File::receive(Opening& opening) {
  const auto kind = static_cast<FileSystem>(opening.numbers[Opening::file_system]);
  flush_.planner().limits().buffers = opening.numbers[Opening::buffers];
  if (comm_->rank() != 0) {
    auto decoded = OpenBroadcast::decode(opening.bytes);
    if (!decoded.ok())
      return decoded.status();
    opening.message = std::move(decoded).value();
  }
  set_.want({opening.numbers[Opening::subfiles], opening.message.files_reason});
  if (Status status = receive(std::move(opening.message)); !status.ok())
    return status;
  return storage_.take_machine(settings_, kind, opening.numbers[Opening::cores], flush_.planner().limits());
}

// Rank 0 opens the file before the ranks compare their arguments, which saves an agreement. If another rank fails, or
// has other arguments, rank 0 removes what it has made.
Result<std::unique_ptr<File>> File::open(MPI_Comm user, const std::string& path, Mode mode, const Settings& program,
                                         Status local) {
  auto comm = Comm::for_file(user);
  if (!comm.ok())
    return comm.status();
  const Comm& ranks = *comm.value();
  const CallScope call(ranks, Call::open);
  std::unique_ptr<File> file;
  Opening opening;
  if (local.ok())
    local = guard([&] {
      file.reset(new File(path, mode, comm.value()));
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
        name_difference(ranks, opening.arguments, "path, mode or options (or their environment variables)",
                        [&] { return file ? file->describe_opening() : std::vector<std::string>(); });
    // Any other error of rank 0 comes from arguments that the other ranks do not have.
    if (local.code() != Code::bad_argument)
      local = std::move(difference);
  }
  if (local.ok())
    local = guard([&] { return file->receive(opening); });
  Status verdict = agree(ranks, std::move(local));
  if (verdict.ok() && file->set_.map())
    verdict = file->start_set();
  if (verdict.ok() && mode == Mode::update && file->format_ && !file->set_.map())
    (void)file->format_->refuse_others(false);
  if (!verdict.ok()) {
    if (file && file->format_ && mode == Mode::update)
      file->format_->drop_changes();
    if (file)
      file->abandon();
    if (verdict.code() != Code::mpi)
      Comm::end_unused(comm.value());
    return verdict;
  }
  file->start();
  return file;
}

void File::start() {
  comm_->enter(identity_);
  storage_.fit_limits(settings_, flush_.planner().limits());
  start_trace();
}

void File::start_trace() {
  record_data();
  const char* mode = mode_ == Mode::create ? "create" : mode_ == Mode::read ? "read" : "update";
  flush_.tracer().start(*comm_,
                        {.path = path(),
                         .mode = mode,
                         .format = opened_.format_name,
                         .layout = storage_.striping.layout,
                         .is_set = set_.map() != nullptr,
                         .settings = settings_},
                        flush_.report());
}

void File::record_data() {
  if (Recording* recording = flush_.tracer().recording(); recording != nullptr)
    data_->record(recording, set_.map() ? nullptr : storage_.layout);
}

// Local. Sets the strategy and limits by which the file plans after these changes.
Status File::check_strategy(const Settings& changes, Strategy& strategy, PlanLimits& limits) const {
  constexpr std::array k_changeable{"strategy", "owner",   "gather", "domains", "codec",
                                    "access",   "writers", "buffer", "align",   "sieve_hole"};
  if (!queue_.empty())
    return {Code::bad_state, fmt::format("set_strategy: {} puts and gets are queued; flush them first",
                                         queue_.list().requests().size())};
  Settings settings = settings_;
  for (const auto& [key, value] : changes.values()) {
    const bool changeable = std::find(k_changeable.begin(), k_changeable.end(), key) != k_changeable.end();
    if (settings_.text(key) == value && (settings_.is_set(key) || !changeable))
      continue;  // nothing changes
    if (!changeable)
      return {Code::bad_argument,
              fmt::format("set_strategy: the option {} cannot change after \"{}\" was opened; these can: {}", key,
                          path(), fmt::join(k_changeable, ", "))};
    if (Status status = settings.set(key, value); !status.ok())
      return status;
  }
  auto parsed = parse_strategy(request_of(settings));
  if (!parsed.ok())
    return parsed.status();
  strategy = std::move(parsed).value();
  auto found = limits_of(settings);
  if (!found.ok())
    return found.status();
  limits = found.value();
  limits.buffers = flush_.planner().limits().buffers;
  limits.machine = flush_.planner().limits().machine;
  limits.machine_measured = flush_.planner().limits().machine_measured;
  storage_.fit_limits(settings, limits);
  return {};
}

Status File::set_strategy(const Settings& changes, Status local) {
  const CallScope call(*comm_, Call::set_strategy, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  Strategy strategy;
  PlanLimits limits;
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&] {
      arguments = hash_of({text_of(changes)});
      return check_strategy(changes, strategy, limits);
    });
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "the options of the strategy",
                                  [&] { return texts_of(changes); });
      !verdict.ok())
    return verdict;
  flush_.planner().set_strategy(std::move(strategy));
  flush_.planner().limits() = std::move(limits);  // a copy could fail, on one rank alone
  return {};
}

// Rank 0. Sets all members of the message except the catalog, which it already has.
void File::fill_message(const std::string& data_path, OpenBroadcast& message) const {
  const HeldFile& held = publication_.held();
  message.data_path = data_path;
  message.file_number = held.is_held() ? file_number(held.descriptor()) : 0;
  if (message.file_number != 0 && mode_ == Mode::read)
    message.elsewhere = fmt::format("/proc/{}/fd/{}", ::getpid(), held.descriptor());
  message.is_interrupted = format_->is_interrupted();
  message.format = opened_.format_name;
  message.traits = traits();
  if (set_.map()) {
    SetNames names = set_.names();
    message.set_identity = std::move(names.identity);
    message.set_folder = std::move(names.folder);
    message.subfile_ending = std::move(names.ending);
  }
  message.files_reason = set_.wanted().why;
  message.layout = storage_.striping.layout;
  message.layout_reason = storage_.striping.why;
  message.trace = flush_.report().trace;
  message.trace_problem = flush_.report().trace_problem;
  message.machine_text = storage_.machine_text;
}

// Local. Makes this rank's part of the file from the message of rank 0.
Status File::receive(OpenBroadcast message) {
  storage_.machine_text = message.machine_text;
  storage_.take_striping(std::move(message.layout), message.layout_reason);
  flush_.report().layout = layout_text(storage_.striping.layout);
  flush_.report().trace = message.trace;
  flush_.report().trace_problem = message.trace_problem;
  flush_.tracer().make_recorder(*comm_, flush_.report());
  if (!message.set_identity.empty() && !set_.map())
    set_.create({message.format, message.set_identity, message.set_folder, message.subfile_ending}, message.data_path,
                set_.wanted().files);
  opened_.is_interrupted = message.is_interrupted;
  metadata_.set_traits(message.traits);
  if (message.catalog) {
    if (Status status = set_.open(*message.catalog, message.format, message.data_path); !status.ok())
      return status;
    metadata_.take(*std::move(message.catalog));
  }
  data_ = std::make_unique<DataFile>(message.data_path, mode_ != Mode::read, storage_.store_options);
  data_->set_number(0, message.file_number);
  data_->set_elsewhere(message.elsewhere);
  data_->tally_by(storage_.layout);
  flush_.engine().executor.use_io_thread(wants_io_thread(settings_, *comm_), settings_.text("io_thread") != "off");
  if (Status status = grow_reduction(metadata_.catalog().variables.size()); !status.ok())
    return status;
  allocator_.start(mode_ == Mode::create, mode_ == Mode::update);
  for (size_t i = 0; i < metadata_.catalog().variables.size(); ++i)
    write_state_[i].filled_records = metadata_.catalog().variables[i].records();
  return {};
}

File::File(const std::string& path, Mode mode, std::shared_ptr<Comm> comm)
    : comm_(std::move(comm)),
      mode_(mode),
      publication_(mode == Mode::create),
      metadata_(path),
      set_(*comm_, format_mode(), metadata_.catalog(), write_state_),
      allocator_(*comm_, metadata_),
      flush_(*comm_),
      queue_({.path = metadata_.path(),
              .catalog = metadata_.catalog(),
              .settings = settings_,
              .strategy = flush_.planner().strategy(),
              .limits = flush_.planner().limits(),
              .rank = comm_->rank(),
              .ranks = comm_->size()}) {}

File::~File() {
  flush_.drop_pending();
  if (comm_)
    comm_->leave(identity_);
  // close() has done all communication. After an error, or after the end of MPI, the rest is local.
  abandon();
}

std::string File::interrupted() const {
  std::string lines = opened_.is_interrupted ? path() + '\n' : "";
  const Subfiles* const map = subfiles();
  for (int64_t number = 0; map != nullptr && number < map->used(); ++number)
    if (map->is_interrupted(number))
      lines += map->relative_name(number) + '\n';
  return lines;
}

Status File::check_writable(std::string_view call) const {
  if (mode_ == Mode::read)
    return {Code::bad_state, fmt::format("{}: \"{}\" is open for reading only", call, path())};
  return {};
}

}  // namespace windrow
