// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files that others make: what is in them, what cannot be read, and what is damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "foreign.hpp"
#include "format/format.hpp"
#include "storage/store.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class ForeignHdf5 : public testing::Test {
 protected:
  void make(const std::string& script) {
    const Output output = run_h5py("f = h5py.File(path, 'w')\n" + script, path_);
    ASSERT_EQ(output.exit_code, 0) << output.text;
  }
  Result<Catalog> read() {
    auto format = open_format("hdf5", path_, FormatMode::read, {});
    if (!format.ok())
      return format.status();
    return format.value()->catalog();
  }
  Catalog catalog() {
    auto catalog = read();
    EXPECT_TRUE(catalog.ok()) << catalog.status().message();
    return catalog.ok() ? std::move(catalog).value() : Catalog();
  }
  const Variable* find(const Catalog& catalog, const std::string& path) {
    for (const Variable& variable : catalog.variables)
      if (variable.path == path)
        return &variable;
    ADD_FAILURE() << path << " is missing";
    return nullptr;
  }
  // Puts other bytes in the place of the only ones that are like these.
  void patch(const std::string& from, const std::string& to) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    const size_t at = whole.find(from);
    ASSERT_TRUE(at != std::string::npos && whole.find(from, at + 1) == std::string::npos);
    file.seekp(static_cast<std::streamoff>(at));
    file << to;
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.path("foreign.h5");
};

// What `windrow copy` does, with nothing between: every object again in a new file, then the bytes.
void copy(const std::string& from, const std::string& to) {
  auto source = open_format("hdf5", from, FormatMode::read, {});
  ASSERT_TRUE(source.ok()) << source.status().message();
  const auto catalog = source.value()->catalog();
  ASSERT_TRUE(catalog.ok()) << catalog.status().message();
  auto target = open_format("hdf5", to, FormatMode::create, {});
  auto reader = open_store(from, StoreMode::read, {});
  auto writer = open_store(to, StoreMode::update, {});
  const auto copy_attributes = [&](const std::string& path, const std::vector<Attribute>& attributes) {
    for (const Attribute& attribute : attributes) {
      const Status status = target.value()->put_attribute(path, attribute);
      EXPECT_TRUE(status.ok()) << status.message();
    }
  };
  for (const Group& group : catalog.value().groups) {
    if (group.path != "/") {
      ASSERT_TRUE(target.value()->define_group(group.path).ok());
    }
    copy_attributes(group.path, group.attributes);
  }
  for (const Variable& variable : catalog.value().variables) {
    ASSERT_EQ(variable.unsupported, "") << variable.path;
    const auto placement = target.value()->define_variable(
        {variable.path, variable.type, variable.shape, variable.placement.big_endian, variable.chunking,
         variable.extendible, variable.details, variable.null_space});
    ASSERT_TRUE(placement.ok()) << placement.status().message();
    copy_attributes(variable.path, variable.attributes);
    std::vector<std::byte> bytes(static_cast<size_t>(variable.placement.bytes));
    if (bytes.empty())
      continue;
    ASSERT_TRUE(reader.value()->read_at(variable.placement.offset, bytes).ok());
    ASSERT_TRUE(writer.value()->write_at(placement.value().offset, bytes).ok());
  }
  ASSERT_TRUE(target.value()->close().ok());
}

}  // namespace

TEST_F(ForeignHdf5, a_copy_is_the_same_to_h5diff_and_h5dump) {
  make(R"(
def text(size, padding, cset):
    t = h5py.h5t.C_S1.copy()
    t.set_size(size); t.set_strpad(padding); t.set_cset(cset)
    return t
def put(obj, name, type, data, shape=()):
    space = h5py.h5s.create(h5py.h5s.SCALAR) if shape == () else h5py.h5s.create_simple(shape)
    a = h5py.h5a.create(obj.id, name.encode(), type, space)
    if np.prod(shape, dtype=int) > 0:
        a.write(np.array(data), mtype=type)
g = f.create_group("a/b c/gr\u00fc\u00dfe")
n = 0
for kind in "i1 u1 i2 u2 i4 u4 i8 u8 f4 f8".split():
    for order in "<>":
        d = f.create_dataset("a/%s_%s" % (kind, "le" if order == "<" else "be"),
                             data=np.arange(60, dtype=order + kind).reshape(3, 4, 5))
        d.attrs["n"] = np.arange(n, n + 3, dtype=order + kind)
        n += 1
f["scalar"] = np.float32(2.5)
for order in "<>":
    for kind in ("c8", "c16"):
        f["a/%s%s" % (order, kind)] = np.arange(4, dtype=order + kind) * (1 + 2j)
        f["a"].attrs[order + kind] = np.arange(4, dtype=order + kind) * (1 + 2j)
    e = h5py.enum_dtype({"ONE": 1, "TWO": 300, "B": -5}, basetype=order + "i2")
    f.create_dataset("a/enum" + order, data=[1, 300, 17], dtype=e)
    f["a"].attrs.create("enum" + order, [1, 300, 17], dtype=e)
f["bool"] = [True, False]
f.attrs["bool"] = np.bool_(True)
f["bytes"] = np.frombuffer(b"0123456789ab", "V3")
f.attrs["bytes"] = np.frombuffer(b"0123456789ab", "V3")
f["null"] = h5py.Empty("f4")
f.attrs["null"] = h5py.Empty("i2")
f.attrs["null text"] = h5py.Empty("S3")
f.create_dataset("empty", (3, 0), "i4")
f.attrs["title"] = "variable, utf8: gr\u00fc\u00dfe"
f.attrs["ascii"] = np.bytes_("fixed")
f.attrs["list"] = ["a", "", "ccc"]
f.attrs["list of bytes"] = np.array([b"a", b"", b"ccc"])
f.attrs["vlen ascii"] = np.array([b"a", b"bb"], dtype=h5py.string_dtype("ascii"))
f.attrs["matrix"] = np.arange(6.).reshape(2, 3)
f.attrs["nothing"] = np.zeros((0, 2), "u2")
f.attrs["odd"] = [np.nan, np.inf, -0.0]
T = h5py.h5t
tagged = T.create(T.OPAQUE, 4); tagged.set_tag(b"a tag")
put(f, "tagged", tagged, np.frombuffer(b"01234567", "V4"), (2,))
for padding, p in (("term", T.STR_NULLTERM), ("pad", T.STR_NULLPAD), ("space", T.STR_SPACEPAD)):
    for cset, c in (("ascii", T.CSET_ASCII), ("utf8", T.CSET_UTF8)):
        filler = b" " if padding == "space" else b"\0"
        d = h5py.h5d.create(f.id, ("texts %s %s" % (padding, cset)).encode(), text(5, p, c),
                            h5py.h5s.create_simple((2,)))
        d.write(h5py.h5s.ALL, h5py.h5s.ALL,
                np.frombuffer(b"ab".ljust(5, filler) + b"abcd".ljust(5, filler), "S5"), mtype=text(5, p, c))
        put(g, "fixed %s %s" % (padding, cset), text(6, p, c), np.frombuffer(b"abc".ljust(6, filler), "S6")[0])
        put(g, "array %s %s" % (padding, cset), text(4, p, c),
            np.frombuffer(b"ab".ljust(4, filler) + b"abc".ljust(4, filler) + filler * 4, "S4"), (3,))
        put(g, "empty %s %s" % (padding, cset), text(4, p, c), None, (0,))
)");
  const std::string target = folder_.path("copy.h5");
  ASSERT_NO_FATAL_FAILURE(copy(path_, target));
  const Output difference = run("h5diff -v '" + path_ + "' '" + target + "'");
  EXPECT_EQ(difference.exit_code, 0) << difference.text;
  EXPECT_THAT(difference.text, HasSubstr("0 differences found"));
  const auto dump = [&](const std::string& path) {
    const std::string text = run("h5dump '" + path + "'").text;
    return text.substr(text.find('\n'));  // the first line has the file's name
  };
  EXPECT_EQ(dump(path_), dump(target));
  for (const char* shown : {"H5T_STR_SPACEPAD", "H5T_STR_NULLPAD", "H5T_CSET_UTF8", "H5T_STD_U64BE", "grüße"})
    EXPECT_THAT(dump(target), HasSubstr(shown)) << "else the comparison above shows nothing";
}

TEST_F(ForeignHdf5, places_are_right_behind_a_user_block) {
  for (const int block : {0, 512, 4096}) {
    make("f.close()\nf = h5py.File(path, 'w', userblock_size=" + std::to_string(block) + R"()
f["v"] = np.arange(1000, dtype="<i4")
f.close()
)");
    EXPECT_EQ(format_of_file(path_).value(), "hdf5");
    const Catalog found = catalog();
    const Variable* variable = find(found, "/v");
    auto store = open_store(path_, StoreMode::read, {});
    std::vector<int32_t> values(1000);
    ASSERT_TRUE(store.value()->read_at(variable->placement.offset, std::as_writable_bytes(std::span(values))).ok());
    for (int32_t i = 0; i < 1000; ++i)
      ASSERT_EQ(values[static_cast<size_t>(i)], i) << "user block " << block;

    auto update = open_format("hdf5", path_, FormatMode::update, {});
    const auto added = update.value()->define_variable({"/added", Type::int32, {1000}, false});
    ASSERT_TRUE(added.ok());
    auto writer = open_store(path_, StoreMode::update, {});
    ASSERT_TRUE(writer.value()->write_at(added.value().offset, std::as_bytes(std::span(values))).ok());
    ASSERT_TRUE(update.value()->close().ok());
    const Output output = run_h5py("f = h5py.File(path, 'r')\nassert (f['added'][...] == f['v'][...]).all()", path_);
    EXPECT_EQ(output.exit_code, 0) << output.text;
  }
}

TEST_F(ForeignHdf5, says_why_a_variable_cannot_be_read) {
  make(R"(
f.create_dataset("chunked", (10,), "f8", chunks=(5,))
f.create_dataset("growing", (10,), "f8", maxshape=(None,))
f.create_dataset("deflate", (10,), "f8", compression="gzip", shuffle=True, fletcher32=True)
f.create_dataset("shuffle", (10,), "f8", shuffle=True, fletcher32=True)
f.create_dataset("compound", data=np.zeros(3, [("x", "f4"), ("y", "i4")]))
f.create_dataset("almost complex", data=np.zeros(3, [("r", "f4"), ("i", "f8")]))
f.create_dataset("other complex", data=np.zeros(3, [("re", "f4"), ("im", "f4")]))
f.create_dataset("enum", data=[1], dtype=h5py.enum_dtype({"A\nB": 1}))
f.create_dataset("vlen", (2,), h5py.vlen_dtype("i4"))
f.create_dataset("array", (2,), np.dtype(("i4", (3,))))
f.create_dataset("region", (2,), h5py.regionref_dtype)
brain = h5py.h5t.IEEE_F32LE.copy()
brain.set_fields(15, 7, 8, 0, 7)
brain.set_size(2)
brain.set_ebias(127)
h5py.h5d.create(f.id, b"brain", brain, h5py.h5s.create_simple((3,)))
f.create_dataset("external", (4,), "i4", external=[(path + ".bin", 0, 16)])
layout = h5py.VirtualLayout((10,), "f8"); layout[:] = h5py.VirtualSource(f["chunked"])
f.create_virtual_dataset("virtual", layout)
def low(name, type, tune):
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE); tune(p)
    return h5py.h5d.create(f.id, name, type, h5py.h5s.create_simple((10,)), p)
low(b"compact", h5py.h5t.STD_I32LE, lambda p: p.set_layout(h5py.h5d.COMPACT))
low(b"late", h5py.h5t.STD_I32LE, lambda p: p.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE))
low(b"bits", h5py.h5t.STD_B8LE, lambda p: None)
narrow = h5py.h5t.STD_I32LE.copy(); narrow.set_precision(24)
low(b"narrow", narrow, lambda p: None)
f["plain"] = np.arange(3)
)");
  const Catalog found = catalog();
  const std::pair<const char*, const char*> expected[] = {
      {"/chunked", ""},
      {"/growing", ""},
      {"/deflate", ""},
      {"/shuffle", ""},
      {"/compound", "compound type"},
      {"/almost complex", "compound type"},
      {"/other complex", "compound type"},
      {"/enum", "enumeration type with invalid names"},
      {"/vlen", "variable-length type"},
      {"/array", "array type"},
      {"/region", "reference type"},
      {"/brain", "floating-point type of 16 bits, 8 of the exponent (bias 127) and 7 of the mantissa"},
      {"/external", "external file storage"},
      {"/virtual", "virtual dataset"},
      {"/compact", ""},
      {"/late", ""},
      {"/bits", "bit field type"},
      {"/narrow", "integer type of 24 bits in 4 bytes"},
      {"/plain", ""},
  };
  EXPECT_EQ(found.variables.size(), std::size(expected));
  for (const auto& [path, reason] : expected) {
    const Variable* variable = find(found, path);
    ASSERT_NE(variable, nullptr);
    EXPECT_EQ(variable->unsupported, reason) << path;
    EXPECT_EQ(variable->placement.offset >= 0,
              variable->unsupported.empty() && variable->chunking.empty() && !variable->is_inline)
        << path;
  }
  EXPECT_TRUE(find(found, "/compact")->is_inline && find(found, "/late")->is_inline);
  EXPECT_EQ(find(found, "/compact")->content, std::vector<std::byte>(40));
  EXPECT_TRUE(find(found, "/late")->content.empty());
  EXPECT_EQ(find(found, "/chunked")->type, Type::float64);
  EXPECT_EQ(find(found, "/chunked")->chunking.shape, std::vector<int64_t>{5});
  EXPECT_EQ(text_of(find(found, "/deflate")->chunking.filters), "shuffle,deflate:4,fletcher32");
  EXPECT_EQ(find(found, "/chunked")->shape, std::vector<int64_t>{10});
}

TEST_F(ForeignHdf5, lists_every_object_once_and_names_the_rest) {
  make(R"(
g = f.create_group("g")
g["v"] = np.arange(3)
g.create_group("inner")["w"] = 7
f["second name"] = g["v"]
g["inner/back to g"] = g
g["root again"] = f["/"]
f["soft"] = h5py.SoftLink("/g/v")
f["dangling"] = h5py.SoftLink("/nowhere")
f["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
f["type"] = np.dtype("f8")
)");
  const Catalog found = catalog();
  std::vector<std::string> groups;
  for (const Group& group : found.groups)
    groups.push_back(group.path);
  EXPECT_THAT(groups, testing::ElementsAre("/", "/g", "/g/inner"));
  EXPECT_EQ(found.variables.size(), 2U);
  EXPECT_THAT(found.unsupported, UnorderedElementsAre("/elsewhere: external link", "/type: named datatype"));
  EXPECT_THAT(found.links,
              UnorderedElementsAre(SoftLink{"/soft", "/g/v"}, SoftLink{"/dangling", "/nowhere"},
                                   SoftLink{"/g/v", "/second name", true}, SoftLink{"/g/inner/back to g", "/g", true},
                                   SoftLink{"/g/root again", "/", true}));
}

TEST_F(ForeignHdf5, says_why_an_attribute_cannot_be_read) {
  make(R"(
f.attrs["compound"] = np.zeros(3, [("x", "f4"), ("y", "i4")])
f["w"] = np.arange(3)
f.attrs["region"] = f["w"].regionref[1:]
f.attrs["fine"] = 1.5
f["v"] = np.arange(3); f["d"] = np.arange(3)
f["d"].make_scale("d"); f["v"].dims[0].attach_scale(f["d"])
)");
  const Catalog found = catalog();
  std::map<std::string, std::string> reasons;
  for (const Attribute& attribute : found.groups.front().attributes)
    reasons[attribute.name] = attribute.unsupported;
  const std::map<std::string, std::string> expected{
      {"compound", "compound type"}, {"region", "reference type"}, {"fine", ""}};
  EXPECT_EQ(reasons, expected);
  EXPECT_EQ(find(found, "/v")->dimensions, std::vector<std::string>{"/d"});
  EXPECT_TRUE(find(found, "/v")->attributes.empty()) << "DIMENSION_LIST is its dimensions";
}

TEST_F(ForeignHdf5, reads_files_of_the_newest_layout) {
  make(R"(
f.close()
f = h5py.File(path, "w", libver="latest", track_order=True)
for i in range(100): f.create_group("g%d" % i)["v"] = np.full(5, i)
for i in range(100): f.attrs["a%d" % i] = i
f.attrs["large"] = np.zeros(20000)
)");
  const Catalog found = catalog();
  EXPECT_EQ(found.groups.size(), 101U);
  EXPECT_EQ(found.variables.size(), 100U);
  EXPECT_EQ(found.groups.front().attributes.size(), 101U);
  for (const Variable& variable : found.variables)
    EXPECT_EQ(variable.unsupported, "") << variable.path;
}

// HDF5 marks what it has open for writing, and opens nothing that is marked; a job may be killed any time.
TEST_F(ForeignHdf5, a_file_that_is_open_for_update_is_not_marked) {
  for (const char* userblock : {"0", "1024"}) {
    make(std::string("f.close()\nf = h5py.File(path, 'w', libver=('v110', 'v110'), userblock_size=") + userblock +
         ")\nf['a'] = np.arange(10)\n");
    auto format = open_format("hdf5", path_, FormatMode::update, {});
    ASSERT_TRUE(format.ok()) << format.status().message();
    const std::string copied = path_ + ".copy";
    const auto is_sound = [&](const std::string& script) {
      std::filesystem::copy_file(path_, copied, std::filesystem::copy_options::overwrite_existing);
      const Output output = run_h5py("f = h5py.File(path, 'r')\n" + script, copied);
      EXPECT_EQ(output.exit_code, 0) << output.text;
    };
    is_sound("assert (f['a'][...] == np.arange(10)).all()");
    ASSERT_TRUE(format.value()->define_group("/group").ok());
    ASSERT_TRUE(format.value()->define_variable({"/group/b", Type::uint8, {5'000}, false}).ok());
    ASSERT_TRUE(format.value()->flush().ok());
    is_sound("assert (f['a'][...] == np.arange(10)).all() and f['group/b'].shape == (5000,)");
    ASSERT_TRUE(format.value()->close().ok());
    is_sound("f.close(); f = h5py.File(path, 'r+'); f['c'] = 1");
    std::filesystem::remove(copied);
  }
}

// A file may remember what is free in it: that is what HDF5 gives variables, with what was there before.
TEST_F(ForeignHdf5, what_was_deleted_does_not_come_back_in_new_variables) {
  make(R"(
f.close()
f = h5py.File(path, "w", fs_strategy="fsm", fs_persist=True, libver=("v110", "v110"), userblock_size=512)
f["junk"] = np.full(100000, 7.)
f["keep"] = np.arange(10)
late = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
late.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
h5py.h5d.create(f.id, b"late", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((5000,)), late)
late.set_fill_value(np.array(9, "i4"))
h5py.h5d.create(f.id, b"late nine", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((5000,)), late)
f.close()
f = h5py.File(path, "r+")
del f["junk"]
)");
  auto format = open_format("hdf5", path_, FormatMode::update, {});
  ASSERT_TRUE(format.ok()) << format.status().message();
  const auto before = std::filesystem::file_size(path_);
  const auto defined = format.value()->define_variable({"/new", Type::uint8, {50'000}, false});
  ASSERT_TRUE(defined.ok()) << defined.status().message();
  EXPECT_LT(defined.value().offset, static_cast<int64_t>(before)) << "this test is about room that was used";
  for (const char* path : {"/late", "/late nine"}) {
    const auto place = format.value()->give_place(path);
    ASSERT_TRUE(place.ok()) << place.status().message();
    EXPECT_LT(place.value(), static_cast<int64_t>(before)) << "this test is about room that was used";
  }
  ASSERT_TRUE(format.value()->close().ok());
  const Output output = run_h5py(R"(
f = h5py.File(path, "r")
assert not f["new"][...].any() and not f["late"][...].any()
assert (f["late nine"][...] == 9).all() and (f["keep"][...] == np.arange(10)).all()
)",
                                 path_);
  EXPECT_EQ(output.exit_code, 0) << output.text;
}

// As h5py makes files with libver="v112": datatypes of version 4 where earlier libraries know 3; and a header that says
// nothing that HDF5 knows.
TEST_F(ForeignHdf5, one_bad_object_or_attribute_leaves_the_rest_readable) {
  make(R"(
f.create_group("g").attrs["there"] = np.int8(1)
f["a"] = np.arange(10.)
f["newer"] = np.arange(3, dtype=">u2")
f["newer attribute"] = np.arange(5.)
f["newer attribute"].attrs["newer"] = np.arange(3, dtype=">i2")
f["z"] = np.arange(10.)
f["broken"] = np.arange(4, dtype=">u4")
)");
  using namespace std::string_literals;
  patch("\x10\x01\x00\x00\x02\x00\x00\x00"s, "\x50"s);  // versions
  patch("\x10\x09\x00\x00\x02\x00\x00\x00"s, "\x40"s);
  patch("\x10\x01\x00\x00\x04\x00\x00\x00"s, "\x1e"s);  // a class
  const Catalog found = catalog();
  EXPECT_THAT(
      found.unsupported,
      UnorderedElementsAre(
          "/newer: written by a newer HDF5 version than this library uses",
          "/newer attribute: its attributes, one of them written by a newer HDF5 version than this library uses",
          HasSubstr("/broken: ")));
  std::vector<std::string> variables;
  for (const Variable& variable : found.variables)
    variables.push_back(variable.path + variable.unsupported);
  EXPECT_THAT(variables, UnorderedElementsAre("/a", "/newer attribute", "/z"));
  EXPECT_EQ(found.groups.back().attributes.size(), 1U);
}

TEST_F(ForeignHdf5, refuses_to_go_down_without_end) {
  make(R"(
g = f
for i in range(300): g = g.create_group("g")
)");
  const Catalog found = catalog();
  EXPECT_EQ(found.groups.size(), 201U);
  ASSERT_EQ(found.unsupported.size(), 1U);
  EXPECT_THAT(found.unsupported.front(), HasSubstr("nested deeper than 200 groups"));
}

// Truncated anywhere, the file is a bad file or, if everything important is before the cut, a good one; never a crash.
TEST_F(ForeignHdf5, a_truncated_file_is_a_bad_file) {
  make(R"(
f["a/v"] = np.arange(1000); f["a/w"] = np.arange(500.)
f["a"].attrs["text"] = "hello"
)");
  const auto size = std::filesystem::file_size(path_);
  const std::string whole = path_;
  path_ = folder_.path("cut.h5");
  for (std::uintmax_t left = size - 1; left > 0; left -= std::min<std::uintmax_t>(left, 101)) {
    std::filesystem::copy_file(whole, path_, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path_, left);
    const auto found = read();
    ASSERT_FALSE(found.ok()) << left;
    EXPECT_EQ(found.status().code(), Code::bad_file) << left << ": " << found.status().message();
    EXPECT_THAT(found.status().message(), HasSubstr("cut.h5")) << left;
  }
}

}  // namespace windrow::test
