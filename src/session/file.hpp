// SPDX-License-Identifier: BSD-3-Clause
// File: an open file. Introduces the rooms to each other: decompositions and placements become items, items and a
// strategy become a plan, a plan becomes a transfer between ranks and the store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/file_size_check.hpp"
#include "allocation/space_allocator.hpp"
#include "base/settings.hpp"
#include "base/status.hpp"
#include "chunking/chunks.hpp"
#include "comm/comm.hpp"
#include "dataio/data_file.hpp"
#include "definitions/define_protocol.hpp"
#include "distribution/shared_decomposition.hpp"
#include "filling/fill_manager.hpp"
#include "filling/undefined_elements.hpp"
#include "flush/executor.hpp"
#include "format/catalog.hpp"
#include "format/format.hpp"
#include "metadata/metadata.hpp"
#include "plan/plan.hpp"
#include "planning/planner.hpp"
#include "publication/kerchunk_sidecar.hpp"
#include "publication/publication.hpp"
#include "publication/subfile_folder.hpp"
#include "publication/xdmf_sidecar.hpp"
#include "queueing/convert.hpp"
#include "queueing/orphaned_puts.hpp"
#include "queueing/request_queue.hpp"
#include "reporting/flush_tracer.hpp"
#include "reporting/report.hpp"
#include "session/chunk_plan.hpp"
#include "session/variable_batch.hpp"
#include "storage/file_system.hpp"
#include "storage/striping.hpp"
#include "subfiling/address_space.hpp"
#include "subfiling/split_policy.hpp"
#include "subfiling/subfile_set.hpp"
#include "subfiling/subfiles.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

struct BatchSummary;
struct MovingVariables;
struct PendingFlush;
class VariableDefinitions;
struct VariableStorage;
struct OpenBroadcast;

class File {
 public:
  enum class Mode {
    create,
    read,
    update
  };

  // Collective, agreed.
  // `local`: what the caller has found wrong with this rank's arguments; the call is made all the same, for the other
  // ranks.
  static Result<std::unique_ptr<File>> open(MPI_Comm user, const std::string& path, Mode mode, const Settings& program,
                                            Status local = {});
  ~File();
  Status define_group(const std::string& path, Status local = {});
  // The numbers of the variables, in their order; when one cannot be made, those before it are there all the same.
  Result<int> define_variables(std::span<VariableDefinition> definitions,
                               Status local = {});  // the number of the first
  Status put_attribute(const std::string& object, Attribute attribute, Status local = {});
  Result<int> define_grid(ViewerGrid grid, Status local = {});  // its number, for define_field()
  Status define_field(int grid, GridField field, Status local = {});
  Status delete_attribute(const std::string& object, const std::string& name, Status local = {});
  Status define_link(const std::string& path, const std::string& target, Status local = {});
  Status define_dimension(const std::string& path, int64_t length, Status local = {});
  Status name_dimensions(int variable, const std::vector<std::string>& names, Status local = {});
  Status put_texts(int variable, std::vector<std::string> texts, Status local = {});  // rank 0's; the others give none
  Status get_texts(int variable, const std::function<void(std::span<const std::string>)>& take, Status local = {});
  // From the next flush on; what `changes` does not say is as the file was opened with.
  Status set_strategy(const Settings& changes, Status local = {});
  // Where the chunks of all variables lie, as a text for Zarr's readers at `path`, "" beside the file; what is left out
  // of it, one a line.
  Result<std::string> write_references(const std::string& path, const std::string& prefix, Status local = {});
  // First elements of the chunks of a variable that are stored, one after the other; none of a variable that nobody has
  // written; nothing where that is not known.
  Result<std::optional<std::vector<int64_t>>> written_chunks(int variable, Status local = {});
  Result<std::string> check_subfiles();  // what is wrong with the set, one a line; "" too for a file that is one
  Status flush(Status local = {});
  Status flush_begin();
  Status flush_end();
  Status end_pending();  // of flush_begin, if there is one
  Status sync();
  Status close(bool publish);  // once; nothing else may follow
  Result<std::string> explain(bool json, Status local = {});

  // Local.
  // `record`: see QueuedRequest. `type`: of the data, where it is not the variable's own, or k_as_stored.
  Status queue(bool put, int variable, std::shared_ptr<SharedDecomposition> decomposition, std::byte* data,
               int64_t record = -1, std::optional<Type> type = {});
  void refuse(const Status& status) { queue_.refuse(status); }         // the next flush fails by it on every rank
  const Status& refused() const noexcept { return queue_.refused(); }  // OK: nothing was
  void drop_queue();  // where all ranks do: what a flush that failed does
  std::string report(bool json) const;
  const Catalog& catalog() const noexcept { return catalog_; }
  int64_t element_count_of(int variable) const { return metadata_.element_count_of(variable); }  // that there is
  const Settings& settings() const noexcept { return settings_; }
  Comm& comm() noexcept { return *comm_; }
  Result<int> find_variable(std::string_view path) const { return metadata_.find_variable(path); }
  std::vector<std::string> dimension_names(const Variable& variable) const {
    return metadata_.dimension_names(variable);
  }
  ObjectKind kind_of(const std::string& path) const { return metadata_.kind_of(path); }
  const std::vector<Attribute>* attributes_of(std::string_view object) const { return metadata_.attributes_of(object); }
  const std::string& path() const noexcept { return path_; }
  const OpenFile& identity() const noexcept { return identity_; }
  const Subfiles* subfiles() const noexcept { return subfiles_.get(); }  // nullptr: the file is one
  // How many subfiles a variable's own options ask for, 1: none; 0: they do not say, or ask for what the file has
  // anyway.
  Result<int64_t> subfiles_of_variable(const Settings& own) const;
  Mode mode() const noexcept { return mode_; }
  const FormatTraits& traits() const noexcept { return metadata_.traits(); }

 private:
  File(const std::string& path, Mode mode, std::shared_ptr<Comm> comm);

  // file.cpp
  struct Opening;
  Status take_options(const Settings& program, uint64_t& arguments);  // local
  Status open_on_root(Opening& opening);                              // rank 0 only, as the next four
  Status open_format_on_root(OpenBroadcast& message);
  Status create_format_on_root();
  Status open_existing_on_root(OpenBroadcast& message);
  void take_format_on_root(std::unique_ptr<Format> format, int64_t opened_before);
  Status learn(Opening& opening);                   // local
  void start();                                     // the file is open on all ranks
  void add_texts_on_root(const std::string& path);  // rank 0 only
  FileSystem file_system_at(const std::string& path) const noexcept;
  std::string why_no_set() const;  // rank 0 only
  Status choose_files_on_root();   // rank 0 only
  // machine.cpp
  Status read_machine_on_root();                         // rank 0 only
  Status learn_machine(FileSystem kind, int64_t cores);  // local
  void fit_limits_to_local_disk(PlanLimits& limits, const Settings& settings) const;
  void fit_limits_to_layout(PlanLimits& limits, const Settings& settings) const;
  Status stripe_on_root();                                                 // rank 0 only: of a temporary
  void take_layout(std::shared_ptr<const StorageLayout> layout) noexcept;  // of a file that was written anew
  std::vector<std::string> describe_opening() const;                       // what all ranks must give alike
  void tell(const std::string& data_path, OpenBroadcast& told) const;      // rank 0 only
  Status learn(OpenBroadcast told);  // local: where this rank's data goes, what is there already
  Status check_writable(std::string_view call) const;
  Status check_strategy(const Settings& changes, Strategy& strategy, PlanLimits& limits) const;
  // close.cpp
  void abandon();                            // rank 0 only
  PublishInputs publish_inputs() const;      // rank 0 only
  Status publish_on_root(FolderLock& turn);  // rank 0 only; `turn`: gets a lock
  Status data_sync_on_root();                // rank 0 only
  Status close_format_on_root();             // rank 0 only
  Status store_all();                        // collective, as the next four
  Status publish_changes(Status stored);
  Status share_final_path(std::string& path);
  Status publish_first(Status stored);
  Status close_subfiles(Status verdict, Status local, bool publish, PartChunks& chunks);
  Status move_rest(bool publish);
  Status finish(Status local, bool publish, const PartChunks& chunks);
  Status publish_closed_on_root(bool refers);                     // rank 0 only
  Status close_data(bool durable);                                // each rank for itself
  Status finish_on_root(bool publish, const PartChunks& chunks);  // rank 0 only
  void close_alone() noexcept;                                    // local

  // define.cpp
  DefineProtocol::Parts definition_parts() noexcept;
  template <class Work>
  auto define(Call call, std::string_view what, Status local, Work&& work) -> decltype(work(Status{}));
  Status check_variables(VariableDefinitions& made, std::span<const VariableDefinition> definitions,
                         SubfileRequest& request, std::map<int, SplitVariable>& splits);
  Status make_parts(std::span<const VariableDefinition> definitions, std::map<int, SplitVariable>& splits, int first);

  // references.cpp
  bool wants_references() const;
  ReferenceSources reference_sources(const PartChunks& chunks) const noexcept;  // rank 0 only
  Status renew_references();                                                    // collective

  // flush.cpp
  Status move_queue(Status local, PendingFlush* pending);
  bool reads_what_has_places();  // collective
  Status run_batch(VariableBatch batch, const BatchSummary& numbers);
  Status begin_batch(MovingVariables& moving, VariableBatch batch, const BatchSummary& numbers, bool behind);
  Status end_batch(MovingVariables& moving);
  Status convert_and_repeat(const VariableBatch& batch);  // local: of a batch of gets that has arrived
  void begin_report();
  bool wants_io_thread() const;

  Status conclude(Status local, const VariableBatch& batch, PreparedPlan& prepared, double seconds, bool behind);
  Status take_traffic(const Transfer& transfer);
  void learn(PreparedPlan& prepared, bool behind);  // collective

  void start_trace();  // collective
  void record_data();  // local: the requests to the storage are in the trace, if there is one
  void end_trace(const Status& verdict, std::span<const QueuedRequest> requests);

  // layout.cpp
  bool is_temporary_file() const noexcept { return publication_.is_temporary(); }
  Status place_variables(Status local);  // collective; when something is unplaced
  SpaceAllocator::Formats formats() noexcept;
  void grow_as_one(size_t first) noexcept;

  // inline_variables.cpp, of variables that the catalog holds
  static int64_t base_in_held(const QueuedRequest& entry, const Variable& variable) noexcept;
  Result<std::shared_ptr<const ByteRuns>> runs_in_held(const QueuedRequest& entry, const Variable& variable);
  Status bring_to_held(int variable, int64_t ordinal, std::span<int64_t> brought);
  Status write_held(int variable, int64_t ordinal);  // collective
  // Collective; nothing where none is put to. `wanted`: [variables] how many puts to each; becomes 0.
  Status write_held(std::span<int64_t> wanted);

  // growth.cpp
  Status count_wanted(std::span<int64_t> wanted) const;
  Status extend_for_queue(Status local);  // collective; nothing where no variable can grow or lacks a place
  int64_t bytes_of_new_records(std::span<const QueuedRequest* const> puts);
  Status count_new_records(std::span<int64_t> bytes);
  Status fill_records(Status local);  // collective

  // Of fill values, and of what a failure leaves undefined.
  FillManager filling();
  UndefinedElements undefined() noexcept { return {catalog_, write_state_, !is_temporary_file()}; }

  // inline_variables.cpp
  Status read_held();  // local: gets of what the catalog itself holds

  // chunk_batches.cpp
  // Collective: each chunked variable among the bits has a batch of its own.
  Status move_chunked(RequestList& requests, bool reading, int64_t ordinal, std::span<const int64_t> variables);
  Status run_chunked(RequestList& requests, int variable, bool reading, int64_t ordinal);
  Status know_layouts(int variable);  // local
  template <class Visit>              // Status(VariableBatch&, const BatchSummary&)
  Status for_each_chunked_batch(RequestList& requests, int variable, bool reading, int64_t ordinal, Visit&& visit);
  Status chunked_batch(RequestList& requests, int variable, size_t group, bool reading, int64_t ordinal,
                       VariableBatch& batch);
  Status move_chunks(PreparedPlan& prepared, const VariableBatch& batch);
  Status explain_chunked(RequestList& requests, VariableBatch& puts, BatchSummary& put_numbers, VariableBatch& gets,
                         BatchSummary& get_numbers, FlushReport& planned);
  Status find_chunks(const ChunkPlan& chunks, KnownChunks& known);
  bool is_chunked(int variable) const noexcept {
    return !catalog_.variables[static_cast<size_t>(variable)].chunking.empty();
  }

  // subfile_set.cpp, subfile_batches.cpp
  Status make_set_on_root(int64_t count);  // rank 0 only
  Status start_set();                      // collective
  FormatMode format_mode() const noexcept;
  FormatOptions format_options() const;
  Status become_set(SubfileRequest request);       // collective
  Status place_subfiles(Status local);             // collective
  Status finish_subfiles(bool ends);               // collective
  Status collect_part_chunks(PartChunks& chunks);  // collective
  void update_set();                               // local
  void fit_line();
  SplitPolicy split_policy() const;
  Status define_parts(std::span<const VariableDefinition> definitions, std::map<int, SplitVariable>& splits,
                      int first);  // collective
  AddressSpace space() const noexcept { return {catalog_, subfiles_.get()}; }
  int64_t place_of(size_t variable) const { return space().place_of(variable); }
  Status add_parts(const QueuedRequest& entry, const SplitVariable& split, int64_t trailing, VariableBatch& batch);
  Result<std::vector<std::shared_ptr<const ChunkLayout>>> layouts_of_parts(int variable) const;
  Result<Format*> format_of(const ChunkPart& part);  // on its root
  Result<std::shared_ptr<const ByteRuns>> runs_of_parts(const QueuedRequest& entry, const SplitVariable& split,
                                                        VariableBatch& batch, int64_t trailing);
  static void sort_items(VariableBatch& batch);

  // subfile_targets.cpp. Collective; the status is this rank's own.
  bool deals_by_target() const noexcept {
    return planner_.strategy().domains == Domains::target && planner_.limits().layout != nullptr;
  }
  int64_t line_unit() const noexcept {
    return planner_.strategy().domains == Domains::target ? FileLine::k_unit_of_targets : FileLine::k_unit;
  }
  Status know_chunk_targets(const VariableBatch& batch, const BatchSummary& numbers, ChunkTargets& found, Status local);
  Status know_touched_chunks(const VariableBatch& batch, std::vector<int64_t>& touched, Status local);
  Status tell_own_chunks(const VariableBatch& batch, std::span<const Extent> regions, std::span<const int64_t> touched,
                         std::vector<std::byte>& message);  // local
  void fill_reserved(const ChunkLayout& layout) noexcept;   // local, after a flush that failed
  const StorageLayout& stripes_of(const ChunkPart& part) const noexcept {
    return part.number < 0 ? striping_.layout : set_.layout_of(part.number);
  }

  // batches.cpp
  Status build_batch(RequestList& requests, bool reading, int64_t ordinal, VariableBatch& batch);
  Status add_to_batch(const QueuedRequest& entry, VariableBatch& batch);
  // Collective. One agreement for all batches given; `most`: made the largest of all ranks.
  Status reduce_batches(Status local, std::initializer_list<const RequestBatch*> batches,
                        std::initializer_list<BatchSummary*> numbers, int64_t* most, OrphanedPuts* orphaned = nullptr);
  Result<PreparedPlan*> ready_plan(const VariableBatch& batch, const BatchSummary& numbers);  // collective
  void start_writing(const VariableBatch& batch, std::span<const int64_t> variables) noexcept;
  void mark_unfinished();  // collective
  VariableStorage storage_of_variables() const noexcept;
  Status grow_reduction(size_t variables);  // local: room for the bits of two batches

  size_t variable_words() const noexcept { return (catalog_.variables.size() + 63) / 64; }

  std::shared_ptr<Comm> comm_;
  OpenFile identity_;  // by which agreements know it
  Settings settings_;
  Mode mode_ = Mode::read;
  std::string path_;  // the name that the user gave
  std::string format_name_;
  ViewerGrids grids_;
  Publication publication_;
  SubfileFolder* subfile_folder_ = nullptr;  // rank 0, as the next two: among the publication's sidecars
  XdmfSidecar* xdmf_ = nullptr;
  KerchunkSidecar* references_ = nullptr;
  std::unique_ptr<Format> format_;  // rank 0
  Metadata metadata_;
  const Catalog& catalog_ = metadata_.catalog();  // which only metadata_ changes
  std::unique_ptr<DataFile> data_;
  SubfileSet set_;
  const std::unique_ptr<Subfiles>& subfiles_ = set_.map();  // nullptr: the file is one
  int64_t metadata_opens_ = 0;  // rank 0: of this file and those that belong to it, before the format had it
  StripingOptions striping_options_;
  StoreOptions store_options_;
  Striping striping_;                            // as rank 0 found it
  std::shared_ptr<const StorageLayout> layout_;  // that domains are cut by; nullptr: none that has stripes
  std::vector<int64_t> reserved_chunks_;  // on a root, of the chunks that are moved: they got room for the plan's sake
  bool local_disk_ = false;               // as rank 0 sees it
  std::string machine_text_;              // of the machine file, as rank 0 read it; "": none was given

  SpaceAllocator allocator_;
  FileSizeCheck size_check_;  // used on rank 0
  WriteState write_state_;
  bool ends_early_ = false;            // rank 0: opened for update, and shorter than its variables: a damaged file
  std::vector<int64_t> chunked_bits_;  // those of put and got variables that have chunks; after a failure any
  std::map<int, std::vector<std::shared_ptr<const ChunkLayout>>>
      layouts_;  // by variable; several where parts have chunks of several sizes
  int64_t put_batches_ = 0,
          put_batch_ = 0;  // of this flush, and the one under way: a variable's n-th put is in the n-th
  Workspace workspace_;
  Trace trace_;
  Planner planner_;
  Executor executor_;
  RequestQueue queue_;
  std::unique_ptr<PendingFlush> pending_;
  FlushTracer tracer_;
  FlushReport report_;
  double flush_begin_ = 0;
  bool nothing_queued_ = false;  // on any rank, in the last flush
};

}  // namespace windrow
