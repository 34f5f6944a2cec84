/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes, which are copied element by element and may have gaps in memory. */
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

/* Logical numbers of any size as bytes that are 0 or 1, in place, and back. */
static void logicals_to_bytes(char *packed, int64_t elements, size_t length) {
  for (int64_t i = 0; i < elements; ++i) {
    int is_true = 0;
    for (size_t k = 0; k < length; ++k)
      is_true |= packed[(size_t)i * length + k] != 0;
    packed[i] = (char)is_true;
  }
}

static void bytes_to_logicals(char *packed, int64_t elements, size_t length) {
  const int32_t one = 1;
  const size_t lowest = *(const char *)&one == 1 ? 0 : length - 1; /* by the byte order */
  for (int64_t i = elements - 1; i >= 0; --i) {
    const char byte = packed[i];
    memset(packed + (size_t)i * length, 0, length);
    packed[(size_t)i * length + lowest] = byte != 0;
  }
}

/* Whether an array can hold elements of a type; Fortran has no unsigned integers, and takes bytes for opaque elements.
 */
static int takes(int type, const CFI_cdesc_t *value, char *name) {
  const int own = type_of(value, name);
  if (type == WINDROW_OPAQUE)
    return own == WINDROW_INT8 && value->rank > 0;
  if (type == WINDROW_REFERENCE)
    return own == WINDROW_TEXT;
#ifdef CFI_type_Logical
  if (type == WINDROW_BOOL && (value->type & CFI_type_mask) == CFI_type_Logical)
    return 1;
#endif
  return fits(type, own);
}

/* The array determines the length of opaque elements, so nothing beyond its end is read. */
static int set_element_bytes(windrow_options *options, int type, const CFI_cdesc_t *value) {
  char bytes[32];
  if (type != WINDROW_OPAQUE || value == NULL || value->rank == 0)
    return WINDROW_OK;
  snprintf(bytes, sizeof bytes, "%lld", (long long)value->dim[0].extent);
  return windrow_options_set(options, "element_bytes", bytes);
}

/* The elements as C needs them, which the caller frees; NULL: out of memory, or an array of assumed size. */
static void *elements_for_c(int type, const CFI_cdesc_t *value) {
  const int64_t elements = elements_of(value);
  if (elements < 0)
    return NULL;
  if (type == WINDROW_TEXT || type == WINDROW_REFERENCE)
    return strings_of(value, elements);
  char *packed = malloc((size_t)elements * value->elem_len + 1);
  if (packed == NULL)
    return NULL;
  copy_elements(value, packed, 0);
  if (type == WINDROW_BOOL)
    logicals_to_bytes(packed, elements, value->elem_len);
  return packed;
}

/* `value` may be absent: a null space, which the options must set. Collective: an error here becomes arguments that the
 * library refuses on all ranks. */
int windrow_fortran_put_attribute(windrow_file *file, const char *object, const char *name, int type,
                                  const CFI_cdesc_t *value, const struct options *given) {
  char own[32] = "";
  int64_t shape[CFI_MAX_RANK] = {0};
  struct options *made = NULL;
  windrow_options *options = windrow_fortran_options_all(given);
  const int fitting = value == NULL || takes(type, value, own),
            ndims = value == NULL ? 0 : value->rank - (type == WINDROW_OPAQUE);
  if (value != NULL && fitting)
    shape_of(value, shape);
  if (options == NULL && (value == NULL || type == WINDROW_OPAQUE) &&
      windrow_fortran_options_create(&made) == WINDROW_OK)
    options = made->all;
  if (made != NULL && value == NULL && windrow_options_set(options, "null_space", "true") != WINDROW_OK)
    options = NULL;
  if (fitting && options != NULL && set_element_bytes(options, type, value) != WINDROW_OK)
    options = NULL;
  void *data = value != NULL && fitting ? elements_for_c(type, value) : NULL;
  const int code = windrow_put_attribute_with(file, object, fitting ? name : NULL, type, ndims, shape, data, options);
  free(data);
  windrow_fortran_options_free(made);
  if (!fitting && code == WINDROW_BAD_ARGUMENT)
    return refuse(NULL, "attribute \"%.200s\" of \"%.200s\": the value is %s, not %s%s", name, object, own,
                  windrow_type_name(type), type == WINDROW_OPAQUE ? ": an array of integer(int8)" : "");
  return code;
}

int windrow_fortran_is_text(const CFI_cdesc_t *value) {
  return value != NULL && value->type == CFI_type_char;
}

int windrow_fortran_find_attribute(const windrow_file *file, const char *object, const char *name,
                                   windrow_attribute_info *info);

/* The shape of a Fortran array for an attribute, in C's order; for opaque elements their bytes follow as the last
 * dimension. Returns the number of dimensions. */
static int shape_in_memory(const windrow_attribute_info *info, int64_t *shape) {
  memcpy(shape, info->shape, (size_t)info->ndims * sizeof *shape);
  if (info->type == WINDROW_OPAQUE)
    shape[info->ndims] = info->element_bytes;
  return info->ndims + (info->type == WINDROW_OPAQUE);
}

/* A scalar and a list of one element are equal, because other tools do not distinguish them. */
static int has_shape(int ndims, const int64_t *shape, const CFI_cdesc_t *value) {
  int64_t own[CFI_MAX_RANK] = {0}, elements = 1;
  shape_of(value, own);
  for (int d = 0; d < ndims; ++d)
    elements *= shape[d];
  if (elements == 1 && elements_of(value) == 1)
    return 1;
  return ndims == value->rank && memcmp(shape, own, (size_t)ndims * sizeof *shape) == 0;
}

/* "(3, 4)", in Fortran's order. */
static void print_shape(char *text, size_t size, int ndims, const int64_t *shape) {
  size_t used = (size_t)snprintf(text, size, "(");
  for (int d = ndims - 1; d >= 0 && used < size; --d)
    used += (size_t)snprintf(text + used, size - used, "%lld%s", (long long)shape[d], d > 0 ? ", " : "");
  if (used < size)
    snprintf(text + used, size - used, ")");
}

/* Unsigned integers are read as their bits, and opaque elements as bytes. */
static int type_in_file(int in_file, int in_memory) {
  const int is_bytes = in_file == WINDROW_OPAQUE && in_memory == WINDROW_INT8;
  return is_bytes || fits(in_file, in_memory) ? in_file : in_memory;
}

/* All types except text. */
int windrow_fortran_get_attribute(const windrow_file *file, const char *object, const char *name, int type,
                                  const CFI_cdesc_t *value) {
  windrow_attribute_info info = {.size = sizeof info};
  const int code = windrow_fortran_find_attribute(file, object, name, &info);
  if (code != WINDROW_OK)
    return code;
  const int in_file = type_in_file(info.type, type);
  if (info.type == in_file && info.is_null)
    return refuse(NULL, "attribute \"%.200s\" of \"%.200s\" is a null space: it has no value", name, object);
  int64_t shape[WINDROW_MAX_DIMENSIONS + 1] = {0};
  const int ndims = shape_in_memory(&info, shape);
  if (info.type == in_file && info.unsupported[0] == '\0' && !has_shape(ndims, shape, value)) {
    char have[300], give[300];
    int64_t own[CFI_MAX_RANK];
    shape_of(value, own);
    print_shape(have, sizeof have, ndims, shape);
    print_shape(give, sizeof give, value->rank, own);
    return refuse(NULL, "attribute \"%.200s\" of \"%.200s\" has the shape %s, the array %s", name, object, have, give);
  }
  const size_t length = value->elem_len, own_bytes = (size_t)info.element_bytes;
  char *packed = malloc((size_t)info.elements * (length > own_bytes ? length : own_bytes) + 1);
  if (packed == NULL)
    return refuse(NULL, "attribute \"%.200s\": no memory to read it", name);
  const int got = windrow_get_attribute(file, object, name, in_file, packed);
  if (got == WINDROW_OK && type == WINDROW_BOOL)
    bytes_to_logicals(packed, info.elements, length);
  if (got == WINDROW_OK)
    copy_elements(value, packed, 1);
  free(packed);
  return got;
}
