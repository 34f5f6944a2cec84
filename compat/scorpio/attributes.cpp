// SPDX-License-Identifier: BSD-3-Clause
// Attributes. Reading is local, because all ranks get them at open.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "texts.hpp"

namespace scorpio {
namespace {

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;
using Char =
    std::conditional_t<std::is_signed_v<char>, int8_t, uint8_t>;  // comparable with other integers by the standard

Memory allocate(int64_t count, size_t size) {
  void* memory = std::calloc(static_cast<size_t>(count) + 1, size);  // one more, so that an empty list can be freed too
  if (memory == nullptr)
    throw std::bad_alloc();
  return Memory(memory);
}

// Converts like HDF5: fractions are truncated, out-of-range values become the nearest representable ones, NaN becomes 0
// as an integer.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<From>) {
    if (std::isnan(value))
      return 0;
    const From limit = std::ldexp(From{1}, std::numeric_limits<To>::digits);  // maximum plus one
    if (value >= limit)
      return std::numeric_limits<To>::max();
    if (value < static_cast<From>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    if (std::cmp_greater(value, std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    if (std::cmp_less(value, std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  }
}

template <class To, class From>
void convert_all(const void* from, int64_t count, void* to) {
  const auto* first = static_cast<const From*>(from);
  std::transform(first, first + count, static_cast<To*>(to), converted<To, From>);
}

// False: `type` is not a real number.
template <class To>
bool convert_to(int type, const void* from, int64_t count, void* to) {
  switch (type) {
    case WINDROW_INT8:
      convert_all<To, int8_t>(from, count, to);
      return true;
    case WINDROW_BOOL:
    case WINDROW_UINT8:
      convert_all<To, uint8_t>(from, count, to);
      return true;
    case WINDROW_INT16:
      convert_all<To, int16_t>(from, count, to);
      return true;
    case WINDROW_UINT16:
      convert_all<To, uint16_t>(from, count, to);
      return true;
    case WINDROW_INT32:
      convert_all<To, int32_t>(from, count, to);
      return true;
    case WINDROW_UINT32:
      convert_all<To, uint32_t>(from, count, to);
      return true;
    case WINDROW_INT64:
      convert_all<To, int64_t>(from, count, to);
      return true;
    case WINDROW_UINT64:
      convert_all<To, uint64_t>(from, count, to);
      return true;
    case WINDROW_FLOAT32:
      convert_all<To, float>(from, count, to);
      return true;
    case WINDROW_FLOAT64:
      convert_all<To, double>(from, count, to);
      return true;
    default:
      return false;
  }
}

bool convert(int from_type, const void* from, int64_t count, datatype_t type, void* to) {
  switch (type) {
    case SCORPIO_INTEGER:
      return convert_to<int>(from_type, from, count, to);
    case SCORPIO_DOUBLE:
      return convert_to<double>(from_type, from, count, to);
    case SCORPIO_FLOAT:
      return convert_to<float>(from_type, from, count, to);
    case SCORPIO_LONG:
      return convert_to<long>(from_type, from, count, to);
    case SCORPIO_CHAR:
      return convert_to<Char>(from_type, from, count, to);
    default:
      return false;
  }
}

struct Named {
  const char* name;
  const char* object;
};

void check_names(Call& call, const Named& attribute) {
  if (attribute.name == nullptr || attribute.object == nullptr)
    call.refuse("the name of the attribute or of its object is NULL");
}

void find_attribute(Call& call, const Named& attribute, windrow_attribute_info& info) {
  const int count = windrow_attribute_count(call.windrow(), attribute.object);
  if (count < 0)
    return call.refuse("there is no group or dataset \"%s\"", attribute.object);
  for (int i = 0; i < count; ++i) {
    info.size = sizeof info;
    if (windrow_inquire_attribute(call.windrow(), attribute.object, i, &info) != WINDROW_OK)
      return call.refuse_as_windrow();
    if (std::strcmp(info.name, attribute.name) == 0)
      return;
  }
  call.refuse("\"%s\" has no attribute \"%s\"", attribute.object, attribute.name);
}

void get(Call& call, const Named& attribute, const windrow_attribute_info& info, void* data) {
  if (windrow_get_attribute(call.windrow(), attribute.object, attribute.name, info.type, data) != WINDROW_OK)
    call.refuse_as_windrow();
}

Memory read_numbers(Call& call, const Named& attribute, const windrow_attribute_info& info, datatype_t type) {
  Memory stored = allocate(info.elements, static_cast<size_t>(std::max<int64_t>(info.element_bytes, 1)));
  get(call, attribute, info, stored.get());
  if (call.refused())
    return nullptr;
  if (type == SCORPIO_BYTE && info.type == WINDROW_OPAQUE && info.element_bytes == 1)
    return stored;
  Memory out = allocate(info.elements, std::max(sizeof(long), sizeof(double)));
  if (convert(info.type, stored.get(), info.elements, type, out.get()))
    return out;
  call.refuse("attribute \"%s\" of \"%s\" is of %s, which is not read as type %d", attribute.name, attribute.object,
              windrow_type_name(info.type), static_cast<int>(type));
  return nullptr;
}

// The texts, or a single one itself.
Memory read_texts(Call& call, const Named& attribute, const windrow_attribute_info& info, bool alone) {
  std::vector<const char*> pointers(static_cast<size_t>(info.elements) + 1);
  TextArray texts(info.elements);
  get(call, attribute, info, pointers.data());
  if (call.refused())
    return nullptr;
  if (alone)
    return Memory(copy_of(pointers[0]));
  for (int64_t i = 0; i < info.elements; ++i)
    texts[i] = copy_of(pointers[static_cast<size_t>(i)]);
  return Memory(texts.release());
}

Memory read(Call& call, const Named& attribute, datatype_t type, bool alone, windrow_attribute_info& info) {
  Memory data;
  check_names(call, attribute);
  call.prepare([&] {
    find_attribute(call, attribute, info);
    if (call.refused())
      return;
    if (alone && info.elements != 1)
      return call.refuse("attribute \"%s\" of \"%s\" has %lld element%s, not one", attribute.name, attribute.object,
                         static_cast<long long>(info.elements), scorpio::plural(info.elements));
    const bool text = info.type == WINDROW_TEXT || info.type == WINDROW_REFERENCE;
    if (text != (type == SCORPIO_STRING))
      return call.refuse("attribute \"%s\" of \"%s\" is of %s, which is not read as type %d", attribute.name,
                         attribute.object, windrow_type_name(info.type), static_cast<int>(type));
    data = text ? read_texts(call, attribute, info, alone) : read_numbers(call, attribute, info, type);
  });
  return data;
}

// The texts of `data` in the form that windrow.h needs.
void prepare_texts(Call& call, void* data, int64_t count, bool alone, std::vector<const char*>& texts,
                   Options& options) {
  if (alone)
    texts.push_back(static_cast<const char*>(data));
  else
    texts.assign(static_cast<char**>(data), static_cast<char**>(data) + count);
  int64_t bytes = 1;
  bool ascii = true;
  for (const char* text : texts) {
    if (text == nullptr)
      return call.refuse("a text is NULL");
    bytes = std::max(bytes, static_cast<int64_t>(std::strlen(text)) + 1);
    ascii = ascii && is_ascii(text);
  }
  set_text_options(options, bytes, ascii);
}

int write(Call& call, const Named& attribute, void* data, datatype_t type, int ndims, const int* dims) {
  Options options;
  std::vector<const char*> texts;
  std::array<int64_t, WINDROW_MAX_DIMENSIONS> shape{};
  check_names(call, attribute);
  if (windrow_type_of(type) == 0)
    call.refuse("%d is not a type", static_cast<int>(type));
  if (ndims < 0 || ndims > WINDROW_MAX_DIMENSIONS || (ndims > 0 && dims == nullptr))
    call.refuse("%d dimensions, or none are given", ndims);
  if (data == nullptr)
    call.refuse("the data is NULL");
  call.prepare([&] {
    call.same(attribute.name);
    call.same(attribute.object);
    call.same(type);
    call.same(dims, ndims);
    int64_t count = 1;
    for (int i = 0; i < ndims; ++i) {
      shape[static_cast<size_t>(i)] = dims[i];
      if (dims[i] < 0 || __builtin_mul_overflow(count, dims[i], &count) || count > INT_MAX)
        return call.refuse("a dimension is negative, or there are too many elements");
    }
    if (type == SCORPIO_STRING)
      prepare_texts(call, data, count, ndims == 0, texts, options);
    if (type == SCORPIO_BYTE)
      options.set("element_bytes", "1");
    if (options.code() != WINDROW_OK)
      call.refuse_as_windrow();
  });
  if (!call.agreed())
    return call.failed();
  const void* elements = type == SCORPIO_STRING ? texts.data() : data;
  return static_cast<int>(
      call.end(windrow_put_attribute_with(call.windrow(), attribute.object, attribute.name, windrow_type_of(type),
                                          ndims, shape.data(), elements, options.get())));
}

}  // namespace
}  // namespace scorpio

using scorpio::Call;

extern "C" {

int scorpio_read_simple_attr(char* name, void** data, datatype_t type, int file, char* object, iogroup_t* group) {
  Call call("scorpio_read_simple_attr", group, file);
  windrow_attribute_info info{};
  if (data == nullptr)
    call.refuse("data is NULL");
  scorpio::Memory read = scorpio::read(call, {name, object}, type, true, info);
  if (call.refused())
    return call.failed();
  *data = read.release();
  return 0;
}

int scorpio_read_attr(char* name, void** data, datatype_t type, int* ndims, int** dims, int file, char* object,
                      iogroup_t* group) {
  Call call("scorpio_read_attr", group, file);
  windrow_attribute_info info{};
  if (data == nullptr || ndims == nullptr || dims == nullptr)
    call.refuse("data, ndims or dims is NULL");
  scorpio::Memory read = scorpio::read(call, {name, object}, type, false, info), shape;
  call.prepare([&] {
    shape = scorpio::allocate(info.ndims, sizeof(int));
    for (int i = 0; i < info.ndims; ++i)
      static_cast<int*>(shape.get())[i] = static_cast<int>(info.shape[i]);
  });
  if (call.refused())
    return call.failed();
  *data = read.release();
  *ndims = info.ndims;
  *dims = static_cast<int*>(shape.release());
  return 0;
}

int scorpio_write_simple_attr(char* name, void* data, datatype_t type, int file, char* object, iogroup_t* group) {
  Call call("scorpio_write_simple_attr", group, file);
  return scorpio::write(call, {name, object}, data, type, 0, nullptr);
}

int scorpio_write_attr(char* name, void* data, datatype_t type, int ndims, int* dims, int file, char* object,
                       iogroup_t* group) {
  Call call("scorpio_write_attr", group, file);
  return scorpio::write(call, {name, object}, data, type, ndims, dims);
}

}  // extern "C"
