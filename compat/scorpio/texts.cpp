// SPDX-License-Identifier: BSD-3-Clause
// Datasets of texts, stored with a fixed length as by SCORPIO.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "texts.hpp"

namespace scorpio {

// 7 bits per byte: readers in C, whose type is ASCII, get no UTF-8 from HDF5.
bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0x80U) == 0; });
}

void set_text_options(Options& options, int64_t bytes, bool ascii) {
  options.set("element_bytes", std::to_string(bytes));
  options.set("text_padding", "null_terminated");
  options.set("text_characters", ascii ? "ascii" : "utf8");
}

char* copy_of(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr)
    throw std::bad_alloc();
  std::copy(text.begin(), text.end(), copy);
  copy[text.size()] = '\0';
  return copy;
}

char** TextArray::release() noexcept {
  char** const texts = texts_;
  texts_ = nullptr;
  return texts;
}

TextArray::TextArray(int64_t count) : count_(count) {
  // One more, so that an empty list can be freed too.
  texts_ = static_cast<char**>(std::calloc(static_cast<size_t>(count) + 1, sizeof(char*)));
  if (texts_ == nullptr)
    throw std::bad_alloc();
}

TextArray::~TextArray() {
  for (int64_t i = 0; texts_ != nullptr && i < count_; ++i)
    std::free(texts_[i]);
  std::free(texts_);
}

namespace {

// Size of rank 0's texts; the same on every rank after agree_on().
struct Size {
  int64_t count = 0, bytes = 1, ascii = 1;
};

Size size_of(char* const* texts, int count) {
  Size size{count, 1, 1};
  for (int i = 0; i < count; ++i) {
    size.bytes = std::max(size.bytes, static_cast<int64_t>(std::strlen(texts[i])) + 1);
    if (!is_ascii(texts[i]))
      size.ascii = 0;
  }
  return size;
}

// Rank 0, local.
void check_texts(Call& call, char* const* texts, int count) {
  if (count < 0)
    return call.refuse("%d texts", count);
  if (count > 0 && texts == nullptr)
    return call.refuse("the texts are NULL");
  for (int i = 0; i < count; ++i)
    if (texts[i] == nullptr)
      return call.refuse("text %d is NULL", i);
}

// Concatenated texts of `bytes` bytes each.
std::vector<char> packed(char* const* texts, const Size& size, int64_t bytes) {
  std::vector<char> all(static_cast<size_t>(size.count * bytes));
  for (int64_t i = 0; i < size.count; ++i)
    std::memcpy(all.data() + i * bytes, texts[i], std::strlen(texts[i]));
  return all;
}

// Local: an existing dataset must have space for the texts; sets `bytes` to the size of its elements.
void check_existing(Call& call, const std::string& path, const Size& size, int& variable, int64_t& bytes) {
  windrow_variable_info info{};
  info.size = sizeof info;
  if (windrow_find_variable(call.windrow(), path.c_str(), &variable) != WINDROW_OK) {
    variable = -1;
    return;
  }
  if (windrow_inquire_variable(call.windrow(), variable, &info) != WINDROW_OK)
    return call.refuse_as_windrow();
  if (info.type != WINDROW_TEXT || info.ndims != 1 || info.element_bytes == 0)
    return call.refuse("\"%s\" exists and is not a list of texts with fixed length", path.c_str());
  const int64_t room = info.element_bytes + (std::strcmp(info.text_padding, "null_terminated") == 0 ? 0 : 1);
  if (info.shape[0] != size.count || room < size.bytes)
    return call.refuse("\"%s\" exists with %lld text%s of at most %lld byte%s; now there are %lld, the longest of %lld",
                       path.c_str(), static_cast<long long>(info.shape[0]), scorpio::plural(info.shape[0]),
                       static_cast<long long>(room - 1), scorpio::plural(room - 1), static_cast<long long>(size.count),
                       static_cast<long long>(size.bytes - 1));
  if (size.ascii == 0 && std::strcmp(info.text_characters, "ascii") == 0)
    return call.refuse("\"%s\" exists with ASCII characters", path.c_str());
  bytes = info.element_bytes;
}

// Without its padding: NULs or blanks.
std::string_view unpadded(const char* text, int64_t bytes, std::string_view padding) {
  std::string_view whole(text, strnlen(text, static_cast<size_t>(bytes)));
  if (padding == "space_padded")
    whole = whole.substr(0, whole.find_last_not_of(' ') + 1);
  return whole;
}

struct TextDataset {
  int variable = -1;
  windrow_variable_info info{};
};

void find_texts(Call& call, const char* name, TextDataset& found) {
  found.info.size = sizeof found.info;
  if (windrow_find_variable(call.windrow(), name, &found.variable) != WINDROW_OK ||
      windrow_inquire_variable(call.windrow(), found.variable, &found.info) != WINDROW_OK)
    return call.refuse_as_windrow();
  if (found.info.type != WINDROW_TEXT)
    return call.refuse("\"%s\" holds no texts but %s", name, windrow_type_name(found.info.type));
  if (found.info.elements >= INT32_MAX)
    call.refuse("\"%s\" has %lld texts, beyond the range of int", name, static_cast<long long>(found.info.elements));
}

// Collective: fills `out`, which is large enough, or records an error.
int read_texts(Call& call, const TextDataset& found, std::vector<char>& bytes, std::vector<const char*>& pointers,
               TextArray& out) {
  int code = WINDROW_OK;
  if (found.info.element_bytes == 0) {
    code = windrow_get_texts(call.windrow(), found.variable, pointers.data());
  } else {
    windrow_decomposition* same = nullptr;
    code = windrow_same(call.group()->comm, 0, nullptr, nullptr, nullptr, &same);
    if (code == WINDROW_OK)
      code = windrow_read(call.windrow(), found.variable, same, bytes.data());
    windrow_decomposition_free(same);
  }
  if (code != WINDROW_OK)
    return code;
  call.prepare([&] {
    const int64_t each = found.info.element_bytes;
    for (int64_t i = 0; i < found.info.elements; ++i)
      out[i] = copy_of(each == 0 ? std::string_view(pointers[static_cast<size_t>(i)])
                                 : unpadded(bytes.data() + i * each, each, found.info.text_padding));
  });
  return code;
}

}  // namespace
}  // namespace scorpio

using scorpio::Call;

extern "C" {

int scorpio_write_str_array(char** texts, int count, int file, char* name, iogroup_t* group) {
  Call call("scorpio_write_str_array", group, file);
  scorpio::Size size;
  if (name == nullptr)
    call.refuse("the name is NULL");
  if (call.group() != nullptr && call.group()->rank == 0) {
    scorpio::check_texts(call, texts, count);
    if (!call.refused())
      size = scorpio::size_of(texts, count);
  }
  if (!call.refused())
    call.same(name);
  if (!call.agreed())
    return call.failed();
  const int sent = MPI_Bcast(&size, 3, MPI_INT64_T, 0, call.group()->comm);
  if (sent != MPI_SUCCESS)
    call.refuse("MPI has failed");

  std::string path;
  scorpio::Options options;
  std::vector<char> all;
  int variable = -1;
  call.prepare([&] {
    path = call.file()->path_to_write(name);
    int64_t bytes = size.bytes;
    scorpio::check_existing(call, path, size, variable, bytes);
    scorpio::set_text_options(options, bytes, size.ascii != 0);
    if (options.code() != WINDROW_OK)
      call.refuse_as_windrow();
    if (call.group()->rank == 0 && !call.refused())
      all = scorpio::packed(texts, size, bytes);
  });
  if (!call.agreed())
    return call.failed();
  int code = WINDROW_OK;
  if (variable < 0)
    code = windrow_define_variable_with(call.windrow(), path.c_str(), WINDROW_TEXT, 1, &size.count, options.get(),
                                        &variable);
  const int64_t start = 0, mine = call.group()->rank == 0 ? size.count : 0;
  if (code == WINDROW_OK)
    code = windrow_write_block(call.windrow(), variable, &start, &mine, all.data());
  return static_cast<int>(call.end(code));
}

int scorpio_read_str_array(char*** texts, int* count, int file, char* name, iogroup_t* group) {
  Call call("scorpio_read_str_array", group, file);
  scorpio::TextDataset found;
  std::unique_ptr<scorpio::TextArray> out;
  std::vector<char> bytes;
  std::vector<const char*> pointers;
  if (texts == nullptr || count == nullptr || name == nullptr)
    call.refuse("an argument is NULL");
  call.prepare([&] {
    call.same(name);
    scorpio::find_texts(call, name, found);
    if (call.refused())
      return;
    const auto elements = static_cast<size_t>(found.info.elements);
    out = std::make_unique<scorpio::TextArray>(found.info.elements);
    if (found.info.element_bytes == 0)
      pointers.resize(elements);
    else
      bytes.resize(elements * static_cast<size_t>(found.info.element_bytes));
  });
  if (!call.agreed())
    return call.failed();
  const int code = scorpio::read_texts(call, found, bytes, pointers, *out);
  if (code != WINDROW_OK)
    return static_cast<int>(call.end(code));
  if (!call.agreed())
    return call.failed();
  *texts = out->release();
  *count = static_cast<int>(found.info.elements);
  return 0;
}

}  // extern "C"
