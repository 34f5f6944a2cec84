/* SPDX-License-Identifier: BSD-3-Clause */
/* What the C files of the Fortran module share, and the structs that windrow_c.f90 declares too. */
#pragma once

#include <ISO_Fortran_binding.h>
#include <stdint.h>
#include <string.h>
#include <windrow/windrow.h>

/* A decomposition, and what has to be known of it to see that an array is large enough. */
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

/* windrow_refuse() with a message as by printf; NULL: this rank only. */
int refuse(windrow_file *file, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* enum windrow_type of an array's elements, 0 where it has none; and what Fortran calls them, in `name` [32]. */
int type_of(const CFI_cdesc_t *array, char *name);

/* Elements of an array; -1 of one of assumed size, which does not know. */
int64_t elements_of(const CFI_cdesc_t *array);
