// SPDX-License-Identifier: BSD-3-Clause
// Format: the interface of a file format, which maps variables to bytes of a file. A new format is a new folder here
// with a FORMAT.md, and one line in the table of format.cpp. A format object exists on rank 0 only, or on the owner of
// a subfile, and handles metadata only. Other modules move the bytes of the variables, at the offsets that the format
// returns. It does not depend on MPI or exchange.
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
#include "extent/boxes.hpp"
#include "extent/extent.hpp"
#include "extent/split.hpp"
#include "filter/filter.hpp"
#include "storage/store.hpp"

namespace windrow {

// The numbers are those of enum windrow_type (windrow.h). none: an unsupported type.
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
int64_t component_size(Type type) noexcept;  // unit of the byte order: half a complex number; 1 for text and opaque
const char* type_name(Type type) noexcept;   // "int8" ... "float64", "text", "bool", ..., "float16", "none"

struct TemporaryFile;

// Place of a variable's bytes: contiguous in C order, or one range per record (index of the first dimension).
struct Placement {
  int64_t offset = -1;  // from the start of the file; -1: not contiguous, empty, or not known yet
  int64_t bytes = 0;    // size of all elements, without the gaps between records
  bool big_endian = false;
  int64_t stride = 0;  // from one record to the next; 0: contiguous
  bool is_known() const noexcept { return offset >= 0; }
  bool has_bytes() const noexcept { return is_known() && bytes != 0; }
  friend bool operator==(const Placement&, const Placement&) = default;
};

// Division of a variable into chunks (extent/chunks.hpp), which are stored and filtered separately. An empty shape: not
// chunked.
struct Chunking {
  std::vector<int64_t> shape;     // [dimensions of the variable] elements of a chunk
  std::vector<Filter> filters;    // in the order of encoding
  bool edges_unfiltered = false;  // chunks that extend beyond the current shape are stored without filters
  bool empty() const noexcept { return shape.empty(); }
  friend bool operator==(const Chunking&, const Chunking&) = default;
};

// Place of the stored bytes of a chunk.
struct ChunkPlace {
  int64_t offset = -1;  // -1: it was never written
  int64_t bytes = 0;
  uint32_t skipped = 0;  // bit i: filter i was skipped for this chunk
};

// Result of allocating a chunk.
struct PlacedChunk {
  int64_t offset = -1;
  bool is_new = false;  // it was not allocated before
};

// Padding of a text that is shorter than its fixed length.
enum class TextPadding : int {
  null_terminated = 0,
  null_padded = 1,
  space_padded = 2
};

const char* padding_name(TextPadding padding) noexcept;  // "null_padded", ...
std::optional<TextPadding> padding_called(std::string_view name) noexcept;

// Properties of elements that the type does not include.
struct Details {
  int64_t bytes = 0;  // of one opaque or text element; 0: other types, and text of variable length
  bool text_ascii = false;
  TextPadding text_padding = TextPadding::null_padded;
  std::string tag = {};          // opaque: description of the bytes
  std::string enumeration = {};  // names of integer values: "NAME=value", one per line; or ""
  friend bool operator==(const Details&, const Details&) = default;
};

struct Attribute {
  std::string name;
  Type type = Type::none;
  std::vector<int64_t> shape;      // empty: a scalar
  std::vector<std::byte> data;     // native order; empty for text and references
  std::vector<std::string> texts;  // text: one per element; references: the paths of their targets
  std::string unsupported;         // why it cannot be read yet, or ""
  // Storage properties, so that a copy is faithful. Numbers: the byte order. Texts: variable or fixed length, padding,
  // character set.
  bool big_endian = false;
  bool text_variable_length = true;
  bool text_ascii = false;
  int64_t text_size = 0;  // fixed length: stored bytes of each; 0: the longest text
  TextPadding text_padding = TextPadding::null_terminated;
  int64_t opaque_bytes = 0;  // opaque: bytes of one element
  std::string tag;           // opaque, as in Details
  std::string enumeration;   // integers, as in Details
  bool null_space = false;   // neither elements nor a shape
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

struct Variable {
  std::string path;  // "/group/name"
  Type type = Type::none;
  std::vector<int64_t> shape;
  Placement placement;
  std::vector<Attribute> attributes;
  std::string unsupported;              // why it cannot be read yet, or ""
  std::vector<std::byte> fill = {};     // element that was never written, as stored; empty: zeros
  bool is_inline = false;               // inline (elements in metadata), or not allocated yet
  std::vector<std::byte> content = {};  // inline: the elements as stored; empty: never written, and a put allocates it
  Chunking chunking = {};
  bool extendible = false;  // the first dimension can grow
  Details details = {};
  bool null_space = false;                   // neither elements nor a shape
  std::vector<std::string> dimensions = {};  // empty, or for each dimension the path of its name; "": none

  // How it is stored, or how its parts are: in chunks, in records between those of other variables, or contiguous.
  bool is_chunked() const noexcept { return !chunking.empty(); }
  bool is_interleaved() const noexcept { return extendible && !is_chunked(); }
  bool lacks_place() const noexcept { return is_inline && content.empty(); }  // until a put allocates it
  int64_t records() const noexcept { return extendible ? shape.front() : 0; }
  friend bool operator==(const Variable&, const Variable&) = default;
};

struct Group {
  std::string path;  // "/" for the root
  std::vector<Attribute> attributes;
  friend bool operator==(const Group&, const Group&) = default;
};

// A name that refers to another path, which need not exist. The path is relative to the link's group unless it begins
// with a slash.
struct SoftLink {
  std::string path;
  std::string target;
  bool is_hard = false;  // the file has a second hard link to the object
  friend bool operator==(const SoftLink&, const SoftLink&) = default;
};

// The name of a dimension without a variable. A dimension with a variable of that name and length is that variable.
struct Dimension {
  std::string path;
  int64_t length = 0;
  bool grows = false;  // when it is defined: it is unlimited
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

// All metadata of a file. Plain data: rank 0 sends it to all ranks.
struct Catalog {
  std::vector<Group> groups;        // the root first; parents before children
  std::vector<Variable> variables;  // in the order of definition, or of the file's names when opened
  std::vector<std::string>
      unsupported;  // "path: reason" of objects that cannot be read (external links, named types, ...)
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
  SplitRequest split = {};           // axes "none": do not split
  bool split_asked = false;  // requested for this variable, not for the file: if it cannot be split, that is an error
  int64_t subfiles = 0;      // requested for this variable; 1: do not split, 0: as many as the file requests
  friend bool operator==(const VariableDefinition&, const VariableDefinition&) = default;
};

// A box of a variable that is stored in another file, as a whole variable of the same path.
struct Part {
  std::string file;  // relative to the folder of the referring file
  Box box;
  friend bool operator==(const Part&, const Part&) = default;
};

int64_t element_bytes(Type type, const Details& details) noexcept;

// Texts of variable length and references have no place of their own. The format writes and reads them as a whole.
bool is_moved_whole(Type type, const Details& details) noexcept;

struct FormatOptions {
  int64_t alignment = 1;  // variables of at least alignment_threshold bytes begin at a multiple of this
  int64_t alignment_threshold = 65536;
  int netcdf_version = 0;   // 1, 2 or 5; 0: the smallest that holds the file
  int64_t header_room = 0;  // minimum free space after a header that data follow
  int64_t record_alignment =
      4;                 // the first record begins at a multiple of this, where records of variables are interleaved
  bool durable = false;  // a flush that changes a file in place syncs its steps in order
  friend bool operator==(const FormatOptions&, const FormatOptions&) = default;
};

// Differences between formats that other modules need to know.
struct FormatTraits {
  bool places_late = false;   // late allocation: lay_out() places variables, and may move them
  bool grows_as_one = false;  // all extendible variables have the same number of records, and no chunks
  bool big_endian = false;    // all numbers are big-endian
  // a dimension is a name and a length, made by name_dimensions(); one of another length gets another name
  bool names_dimensions = false;
  bool joins_parts = false;  // other programs find the parts of split variables through the base file
  friend bool operator==(const FormatTraits&, const FormatTraits&) = default;
};

// Places of the variables, in the order of the catalog.
struct Layout {
  std::vector<Placement> placements;
  bool moves = false;  // some variables that were placed move
};

class Format {
 public:
  virtual ~Format() = default;
  virtual Status define_group(const std::string& path) = 0;                             // parents exist
  virtual Result<Placement> define_variable(const VariableDefinition& definition) = 0;  // parents exist
  virtual bool can_split() const noexcept { return false; }  // whether define_split() is supported
  // Reverts the last definition, to which nothing was written: a variable, or a group without members. `records`: the
  // number of records without it, if all extendible variables have the same.
  virtual Status undefine(const std::string& path, int64_t records) = 0;
  // Defines a variable without bytes of its own, whose shape is still in the catalog. If the format supports it, other
  // programs see one array; a part that cannot be read then has a value that is clearly not data. Code::unsupported:
  // the format does not support split variables.
  virtual Status define_split(const VariableDefinition& definition, std::span<const Part> parts);
  // Returns the files and boxes in which other programs find the elements of a split variable, in the order of
  // definition. Code::unsupported if they do not see one array.
  virtual Result<std::vector<Part>> parts_of(const std::string& path);
  virtual Status put_attribute(const std::string& object, const Attribute& attribute) = 0;  // replaces an existing one
  virtual Status put_attributes(const std::string& object,
                                std::span<const Attribute> attributes);  // stops at the first error
  virtual Status delete_attribute(const std::string& object, const std::string& name) = 0;
  virtual Status define_link(const SoftLink& link) = 0;             // the group of the link exists
  virtual Status define_dimension(const Dimension& dimension) = 0;  // the group of the dimension exists
  // As Variable::dimensions; called once per variable. The named objects exist. A variable among them has one
  // dimension, named by itself.
  virtual Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) = 0;
  // All elements of a variable that is_moved_whole(), in C order. Code::bad_argument: it is not; unsupported: too many.
  virtual Result<std::vector<std::string>> read_texts(const std::string& path) = 0;
  virtual Status write_texts(const std::string& path, const std::vector<std::string>& texts) = 0;
  virtual Result<Catalog> catalog() = 0;  // the catalog of an opened file
  // Sets the length of the first dimension of an extendible variable. If its edge chunks are unfiltered, those that
  // become inner chunks are filtered, so their data must be in the file. Code::unsupported: the format has no
  // extendible variables.
  virtual Status extend(const std::string& path, std::span<const int64_t> shape);
  // For formats whose extendible variables grow together; called before any change. Truncates the file after its
  // variables and `records` records, so that later records are zero until written. Code::unsupported: other formats.
  virtual Status cut(int64_t records);
  // Allocates an inline variable without content and returns its offset; its elements keep their values.
  // Code::unsupported: the format has no such variables.
  virtual Result<int64_t> give_place(const std::string& path);
  // Writes all elements of an inline variable with content, as stored. Code::unsupported: the format has no such
  // variables.
  virtual Status write_inline(const std::string& path, std::span<const std::byte> content);
  // Allocates space for a chunk of this encoded size (by all filters), replacing its previous space, and returns the
  // offset. Aggregators write the bytes. `first`: its first element. Published bytes stay until the next flush() if
  // the size changes. `keep_old`: the caller still reads the old bytes, because it overwrites a part of the chunk. They
  // stay until the next flush() if they are published, otherwise until forget_moved_chunks().
  // Code::unsupported: the format has no chunks.
  virtual Result<PlacedChunk> place_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes,
                                          bool keep_old);
  // Reserves the offset of an unfiltered chunk that is not stored yet. Until place_chunk() or fill_chunk(),
  // find_chunk() does not find it, and place_chunk() calls it new. Code::unsupported: the format has no chunks.
  virtual Result<int64_t> reserve_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes);
  // After failed writes: reverts a chunk that place_chunk() moved with `keep_old` since forget_moved_chunks(); other
  // chunks stay as they are. No rank still writes the chunk. Code::io: it failed, and nothing more is written to the
  // file.
  virtual Status restore_chunk(const std::string& path, std::span<const int64_t> first);
  // After failed writes: fills a chunk that was reported as is_new, so that the variable can be read. Code::io: it
  // failed, and the chunk is unchanged.
  virtual Status fill_chunk(const std::string& path, std::span<const int64_t> first, std::span<const std::byte> bytes);
  // The allocated chunks are written or restored; their previous contents are not needed any more.
  virtual void forget_moved_chunks() noexcept {}
  // Whether space for chunks was allocated since then or since the last flush(): their bytes may be missing.
  virtual bool is_placing() const noexcept { return false; }
  // Returns the place of a chunk.
  virtual Result<ChunkPlace> find_chunk(const std::string& path, std::span<const int64_t> first);
  // Concatenated first elements of the stored chunks of a variable, in no order. Code::unsupported: the format has no
  // chunks, or cannot list them.
  virtual Result<std::vector<int64_t>> stored_chunks(const std::string& path);
  virtual FormatTraits traits() const noexcept { return {}; }
  // Adds to variables of a created file what the format itself adds for its readers: names of dimensions, and
  // attributes.
  virtual Status add_format_metadata(std::vector<Variable>&) { return {}; }
  // For formats with late allocation: called after definitions, before data moves. lay_out() returns the places that
  // the variables get when take_layout() is called. If variables move, the file must be rewritten before: write_anew()
  // writes everything but the variables' bytes to another, empty file; the caller copies these; take_layout() then
  // makes it the format's file. If take_layout() is not called, the file and its places are unchanged.
  virtual Result<Layout> lay_out();
  virtual Status write_anew(std::unique_ptr<Store> file);
  virtual void take_layout() noexcept {}
  // The created file now has this name. Other programs may open it, and must be able to read it at any moment.
  virtual void take_name(std::string) noexcept {}
  // Discards the changes since the last flush(). Called before a close() whose status is ignored.
  virtual void drop_changes() noexcept {}
  // Whether a change of the file was interrupted when it was opened, or in progress: other programs may refuse it.
  virtual bool is_interrupted() const noexcept { return false; }
  // Other programs refuse the file from now on, as while it is half changed, or no longer. flush() and close() end this
  // too. If the file is half changed, only they do. Does nothing unless the format joins_parts.
  virtual Status refuse_others(bool) { return {}; }
  // Passes the metadata to the operating system. If that fails, or the process is killed, the file is unchanged.
  virtual Status flush() = 0;
  // Flushes and closes. Called once. Afterwards the file is complete and has its full size.
  virtual Status close() = 0;
};

enum class FormatMode {
  read,
  update,
  create
};
StoreMode store_mode(FormatMode mode) noexcept;

// Opens a format. `name`: "hdf5", "netcdf" or "raw". Code::unsupported if it is not built in. format_sidecars() names
// the files beside `path` that belong to the format. `opened`: the store that find_format() has opened in the same
// mode; without it the file is opened here.
Result<std::unique_ptr<Format>> open_format(std::string_view name, const std::string& path, FormatMode mode,
                                            const FormatOptions& options, std::unique_ptr<Store> opened = nullptr);

// The format that the name of a path selects ("" if it selects none), and the format that the first bytes of a file or
// its sidecar show. The format need not be built in. Code::bad_file if the file has none of these formats.
std::string format_of_name(std::string_view path);
Result<std::string> format_of_file(const std::string& path);

// The same with the file, open to be read or changed, so that it need not be opened again.
struct FoundFormat {
  std::string name;
  std::unique_ptr<Store> store;
};
Result<FoundFormat> find_format(const std::string& path, FormatMode mode);

// Makes other programs refuse a file that another rank has open, and asks whether they do: see Format::refuse_others().
// `number`: its file number, 0 if unknown. Code::io: another file has the name.
Status refuse_others_at(std::string_view name, const std::string& path, uint64_t number, bool durable);
Result<bool> others_are_refused_at(std::string_view name, const std::string& path);

// Files that are published together with `path`, e.g. the raw format's sidecar.
std::vector<std::string> format_sidecars(std::string_view name, const std::string& path);

// Writes the interim sidecar of a finished temporary file. It describes both the temporary file and the file that now
// has the final name. It is renamed to the name of the sidecar before the temporary file is renamed; the final sidecar
// is renamed afterwards. Returns its path; "" if no file has the final name, or if the format has no sidecars.
Result<std::string> write_interim_sidecar_file(std::string_view name, const TemporaryFile& temporary);

// Adds the stored chunks of a variable, which is a box of a whole array; all of the box if the format cannot list them.
Status add_stored_chunks(Format& format, const std::string& path, const Box& box, std::span<const int64_t> chunk,
                         BoxList& boxes);

int64_t row_bytes(const Variable& variable) noexcept;  // size of the elements at one index of its first dimension
// The end of the last byte of all variables that have a place.
int64_t end_of(std::span<const Variable> variables) noexcept;

std::span<const std::string_view> format_names() noexcept;

}  // namespace windrow
