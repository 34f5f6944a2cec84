// SPDX-License-Identifier: BSD-3-Clause
// File: an open file. Connects the modules: definitions, space for variables, the queue, flushes, and publication.
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

#include "allocation/space_allocator.hpp"
#include "base/settings.hpp"
#include "base/status.hpp"
#include "batching/file_view.hpp"
#include "batching/inline_variables.hpp"
#include "batching/part_formats.hpp"
#include "batching/variable_flush.hpp"
#include "comm/comm.hpp"
#include "dataio/data_file.hpp"
#include "definitions/define_protocol.hpp"
#include "distribution/shared_decomposition.hpp"
#include "filling/fill_manager.hpp"
#include "filling/undefined_elements.hpp"
#include "format/catalog.hpp"
#include "format/format.hpp"
#include "metadata/metadata.hpp"
#include "publication/kerchunk_sidecar.hpp"
#include "publication/publication.hpp"
#include "publication/subfile_folder.hpp"
#include "publication/xdmf_sidecar.hpp"
#include "queueing/request_queue.hpp"
#include "storage/file_system.hpp"
#include "storage/striping.hpp"
#include "subfiling/address_space.hpp"
#include "subfiling/split_policy.hpp"
#include "subfiling/subfile_set.hpp"
#include "subfiling/subfiles.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

class VariableDefinitions;
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
  const Catalog& catalog() const noexcept { return metadata_.catalog(); }
  int64_t element_count_of(int variable) const { return metadata_.element_count_of(variable); }  // that there is
  const Settings& settings() const noexcept { return settings_; }
  Comm& comm() noexcept { return *comm_; }
  Result<int> find_variable(std::string_view path) const { return metadata_.find_variable(path); }
  std::vector<std::string> dimension_names(const Variable& variable) const {
    return metadata_.dimension_names(variable);
  }
  ObjectKind kind_of(const std::string& path) const { return metadata_.kind_of(path); }
  const std::vector<Attribute>* attributes_of(std::string_view object) const { return metadata_.attributes_of(object); }
  const std::string& path() const noexcept { return metadata_.path(); }
  const OpenFile& identity() const noexcept { return identity_; }
  const Subfiles* subfiles() const noexcept { return set_.map().get(); }  // nullptr: the file is one
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
  Status receive(Opening& opening);                                               // local
  Status receive(OpenBroadcast message);                                          // local
  void start();                                                                   // the file is open on all ranks
  void add_texts_on_root(const std::string& path);                                // rank 0 only
  void fill_message(const std::string& data_path, OpenBroadcast& message) const;  // rank 0 only
  std::vector<std::string> describe_opening() const;                              // what must be the same on all ranks
  FileSystem file_system_at(const std::string& path) const noexcept;
  std::string why_no_set() const;                          // rank 0 only
  Status choose_files_on_root();                           // rank 0 only
  Status read_machine_on_root();                           // rank 0 only
  Status receive_machine(FileSystem kind, int64_t cores);  // local
  void fit_limits_to_local_disk(PlanLimits& limits, const Settings& settings) const;
  void fit_limits_to_layout(PlanLimits& limits, const Settings& settings) const;
  Status check_strategy(const Settings& changes, Strategy& strategy, PlanLimits& limits) const;
  Status check_writable(std::string_view call) const;
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

  bool wants_references() const;
  ReferenceSources reference_sources(const PartChunks& chunks) const noexcept;  // rank 0 only
  Status renew_references();                                                    // collective

  // define.cpp
  DefineProtocol::Parts definition_parts() noexcept;
  template <class Work>
  auto define(Call call, std::string_view what, Status local, Work&& work) -> decltype(work(Status{}));
  Status check_variables(VariableDefinitions& made, std::span<const VariableDefinition> definitions,
                         SubfileRequest& request, std::map<int, SplitVariable>& splits);
  Status make_parts(std::span<const VariableDefinition> definitions, std::map<int, SplitVariable>& splits, int first);

  // flush.cpp
  FileView view() noexcept;
  Status prepare_queue(Status& local);  // collective
  bool reads_what_has_places();         // collective
  bool wants_io_thread() const;
  Status grow_reduction(size_t variables);  // local

  void start_trace();  // collective
  void record_data();  // local: the requests to the storage are in the trace, if there is one

  // space.cpp
  bool is_temporary_file() const noexcept { return publication_.is_temporary(); }
  SpaceAllocator::Formats formats() noexcept;
  Status place_variables(Status local);   // collective; if something is unplaced
  Status extend_for_queue(Status local);  // collective; nothing if no variable can grow or lacks a place
  Status fill_records(Status local);      // collective
  void take_layout(std::shared_ptr<const StorageLayout> layout) noexcept;  // of a file that was rewritten
  Status stripe_on_root();                                                 // rank 0 only: a temporary file

  // Of fill values, and of what a failure leaves undefined.
  FillManager filling() noexcept { return view().filling(); }
  UndefinedElements undefined() noexcept { return {metadata_.catalog(), write_state_, !is_temporary_file()}; }

  // subfile_set.cpp
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
  int64_t line_unit() const noexcept {
    return flush_.planner().strategy().domains == Domains::target ? FileLine::k_unit_of_targets : FileLine::k_unit;
  }
  // What rank 0 found when it opened the file.
  struct Opened {
    std::string format_name;
    int64_t metadata_opens = 0;  // of the file and its sidecars, before the format had it
    bool ends_early = false;     // opened for update, and shorter than its variables: a damaged file
  };
  struct Storage {
    StripingOptions striping_options;
    StoreOptions store_options;
    Striping striping;                            // as rank 0 found it
    std::shared_ptr<const StorageLayout> layout;  // that domains are cut by; nullptr: the file has no stripes
    bool is_local_disk = false;                   // as rank 0 sees it
    std::string machine_text;                     // of the machine file, as rank 0 read it; "": none was given
  };

  std::shared_ptr<Comm> comm_;
  OpenFile identity_;  // by which agreements know it
  Settings settings_;
  Mode mode_ = Mode::read;
  Opened opened_;
  Storage storage_;
  ViewerGrids grids_;
  Publication publication_;
  SubfileFolder* subfile_folder_ = nullptr;  // rank 0, as the next: among the publication's sidecars
  KerchunkSidecar* references_ = nullptr;
  std::unique_ptr<Format> format_;  // rank 0
  Metadata metadata_;
  std::unique_ptr<DataFile> data_;
  SubfileSet set_;
  const PartFormats part_formats_{format_, set_};  // for cached plans of chunks
  SpaceAllocator allocator_;
  WriteState write_state_;
  VariableFlush flush_;
  RequestQueue queue_;
};

}  // namespace windrow
