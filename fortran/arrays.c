/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of any type and rank by their descriptors. */
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
      {CFI_type_float_Complex, WINDROW_COMPLEX64, "complex(real32)"},
      {CFI_type_double_Complex, WINDROW_COMPLEX128, "complex(real64)"},
      {CFI_type_Bool, WINDROW_BOOL, "logical(c_bool)"},
      {CFI_type_struct, 0, "of a derived type"},
  };
  if (array->type == CFI_type_char)
    return snprintf(name, 32, "character(%lld)", (long long)array->elem_len), WINDROW_TEXT;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (array->type == known[i].cfi)
      return snprintf(name, 32, "%s", known[i].name), known[i].type;
#ifdef CFI_type_Logical /* gfortran's type of all kinds of logical */
  if ((array->type & CFI_type_mask) == CFI_type_Logical)
    return snprintf(name, 32, "logical of %lld byte%s", (long long)array->elem_len, plural((int64_t)array->elem_len)),
           0;
#endif
  snprintf(name, 32, "of a type of %lld byte%s", (long long)array->elem_len, plural((int64_t)array->elem_len));
  return 0;
}

int64_t elements_of(const CFI_cdesc_t *array) {
  int64_t elements = 1;
  for (int d = 0; d < array->rank; ++d) {
    if (array->dim[d].extent < 0)
      return -1;
    elements *= array->dim[d].extent;
  }
  return elements;
}

void shape_of(const CFI_cdesc_t *array, int64_t *shape) {
  for (int d = 0; d < array->rank; ++d)
    shape[d] = array->dim[array->rank - 1 - d].extent;
}

void copy_elements(const CFI_cdesc_t *array, char *packed, int into_array) {
  const size_t length = array->elem_len;
  const int64_t elements = elements_of(array);
  CFI_index_t index[CFI_MAX_RANK] = {0};
  for (int64_t i = 0; i < elements; ++i, packed += length) {
    char *element = array->base_addr;
    for (int d = 0; d < array->rank; ++d)
      element += index[d] * array->dim[d].sm;
    memcpy(into_array ? element : packed, into_array ? packed : element, length);
    for (int d = 0; d < array->rank && ++index[d] == array->dim[d].extent; ++d)
      index[d] = 0;
  }
}

const char **strings_of(const CFI_cdesc_t *array, int64_t elements) {
  const size_t count = (size_t)elements, length = array->elem_len;
  const char **strings = malloc((count + 1) * sizeof *strings + count * (length + 1));
  char *packed = malloc(count * length + 1);
  if (strings != NULL && packed != NULL) {
    if (elements_of(array) < 0)
      memcpy(packed, array->base_addr, count * length); /* assumed size: contiguous */
    else
      copy_elements(array, packed, 0);
    char *to = (char *)(strings + count + 1);
    const char *from = packed;
    for (size_t i = 0; i < count; ++i, to += length + 1, from += length) {
      size_t used = length;
      while (used > 0 && from[used - 1] == ' ')
        --used;
      memcpy(to, from, used);
      to[used] = '\0';
      strings[i] = to;
    }
  }
  if (packed == NULL) {
    free(strings);
    strings = NULL;
  }
  free(packed);
  return strings;
}
