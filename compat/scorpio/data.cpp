// SPDX-License-Identifier: BSD-3-Clause
// Datasets of numbers and bytes: patterns become decompositions. A call returns when its data is in the file.
#include <algorithm>
#include <string>

#include "state.hpp"

namespace scorpio {
namespace {

using Extents = std::array<int64_t, WINDROW_MAX_DIMENSIONS>;

// Common arguments of these calls. `local` is what each rank has, or nullptr if it does not apply.
struct Array {
  void* data;
  datatype_t type;
  int ndims;
  const int* global;
  const int* local;
  const char* name;
};

// A dataset to read or write; number -1: a new one, not defined yet.
struct Dataset {
  std::string path;
  int number = -1;
  windrow_variable_info info{};
  Extents global{}, local{};
};

void widen(const int* values, int count, Extents& extents) {
  std::copy_n(values, count, extents.begin());
}

// Local: checks the arguments that do not depend on the dataset, and registers those that must be the same.
void check_array(Call& call, const Array& array, int least_ndims) {
  if (array.name == nullptr)
    return call.refuse("the name is NULL");
  call.same(array.name);
  call.same(array.type);
  const int type = windrow_type_of(array.type);
  if (type == 0 || type == WINDROW_TEXT)
    return call.refuse("%d is not a type of datasets", static_cast<int>(array.type));
  call.same(array.ndims);
  if (array.ndims < least_ndims || array.ndims > WINDROW_MAX_DIMENSIONS)
    return call.refuse("\"%s\": %d dimension%s; it must be %d to %d", array.name, array.ndims,
                       scorpio::plural(array.ndims), least_ndims, WINDROW_MAX_DIMENSIONS);
  if (array.ndims > 0 && array.global == nullptr)
    return call.refuse("\"%s\": globaldims is NULL", array.name);
  call.same(array.global, array.ndims);
}

// Local. If there is no dataset, `dataset.number` stays -1.
void find_dataset(Call& call, Dataset& dataset) {
  dataset.info.size = sizeof dataset.info;
  if (windrow_find_variable(call.windrow(), dataset.path.c_str(), &dataset.number) != WINDROW_OK) {
    dataset.number = -1;
  } else if (windrow_inquire_variable(call.windrow(), dataset.number, &dataset.info) != WINDROW_OK) {
    call.refuse_as_windrow();
  }
}

void check_dimensions(Call& call, const Dataset& dataset, int ndims) {
  if (dataset.info.ndims != ndims)
    return call.refuse("\"%s\" has %d dimension%s, not %d", dataset.path.c_str(), dataset.info.ndims,
                       scorpio::plural(dataset.info.ndims), ndims);
  for (int i = 0; i < ndims; ++i)
    if (dataset.info.shape[i] != dataset.global[static_cast<size_t>(i)])
      return call.refuse("\"%s\": its dimension %d is %lld, but globaldims says %lld", dataset.path.c_str(), i,
                         static_cast<long long>(dataset.info.shape[i]),
                         static_cast<long long>(dataset.global[static_cast<size_t>(i)]));
}

// Local: whether elements of the dataset can be converted to `type`. Opaque bytes cannot.
void check_readable(Call& call, const Dataset& dataset, datatype_t type) {
  const bool opaque = dataset.info.type == WINDROW_OPAQUE;
  if (dataset.info.type == 0)
    call.refuse("\"%s\" cannot be read: %s", dataset.path.c_str(), dataset.info.unsupported);
  else if (opaque != (type == SCORPIO_BYTE) || (opaque && dataset.info.element_bytes != 1))
    call.refuse("\"%s\" is of %s with %lld byte%s an element, which is not read as type %d", dataset.path.c_str(),
                windrow_type_name(dataset.info.type), static_cast<long long>(dataset.info.element_bytes),
                scorpio::plural(dataset.info.element_bytes), static_cast<int>(type));
}

void prepare_to_read(Call& call, const Array& array, Dataset& dataset) {
  dataset.path = array.name;
  find_dataset(call, dataset);
  if (dataset.number < 0 && !call.refused())
    call.refuse_as_windrow();
  if (call.refused())
    return;
  check_readable(call, dataset, array.type);
}

bool is_empty(const int* dims, int ndims) {
  return std::any_of(dims, dims + ndims, [](int extent) { return extent == 0; });
}

// `options`: of a new dataset of opaque bytes.
void prepare_to_write(Call& call, const Array& array, Dataset& dataset, Options& options) {
  dataset.path = call.file()->path_to_write(array.name);
  const int* const mine = array.local == nullptr ? array.global : array.local;
  if (array.data == nullptr && !is_empty(mine, array.ndims))
    return call.refuse("\"%s\": the data is NULL", array.name);
  widen(array.global, array.ndims, dataset.global);
  find_dataset(call, dataset);
  options.set("element_bytes", "1");
  if (options.code() != WINDROW_OK)
    call.refuse_as_windrow();
  if (dataset.number < 0 || call.refused())
    return;
  check_dimensions(call, dataset, array.ndims);
  const bool bytes = dataset.info.type != WINDROW_OPAQUE || dataset.info.element_bytes == 1;
  if (dataset.info.type != windrow_type_of(array.type) || !bytes)
    call.refuse("\"%s\" exists with another type, %s", dataset.path.c_str(), windrow_type_name(dataset.info.type));
}

// Collective.
int define(Call& call, const Array& array, Dataset& dataset, const Options& options) {
  if (dataset.number >= 0)
    return WINDROW_OK;
  return windrow_define_variable_with(call.windrow(), dataset.path.c_str(), windrow_type_of(array.type), array.ndims,
                                      dataset.global.data(), array.type == SCORPIO_BYTE ? options.get() : nullptr,
                                      &dataset.number);
}

// Local: checks that this rank's rows are those of the pattern.
void check_rows(Call& call, const Array& array, bool uniform) {
  const Group& group = *call.group();
  const int64_t rows = array.global[0], share = rows / group.ranks + (group.rank < rows % group.ranks ? 1 : 0);
  if (array.local == nullptr) {
    if (!uniform)
      call.refuse("\"%s\": localdims is NULL", array.name);
    return;
  }
  if (uniform && array.local[0] != share)
    return call.refuse(
        "\"%s\": this rank's share of %lld row%s over %d rank%s is %lld in a uniform pattern, but localdims says %d; "
        "rows divided in another way are nonuniform",
        array.name, static_cast<long long>(rows), scorpio::plural(rows), group.ranks, scorpio::plural(group.ranks),
        static_cast<long long>(share), array.local[0]);
  for (int i = 1; i < array.ndims && array.local[0] != 0; ++i)
    if (array.local[i] != array.global[i])
      return call.refuse(
          "\"%s\": only the first dimension is divided in this pattern, but localdims[%d] is %d and globaldims[%d] %d",
          array.name, i, array.local[i], i, array.global[i]);
}

// Collective: reads by a decomposition, and frees it. `made`: the code of creating it.
int64_t finish_read(Call& call, const Array& array, const Dataset& dataset, int made,
                    windrow_decomposition* decomposition) {
  int code = made;
  if (code == WINDROW_OK) {
    // The flush reports errors of the get on every rank.
    (void)windrow_get_as(call.windrow(), dataset.number, decomposition, windrow_type_of(array.type), array.data);
    code = windrow_flush(call.windrow());
  }
  windrow_decomposition_free(decomposition);
  return call.end(code);
}

// Like finish_read(). The dataset is created last, so that bad arguments leave none.
int64_t finish_write(Call& call, const Array& array, Dataset& dataset, const Options& options, int made,
                     windrow_decomposition* decomposition) {
  int code = made;
  if (code == WINDROW_OK)
    code = define(call, array, dataset, options);
  if (code == WINDROW_OK)
    code = windrow_write(call.windrow(), dataset.number, decomposition, array.data);
  windrow_decomposition_free(decomposition);
  return call.end(code);
}

int make_rows(const Call& call, const Array& array, bool uniform, windrow_decomposition** rows) {
  return windrow_rows(call.group()->comm, array.global[0], uniform ? WINDROW_EVEN : array.local[0], rows);
}

int read_rows(Call& call, const Array& array, bool uniform) {
  Dataset dataset;
  check_array(call, array, 1);
  call.prepare([&] {
    prepare_to_read(call, array, dataset);
    if (call.refused())
      return;
    widen(array.global, array.ndims, dataset.global);
    check_dimensions(call, dataset, array.ndims);
    check_rows(call, array, uniform);
  });
  if (!call.agreed())
    return call.failed();
  windrow_decomposition* rows = nullptr;
  const int made = make_rows(call, array, uniform, &rows);
  return static_cast<int>(finish_read(call, array, dataset, made, rows));
}

int read_all(Call& call, const Array& array) {
  Dataset dataset;
  check_array(call, array, 0);
  call.prepare([&] {
    prepare_to_read(call, array, dataset);
    if (call.refused())
      return;
    widen(array.global, array.ndims, dataset.global);
    check_dimensions(call, dataset, array.ndims);
  });
  if (!call.agreed())
    return call.failed();
  windrow_decomposition* same = nullptr;
  const int made = windrow_same(call.group()->comm, 0, nullptr, nullptr, nullptr, &same);
  return static_cast<int>(finish_read(call, array, dataset, made, same));
}

int write_rows(Call& call, const Array& array, bool uniform) {
  Dataset dataset;
  Options options;
  check_array(call, array, 1);
  call.prepare([&] {
    prepare_to_write(call, array, dataset, options);
    if (!call.refused())
      check_rows(call, array, uniform);
  });
  if (!call.agreed())
    return call.failed();
  windrow_decomposition* rows = nullptr;
  const int made = make_rows(call, array, uniform, &rows);
  return static_cast<int>(finish_write(call, array, dataset, options, made, rows));
}

}  // namespace
}  // namespace scorpio

using scorpio::Call;

extern "C" {

int scorpio_read_dataset(void* data, datatype_t type, int ndims, int* globaldims, int* localdims, int file, char* name,
                         iogroup_t* group, iopattern_t pattern) {
  Call call("scorpio_read_dataset", group, file);
  const scorpio::Array array{data, type, ndims, globaldims, localdims, name};
  call.same(pattern);
  switch (pattern) {
    case SCORPIO_UNIFORM_CONTIGUOUS_READ:
      return scorpio::read_rows(call, array, true);
    case SCORPIO_NONUNIFORM_CONTIGUOUS_READ:
      return scorpio::read_rows(call, array, false);
    case SCORPIO_EVERYONE_ENTIRE_DATASET_READ:
      return scorpio::read_all(call, array);
    case SCORPIO_NONCONTIGUOUS_READ:
      call.refuse("this call has no argument for the elements; use windrow_points() of windrow.h");
      break;
    default:
      call.refuse("%d is not a pattern to read", static_cast<int>(pattern));
  }
  call.agreed();
  return call.failed();
}

int scorpio_read_dataset1(void* data, datatype_t type, int ndims, int* globaldims, int* localdims, int file, char* name,
                          iogroup_t* group) {
  return scorpio_read_dataset(data, type, ndims, globaldims, localdims, file, name, group,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ);
}

int scorpio_read_dataset2(void* data, datatype_t type, int ndims, int* globaldims, int* localdims, int file, char* name,
                          iogroup_t* group) {
  return scorpio_read_dataset(data, type, ndims, globaldims, localdims, file, name, group,
                              SCORPIO_NONUNIFORM_CONTIGUOUS_READ);
}

int scorpio_write_dataset(void* data, datatype_t type, int ndims, int* globaldims, int* localdims, int file, char* name,
                          iogroup_t* group, iopattern_t pattern) {
  Call call("scorpio_write_dataset", group, file);
  const scorpio::Array array{data, type, ndims, globaldims, localdims, name};
  call.same(pattern);
  switch (pattern) {
    case SCORPIO_UNIFORM_CONTIGUOUS_WRITE:
      return scorpio::write_rows(call, array, true);
    case SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE:
      return scorpio::write_rows(call, array, false);
    case SCORPIO_NONCONTIGUOUS_WRITE:
      call.refuse("this call has no argument for the elements; use scorpio_write_dataset_block() for blocks");
      break;
    default:
      call.refuse("%d is not a pattern to write", static_cast<int>(pattern));
  }
  call.agreed();
  return call.failed();
}

int scorpio_write_dataset1(void* data, datatype_t type, int ndims, int* globaldims, int* localdims, int file,
                           char* name, iogroup_t* group) {
  return scorpio_write_dataset(data, type, ndims, globaldims, localdims, file, name, group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE);
}

int scorpio_write_dataset2(void* data, datatype_t type, int ndims, int* globaldims, int* localdims, int file,
                           char* name, iogroup_t* group) {
  return scorpio_write_dataset(data, type, ndims, globaldims, localdims, file, name, group,
                               SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE);
}

int scorpio_write_dataset_block(void* data, datatype_t type, int ndims, int* globaldims, int* localdims,
                                int* localstarts, int file, char* name, iogroup_t* group) {
  Call call("scorpio_write_dataset_block", group, file);
  const scorpio::Array array{data, type, ndims, globaldims, localdims, name};
  scorpio::Dataset dataset;
  scorpio::Options options;
  scorpio::Extents start{};
  scorpio::check_array(call, array, 1);
  if (localdims == nullptr || localstarts == nullptr)
    call.refuse("localdims or localstarts is NULL");
  call.prepare([&] {
    scorpio::prepare_to_write(call, array, dataset, options);
    scorpio::widen(localdims, ndims, dataset.local);
    scorpio::widen(localstarts, ndims, start);
  });
  if (!call.agreed())
    return call.failed();
  windrow_decomposition* block = nullptr;
  const int made = windrow_block(call.group()->comm, ndims, dataset.global.data(), start.data(), dataset.local.data(),
                                 nullptr, nullptr, &block);
  return static_cast<int>(scorpio::finish_write(call, array, dataset, options, made, block));
}

int scorpio_read_same_sub_dataset(void* data, datatype_t type, int ndims, int* dims, int* starts, int file, char* name,
                                  iogroup_t* group) {
  Call call("scorpio_read_same_sub_dataset", group, file);
  const scorpio::Array array{data, type, ndims, dims, nullptr, name};
  scorpio::Dataset dataset;
  scorpio::Extents start{};
  scorpio::check_array(call, array, 1);
  if (starts == nullptr)
    call.refuse("starts is NULL");
  call.prepare([&] {
    call.same(starts, ndims);
    scorpio::prepare_to_read(call, array, dataset);
    if (call.refused())
      return;
    if (dataset.info.ndims != ndims)
      call.refuse("\"%s\" has %d dimension%s, not %d", name, dataset.info.ndims, scorpio::plural(dataset.info.ndims),
                  ndims);
    scorpio::widen(dims, ndims, dataset.local);
    scorpio::widen(starts, ndims, start);
  });
  if (!call.agreed())
    return call.failed();
  windrow_decomposition* same = nullptr;
  const int made =
      windrow_same(call.group()->comm, ndims, dataset.info.shape, start.data(), dataset.local.data(), &same);
  return static_cast<int>(scorpio::finish_read(call, array, dataset, made, same));
}

int scorpio_read_entire_dataset(void* data, datatype_t type, int ndims, int* globaldims, int file, char* name,
                                iogroup_t* group) {
  Call call("scorpio_read_entire_dataset", group, file);
  return scorpio::read_all(call, {data, type, ndims, globaldims, nullptr, name});
}

int scorpio_read_dataset_all(void* data, datatype_t type, int ndims, int* globaldims, int file, char* name,
                             iogroup_t* group) {
  Call call("scorpio_read_dataset_all", group, file);
  return scorpio::read_all(call, {data, type, ndims, globaldims, nullptr, name});
}

}  // extern "C"
