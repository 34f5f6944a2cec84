/* SPDX-License-Identifier: BSD-3-Clause */
/* What Fortran cannot do itself: communicators and numbers as C has them, and data of any type and rank, whose descriptors are looked
 * at here.  Shapes, starts and counts that come in are in C's order and from 0 already; numbers of things are Fortran's, from 1. */
#include "shim.h"

#include <stdarg.h>
#include <stdio.h>

int refuse(windrow_file *file, const char *format, ...) {
  char message[1000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return windrow_refuse(file, message);
}

/* ------------------------------------------------------------------------------------------ communicators */

/* MPI may end the program when it is asked before MPI_Init or after MPI_Finalize; Windrow answers it. */
static MPI_Comm comm_of(MPI_Fint comm) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun && !ended ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}

int windrow_fortran_create(MPI_Fint comm, const char *path, const windrow_options *options, windrow_file **file) {
  return windrow_create(comm_of(comm), path, options, file);
}

int windrow_fortran_open(MPI_Fint comm, const char *path, int mode, const windrow_options *options,
                         windrow_file **file) {
  return windrow_open(comm_of(comm), path, mode, options, file);
}

int windrow_fortran_blocks(MPI_Fint comm, int ndims, const int64_t *shape, int64_t blocks, const int64_t *starts,
                           const int64_t *counts, const int64_t *memory_shapes, const int64_t *memory_starts,
                           windrow_decomposition **decomposition) {
  return windrow_blocks(comm_of(comm), ndims, shape, blocks, starts, counts, memory_shapes, memory_starts,
                        decomposition);
}

int windrow_fortran_block(MPI_Fint comm, int ndims, const int64_t *shape, const int64_t *start, const int64_t *count,
                          const int64_t *memory_shape, const int64_t *memory_start,
                          windrow_decomposition **decomposition) {
  return windrow_block(comm_of(comm), ndims, shape, start, count, memory_shape, memory_start, decomposition);
}

int windrow_fortran_rows(MPI_Fint comm, int64_t rows, int64_t count, windrow_decomposition **decomposition) {
  return windrow_rows(comm_of(comm), rows, count, decomposition);
}

int windrow_fortran_points(MPI_Fint comm, int64_t points, int64_t count, const int64_t *list,
                           const unsigned char *owned, windrow_decomposition **decomposition) {
  return windrow_points(comm_of(comm), points, count, list, owned, decomposition);
}

int windrow_fortran_same(MPI_Fint comm, int ndims, const int64_t *shape, const int64_t *start, const int64_t *count,
                         windrow_decomposition **decomposition) {
  return windrow_same(comm_of(comm), ndims, shape, start, count, decomposition);
}

/* ------------------------------------------------------------------------------------------------ numbers */

int windrow_fortran_inquire_variable(const windrow_file *file, int variable, windrow_variable_info *info) {
  const int variables = windrow_variable_count(file);
  if (variables >= 0 && (variable < 1 || variable > variables))
    return refuse(NULL, "there is no variable number %d; the file has %d", variable, variables);
  info->size = sizeof *info;
  return windrow_inquire_variable(file, variable - 1, info);
}

int windrow_fortran_inquire_attribute(const windrow_file *file, const char *object, int attribute,
                                      windrow_attribute_info *info) {
  const int attributes = windrow_attribute_count(file, object);
  if (attributes >= 0 && (attribute < 1 || attribute > attributes))
    return refuse(NULL, "\"%.500s\" has no attribute number %d; it has %d", object, attribute, attributes);
  info->size = sizeof *info;
  return windrow_inquire_attribute(file, object, attribute - 1, info);
}

int windrow_fortran_find_attribute(const windrow_file *file, const char *object, const char *name,
                                   windrow_attribute_info *info) {
  const int attributes = windrow_attribute_count(file, object);
  for (int i = 0; i < attributes; ++i) {
    info->size = sizeof *info;
    const int code = windrow_inquire_attribute(file, object, i, info);
    if (code != WINDROW_OK || strcmp(info->name, name) == 0) return code;
  }
  return windrow_get_attribute(file, object, name, 0, NULL); /* says which of the two is missing */
}

/* --------------------------------------------------------------------------------------------------- data */

/* The first dimension that is not stored without gaps; -1: none. */
static int strided_dimension(const CFI_cdesc_t *data) {
  for (int d = 0; d < data->rank; ++d)
    if (data->dim[d].extent == 0) return -1;
  CFI_index_t expected = (CFI_index_t)data->elem_len;
  for (int d = 0; d < data->rank; ++d) {
    if (data->dim[d].extent != 1 && data->dim[d].sm != expected) return d;
    expected *= data->dim[d].extent;
  }
  return -1;
}

static int64_t times(int64_t a, int64_t b) { return a != 0 && b > INT64_MAX / a ? INT64_MAX : a * b; }

/* How many elements an array must have, by the variable's dimensions from `first` on; 0 where the decomposition does not fit them: the
 * library says so. */
static int64_t elements_needed(const windrow_variable_info *variable, int first, const struct held *part) {
  int covered = first + part->ndims;
  if (part->points >= 0) {
    int64_t product = 1;
    for (covered = first; covered < variable->ndims && product != part->points; ++covered)
      product = times(product, variable->shape[covered]);
  }
  int64_t needed = part->elements;
  for (int d = covered; d < variable->ndims; ++d) needed = times(needed, variable->shape[d]);
  return needed;
}

/* Fortran has no unsigned integers: a signed one of the same size takes their bits. */
static int fits(int in_file, int in_memory) {
  return in_file == in_memory || (in_file % 2 == 0 && in_file <= WINDROW_UINT64 && in_file == in_memory + 1);
}

/* What is wrong with an array that shall hold a part of a variable, or of a record of it, is told to all ranks by their next flush. */
static int check_part(windrow_file *file, const char *verb, int variable, int is_record, const struct held *part, const CFI_cdesc_t *data) {
  const int variables = windrow_variable_count(file);
  if (variables < 0) return refuse(NULL, "%s: the file is not open", verb);
  if (variable < 1 || variable > variables)
    return refuse(file, "%s: there is no variable number %d; the file has %d", verb, variable, variables);
  windrow_variable_info info = {.size = sizeof info};
  const int code = windrow_inquire_variable(file, variable - 1, &info);
  if (code != WINDROW_OK) return refuse(file, "%s", windrow_error_message());
  if (info.unsupported[0] != '\0') return WINDROW_OK; /* the library says so */
  char type[32];
  if (!fits(info.type, type_of(data, type)))
    return refuse(file, "%s of \"%.500s\": the array is %s, the variable %s", verb, info.path, type,
                  windrow_type_name(info.type));
  const int strided = strided_dimension(data);
  if (strided >= 0)
    return refuse(
        file,
        "%s of \"%.500s\": the array is not contiguous: its dimension %d has gaps; pass the whole array, and say by "
        "memory_shape and memory_start which part of it counts",
        verb, info.path, strided + 1);
  const int64_t elements = elements_of(data), needed = elements_needed(&info, is_record, part);
  if (elements >= 0 && elements < needed)
    return refuse(file, "%s of \"%.500s\": the array has %lld elements, %lld are needed", verb, info.path,
                  (long long)elements, (long long)needed);
  return WINDROW_OK;
}

static int check(windrow_file *file, const char *verb, int variable, const struct held *part, const CFI_cdesc_t *data) {
  return check_part(file, verb, variable, 0, part, data);
}

int windrow_fortran_put(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data) {
  const int code = check(file, "put", variable, part, data);
  return code == WINDROW_OK ? windrow_put(file, variable - 1, part->decomposition, data->base_addr) : code;
}

int windrow_fortran_get(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data) {
  const int code = check(file, "get", variable, part, data);
  return code == WINDROW_OK ? windrow_get(file, variable - 1, part->decomposition, data->base_addr) : code;
}

int windrow_fortran_put_record(windrow_file *file, int variable, int64_t record, const struct held *part, const CFI_cdesc_t *data) {
  if (record < 1) return refuse(file, "put_record: the record is %lld; they count from 1", (long long)record);
  const int code = check_part(file, "put_record", variable, 1, part, data);
  return code == WINDROW_OK ? windrow_put_record(file, variable - 1, record - 1, part->decomposition, data->base_addr) : code;
}

int windrow_fortran_get_record(windrow_file *file, int variable, int64_t record, const struct held *part, const CFI_cdesc_t *data) {
  if (record < 1) return refuse(file, "get_record: the record is %lld; they count from 1", (long long)record);
  const int code = check_part(file, "get_record", variable, 1, part, data);
  return code == WINDROW_OK ? windrow_get_record(file, variable - 1, record - 1, part->decomposition, data->base_addr) : code;
}

/* Where an array is refused the others still wait for this rank: in the flush, which tells them. */
int windrow_fortran_write(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data) {
  if (check(file, "write", variable, part, data) != WINDROW_OK) return windrow_flush(file);
  return windrow_write(file, variable - 1, part->decomposition, data->base_addr);
}

int windrow_fortran_read(windrow_file *file, int variable, const struct held *part, const CFI_cdesc_t *data) {
  if (check(file, "read", variable, part, data) != WINDROW_OK) return windrow_flush(file);
  return windrow_read(file, variable - 1, part->decomposition, data->base_addr);
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
    return refuse(file, "%s of \"%.500s\": start has %d entries, count %d; the variable has %d dimensions", verb,
                  info.path, start->entries, count->entries, info.ndims);
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
    return move(file, variable - 1, start->values, count->values, data->base_addr);
  return move(file, 0, nothing, nothing, NULL);
}

int windrow_fortran_write_block(windrow_file *file, int variable, const struct sizes *start, const struct sizes *count,
                                const CFI_cdesc_t *data) {
  return checked_block(write_block, "write_block", file, variable, start, count, data);
}

int windrow_fortran_read_block(windrow_file *file, int variable, const struct sizes *start, const struct sizes *count,
                               const CFI_cdesc_t *data) {
  return checked_block(windrow_read_block, "read_block", file, variable, start, count, data);
}
