/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of texts as C has them: of a variable, and the names of its dimensions. */
#include <stdlib.h>

#include "shim.h"

static int describe(windrow_file *file, int variable, windrow_variable_info *info) {
  info->size = sizeof *info;
  return windrow_inquire_variable(file, variable - 1, info) == WINDROW_OK;
}

/* Rank 0's texts are written. Where it has too few, or no memory for them, the call is made without: the library refuses it on every rank,
 * and here it is said why. */
int windrow_fortran_put_texts(windrow_file *file, int variable, const CFI_cdesc_t *texts) {
  windrow_variable_info info;
  const int known = describe(file, variable, &info);
  const int64_t elements = elements_of(texts), needed = known ? info.elements : 0;
  const int too_few = elements >= 0 && elements < needed;
  const char **strings = too_few ? NULL : strings_of(texts, elements < 0 ? needed : elements);
  const int code = windrow_put_texts(file, variable - 1, strings);
  free(strings);
  if (code == WINDROW_BAD_ARGUMENT && too_few && strstr(windrow_error_message(), "no list of") != NULL)
    return refuse(NULL, "put_texts of \"%.500s\": the array has %lld elements, %lld are needed", info.path,
                  (long long)elements, (long long)needed);
  return code;
}

/* A list of another length than the variable's has none that the library would take: there is no variable -1, on any rank. */
int windrow_fortran_name_dimensions(windrow_file *file, int variable, const CFI_cdesc_t *names) {
  windrow_variable_info info;
  const int64_t count = elements_of(names);
  const int known = describe(file, variable, &info), fits = !known || count == info.ndims;
  const char **strings = strings_of(names, count);
  for (int64_t i = 0; strings != NULL && i < count / 2; ++i) { /* C's first dimension is the slowest */
    const char *other = strings[i];
    strings[i] = strings[count - 1 - i];
    strings[count - 1 - i] = other;
  }
  const int code = windrow_name_dimensions(file, fits ? variable - 1 : -1, strings);
  free(strings);
  if (code == WINDROW_BAD_ARGUMENT && !fits)
    return refuse(NULL, "name_dimensions: %lld names for \"%.500s\", which has %d dimensions", (long long)count,
                  info.path, info.ndims);
  return code;
}
