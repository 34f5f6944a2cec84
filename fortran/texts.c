/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of C strings: the texts of a variable, and the names of its dimensions. */
#include <limits.h>
#include <stdlib.h>

#include "shim.h"

/* Rank 0's texts are written, and the library checks their number. An array of assumed size has as many as the
 * variable. Without memory for them the library gets no list, and reports it on every rank. */
int windrow_fortran_put_texts(windrow_file *file, int variable, const CFI_cdesc_t *texts) {
  const int64_t elements = elements_of(texts);
  windrow_variable_info info = {.size = sizeof info};
  if (elements < 0 && windrow_inquire_variable(file, variable - 1, &info) != WINDROW_OK)
    info.elements = 0;
  const char **strings = strings_of(texts, elements < 0 ? info.elements : elements);
  const int code = elements < 0 ? AS_FORTRAN(windrow_put_texts(file, variable - 1, strings))
                                : AS_FORTRAN(windrow_put_texts_counted(file, variable - 1, elements, strings));
  free(strings);
  return code;
}

int windrow_fortran_name_dimensions(windrow_file *file, int variable, const CFI_cdesc_t *names) {
  const int64_t count = elements_of(names);
  const char **strings = strings_of(names, count);
  for (int64_t i = 0; strings != NULL && i < count / 2; ++i) { /* C's first dimension is the slowest */
    const char *other = strings[i];
    strings[i] = strings[count - 1 - i];
    strings[count - 1 - i] = other;
  }
  const int code =
      AS_FORTRAN(windrow_name_dimensions_counted(file, variable - 1, count > INT_MAX ? INT_MAX : (int)count, strings));
  free(strings);
  return code;
}
