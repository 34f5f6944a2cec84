/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations of the C files of the Fortran module, and the structs that windrow_c.f90 declares too. */
#pragma once

#include <ISO_Fortran_binding.h>
#include <stdint.h>
#include <string.h>
#include <windrow/windrow.h>

/* A decomposition, and the numbers that are needed to check the size of an array. */
struct held {
  windrow_decomposition *decomposition;
  int64_t elements; /* of this rank's boxes in memory */
  int64_t points;   /* of the whole array, where windrow_points() made it; else -1 */
  int ndims;        /* leading dimensions that it cuts */
};

/* A list of sizes, one a dimension. */
struct sizes {
  const int64_t *values;
  int entries;
};

/* Plural ending of a noun: "1 element", "2 elements". */
static inline const char *plural(int64_t number) {
  return number == 1 ? "" : "s";
}

/* A call of windrow.h whose message counts as Fortran does. */
#define AS_FORTRAN(call) (windrow_set_numbering(WINDROW_NUMBERING_FORTRAN), numbered_as_c(call))
static inline int numbered_as_c(int code) {
  windrow_set_numbering(WINDROW_NUMBERING_C);
  return code;
}

/* windrow_refuse() with a printf format; NULL: this rank only. */
int refuse(windrow_file *file, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* enum windrow_type of an array's elements, 0: none; `name` [32] gets the Fortran type. */
int type_of(const CFI_cdesc_t *array, char *name);

/* Whether an array of one type can hold elements of another: signed integers take the bits of unsigned ones. */
int fits(int in_file, int in_memory);

/* Elements of an array; -1: assumed size, so unknown. */
int64_t elements_of(const CFI_cdesc_t *array);

/* The first dimension that is not stored without gaps; -1: none. */
int strided_dimension(const CFI_cdesc_t *array);

/* The array to write: `data`, or a contiguous copy of a transposed one.  The copy is in `straight` (CFI_MAX_RANK
 * dimensions) and has to be freed.  Without memory for it `data` is refused like any array that is not contiguous. */
const CFI_cdesc_t *straightened(const CFI_cdesc_t *data, CFI_cdesc_t *straight);

/* The communicator of C; MPI_COMM_NULL, which Windrow refuses, before MPI_Init and after MPI_Finalize. */
MPI_Comm comm_of(MPI_Fint comm);

/* Shape of an array in C's order: Fortran's first dimension is C's last. */
void shape_of(const CFI_cdesc_t *array, int64_t *shape);

/* Copies all elements between an array, which may have gaps, and `packed`, array->elem_len bytes each. */
void copy_elements(const CFI_cdesc_t *array, char *packed, int into_array);

/* C strings of an array of `elements` texts without trailing blanks. The pointers and the strings are one allocation,
 * which the caller frees. NULL: out of memory. */
const char **strings_of(const CFI_cdesc_t *array, int64_t elements);

/* Options as Fortran has them: those that the program has set, and the same with the module's padding of texts. */
struct options {
  windrow_options *set;
  windrow_options *all;
};
int windrow_fortran_options_create(struct options **options);
void windrow_fortran_options_free(struct options *options);

/* With what the module adds; NULL for NULL. */
windrow_options *windrow_fortran_options_all(const struct options *options);
