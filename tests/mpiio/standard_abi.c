/* SPDX-License-Identifier: BSD-3-Clause */
/* With IS_MPI: a library with the name of MPI's standard ABI, which opens any file. Else a program that uses it. */
#include <stdio.h>
#include <string.h>

int PMPI_Get_library_version(char *version, int *length);
int PMPI_File_open(void *comm, const char *path, int mode, void *info, void **file);
int MPI_File_open(void *comm, const char *path, int mode, void *info, void **file);

#ifdef IS_MPI

int PMPI_Get_library_version(char *version, int *length) {
  strcpy(version, "MPICH Version: 5.0, like Open MPI");
  *length = (int)strlen(version);
  return 0;
}

int PMPI_File_open(void *comm, const char *path, int mode, void *info, void **file) {
  (void)comm, (void)mode, (void)info;
  *file = NULL;
  return puts(path) < 0;
}

int MPI_File_open(void *comm, const char *path, int mode, void *info, void **file) {
  return PMPI_File_open(comm, path, mode, info, file);
}

#else

int main(void) {
  void *file = &file;
  /* The handles of the standard ABI are small numbers. */
  return MPI_File_open((void *)0x101, "passed", 0, NULL, &file) != 0 || file != NULL;
}

#endif
