/* SPDX-License-Identifier: BSD-3-Clause */
/* What Fortran cannot do itself: this converts communicators and object numbers to C's, and checks the descriptors of
 * data of any type and rank.  Shapes, starts and counts are already in C's order and from 0.  Numbers of objects are
 * Fortran's, from 1. */
#include "shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int refuse(windrow_file *file, const char *format, ...) {
  char message[1000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return windrow_refuse(file, message);
}

/* ------------------------------------------------------------------------------------------------ options */

/* Text is padded with blanks: in memory, and in the file unless the program sets another padding. */
static int set_for_text(windrow_options *options) {
  const int code = windrow_options_set(options, "text_in_memory", "blanks");
  return code == WINDROW_OK ? windrow_options_set(options, "text_padding", "space_padded") : code;
}

int windrow_fortran_options_create(struct options **options) {
  struct options made = {NULL, NULL};
  *options = malloc(sizeof made);
  if (*options == NULL)
    return refuse(NULL, "options_create: no memory");
  int code = windrow_options_create(&made.set);
  if (code == WINDROW_OK)
    code = windrow_options_create(&made.all);
  if (code == WINDROW_OK)
    code = set_for_text(made.all);
  **options = made;
  if (code == WINDROW_OK)
    return code;
  windrow_fortran_options_free(*options);
  *options = NULL;
  return code;
}

int windrow_fortran_options_set(struct options *options, const char *key, const char *value) {
  const int code = windrow_options_set(options == NULL ? NULL : options->set, key, value);
  return code == WINDROW_OK ? windrow_options_set(options->all, key, value) : code;
}

void windrow_fortran_options_free(struct options *options) {
  if (options == NULL)
    return;
  windrow_options_free(options->set);
  windrow_options_free(options->all);
  free(options);
}

windrow_options *windrow_fortran_options_all(const struct options *options) {
  return options == NULL ? NULL : options->all;
}

int windrow_fortran_set_strategy(windrow_file *file, const struct options *options) {
  return windrow_set_strategy(file, options == NULL ? NULL : options->set);
}

/* ------------------------------------------------------------------------------------------ communicators */

/* MPI_Comm_f2c() before MPI_Init or after MPI_Finalize may end the program. */
MPI_Comm comm_of(MPI_Fint comm) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun && !ended ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}

/* A file without options also gets the module's. If they cannot be allocated, the path is refused on every rank. */
int windrow_fortran_create(MPI_Fint comm, const char *path, const struct options *options, windrow_file **file) {
  struct options *made = NULL;
  const int failed = options == NULL && windrow_fortran_options_create(&made) != WINDROW_OK;
  const windrow_options *all = windrow_fortran_options_all(options == NULL ? made : options);
  const int code = AS_FORTRAN(windrow_create(comm_of(comm), failed ? NULL : path, all, file));
  windrow_fortran_options_free(made);
  return code;
}

int windrow_fortran_open(MPI_Fint comm, const char *path, int mode, const struct options *options,
                         windrow_file **file) {
  struct options *made = NULL;
  const int failed = options == NULL && windrow_fortran_options_create(&made) != WINDROW_OK;
  const windrow_options *all = windrow_fortran_options_all(options == NULL ? made : options);
  const int code = AS_FORTRAN(windrow_open(comm_of(comm), failed ? NULL : path, mode, all, file));
  windrow_fortran_options_free(made);
  return code;
}

int windrow_fortran_copy(MPI_Fint comm, const char *source, const char *target, const struct options *options) {
  return AS_FORTRAN(windrow_copy(comm_of(comm), source, target, options == NULL ? NULL : options->set, NULL));
}

int windrow_fortran_blocks(MPI_Fint comm, int ndims, const int64_t *shape, int64_t blocks, const int64_t *starts,
                           const int64_t *counts, const int64_t *memory_shapes, const int64_t *memory_starts,
                           windrow_decomposition **decomposition) {
  return AS_FORTRAN(
      windrow_blocks(comm_of(comm), ndims, shape, blocks, starts, counts, memory_shapes, memory_starts, decomposition));
}

int windrow_fortran_block(MPI_Fint comm, int ndims, const int64_t *shape, const int64_t *start, const int64_t *count,
                          const int64_t *memory_shape, const int64_t *memory_start,
                          windrow_decomposition **decomposition) {
  return AS_FORTRAN(
      windrow_block(comm_of(comm), ndims, shape, start, count, memory_shape, memory_start, decomposition));
}

int windrow_fortran_strided_blocks(MPI_Fint comm, int ndims, const int64_t *shape, int64_t blocks,
                                   const int64_t *starts, const int64_t *counts, const int64_t *memory_offsets,
                                   const int64_t *memory_strides, windrow_decomposition **decomposition) {
  return AS_FORTRAN(windrow_strided_blocks(comm_of(comm), ndims, shape, blocks, starts, counts, memory_offsets,
                                           memory_strides, decomposition));
}

int windrow_fortran_rows(MPI_Fint comm, int64_t rows, int64_t count, windrow_decomposition **decomposition) {
  return AS_FORTRAN(windrow_rows(comm_of(comm), rows, count, decomposition));
}

int windrow_fortran_points(MPI_Fint comm, int64_t points, int64_t count, const int64_t *list,
                           const unsigned char *owned, const windrow_options *options,
                           windrow_decomposition **decomposition) {
  return AS_FORTRAN(windrow_points_with(comm_of(comm), points, count, list, owned, options, decomposition));
}

int windrow_fortran_same(MPI_Fint comm, int ndims, const int64_t *shape, const int64_t *start, const int64_t *count,
                         windrow_decomposition **decomposition) {
  return AS_FORTRAN(windrow_same(comm_of(comm), ndims, shape, start, count, decomposition));
}

/* ------------------------------------------------------------------------------------------------ numbers */

/* Fortran declares the structs itself and has set their sizes. */

int windrow_fortran_inquire_variable(const windrow_file *file, int variable, windrow_variable_info *info) {
  const int variables = windrow_variable_count(file);
  if (variables >= 0 && (variable < 1 || variable > variables))
    return refuse(NULL, "there is no variable number %d; the file has %d", variable, variables);
  return windrow_inquire_variable(file, variable - 1, info);
}

int windrow_fortran_inquire_attribute(const windrow_file *file, const char *object, int attribute,
                                      windrow_attribute_info *info) {
  const int attributes = windrow_attribute_count(file, object);
  if (attributes >= 0 && (attribute < 1 || attribute > attributes))
    return refuse(NULL, "\"%.500s\" has no attribute number %d; it has %d", object, attribute, attributes);
  return windrow_inquire_attribute(file, object, attribute - 1, info);
}

int windrow_fortran_find_attribute(const windrow_file *file, const char *object, const char *name,
                                   windrow_attribute_info *info) {
  const int attributes = windrow_attribute_count(file, object);
  for (int i = 0; i < attributes; ++i) {
    const int code = windrow_inquire_attribute(file, object, i, info);
    if (code != WINDROW_OK || strcmp(info->name, name) == 0)
      return code;
  }
  return windrow_get_attribute(file, object, name, 0, NULL); /* its message names which of the two is missing */
}

int windrow_fortran_inquire_dimension(const windrow_file *file, int dimension, const char **path, int64_t *length) {
  const int dimensions = windrow_dimension_count(file);
  if (dimensions >= 0 && (dimension < 1 || dimension > dimensions))
    return refuse(NULL, "there is no dimension number %d; the file has %d", dimension, dimensions);
  return windrow_inquire_dimension(file, dimension - 1, path, length);
}

int windrow_fortran_inquire_link(const windrow_file *file, int link, const char **path, const char **target) {
  const int links = windrow_link_count(file);
  if (links >= 0 && (link < 1 || link > links))
    return refuse(NULL, "there is no link number %d; the file has %d", link, links);
  return windrow_inquire_link(file, link - 1, path, target);
}

/* --------------------------------------------------------------------------------------------------- data */

int strided_dimension(const CFI_cdesc_t *data) {
  for (int d = 0; d < data->rank; ++d)
    if (data->dim[d].extent == 0)
      return -1;
  CFI_index_t expected = (CFI_index_t)data->elem_len;
  for (int d = 0; d < data->rank; ++d) {
    if (data->dim[d].extent != 1 && data->dim[d].sm != expected)
      return d;
    expected *= data->dim[d].extent;
  }
  return -1;
}

/* Whether an array has no gaps, but its dimensions have another order in memory. This is the descriptor of
 * transpose(a), which compilers do not copy. */
static int is_turned(const CFI_cdesc_t *data) {
  CFI_index_t expected = (CFI_index_t)data->elem_len;
  for (int found = 0, done = 0; !done; done = !found) {
    found = 0;
    for (int d = 0; d < data->rank && !found; ++d) {
      found = data->dim[d].extent > 1 && data->dim[d].sm == expected;
      if (found)
        expected *= data->dim[d].extent;
    }
  }
  return expected == (CFI_index_t)data->elem_len * elements_of(data);
}

const CFI_cdesc_t *straightened(const CFI_cdesc_t *data, CFI_cdesc_t *straight) {
  straight->base_addr = NULL;
  if (strided_dimension(data) < 0 || !is_turned(data))
    return data;
  memcpy(straight, data, sizeof *data + (size_t)data->rank * sizeof *data->dim);
  straight->base_addr = malloc((size_t)elements_of(data) * data->elem_len);
  if (straight->base_addr == NULL)
    return data;
  copy_elements(data, straight->base_addr, 0);
  CFI_index_t step = (CFI_index_t)data->elem_len;
  for (int d = 0; d < data->rank; ++d) {
    straight->dim[d].sm = step;
    step *= data->dim[d].extent;
  }
  return straight;
}

static int64_t times(int64_t a, int64_t b) {
  return a != 0 && b > INT64_MAX / a ? INT64_MAX : a * b;
}

/* The number of elements that an array must have, by the variable's dimensions from `first` on. 0: the decomposition
 * does not fit them, and the library reports it. */
static int64_t elements_needed(const windrow_variable_info *variable, int first, const struct held *part) {
  int covered = first + part->ndims;
  if (part->points >= 0) {
    int64_t product = 1;
    for (covered = first; covered < variable->ndims && product != part->points; ++covered)
      product = times(product, variable->shape[covered]);
  }
  int64_t needed = part->elements;
  for (int d = covered; d < variable->ndims; ++d)
    needed = times(needed, variable->shape[d]);
  return needed;
}

int fits(int in_file, int in_memory) {
  return in_file == in_memory || (in_file % 2 == 0 && in_file <= WINDROW_UINT64 && in_file == in_memory + 1);
}

/* Whether an array can hold a variable's elements as they are: texts of the same length, and opaque elements as bytes.
 */
static int takes(const windrow_variable_info *info, const CFI_cdesc_t *data, char *name) {
  const int own = type_of(data, name);
  if (info->type == WINDROW_OPAQUE)
    return own == WINDROW_INT8;
  return fits(info->type, own) && (own != WINDROW_TEXT || (int64_t)data->elem_len == info->element_bytes);
}

static int describe(windrow_file *file, const char *verb, int variable, windrow_variable_info *info) {
  const int variables = windrow_variable_count(file);
  if (variables < 0)
    return refuse(NULL, "%s: the file is not open", verb);
  if (variable < 1 || variable > variables)
    return refuse(file, "%s: there is no variable number %d; the file has %d", verb, variable, variables);
  info->size = sizeof *info;
  const int code = windrow_inquire_variable(file, variable - 1, info);
  return code == WINDROW_OK ? code : refuse(file, "%s", windrow_error_message());
}

/* No array is checked if the library refuses the request, or if it has no elements. */
static int has_elements(const windrow_variable_info *info) {
  return info->unsupported[0] == '\0' && !info->is_null && info->element_bytes > 0;
}

/* Refuses an array with a wrong memory layout or size. */
static int check_layout(windrow_file *file, const char *verb, const windrow_variable_info *info, int is_record,
                        const struct held *part, const CFI_cdesc_t *data) {
  const int strided = strided_dimension(data);
  if (strided >= 0)
    return refuse(file,
                  "%s of \"%.500s\": the array is not contiguous: its dimension %d has gaps, or another order in "
                  "memory; pass the whole "
                  "array, and say by memory_shape and memory_start which part of it counts",
                  verb, info->path, strided + 1);
  const int64_t elements = elements_of(data), needed = times(elements_needed(info, is_record, part),
                                                             info->type == WINDROW_OPAQUE ? info->element_bytes : 1);
  if (elements >= 0 && elements < needed)
    return refuse(file, "%s of \"%.500s\": the array has %lld element%s, %lld %s needed", verb, info->path,
                  (long long)elements, plural(elements), (long long)needed, needed == 1 ? "is" : "are");
  return WINDROW_OK;
}

/* The same for a part of a variable or of a record. The next flush reports the error to all ranks. */
static int check_part(windrow_file *file, const char *verb, int variable, int is_record, const struct held *part,
                      const CFI_cdesc_t *data) {
  windrow_variable_info info;
  const int code = describe(file, verb, variable, &info);
  if (code != WINDROW_OK || !has_elements(&info))
    return code;
  char type[32], text[32] = "";
  if (takes(&info, data, type))
    return check_layout(file, verb, &info, is_record, part, data);
  if (info.type == WINDROW_TEXT)
    snprintf(text, sizeof text, " of %lld byte%s", (long long)info.element_bytes, plural(info.element_bytes));
  if (info.type == WINDROW_OPAQUE)
    snprintf(text, sizeof text, ", for integer(int8)");
  return refuse(file, "%s of \"%.500s\": the array is %s, the variable %s%s", verb, info.path, type,
                windrow_type_name(info.type), text);
}

static int check(windrow_file *file, const char *verb, int variable, const struct held *part, const CFI_cdesc_t *data) {
  return check_part(file, verb, variable, 0, part, data);
}

int windrow_fortran_put(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data) {
  const int code = check(file, "put", variable, part, data);
  return code == WINDROW_OK ? AS_FORTRAN(windrow_put(file, variable - 1, part->decomposition, data->base_addr)) : code;
}

int windrow_fortran_get(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data) {
  const int code = check(file, "get", variable, part, data);
  return code == WINDROW_OK ? AS_FORTRAN(windrow_get(file, variable - 1, part->decomposition, data->base_addr)) : code;
}

/* `type`: of the array's elements; 0: the array's own. Text and opaque elements are not converted. */
static int check_as(windrow_file *file, const char *verb, int variable, int is_record, int *type,
                    const struct held *part, const CFI_cdesc_t *data) {
  windrow_variable_info info;
  const int code = describe(file, verb, variable, &info);
  if (code != WINDROW_OK || !has_elements(&info))
    return code;
  char name[32];
  const int own = type_of(data, name), is_plain = info.type != WINDROW_TEXT && info.type != WINDROW_OPAQUE;
  if (*type == 0)
    *type = is_plain || !takes(&info, data, name) ? own : info.type;
  if (own == 0 || (!fits(*type, own) && !(*type == WINDROW_OPAQUE && takes(&info, data, name))))
    return refuse(file, "%s of \"%.500s\": the array is %s, which holds no elements of type %s", verb, info.path, name,
                  windrow_type_name(*type == 0 ? info.type : *type));
  if (!is_plain && *type == info.type)
    return check_part(file, verb, variable, is_record, part, data);
  return check_layout(file, verb, &info, is_record, part, data);
}

int windrow_fortran_put_as(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data,
                           int type) {
  const int code = check_as(file, "put_as", variable, 0, &type, part, data);
  return code == WINDROW_OK ? AS_FORTRAN(windrow_put_as(file, variable - 1, part->decomposition, type, data->base_addr))
                            : code;
}

int windrow_fortran_get_as(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data,
                           int type) {
  const int code = check_as(file, "get_as", variable, 0, &type, part, data);
  return code == WINDROW_OK ? AS_FORTRAN(windrow_get_as(file, variable - 1, part->decomposition, type, data->base_addr))
                            : code;
}

int windrow_fortran_put_record(windrow_file *file, int variable, int64_t record, const struct held *part,
                               const CFI_cdesc_t *data) {
  if (record < 1)
    return refuse(file, "put_record: the record is %lld; they count from 1", (long long)record);
  const int code = check_part(file, "put_record", variable, 1, part, data);
  return code == WINDROW_OK
             ? AS_FORTRAN(windrow_put_record(file, variable - 1, record - 1, part->decomposition, data->base_addr))
             : code;
}

int windrow_fortran_get_record(windrow_file *file, int variable, int64_t record, const struct held *part,
                               const CFI_cdesc_t *data) {
  if (record < 1)
    return refuse(file, "get_record: the record is %lld; they count from 1", (long long)record);
  const int code = check_part(file, "get_record", variable, 1, part, data);
  return code == WINDROW_OK
             ? AS_FORTRAN(windrow_get_record(file, variable - 1, record - 1, part->decomposition, data->base_addr))
             : code;
}

int windrow_fortran_put_record_as(windrow_file *file, int variable, int64_t record, const struct held *part,
                                  const CFI_cdesc_t *data, int type) {
  if (record < 1)
    return refuse(file, "put_record_as: the record is %lld; they count from 1", (long long)record);
  const int code = check_as(file, "put_record_as", variable, 1, &type, part, data);
  if (code != WINDROW_OK)
    return code;
  return AS_FORTRAN(windrow_put_record_as(file, variable - 1, record - 1, part->decomposition, type, data->base_addr));
}

int windrow_fortran_get_record_as(windrow_file *file, int variable, int64_t record, const struct held *part,
                                  const CFI_cdesc_t *data, int type) {
  if (record < 1)
    return refuse(file, "get_record_as: the record is %lld; they count from 1", (long long)record);
  const int code = check_as(file, "get_record_as", variable, 1, &type, part, data);
  if (code != WINDROW_OK)
    return code;
  return AS_FORTRAN(windrow_get_record_as(file, variable - 1, record - 1, part->decomposition, type, data->base_addr));
}

/* If an array is refused, the other ranks still wait for this one in the flush, which reports the error to them. */
int windrow_fortran_write(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data) {
  CFI_CDESC_T(CFI_MAX_RANK) room;
  CFI_cdesc_t *straight = (CFI_cdesc_t *)&room;
  data = straightened(data, straight);
  const int code = check(file, "write", variable, part, data) != WINDROW_OK
                       ? AS_FORTRAN(windrow_flush(file))
                       : AS_FORTRAN(windrow_write(file, variable - 1, part->decomposition, data->base_addr));
  free(straight->base_addr);
  return code;
}

int windrow_fortran_read(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data) {
  if (check(file, "read", variable, part, data) != WINDROW_OK)
    return AS_FORTRAN(windrow_flush(file));
  return AS_FORTRAN(windrow_read(file, variable - 1, part->decomposition, data->base_addr));
}

typedef int move_block(windrow_file *, int, const int64_t *, const int64_t *, void *);

static int write_block(windrow_file *file, int variable, const int64_t *start, const int64_t *count, void *data) {
  return windrow_write_block(file, variable, start, count, data);
}

static int check_block(windrow_file *file, const char *verb, int variable, const struct sizes *start,
                       const struct sizes *count, const CFI_cdesc_t *data) {
  windrow_variable_info info = {.size = sizeof info};
  if (windrow_inquire_variable(file, variable - 1, &info) == WINDROW_OK &&
      (start->entries != info.ndims || count->entries != info.ndims))
    return refuse(file, "%s of \"%.500s\": start has %d entr%s, count %d; the variable has %d dimension%s", verb,
                  info.path, start->entries, start->entries == 1 ? "y" : "ies", count->entries, info.ndims,
                  plural(info.ndims));
  struct held part = {.elements = 1, .points = -1, .ndims = count->entries};
  for (int d = 0; d < count->entries; ++d)
    part.elements = count->values[d] <= 0 ? 0 : times(part.elements, count->values[d]);
  return check(file, verb, variable, &part, data);
}

/* A rank whose arguments are refused takes part with an empty block, of any variable. */
static int checked_block(move_block *move, const char *verb, windrow_file *file, int variable,
                         const struct sizes *start, const struct sizes *count, const CFI_cdesc_t *data) {
  static const int64_t nothing[WINDROW_MAX_DIMENSIONS];
  if (check_block(file, verb, variable, start, count, data) == WINDROW_OK)
    return AS_FORTRAN(move(file, variable - 1, start->values, count->values, data->base_addr));
  return AS_FORTRAN(move(file, 0, nothing, nothing, NULL));
}

int windrow_fortran_write_block(windrow_file *file, int variable, const struct sizes *start, const struct sizes *count,
                                const CFI_cdesc_t *data) {
  CFI_CDESC_T(CFI_MAX_RANK) room;
  CFI_cdesc_t *straight = (CFI_cdesc_t *)&room;
  const int code =
      checked_block(write_block, "write_block", file, variable, start, count, straightened(data, straight));
  free(straight->base_addr);
  return code;
}

int windrow_fortran_read_block(windrow_file *file, int variable, const struct sizes *start, const struct sizes *count,
                               const CFI_cdesc_t *data) {
  return checked_block(windrow_read_block, "read_block", file, variable, start, count, data);
}
