// SPDX-License-Identifier: BSD-3-Clause
// Format: variables to bytes of a file. One of the three seams: a new format is a new folder here with a FORMAT.md and
// one line in the table of format.cpp. A format object lives on rank 0 only and touches metadata only; the bytes of the
// variables are moved by others, at the places that a format names. Knows nothing of MPI or exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "extent/extent.hpp"
#include "extent/split.hpp"
#include "filter/filter.hpp"
#include "storage/store.hpp"

namespace windrow {

// The numbers are those of enum windrow_type (windrow.h). none: a type that we cannot read yet.
enum class Type : int {
  none = 0,
  int8 = 1,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  text,
  boolean,
  complex64,
  complex128,
  opaque,
  reference,
  float16
};
inline constexpr Type k_last_type = Type::float16;
int64_t type_size(Type type) noexcept;       // 0 for none, text, opaque and reference
int64_t component_size(Type type) noexcept;  // what a byte order is of: half a complex number; 1 for text and opaque
const char* type_name(Type type) noexcept;   // "int8" ... "float64", "text", "bool", ..., "float16", "none"

struct TemporaryFile;

// Where a variable's bytes lie: contiguous, in C order; or each record (index of the first dimension) for itself.
struct Placement {
  int64_t offset = -1;  // from the file's start; -1: not stored contiguously, or nothing to store, or not known yet
  int64_t bytes = 0;    // of all elements, without what lies between records
  bool big_endian = false;
  int64_t stride = 0;  // from one record to the next; 0: contiguous
  friend bool operator==(const Placement&, const Placement&) = default;
};

// How a variable is cut into chunks (extent/chunks.hpp), each stored for itself, its bytes filtered. No shape: it is
// not.
struct Chunking {
  std::vector<int64_t> shape;     // [dimensions of the variable] elements of a chunk
  std::vector<Filter> filters;    // in the order in which they encode
  bool edges_unfiltered = false;  // chunks that reach over the array's end, as it is now, are stored as they are
  bool empty() const noexcept { return shape.empty(); }
  friend bool operator==(const Chunking&, const Chunking&) = default;
};

// Where the stored bytes of a chunk lie.
struct ChunkPlace {
  int64_t offset = -1;  // -1: it was never written
  int64_t bytes = 0;
  uint32_t skipped = 0;  // bit i: filter i was left out for this chunk
};

// What a chunk got that is to be written.
struct PlacedChunk {
  int64_t offset = -1;
  bool is_new = false;  // it had no place before
};

// How a text shorter than its fixed length is filled up.
enum class TextPadding : int {
  null_terminated = 0,
  null_padded = 1,
  space_padded = 2
};

const char* padding_name(TextPadding padding) noexcept;  // "null_padded", ...
std::optional<TextPadding> padding_called(std::string_view name) noexcept;

// What a type's name does not say of the elements of a variable.
struct Details {
  int64_t bytes = 0;  // of one element of opaque, or of text; 0: other types, and text of variable length
  bool text_ascii = false;
  TextPadding text_padding = TextPadding::null_padded;
  std::string tag = {};          // opaque: what the bytes are
  std::string enumeration = {};  // "", or of integers the names: "NAME=value", one a line
  friend bool operator==(const Details&, const Details&) = default;
};

struct Attribute {
  std::string name;
  Type type = Type::none;
  std::vector<int64_t> shape;      // empty: a scalar
  std::vector<std::byte> data;     // native order; empty for text and references
  std::vector<std::string> texts;  // text, one an element; references: the paths that they point to
  std::string unsupported;         // "" or why it cannot be read yet
  // How it is stored, so that a copy is faithful. Numbers: the byte order. Texts: variable length or fixed, the
  // padding, the character set.
  bool big_endian = false;
  bool text_variable_length = true;
  bool text_ascii = false;
  int64_t text_size = 0;  // fixed length: stored bytes of each; 0: as the longest text needs
  TextPadding text_padding = TextPadding::null_terminated;
  int64_t opaque_bytes = 0;  // opaque: of one element
  std::string tag;           // opaque, as in Details
  std::string enumeration;   // integers, as in Details
  bool null_space = false;   // no elements, and no shape either
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

struct Variable {
  std::string path;  // "/group/name"
  Type type = Type::none;
  std::vector<int64_t> shape;
  Placement placement;
  std::vector<Attribute> attributes;
  std::string unsupported;           // "" or why it cannot be read yet
  std::vector<std::byte> fill = {};  // an element that was never written, as stored; empty: zeros
  bool held = false;                 // the file has no place for its elements alone, or none at all yet
  std::vector<std::byte> content =
      {};  // held: the elements, as stored; empty: nothing was ever written, and a put gives it a place
  Chunking chunking = {};
  bool extendible = false;  // the first dimension may grow
  Details details = {};
  bool null_space = false;  // no elements, and no shape either
  std::vector<std::string> dimensions =
      {};  // empty, or for each dimension the path of what it is named by; "": nothing
  friend bool operator==(const Variable&, const Variable&) = default;
};

struct Group {
  std::string path;  // "/" for the root
  std::vector<Attribute> attributes;
  friend bool operator==(const Group&, const Group&) = default;
};

// A name that leads to another path, which need not be there; relative to the group that it is in unless it begins with
// a slash.
struct SoftLink {
  std::string path;
  std::string target;
  bool is_hard = false;  // in the file it is a second name of the object
  friend bool operator==(const SoftLink&, const SoftLink&) = default;
};

// A dimension's name that no variable has. One that a variable of that name and length has is that variable.
struct Dimension {
  std::string path;
  int64_t length = 0;
  bool grows = false;  // told when it is defined: it is without end
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

// All that a file says of itself, without the variables' bytes. Plain data: rank 0 sends it to all ranks.
struct Catalog {
  std::vector<Group> groups;        // the root first; parents before children
  std::vector<Variable> variables;  // in the order of definition, or of the file's names when opened
  std::vector<std::string>
      unsupported;  // "path: reason" of objects that are none of these (external links, named types, ...)
  std::vector<SoftLink> links;
  std::vector<Dimension> dimensions;
  friend bool operator==(const Catalog&, const Catalog&) = default;
};

struct VariableDefinition {
  std::string path;
  Type type = Type::none;
  std::vector<int64_t> shape;
  bool big_endian = false;
  Chunking chunking = {};
  bool extendible = false;  // needs chunks
  Details details = {};
  bool null_space = false;
  std::vector<std::byte> fill = {};  // as in Variable
  SplitRequest split = {};           // axes "none": it is not to be split
  bool split_asked = false;          // for this variable, not for the file: what cannot be split is an error then
  int64_t subfiles = 0;              // asked for this variable; 1: it is not to be split, 0: as many as the file says
  friend bool operator==(const VariableDefinition&, const VariableDefinition&) = default;
};

// A box of a variable that lies in another file, as all of the variable of the same path there.
struct Part {
  std::string file;  // relative to the folder of the file that names it
  Box box;
  friend bool operator==(const Part&, const Part&) = default;
};

int64_t element_bytes(Type type, const Details& details) noexcept;

// Texts of variable length and references have no place of their own: they are written and read as a whole by the
// format.
bool is_moved_whole(Type type, const Details& details) noexcept;

struct FormatOptions {
  int64_t alignment = 1;  // variables of at least alignment_threshold bytes begin at a multiple of this
  int64_t alignment_threshold = 65536;
  int netcdf_version = 0;   // 1, 2 or 5; 0: the smallest that holds the file
  int64_t header_room = 0;  // bytes left free at least behind a header that data follow
  int64_t record_alignment =
      4;                 // the first record begins at a multiple of this, where records of variables are interleaved
  bool durable = false;  // a flush that changes a file in place puts its steps onto stable storage in their order
  friend bool operator==(const FormatOptions&, const FormatOptions&) = default;
};

// In what a format is unlike others, where that matters outside of it.
struct FormatTraits {
  bool places_late = false;       // lay_out() finds the places of variables, and may move them
  bool grows_as_one = false;      // variables that grow have one length and no chunks
  bool big_endian = false;        // all numbers are
  bool names_dimensions = false;  // a dimension is a name and a length, which name_dimensions() makes; one of another
                                  // length gets another name
  friend bool operator==(const FormatTraits&, const FormatTraits&) = default;
};

// Where variables go, in the order of the catalog.
struct Layout {
  std::vector<Placement> placements;
  bool moves = false;  // some that had a place get another
};

class Format {
 public:
  virtual ~Format() = default;
  virtual Status define_group(const std::string& path) = 0;                             // parents exist
  virtual Result<Placement> define_variable(const VariableDefinition& definition) = 0;  // parents exist
  virtual bool can_split() const noexcept { return false; }                             // whether it has the next one
  // Takes back what was defined last, to which nothing has been written: a variable, or a group without members.
  // `records`: of those that grow as one, without it.
  virtual Status undefine(const std::string& path, int64_t records) = 0;
  // A variable without bytes of its own, whose shape the catalog tells nevertheless. Where the format has such a thing,
  // other programs see one array, and where a part cannot be read a value that nobody takes for data.
  // Code::unsupported: the format cannot split.
  virtual Status define_split(const VariableDefinition& definition, std::span<const Part> parts);
  // Where other programs find the elements of such a variable, in the order of their definition. Code::unsupported:
  // they see no array.
  virtual Result<std::vector<Part>> parts_of(const std::string& path);
  virtual Status put_attribute(const std::string& object, const Attribute& attribute) = 0;  // replaces
  virtual Status put_attributes(const std::string& object,
                                std::span<const Attribute> attributes);  // up to the first that is refused
  virtual Status delete_attribute(const std::string& object, const std::string& name) = 0;
  virtual Status define_link(const SoftLink& link) = 0;             // the group that it is in exists
  virtual Status define_dimension(const Dimension& dimension) = 0;  // the group that it is in exists
  // As Variable::dimensions, once for a variable; what they name is there. A variable among them has one dimension,
  // named by itself.
  virtual Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) = 0;
  // All elements of a variable that is_moved_whole(), in C order. Code::bad_argument: it is not; unsupported: too many.
  virtual Result<std::vector<std::string>> read_texts(const std::string& path) = 0;
  virtual Status write_texts(const std::string& path, const std::vector<std::string>& texts) = 0;
  virtual Result<Catalog> catalog() = 0;  // of an opened file
  // Makes the first dimension of an extendible variable so long. Of one whose edges are unfiltered it filters chunks
  // that are inside now, so what others write to the file has to be there. Code::unsupported: the format has none.
  virtual Status extend(const std::string& path, std::span<const int64_t> shape);
  // Of a format that grows as one, before anything changes: of the records in the file there are no more than these,
  // and behind them and the variables the file ends, so that what comes there later is zero until somebody writes it.
  // Code::unsupported: it does not grow as one.
  virtual Status cut(int64_t records);
  // The offset of a held variable without content, which has a place from now on; its elements are what they were.
  // Code::unsupported: the format has none such.
  virtual Result<int64_t> give_place(const std::string& path);
  // All elements of a held variable with content, as stored. Code::unsupported: the format has none such.
  virtual Status write_held(const std::string& path, std::span<const std::byte> content);
  // Room for a chunk that has so many bytes once it is encoded, by all filters, in place of what it had before, and its
  // offset; the bytes are written by others. `first`: its first element. `keep_old`: there is more in it than is
  // written anew, so what a flush() has published of it stays in its place until the next, and what it is otherwise
  // until settle_chunks(). Code::unsupported: the format has no chunks.
  virtual Result<PlacedChunk> place_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes,
                                          bool keep_old);
  // The offset that a chunk without filters, which is not there yet, will have. Until place_chunk() or fill_chunk()
  // find_chunk() does not find it, and place_chunk() calls it new. Code::unsupported: the format has no chunks.
  virtual Result<int64_t> reserve_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes);
  // After writes that failed: a chunk that place_chunk() has moved since settle_chunks(), with `keep_old`, is what it
  // was again; others stay as they are. Whoever was to write it has written, or never will. Code::io: it is not, and
  // nothing more is written to the file.
  virtual Status restore_chunk(const std::string& path, std::span<const int64_t> first);
  // After writes that failed: what a chunk holds that is_new was told of, so that the variable can be read. Code::io:
  // it is not there, and the chunk is as it was.
  virtual Status fill_chunk(const std::string& path, std::span<const int64_t> first, std::span<const std::byte> bytes);
  // The chunks that have got places are written, or restored: what they were is not asked for any more.
  virtual void settle_chunks() noexcept {}
  // Where a chunk lies.
  virtual Result<ChunkPlace> find_chunk(const std::string& path, std::span<const int64_t> first);
  // First elements of the chunks of a variable that are stored, one after the other, in no order. Code::unsupported:
  // the format has no chunks, or takes too long.
  virtual Result<std::vector<int64_t>> stored_chunks(const std::string& path);
  virtual FormatTraits traits() const noexcept { return {}; }
  // Gives variables of a file that was created what its readers find there and nobody has asked for: names of
  // dimensions, and attributes.
  virtual Status tell_as_stored(std::vector<Variable>&) { return {}; }
  // Of a format that places late: to be called after definitions, before the variables' bytes are moved. What does not
  // move is in force at once. Else the file has to be written anew: write_anew() puts all but the variables' bytes into
  // another file, which is empty; others copy these; take_layout() then makes that file the format's own. Until then,
  // and where it is not called, the file is as it was.
  virtual Result<Layout> lay_out();
  virtual Status write_anew(std::unique_ptr<Store> file);
  virtual void take_layout() noexcept {}
  // The file that was created has this name from now on: others may open it, and what they find stays readable at any
  // moment.
  virtual void take_name(std::string) noexcept {}
  // What was changed since the last flush() does not come into the file. To be called before a close() whose status
  // nobody wants.
  virtual void drop_changes() noexcept {}
  virtual Status flush() = 0;  // metadata handed to the operating system; all of it or, where that fails or the process
                               // is killed, nothing
  virtual Status close() = 0;  // flush and close; once; the file is complete and has its full size
};

enum class FormatMode {
  read,
  update,
  create
};
StoreMode store_mode(FormatMode mode) noexcept;

// `name`: "hdf5", "netcdf" or "raw"; Code::unsupported when it is not built in. Files beside `path` that belong to it
// (a sidecar) are named by format_sidecars(). `opened`: the file as find_format() has found and opened it in the same
// mode; or none, and it is opened here.
Result<std::unique_ptr<Format>> open_format(std::string_view name, const std::string& path, FormatMode mode,
                                            const FormatOptions& options, std::unique_ptr<Store> opened = nullptr);

// The format that a path's name asks for ("" when the name does not say), and the one that a file's first bytes (or its
// sidecar) show, built in or not. Code::bad_file: none of ours.
std::string format_of_name(std::string_view path);
Result<std::string> format_of_file(const std::string& path);

// The same with the file, open to be read or changed, so that it need not be opened again.
struct FoundFormat {
  std::string name;
  std::unique_ptr<Store> store;
};
Result<FoundFormat> find_format(const std::string& path, FormatMode mode);

// Files that are published together with `path`, e.g. the raw format's sidecar.
std::vector<std::string> format_sidecars(std::string_view name, const std::string& path);

// Of a finished temporary: a sidecar that describes whichever file has the final name, the temporary's or the one that
// is there now. It is written beside the temporary, and is to be renamed to the sidecar's name before the temporary,
// and the temporary's own sidecar after it. "": no other file has the name, or the format has no sidecars.
Result<std::string> write_interim_sidecar_file(std::string_view name, const TemporaryFile& temporary);

int64_t row_bytes(const Variable& variable) noexcept;  // of one index of its first dimension
// Behind the last byte of what has a place.
int64_t end_of(std::span<const Variable> variables) noexcept;

std::span<const std::string_view> format_names() noexcept;

}  // namespace windrow
