/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of any type and rank by their descriptors; attributes, which are copied element by element and may have gaps in memory. */
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

int type_of(const CFI_cdesc_t *array, char *name) {
  static const struct {
    CFI_type_t cfi;
    int type;
    const char *name;
  } known[] = {
      {CFI_type_int8_t, WINDROW_INT8, "integer(int8)"},
      {CFI_type_int16_t, WINDROW_INT16, "integer(int16)"},
      {CFI_type_int32_t, WINDROW_INT32, "integer(int32)"},
      {CFI_type_int64_t, WINDROW_INT64, "integer(int64)"},
      {CFI_type_float, WINDROW_FLOAT32, "real(real32)"},
      {CFI_type_double, WINDROW_FLOAT64, "real(real64)"},
      {CFI_type_float_Complex, 0, "complex(real32)"},
      {CFI_type_double_Complex, 0, "complex(real64)"},
      {CFI_type_char, 0, "character"},
      {CFI_type_struct, 0, "of a derived type"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (array->type == known[i].cfi) return snprintf(name, 32, "%s", known[i].name), known[i].type;
#ifdef CFI_type_Logical /* gfortran's: of every kind */
  if ((array->type & CFI_type_mask) == CFI_type_Logical) return snprintf(name, 32, "logical"), 0;
#endif
  snprintf(name, 32, "of a type of %lld bytes", (long long)array->elem_len);
  return 0;
}

int64_t elements_of(const CFI_cdesc_t *array) {
  int64_t elements = 1;
  for (int d = 0; d < array->rank; ++d) {
    if (array->dim[d].extent < 0) return -1;
    elements *= array->dim[d].extent;
  }
  return elements;
}

/* Copies all elements between an array and `packed`, `length` bytes each. */
static void copy(const CFI_cdesc_t *array, char *packed, int into_array) {
  const size_t length = array->elem_len;
  const int64_t elements = elements_of(array);
  CFI_index_t index[CFI_MAX_RANK] = {0};
  for (int64_t i = 0; i < elements; ++i, packed += length) {
    char *element = array->base_addr;
    for (int d = 0; d < array->rank; ++d) element += index[d] * array->dim[d].sm;
    memcpy(into_array ? element : packed, into_array ? packed : element, length);
    for (int d = 0; d < array->rank && ++index[d] == array->dim[d].extent; ++d) index[d] = 0;
  }
}

/* Fortran's first dimension is C's last. */
static void shape_of(const CFI_cdesc_t *array, int64_t *shape) {
  for (int d = 0; d < array->rank; ++d) shape[d] = array->dim[array->rank - 1 - d].extent;
}

/* Strings of fixed length and blanks at their ends become C's, one behind the other, and pointers to them. */
static const char *const *strings_of(const char *packed, int64_t elements, size_t length) {
  char **strings = malloc((size_t)(elements + 1) * sizeof *strings + (size_t)elements * (length + 1));
  if (strings == NULL) return NULL;
  char *to = (char *)(strings + elements + 1);
  for (int64_t i = 0; i < elements; ++i, to += length + 1, packed += length) {
    size_t used = length;
    while (used > 0 && packed[used - 1] == ' ') --used;
    memcpy(to, packed, used);
    to[used] = '\0';
    strings[i] = to;
  }
  return (const char *const *)strings;
}

/* Collective: what fails here is data that the library refuses on all ranks. */
int windrow_fortran_put_attribute(windrow_file *file, const char *object, const char *name, int type,
                                  const CFI_cdesc_t *value) {
  const int64_t elements = elements_of(value);
  int64_t shape[CFI_MAX_RANK] = {0};
  shape_of(value, shape);
  char *packed = elements < 0 ? NULL : malloc((size_t)elements * value->elem_len + 1);
  if (packed != NULL) copy(value, packed, 0);
  const void *data = packed;
  if (type == WINDROW_TEXT && packed != NULL) data = strings_of(packed, elements, value->elem_len);
  const int code = windrow_put_attribute(file, object, name, type, value->rank, shape, data);
  if (data != packed) free((void *)data);
  free(packed);
  return code;
}

int windrow_fortran_find_attribute(const windrow_file *file, const char *object, const char *name,
                                   windrow_attribute_info *info);

static int has_shape(const windrow_attribute_info *info, const CFI_cdesc_t *value) {
  int64_t shape[CFI_MAX_RANK] = {0};
  shape_of(value, shape);
  if (info->elements == 1 && elements_of(value) == 1) return 1; /* a scalar or a list of one: other tools mix them */
  return info->ndims == value->rank && memcmp(info->shape, shape, (size_t)value->rank * sizeof *shape) == 0;
}

/* "(3, 4)", in Fortran's order. */
static void print_shape(char *text, size_t size, int ndims, const int64_t *shape) {
  size_t used = (size_t)snprintf(text, size, "(");
  for (int d = ndims - 1; d >= 0 && used < size; --d)
    used += (size_t)snprintf(text + used, size - used, "%lld%s", (long long)shape[d], d > 0 ? ", " : "");
  if (used < size) snprintf(text + used, size - used, ")");
}

/* Numbers only. */
int windrow_fortran_get_attribute(const windrow_file *file, const char *object, const char *name, int type,
                                  const CFI_cdesc_t *value) {
  windrow_attribute_info info = {.size = sizeof info};
  const int code = windrow_fortran_find_attribute(file, object, name, &info);
  if (code != WINDROW_OK) return code;
  const int in_file = info.type == type + 1 && type <= WINDROW_INT64 ? info.type : type; /* unsigned: its bits */
  if (info.type == in_file && info.unsupported[0] == '\0' && !has_shape(&info, value)) {
    char have[300], give[300];
    int64_t shape[CFI_MAX_RANK];
    shape_of(value, shape);
    print_shape(have, sizeof have, info.ndims, info.shape);
    print_shape(give, sizeof give, value->rank, shape);
    return refuse(NULL, "attribute \"%.200s\" of \"%.200s\" has the shape %s, the array %s", name, object, have, give);
  }
  char *packed = malloc((size_t)info.elements * (size_t)windrow_type_size(type) + 1);
  if (packed == NULL) return refuse(NULL, "attribute \"%.200s\": no memory to read it", name);
  const int got = windrow_get_attribute(file, object, name, in_file, packed);
  if (got == WINDROW_OK) copy(value, packed, 1);
  free(packed);
  return got;
}
