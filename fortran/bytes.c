/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of plain bytes: lists of nested runs from tables, and data of any type and rank by their descriptors. */
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

int windrow_fortran_byte_list_pieces(int64_t count, const int64_t *file_offsets, const int64_t *memory_offsets,
                                     const int64_t *lengths, windrow_byte_list **list) {
  return AS_FORTRAN(windrow_byte_list_pieces(count, file_offsets, memory_offsets, lengths, list));
}

/* `firsts`: offset in the file, offset in memory and length of each run.  The tables have `loops` entries a run. */
int windrow_fortran_byte_list_runs(int64_t count, int loops, const int64_t (*firsts)[3], const int64_t *counts,
                                   const int64_t *file_strides, const int64_t *memory_strides,
                                   windrow_byte_list **list) {
  windrow_byte_run *runs = malloc(((size_t)count + 1) * sizeof *runs);
  if (runs == NULL) { /* the list must refuse calls */
    windrow_byte_list_runs(-1, NULL, list);
    return refuse(NULL, "byte_list_runs: no memory");
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i * loops;
    runs[i].file_offset = firsts[i][0];
    runs[i].memory_offset = firsts[i][1];
    runs[i].length = firsts[i][2];
    runs[i].loops = loops;
    runs[i].counts = counts + at;
    runs[i].file_strides = file_strides + at;
    runs[i].memory_strides = memory_strides + at;
  }
  const int code = AS_FORTRAN(windrow_byte_list_runs(count, runs, list));
  free(runs);
  return code;
}

/* MPI_Type_f2c() before MPI_Init or after MPI_Finalize may end the program.  NULL: absent. */
static MPI_Datatype datatype_of(const MPI_Fint *type, MPI_Datatype absent) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (!begun || ended)
    return MPI_DATATYPE_NULL;
  return type == NULL ? absent : MPI_Type_f2c(*type);
}

int windrow_fortran_byte_list_types(int64_t displacement, const MPI_Fint *etype, const MPI_Fint *filetype,
                                    int64_t offset, int64_t count, MPI_Fint datatype, windrow_byte_list **list) {
  windrow_byte_view view = {displacement, datatype_of(etype, MPI_BYTE), MPI_DATATYPE_NULL};
  view.filetype = datatype_of(filetype, view.etype);
  return AS_FORTRAN(windrow_byte_list_types(&view, offset, count, datatype_of(&datatype, MPI_BYTE), list));
}

int windrow_fortran_bytes_open(MPI_Fint comm, const char *path, int mode, const struct options *options,
                               windrow_bytes **file) {
  return windrow_bytes_open(comm_of(comm), path, mode, options == NULL ? NULL : options->set, file);
}

/* Refuses an array that has gaps, or does not have all bytes of the list.  The next call reports it on all ranks. */
static int check(windrow_bytes *file, const char *verb, const windrow_byte_list *list, const CFI_cdesc_t *data) {
  int64_t begin = 0, end = 0;
  int code = windrow_byte_list_memory(list, &begin, &end);
  const int64_t elements = elements_of(data);
  const int64_t bytes =
      elements < 0 ? end : elements * (int64_t)data->elem_len; /* of assumed size: as many as needed */
  const int strided = strided_dimension(data);
  char message[300];
  if (code != WINDROW_OK || begin == end)
    return code;
  if (strided >= 0)
    snprintf(message, sizeof message,
             "%s: the array is not contiguous: its dimension %d has gaps, or another order in memory; pass the whole "
             "array, and say in the list which bytes of it count",
             verb, strided + 1);
  else if (begin < 0 || bytes < end)
    snprintf(message, sizeof message, "%s: the array has %lld byte%s, and the list has bytes from %lld to %lld", verb,
             (long long)bytes, plural(bytes), (long long)begin, (long long)end);
  else
    return WINDROW_OK;
  return windrow_bytes_refuse(file, message);
}

int windrow_fortran_bytes_write(windrow_bytes *file, const windrow_byte_list *list, const CFI_cdesc_t *data) {
  CFI_CDESC_T(CFI_MAX_RANK) room;
  CFI_cdesc_t *straight = (CFI_cdesc_t *)&room;
  data = straightened(data, straight);
  const int fits_list = check(file, "bytes_write", list, data) == WINDROW_OK;
  const int code = windrow_bytes_write(file, fits_list ? list : NULL, data->base_addr);
  free(straight->base_addr);
  return code;
}

int windrow_fortran_bytes_read(windrow_bytes *file, const windrow_byte_list *list, const CFI_cdesc_t *data,
                               int64_t *bytes_read) {
  const int fits_list = check(file, "bytes_read", list, data) == WINDROW_OK;
  return windrow_bytes_read(file, fits_list ? list : NULL, data->base_addr, bytes_read);
}
