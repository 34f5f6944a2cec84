// SPDX-License-Identifier: BSD-3-Clause
// bench-hdf5: parallel HDF5. Systems: "collective", "independent".
// bench-hdf5-serial: the same program over serial HDF5. Systems: "serial", for one rank; "own", a file for each rank
// with its boxes.
#include <hdf5.h>

#include <utility>

#include "common/packing.hpp"
#include "common/system.hpp"
#include "common/tools.hpp"

namespace bench {
namespace {

hid_t native_type(ElementType type) {
  if (type == ElementType::float64)
    return H5T_NATIVE_DOUBLE;
  return type == ElementType::float32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT;
}

std::vector<hsize_t> sizes(const std::vector<int64_t>& extents) {
  return {extents.begin(), extents.end()};
}

// The selections of one variable, in file and memory.
struct Selection {
  hid_t file = -1;
  hid_t memory = -1;
  std::unique_ptr<Packing> packing;  // points only

  Selection() = default;
  Selection(Selection&& other) noexcept
      : file(std::exchange(other.file, -1)),
        memory(std::exchange(other.memory, -1)),
        packing(std::move(other.packing)) {}
  ~Selection() {
    if (file >= 0)
      H5Sclose(file);
    if (memory >= 0)
      H5Sclose(memory);
  }
};

hid_t space_of(const std::vector<int64_t>& shape) {
  return H5Screate_simple(static_cast<int>(shape.size()), sizes(shape).data(), nullptr);
}

void select_box(hid_t space, H5S_seloper_t how, const std::vector<int64_t>& start, const std::vector<int64_t>& count) {
  require(H5Sselect_hyperslab(space, how, sizes(start).data(), nullptr, sizes(count).data(), nullptr) >= 0,
          "H5Sselect_hyperslab");
}

// Single elements as a list of places, rows as a union of boxes: each was the faster in trials, by 2 for the map's
// single elements and by 2 to 3 for a mesh whose rows have 1.4 elements on average.
void select_points(hid_t space, const Pieces& pieces, const std::vector<int64_t>& shape) {
  if (pieces.empty()) {
    H5Sselect_none(space);
    return;
  }
  int64_t elements = 0;
  for (const Piece& piece : pieces)
    elements += piece.length;
  if (elements == static_cast<int64_t>(pieces.size())) {
    std::vector<hsize_t> places;
    for (const Piece& piece : pieces)
      for (int64_t i = 0; i < piece.length; ++i)
        for (int64_t coordinate : place_of(piece.file + i, shape))
          places.push_back(static_cast<hsize_t>(coordinate));
    require(H5Sselect_elements(space, H5S_SELECT_SET, static_cast<size_t>(elements), places.data()) >= 0,
            "H5Sselect_elements");
    return;
  }
  H5S_seloper_t how = H5S_SELECT_SET;
  for (const Box& box : boxes_of(pieces, shape)) {
    select_box(space, how, box.start, box.count);
    how = H5S_SELECT_OR;
  }
}

// `own`: the file has nothing but the box.
Selection make_selection(const Case& data, const Variable& variable, bool owned, bool own) {
  const Share& share = data.share_of(variable);
  const std::vector<int64_t> shape = own ? share.count : data.shape_of(variable);
  Selection selection;
  selection.file = space_of(shape);
  if (share.is_block()) {
    selection.memory = space_of(share.memory_shape);
    if (!own)
      select_box(selection.file, H5S_SELECT_SET, share.start, share.count);
    select_box(selection.memory, H5S_SELECT_SET, share.memory_start, share.count);
    return selection;
  }
  selection.packing = std::make_unique<Packing>(data.pieces(variable, owned), element_size(variable.type));
  selection.memory = space_of({std::max<int64_t>(selection.packing->elements(), 1)});
  if (selection.packing->elements() == 0)
    H5Sselect_none(selection.memory);
  select_points(selection.file, selection.packing->pieces(), shape);
  return selection;
}

// A union of thousands of boxes takes HDF5 1.10 seconds to build (each H5S_SELECT_OR copies what is there), so it is
// kept from one measurement to the next of the same scenario. An application makes it once, too.
struct Selections {
  std::string scenario;
  std::vector<Selection> writes, reads;
};

Selections& selections_of(const Case& data, bool own) {
  static Selections kept;
  const std::string name = data.name + (own ? " own" : "");
  if (kept.scenario == name)
    return kept;
  kept = {name, {}, {}};
  for (const Variable& variable : data.variables) {
    kept.writes.push_back(make_selection(data, variable, true, own));
    kept.reads.push_back(make_selection(data, variable, false, own));
  }
  return kept;
}

class Hdf5 : public System {
 public:
  explicit Hdf5(const std::string& name) {
    access_ = H5Pcreate(H5P_FILE_ACCESS);
    transfer_ = H5Pcreate(H5P_DATASET_XFER);
#ifdef H5_HAVE_PARALLEL
    require(name == "collective" || name == "independent", "system \"" + name + "\": its name");
    H5Pset_fapl_mpio(access_, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_coll_metadata_write(access_, true);
    H5Pset_all_coll_metadata_ops(access_, true);
    H5Pset_dxpl_mpio(transfer_, name == "collective" ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
#else
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    own_ = name == "own";
    require(own_ || (name == "serial" && ranks == 1), "system \"" + name + "\": its name or the number of ranks");
    H5Pset_cache(access_, 0, 521, size_t{16} << 20, 1.0);  // chunks that were written whole leave it first
#endif
  }
  ~Hdf5() override {
    for (hid_t properties : {access_, transfer_})
      H5Pclose(properties);
  }

  void prepare(const Job& job) override {
    path_ = job.directory + "/shared.h5";
    if (own_) {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      path_ = job.directory + "/part." + std::to_string(rank) + ".h5";
      for (const Share& share : job.data.shares)
        if (!share.is_block())
          throw NotApplicable("a file for each rank: of boxes only");
    }
    selections_ = &selections_of(job.data, own_);
  }

  void write(const Job& job) override {
    std::vector<Selection>& writes = selections_->writes;
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_);
    require(file >= 0, "H5Fcreate");
    std::vector<hid_t> datasets;
    const auto put = [&](size_t v) {
      Packing* packing = writes[v].packing.get();
      const void* bytes = packing ? packing->pack(job.buffers[v]) : job.buffers[v].data();
      require(H5Dwrite(datasets[v], native_type(job.data.variables[v].type), writes[v].memory, writes[v].file,
                       transfer_, bytes) >= 0,
              "H5Dwrite");
    };
    for (size_t v = 0; v < writes.size(); ++v) {
      const Variable& variable = job.data.variables[v];
      const hid_t creation = creation_list(variable);
      datasets.push_back(H5Dcreate2(file, variable.name.c_str(), native_type(variable.type), writes[v].file,
                                    H5P_DEFAULT, creation, H5P_DEFAULT));
      H5Pclose(creation);
      require(datasets[v] >= 0, "H5Dcreate");
      put(v);
    }
    job.rewrite([&] {
      for (size_t v = 0; v < writes.size(); ++v)
        put(v);
    });
    for (hid_t dataset : datasets)
      H5Dclose(dataset);
    if (job.durable)
      require(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush");
    require(H5Fclose(file) >= 0, "H5Fclose");
    if (job.durable)
      sync_from_rank_0(path_);
  }

  void read(const Job& job) override {
    std::vector<Selection>& reads = selections_->reads;
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access_);
    require(file >= 0, "H5Fopen");
    for (size_t v = 0; v < reads.size(); ++v) {
      const Variable& variable = job.data.variables[v];
      const hid_t dataset = H5Dopen2(file, variable.name.c_str(), H5P_DEFAULT);
      require(dataset >= 0, "H5Dopen");
      Packing* packing = reads[v].packing.get();
      void* bytes = packing ? packing->target(job.buffers[v]) : job.buffers[v].data();
      require(H5Dread(dataset, native_type(variable.type), reads[v].memory, reads[v].file, transfer_, bytes) >= 0,
              "H5Dread");
      if (packing)
        packing->unpack(job.buffers[v]);
      H5Dclose(dataset);
    }
    require(H5Fclose(file) >= 0, "H5Fclose");
  }

  std::vector<Location> locate(const Job& job) override {
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    require(file >= 0, "H5Fopen");
    std::vector<Location> locations;
    for (const Variable& variable : job.data.variables) {
      const hid_t dataset = H5Dopen2(file, variable.name.c_str(), H5P_DEFAULT);
      locations.push_back({path_, static_cast<int64_t>(H5Dget_offset(dataset)), false, own_});
      H5Dclose(dataset);
    }
    H5Fclose(file);
    return decoded(std::move(locations), job);
  }

  std::string format() const override {
    return own_ ? "hdf5/rank" : "hdf5";
  }

 private:
  static hid_t creation_list(const Variable& variable) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    if (variable.chunk.empty()) {
      H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    } else {
      H5Pset_chunk(list, static_cast<int>(variable.chunk.size()), sizes(variable.chunk).data());
      H5Pset_shuffle(list);
      H5Pset_deflate(list, 1);
    }
    return list;
  }

  hid_t access_, transfer_;
  bool own_ = false;
  std::string path_;
  Selections* selections_ = nullptr;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  H5dont_atexit();  // selections that are kept go later than HDF5 would
  return bench::run_program(argc, argv, [](const std::string& name) { return std::make_unique<bench::Hdf5>(name); });
}
