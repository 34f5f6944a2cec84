// SPDX-License-Identifier: BSD-3-Clause
// File: an open file, as the C interface uses it. It owns the state of the file and connects the modules that work on
// it: definitions change the metadata, the queue collects puts and gets, a flush allocates space for them and moves
// them, and publication gives a new file its final name. File itself contains only what several modules need.
//
// All ranks of the communicator have a File with the same metadata. Rank 0 alone has the format, which writes the
// metadata into the file, and the publication. Every rank has the data file, which it opens when it moves bytes.
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
#include "engine/storage_facts.hpp"
#include "filling/fill_manager.hpp"
#include "filling/undefined_elements.hpp"
#include "format/catalog.hpp"
#include "format/format.hpp"
#include "metadata/metadata.hpp"
#include "publication/file_references.hpp"
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

class LatePlacement;
class VariableDefinitions;
struct OpenBroadcast;

class File {
 public:
  enum class Mode {
    create,
    read,
    update
  };

  // Collective calls. All ranks call them in the same order and get the same status. The parameter `local` is an error
  // that the caller has found in this rank's arguments. The rank makes the call nevertheless, since the other ranks
  // wait for it; then all ranks return the error. A call first ends a flush that flush_begin() has started.

  // Opens the file at `path` on the ranks of `user`. `program`: the options of the call; those of the environment are
  // added to them. After an error nothing of a new file remains.
  static Result<std::unique_ptr<File>> open(MPI_Comm user, const std::string& path, Mode mode, const Settings& program,
                                            Status local = {});
  ~File();

  // Definitions: see DefineProtocol, VariableDefinitions and WholeVariables. After an error the metadata are as before
  // the call, except for define_variables().
  Status define_group(const std::string& path, Status local = {});
  // Returns the number of the first variable; the others have the next numbers. If a variable cannot be made, the
  // variables before it remain defined.
  Result<int> define_variables(std::span<VariableDefinition> definitions, Status local = {});
  Status put_attribute(const std::string& object, Attribute attribute, Status local = {});
  Result<int> define_grid(ViewerGrid grid, Status local = {});  // returns its number for define_field()
  Status define_field(int grid, GridField field, Status local = {});
  Status delete_attribute(const std::string& object, const std::string& name, Status local = {});
  Status define_link(const std::string& path, const std::string& target, Status local = {});
  Status define_dimension(const std::string& path, int64_t length, Status local = {});
  Status name_dimensions(int variable, const std::vector<std::string>& names, Status local = {});
  // Writes all elements of a variable of texts. Rank 0 passes the texts, the other ranks pass an empty list.
  Status put_texts(int variable, std::vector<std::string> texts, Status local = {});
  // Calls take(texts) on every rank with all elements of the variable.
  Status get_texts(int variable, const std::function<void(std::span<const std::string>)>& take, Status local = {});

  // Changes the options of the strategy, from the next flush on. Options that `changes` does not have keep the values
  // that the file was opened with. bad_state if requests are queued.
  Status set_strategy(const Settings& changes, Status local = {});
  // Writes references for Zarr's readers: a text that says where the chunks of all variables are. `path`: of the text;
  // "" writes it beside the file. Returns the names of what the text does not contain, one per line. bad_state unless
  // the file is open for reading.
  Result<std::string> write_references(const std::string& path, const std::string& prefix, Status local = {});
  // Returns boxes that contain all elements of a variable that were written.
  Result<BoxList> written_boxes(int variable, Status local = {});
  // Returns the problems of the set of subfiles, one per line. "" if there are none, or if the file is a single file.
  Result<std::string> check_subfiles();

  // Allocates space for all queued requests and moves them. The queue is empty afterwards, also after an error.
  Status flush(Status local = {});
  // A flush in two parts. The memory of the requests belongs to the library until flush_end() has returned.
  Status flush_begin();
  Status flush_end();
  Status end_pending();  // flush_end() if a flush has begun; otherwise checks only that the ranks are in step
  // Flushes, fills what was never written, and stores the data. A new file gets its final name at the first sync.
  Status sync();
  // The last call. `publish`: flushes, completes and publishes the file. Otherwise a new file is discarded, and a file
  // that is changed in place keeps what was flushed.
  Status close(bool publish);
  // Returns the plans of the queued requests as a text. Nothing moves, and the queue stays as it is.
  Result<std::string> explain(bool json, Status local = {});

  // Local calls.

  // Adds a put or a get to the queue: see RequestQueue::add().
  Status queue(NewRequest request);
  void refuse(const Status& status) { queue_.refuse(status); }         // the next flush returns it on every rank
  const Status& refused() const noexcept { return queue_.refused(); }  // OK if no request was refused
  void drop_queue();  // removes all requests; all ranks do so at the same point
  std::string report(bool json) const;
  const Catalog& catalog() const noexcept { return metadata_.catalog(); }
  int64_t element_count_of(int variable) const { return metadata_.element_count_of(variable); }
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
  const Subfiles* subfiles() const noexcept { return set_.map().get(); }  // nullptr if the file is a single file
  // The files whose change was interrupted or in progress when they were opened, one per line: the path of the file,
  // and the names of subfiles relative to its folder.
  std::string interrupted() const;
  // The number of subfiles that the options of a variable request; 1 requests none. 0 if they request no number, or
  // the number that the file has by default.
  Result<int64_t> subfiles_of_variable(const Settings& own) const;
  Mode mode() const noexcept { return mode_; }
  const FormatTraits& traits() const noexcept { return metadata_.traits(); }

 private:
  File(const std::string& path, Mode mode, std::shared_ptr<Comm> comm);

  // Private functions, by the source that defines them. "rank 0": only rank 0 calls the function.

  // file.cpp: opening
  struct Opening;
  Status take_options(const Settings& program, uint64_t& arguments);                // local
  Status check_subfile_options(const Settings& settings, int64_t& subfiles) const;  // local
  Status open_on_root(Opening& opening);                                            // rank 0
  Status open_format_on_root(OpenBroadcast& message);                               // rank 0
  Status create_format_on_root();                                                   // rank 0
  Status open_existing_on_root(OpenBroadcast& message);                             // rank 0
  Status open_once_on_root(OpenBroadcast& message);                                 // rank 0
  void take_format_on_root(std::unique_ptr<Format> format, int64_t opened_before);  // rank 0
  Status receive(Opening& opening);                                                 // local
  Status receive(OpenBroadcast message);                                            // local
  void start();                                     // collective, once all ranks have agreed that the file is open
  void add_texts_on_root(const std::string& path);  // rank 0
  void fill_message(const std::string& data_path, OpenBroadcast& message) const;  // rank 0
  std::vector<std::string> describe_opening() const;  // the arguments that must be the same on all ranks
  std::string why_no_set() const;                     // rank 0
  Status choose_files_on_root();                      // rank 0
  Status check_strategy(const Settings& changes, Strategy& strategy, PlanLimits& limits) const;
  Status check_writable(std::string_view call) const;
  // close.cpp: sync and close
  void abandon() noexcept;                                                                // rank 0
  PublishInputs publish_inputs() const;                                                   // rank 0
  Status publish_on_root(FolderLock& turn);                                               // rank 0; locks `turn`
  Status data_sync_on_root();                                                             // rank 0
  Status close_format_on_root();                                                          // rank 0
  Status store_all();                                                                     // collective
  Status publish_changes(Status stored);                                                  // collective
  Status share_final_path(std::string& path);                                             // collective
  Status publish_first(Status stored);                                                    // collective
  Status close_subfiles(Status verdict, Status local, bool publish, PartChunks& chunks);  // collective
  Status move_rest(bool publish);                                                         // collective
  Status finish(Status local, bool publish, const PartChunks& chunks);                    // collective
  Status publish_closed_on_root(bool refers);                                             // rank 0
  Status close_data(bool durable);                                                        // local
  Status finish_on_root(bool publish, const PartChunks& chunks);                          // rank 0
  void close_alone() noexcept;                                                            // local

  // define.cpp: definitions
  DefineProtocol::Parts definition_parts() noexcept;
  template <class Work>
  auto define(Call call, std::string_view what, Status local, Work&& work) -> decltype(work(Status{}));
  Status check_variables(VariableDefinitions& made, std::span<const VariableDefinition> definitions,
                         SubfileRequest& request, std::map<int, SplitVariable>& splits);
  Status make_parts(std::span<const VariableDefinition> definitions, std::map<int, SplitVariable>& splits, int first);

  // flush.cpp: the queue and flushes
  FileView view() noexcept;
  Status prepare_queue(Status& local);          // collective
  bool reads_what_has_places(bool is_refused);  // collective
  Status grow_reduction(size_t variables);      // local

  void start_trace();  // collective
  void record_data();  // local: the data file records its requests for the trace, if there is one

  // space.cpp: allocation and placement before a flush
  bool is_temporary_file() const noexcept { return publication_.is_temporary(); }
  SpaceAllocator::Formats formats() noexcept;
  bool may_extend() const noexcept { return metadata_.may_grow() && mode_ != Mode::read; }
  LatePlacement late_placement() noexcept;
  Status place_variables(Status local);   // collective; if variables lack places
  Status extend_for_queue(Status local);  // collective; if variables can grow
  Status fill_records(Status local);      // collective
  // What an explanation changes in memory and restores.
  struct SpaceBefore {
    std::optional<Metadata::Space> space;
    std::optional<Subfiles::Places> parts;
    bool is_changed = false;  // the same on all ranks
  };
  Status predict_space(Status local, SpaceBefore& before);                 // collective
  Status predict_places();                                                 // collective
  Status predict_growth(bool& grows);                                      // collective
  void restore_space(SpaceBefore before) noexcept;                         // local
  void take_layout(std::shared_ptr<const StorageLayout> layout) noexcept;  // local: the layout of a rewritten file
  Status stripe_on_root();                                                 // rank 0: stripes the temporary file

  // Both are made for one call: they refer to this object.
  FillManager filling() noexcept { return view().filling(); }
  UndefinedElements undefined() noexcept { return {metadata_.catalog(), write_state_, !is_temporary_file()}; }

  // subfile_set.cpp: steps of a set of subfiles
  Status make_set_on_root(int64_t count);  // rank 0
  Status start_set();                      // collective
  FormatMode format_mode() const noexcept;
  FormatOptions format_options() const;
  Status become_set(SubfileRequest request);  // collective
  Status place_subfiles(Status local);        // collective
  Status finish_subfiles(bool ends);          // collective
  void update_set();                          // local
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
    int64_t metadata_opens = 0;   // rank 0: how often the file and its sidecars were opened for metadata
    bool ends_early = false;      // the file is shorter than its variables, so it is damaged
    bool is_interrupted = false;  // see Format; on all ranks
  };

  std::shared_ptr<Comm> comm_;
  OpenFile identity_;  // identifies the file in agreements
  Settings settings_;
  Mode mode_ = Mode::read;
  Opened opened_;
  StorageFacts storage_;
  ViewerGrids grids_;
  Publication publication_;
  SubfileFolder* subfile_folder_ = nullptr;  // rank 0; publication_ owns it
  std::unique_ptr<Format> format_;           // rank 0
  Metadata metadata_;
  std::unique_ptr<DataFile> data_;
  SubfileSet set_;
  const PartFormats part_formats_{format_, set_};  // for cached plans of chunks
  FileReferences references_{{*comm_, settings_, metadata_.catalog(), metadata_.traits(), set_, format_}};
  SpaceAllocator allocator_;
  WriteState write_state_;
  VariableFlush flush_;
  RequestQueue queue_;
};

}  // namespace windrow
