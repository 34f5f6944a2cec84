// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file windrow.hpp
 * Windrow for C++20: a thin, header-only wrapper of windrow.h.  Contracts, costs and error codes are those of
 * windrow.h.  Files of plain bytes are in bytes.hpp, which this includes.
 *
 *     auto file = windrow::File::create(comm, "out.h5");
 *     const int temperature = file.define_variable<double>("temperature", {nz, ny, nx});
 *     const auto blocks = windrow::Decomposition::block(comm, {nz, ny, nx}, start, count);
 *     file.put(temperature, blocks, values);   // local: queues; `values` must exist, unchanged, until the flush
 *     file.flush();                            // collective
 *     file.close();                            // collective: the file gets its name
 *
 * Differences to C:
 *  - An error is a windrow::Error.  A collective call throws the same one on every rank.  put() and get() are local,
 * and may throw on one rank alone; after catching that, the rank must still take part in the next collective call.  If
 *    WINDROW_STATUS is defined before this header, or the compiler has no exceptions, nothing is thrown: see
 *    take_status().
 *  - Element types and sizes are checked: an array of float for a variable of float64 is WINDROW_BAD_ARGUMENT, and so
 * is an array with fewer elements than the decomposition needs on this rank, ghost cells included.  Text of fixed
 * length takes arrays of char and opaque elements arrays of unsigned char, `element_bytes` per element.
 *  - write_block() and read_block() take multidimensional views, such as std::mdspan and Kokkos::View.
 *  - put() and get() take lvalues and views (spans) only, because a temporary would not exist at the flush.
 *  - Closing a file is collective, but a destructor may run on one rank only, after an exception.  So ~File() never
 *    communicates.  Call close() or discard(); otherwise the handle is leaked, a new file stays unpublished under its
 *    temporary name, and a debug build asserts (except during an exception).
 */
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <windrow/bytes.hpp>
#include <windrow/decomposition.hpp>

namespace windrow {
#if WINDROW_THROWS
inline namespace api {
#else
inline namespace status_api {
#endif

/** Kinds of cells and centers of fields, for viewers. */
enum class Cell : int {
  triangle = WINDROW_TRIANGLE,
  quadrilateral = WINDROW_QUADRILATERAL,
  tetrahedron = WINDROW_TETRAHEDRON,
  pyramid = WINDROW_PYRAMID,
  wedge = WINDROW_WEDGE,
  hexahedron = WINDROW_HEXAHEDRON,
  mixed = WINDROW_MIXED_CELLS
};
enum class Center : int {
  nodes = WINDROW_AT_NODES,
  cells = WINDROW_AT_CELLS
};

/** An open file, which must be closed: see the beginning of this page. */
class File {
 public:
  /** Collective over `comm`. */
  static File create(MPI_Comm comm, const std::string& path, const Options& options = {}) {
    File file;
    check(windrow_create(comm, path.c_str(), options.get(), &file.raw_));
    return file;
  }
  /** Collective over `comm`. */
  static File open(MPI_Comm comm, const std::string& path, Mode mode = Mode::read, const Options& options = {}) {
    File file;
    check(windrow_open(comm, path.c_str(), static_cast<int>(mode), options.get(), &file.raw_));
    return file;
  }

  File(File&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)), exceptions_(other.exceptions_) {}
  File& operator=(File&& other) noexcept { return std::swap(raw_, other.raw_), *this; }
  ~File() { assert((raw_ == nullptr || std::uncaught_exceptions() > exceptions_) && "close() or discard() the file"); }

  /** Flush, publish and close.  Collective.  The handle is freed even on error. */
  void close() { check(windrow_close(std::exchange(raw_, nullptr))); }
  /** Close without publishing.  Collective. */
  void discard() { check(windrow_discard(std::exchange(raw_, nullptr))); }
  void sync() { check(windrow_sync(raw_)); }
  /** Strategy of the following flushes; without options, that of the open call.  Collective. */
  void set_strategy(const Options& options) { check(windrow_set_strategy(raw_, options.get())); }
  void set_strategy() { check(windrow_set_strategy(raw_, nullptr)); }
  void flush() { check(windrow_flush(raw_)); }
  void flush_begin() { check(windrow_flush_begin(raw_)); }
  void flush_end() { check(windrow_flush_end(raw_)); }
  bool is_open() const noexcept { return raw_ != nullptr; }
  windrow_file* get() const noexcept { return raw_; }

  void define_group(const std::string& path) { check(windrow_define_group(raw_, path.c_str())); }

  /** Names of a variable's dimensions, "" for none.  Collective. */
  void name_dimensions(int variable_number, const std::vector<std::string>& names) {
    std::vector<const char*> pointers;
    for (const std::string& name : names)
      pointers.push_back(name.c_str());
    check(windrow_name_dimensions_counted(raw_, variable_number, static_cast<int>(names.size()), pointers.data()));
  }
  std::vector<std::string> dimension_names(int variable_number) const {
    const windrow_variable_info info = variable(variable_number);
    return {info.dimension_names, info.dimension_names + info.ndims};
  }
  /** A dimension, as windrow_define_dimension().  Collective. */
  void define_dimension(const std::string& path, int64_t length) {
    check(windrow_define_dimension(raw_, path.c_str(), length));
  }

  /** A soft link.  Collective. */
  void define_link(const std::string& path, const std::string& target) {
    check(windrow_define_link(raw_, path.c_str(), target.c_str()));
  }
  /** enum windrow_kind of the object at a path.  Local. */
  int inquire_object(const std::string& path) const {
    int kind = WINDROW_NOTHING;
    check(windrow_inquire_object(raw_, path.c_str(), &kind));
    return kind;
  }

  /** Collective. @return its number, for put() and get(). */
  template <Element T>
  int define_variable(const std::string& path, Sizes shape) {
    return define_variable(path, type_of<T>(), shape);
  }
  int define_variable(const std::string& path, int type, Sizes shape) {
    int variable = -1;
    check(windrow_define_variable(raw_, path.c_str(), type, shape.count(), shape.data(), &variable));
    return variable;
  }
  int define_variable(const std::string& path, int type, Sizes shape, const Options& options) {
    int variable = -1;
    check(
        windrow_define_variable_with(raw_, path.c_str(), type, shape.count(), shape.data(), options.get(), &variable));
    return variable;
  }

  /** Several at once, with two collective operations in all; `definitions` as in C. */
  std::vector<int> define_variables(std::span<const windrow_variable_definition> definitions) {
    std::vector<int> variables(definitions.size());
    check(windrow_define_variables(raw_, static_cast<int>(definitions.size()), definitions.data(), variables.data()));
    return variables;
  }

  int find_variable(const std::string& path) const {
    int variable = -1;
    check(windrow_find_variable(raw_, path.c_str(), &variable));
    return variable;
  }
  int variable_count() const noexcept { return windrow_variable_count(raw_); }
  windrow_variable_info variable(int number) const {
    windrow_variable_info info{};
    check(inquire(number, info));
    return info;
  }
  std::vector<int64_t> shape(int number) const {
    const windrow_variable_info info = variable(number);
    return {info.shape, info.shape + info.ndims};
  }

  /** Queue.  Local.  `data` must exist, unchanged, until the flush. */
  template <Lasting Range>
  void put(int variable, const Decomposition& decomposition, Range&& data) {
    queue(problem_with("put", variable, decomposition, data),
          [&] { return windrow_put(raw_, variable, decomposition.get(), std::ranges::data(data)); });
  }
  /** Queue.  Local.  The flush fills `data`. */
  template <Lasting Range>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>) void get(
      int variable, const Decomposition& decomposition, Range&& data) {
    queue(problem_with("get", variable, decomposition, data),
          [&] { return windrow_get(raw_, variable, decomposition.get(), std::ranges::data(data)); });
  }
  /** put() of one index of the first dimension; the decomposition has the others.  Local. */
  template <Lasting Range>
  void put_record(int variable, int64_t record, const Decomposition& decomposition, Range&& data) {
    queue(problem_with("put_record", variable, decomposition, data, 1),
          [&] { return windrow_put_record(raw_, variable, record, decomposition.get(), std::ranges::data(data)); });
  }
  template <Lasting Range>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>) void get_record(
      int variable, int64_t record, const Decomposition& decomposition, Range&& data) {
    queue(problem_with("get_record", variable, decomposition, data, 1),
          [&] { return windrow_get_record(raw_, variable, record, decomposition.get(), std::ranges::data(data)); });
  }
  /** put() and get() with conversion to and from the variable's type.  Local. */
  template <Lasting Range>
  void put_as(int variable, const Decomposition& decomposition, Range&& data) {
    constexpr int type = type_of<std::ranges::range_value_t<Range>>();
    queue(size_problem("put_as", variable, decomposition, data, 0),
          [&] { return windrow_put_as(raw_, variable, decomposition.get(), type, std::ranges::data(data)); });
  }
  template <Lasting Range>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>) void get_as(
      int variable, const Decomposition& decomposition, Range&& data) {
    constexpr int type = type_of<std::ranges::range_value_t<Range>>();
    queue(size_problem("get_as", variable, decomposition, data, 0),
          [&] { return windrow_get_as(raw_, variable, decomposition.get(), type, std::ranges::data(data)); });
  }
  /** The same for one index of the first dimension; the decomposition has the others.  Local. */
  template <Lasting Range>
  void put_record_as(int variable, int64_t record, const Decomposition& decomposition, Range&& data) {
    constexpr int type = type_of<std::ranges::range_value_t<Range>>();
    queue(size_problem("put_record_as", variable, decomposition, data, 1), [&] {
      return windrow_put_record_as(raw_, variable, record, decomposition.get(), type, std::ranges::data(data));
    });
  }
  template <Lasting Range>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>) void get_record_as(
      int variable, int64_t record, const Decomposition& decomposition, Range&& data) {
    constexpr int type = type_of<std::ranges::range_value_t<Range>>();
    queue(size_problem("get_record_as", variable, decomposition, data, 1), [&] {
      return windrow_get_record_as(raw_, variable, record, decomposition.get(), type, std::ranges::data(data));
    });
  }
  /** put() and flush() in one.  Collective. */
  template <Lasting Range>
  void write(int variable, const Decomposition& decomposition, Range&& data) {
    move(problem_with("write", variable, decomposition, data),
         [&] { return windrow_write(raw_, variable, decomposition.get(), std::ranges::data(data)); });
  }
  /** get() and flush() in one.  Collective. */
  template <Lasting Range>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>) void read(
      int variable, const Decomposition& decomposition, Range&& data) {
    move(problem_with("read", variable, decomposition, data),
         [&] { return windrow_read(raw_, variable, decomposition.get(), std::ranges::data(data)); });
  }

  /** A block of a variable with the shape of the view, at `start` in the variable.  Collective. */
  template <Multidimensional View>
  void write_block(int variable, Sizes start, const View& view) {
    move_block("write_block", &windrow_write_block, variable, start, view);
  }
  template <Multidimensional View>
  void read_block(int variable, Sizes start, const View& view) {
    move_block("read_block", &windrow_read_block, variable, start, view);
  }

  /** All elements of a variable of variable-length text.  Collective; rank 0's are written, and their number is checked
   * there. */
  void put_texts(int variable_number, const std::vector<std::string>& texts) {
    std::vector<const char*> pointers;
    for (const std::string& text : texts)
      pointers.push_back(text.c_str());
    check(windrow_put_texts_counted(raw_, variable_number, static_cast<int64_t>(texts.size()), pointers.data()));
  }
  /** All elements of a variable of variable-length text, or the paths of references.  Collective. */
  std::vector<std::string> texts(int variable_number) {
    windrow_variable_info info{};
    const bool known = inquire(variable_number, info) == WINDROW_OK;  // otherwise refused by the call, on every rank
    std::vector<const char*> pointers(static_cast<size_t>(known ? info.elements : 0));
    check(windrow_get_texts(raw_, variable_number, pointers.data()));
    return strings(pointers);
  }

  /** Attributes: a number, a list of numbers, or a text.  Collective; rank 0's data is written. */
  template <Element T>
  void put_attribute(const std::string& object, const std::string& name, T value) {
    check(windrow_put_attribute(raw_, object.c_str(), name.c_str(), type_of<T>(), 0, nullptr, &value));
  }
  template <Element T>
  requires(!std::same_as<T, bool>)  // std::vector<bool> is not contiguous
      void put_attribute(const std::string& object, const std::string& name, const std::vector<T>& values) {
    const int64_t count = static_cast<int64_t>(values.size());
    check(windrow_put_attribute(raw_, object.c_str(), name.c_str(), type_of<T>(), 1, &count, values.data()));
  }
  void put_attribute(const std::string& object, const std::string& name, const std::string& text) {
    check(windrow_put_attribute_text(raw_, object.c_str(), name.c_str(), text.c_str()));
  }
  void put_attribute(const std::string& object, const std::string& name, const char* text) {
    check(windrow_put_attribute_text(raw_, object.c_str(), name.c_str(), text));
  }
  /** References to existing objects, by their paths; attribute_text() reads the paths.  Collective; rank 0's are
   * written. */
  void put_attribute_references(const std::string& object, const std::string& name,
                                const std::vector<std::string>& paths) {
    std::vector<const char*> pointers;
    for (const std::string& path : paths)
      pointers.push_back(path.c_str());
    const int64_t count = static_cast<int64_t>(paths.size());
    check(windrow_put_attribute(raw_, object.c_str(), name.c_str(), WINDROW_REFERENCE, 1, &count, pointers.data()));
  }

  void delete_attribute(const std::string& object, const std::string& name) {
    check(windrow_delete_attribute(raw_, object.c_str(), name.c_str()));
  }

  /** Copy an attribute as stored in another file.  Collective over this file. */
  void copy_attribute(const std::string& object, const File& from, const std::string& from_object,
                      const std::string& name) {
    check(windrow_copy_attribute(raw_, object.c_str(), from.raw_, from_object.c_str(), name.c_str()));
  }

  /** All elements of an attribute, in C order; one for a scalar.  Local.  @throws Error: no such attribute, or another
   * type. */
  template <Element T>
  requires(!std::same_as<T, bool>) std::vector<T> attribute(const std::string& object, const std::string& name)
  const {
    std::vector<T> values(static_cast<size_t>(find_attribute(object, name).elements));
    check(windrow_get_attribute(raw_, object.c_str(), name.c_str(), type_of<T>(), values.data()));
    return values;
  }
  std::vector<bool> attribute_bool(const std::string& object, const std::string& name) const {
    std::vector<unsigned char> values(static_cast<size_t>(find_attribute(object, name).elements));
    check(windrow_get_attribute(raw_, object.c_str(), name.c_str(), WINDROW_BOOL, values.data()));
    return {values.begin(), values.end()};
  }
  /** All strings of a text attribute, or all paths of a reference attribute.  Local. */
  std::vector<std::string> attribute_text(const std::string& object, const std::string& name) const {
    const windrow_attribute_info info = find_attribute(object, name);
    std::vector<const char*> texts(static_cast<size_t>(info.elements));
    const int type = info.type == WINDROW_REFERENCE ? info.type : WINDROW_TEXT;
    check(windrow_get_attribute(raw_, object.c_str(), name.c_str(), type, texts.data()));
    return strings(texts);
  }
  /** Local.  @throws Error: no such object or attribute. */
  windrow_attribute_info find_attribute(const std::string& object, const std::string& name) const {
    const int attributes = windrow_attribute_count(raw_, object.c_str());
    for (int i = 0; i < attributes; ++i) {
      windrow_attribute_info info{};
      info.size = sizeof info;
      check(windrow_inquire_attribute(raw_, object.c_str(), i, &info));
      if (name == info.name)
        return info;
    }
    check(windrow_get_attribute(raw_, object.c_str(), name.c_str(), 0,
                                nullptr));  // reports what is missing: the file, the object or the attribute
    return {};
  }

  /** Grids, meshes and fields for viewers.  Collective.  @return the grid's number, for xdmf_field(). */
  int xdmf_uniform_grid(const std::string& name, std::optional<double> time, Sizes nodes,
                        const std::vector<double>& origin, const std::vector<double>& spacing) {
    const auto dimensions = static_cast<size_t>(nodes.count());
    // Inconsistent lists are refused by the call, so that every rank gets the error.
    const bool fit = origin.size() == dimensions && spacing.size() == dimensions;
    int grid = -1;
    check(windrow_xdmf_uniform_grid(raw_, name.c_str(), number(time), fit ? nodes.count() : -1, nodes.data(),
                                    origin.data(), spacing.data(), &grid));
    return grid;
  }
  int xdmf_rectilinear_grid(const std::string& name, std::optional<double> time, const std::vector<int>& coordinates) {
    int grid = -1;
    const int dimensions = static_cast<int>(coordinates.size());
    check(windrow_xdmf_rectilinear_grid(raw_, name.c_str(), number(time), dimensions, coordinates.data(), &grid));
    return grid;
  }
  int xdmf_curvilinear_grid(const std::string& name, std::optional<double> time, int coordinates) {
    int grid = -1;
    check(windrow_xdmf_curvilinear_grid(raw_, name.c_str(), number(time), coordinates, &grid));
    return grid;
  }
  /** `cells`: for Cell::mixed only. */
  int xdmf_mesh(const std::string& name, std::optional<double> time, Cell cell, int connectivity, int coordinates,
                int64_t cells = 0) {
    int grid = -1;
    check(windrow_xdmf_mesh(raw_, name.c_str(), number(time), static_cast<int>(cell), connectivity, cells, coordinates,
                            &grid));
    return grid;
  }
  void xdmf_field(int grid, const std::string& name, Center center, int variable) {
    check(windrow_xdmf_field(raw_, grid, name.c_str(), static_cast<int>(center), variable));
  }

  /** The plan, as "text" or "json".  Collective. */
  std::string explain(const std::string& format = "text") const {
    const char* text = "";
    check(windrow_explain(raw_, format.c_str(), &text));
    return text;
  }
  /** What the last flush did, as "text" or "json".  Local. */
  std::string report(const std::string& format = "text") const {
    const char* text = "";
    check(windrow_report(raw_, format.c_str(), &text));
    return text;
  }

 private:
  File() = default;
  static double number(std::optional<double> time) noexcept {
    return time.value_or(std::numeric_limits<double>::quiet_NaN());
  }
  // Whether a view is contiguous, and its shape.
  template <class View>
  static bool is_block(const View& view, std::vector<int64_t>& count) {
    bool follows = true;
    int64_t step = 1;
    count.resize(static_cast<size_t>(View::rank()));
    for (int i = static_cast<int>(View::rank()) - 1; i >= 0; --i) {
      const auto extent = static_cast<int64_t>(view.extent(i));
      count[static_cast<size_t>(i)] = extent;
      follows = follows && (extent < 2 || static_cast<int64_t>(view.stride(i)) == step);
      step *= extent;
    }
    return follows || step == 0;
  }
  template <class View>
  static std::string view_problem(const windrow_variable_info& info, const Sizes& start, const View& view,
                                  std::vector<int64_t>& count) {
    using T = std::remove_cvref_t<decltype(*pointer_of(view))>;
    const bool follows = is_block(view, count);
    if (!fits_type<T>(info))
      return type_message<T>(info);
    if (start.count() != info.ndims || static_cast<int>(View::rank()) != info.ndims)
      return name_of(info) + " has " + std::to_string(info.ndims) + " dimensions, the start " +
             std::to_string(start.count()) + " and the view " + std::to_string(View::rank());
    return follows ? "" : name_of(info) + ": the view has gaps, or its last dimension is not the fastest";
  }
  template <class Call, class View>
  void move_block(const char* name, Call&& call, int variable_number, const Sizes& start, const View& view) {
    static constexpr std::array<int64_t, WINDROW_MAX_DIMENSIONS> nothing{};
    windrow_variable_info info{};
    std::vector<int64_t> count;
    const bool known = describe(variable_number, info);
    const std::string problem = known ? view_problem(info, start, view, count) : "";
    if (known && problem.empty())
      return check(call(raw_, variable_number, start.data(), count.data(), pointer_of(view)));
    // A rank with invalid arguments takes part with an empty block, so that every rank gets the error.
    if (!problem.empty())
      (void)windrow_refuse(raw_, (std::string(name) + ": " + problem).c_str());
    check(call(raw_, variable_number, nothing.data(), nothing.data(), nullptr));
  }
  static std::vector<std::string> strings(const std::vector<const char*>& texts) {
    std::vector<std::string> result;
    for (const char* text : texts)
      result.emplace_back(text == nullptr ? "" : text);  // NULL after an error
    return result;
  }
  static std::string name_of(const windrow_variable_info& info) {
    return std::string("variable \"") + (info.path == nullptr ? "" : info.path) + "\"";
  }
  template <Element T>
  static std::string type_message(const windrow_variable_info& info) {
    return name_of(info) + " has elements of type " + windrow_type_name(info.type) + ", the data of type " +
           windrow_type_name(type_of<T>());
  }
  template <Element T>
  static bool fits_type(const windrow_variable_info& info) {
    if (std::same_as<T, char> && info.type == WINDROW_TEXT && info.element_bytes > 0)
      return true;
    if (std::same_as<T, unsigned char> && info.type == WINDROW_OPAQUE)
      return true;
    return info.type == type_of<T>();
  }
  // For collective calls, which must not fail before the other ranks know of the error.
  int inquire(int variable_number, windrow_variable_info& info) const {
    info.size = sizeof info;
    return windrow_inquire_variable(raw_, variable_number, &info);
  }
  // False: there are no elements, or the library itself refuses the call.
  bool describe(int variable_number, windrow_variable_info& info) const {
    return inquire(variable_number, info) == WINDROW_OK && info.unsupported[0] == '\0' && info.is_null == 0;
  }
  // Errors that the library cannot detect: another type, or too few elements.  Empty: none.  `first`: 1 for a record.
  template <class Range>
  std::string problem_with(const char* call, int variable_number, const Decomposition& decomposition, const Range& data,
                           int first = 0) const {
    using T = std::ranges::range_value_t<Range>;
    windrow_variable_info info{};
    if (!describe(variable_number, info))
      return {};
    if (!fits_type<T>(info))
      return std::string(call) + ": " + type_message<T>(info);
    return size_problem(call, variable_number, decomposition, data, first);
  }
  template <class Range>
  std::string size_problem(const char* call, int variable_number, const Decomposition& decomposition, const Range& data,
                           int first) const {
    windrow_variable_info info{};
    int64_t needed = 0;
    if (!describe(variable_number, info) || info.ndims < first)
      return {};
    if (windrow_decomposition_memory(decomposition.get(), info.ndims - first, info.shape + first, &needed) !=
        WINDROW_OK)
      return {};
    // Text and opaque elements are handled as bytes.
    const int64_t parts =
        info.type == WINDROW_TEXT || info.type == WINDROW_OPAQUE ? std::max<int64_t>(1, info.element_bytes) : 1;
    needed =
        needed > std::numeric_limits<int64_t>::max() / parts ? std::numeric_limits<int64_t>::max() : needed * parts;
    const auto given = static_cast<int64_t>(std::ranges::size(data));
    if (given >= needed)
      return {};
    return std::string(call) + " of " + name_of(info) + ": the data has " + std::to_string(given) +
           (given == 1 ? " element" : " elements") + ", and the decomposition asks for " + std::to_string(needed) +
           " on this rank";
  }
  // Calls the library, or makes the next flush fail on every rank.  Local.
  template <class Call>
  void queue(const std::string& problem, Call&& call) {
    check(problem.empty() ? call() : windrow_refuse(raw_, problem.c_str()));
  }
  // The same for a collective call, in which the other ranks wait for the flush.
  template <class Call>
  void move(const std::string& problem, Call&& call) {
    if (!problem.empty())
      (void)windrow_refuse(raw_, problem.c_str());
    check(problem.empty() ? call() : windrow_flush(raw_));
  }

  windrow_file* raw_ = nullptr;
  int exceptions_ = std::uncaught_exceptions();
};

/** windrow_copy(): copies a whole file.  `refused`, `changed` and `details` of the result are valid until this thread's
 * next copy. */
inline windrow_copy_info copy_file(MPI_Comm comm, const std::string& source, const std::string& target,
                                   const Options& options = {}) {
  windrow_copy_info info{};
  info.size = sizeof info;
  check(windrow_copy(comm, source.c_str(), target.c_str(), options.get(), &info));
  return info;
}

}  // namespace api or status_api
}  // namespace windrow
