/* SPDX-License-Identifier: BSD-3-Clause */
/* libwindrow-mpiio.so: takes the collective calls of MPI-IO from a program, and passes them to the core.
 *
 * LD_PRELOAD brings this library into every process of a job: shells, mpirun, programs of another MPI. So it needs
 * nothing but the C library, and does nothing until MPI_File_open() is called. Only then it loads the core, which
 * brings Windrow. Each function is exported as MPI_X and as PMPI_X, because the Fortran interfaces of Open MPI call
 * the second. MPI's own function is the next PMPI_X behind this library. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "mpi_facts.h"

#define EXPORTED __attribute__((visibility("default")))

/* ------------------------------------------------------------------------------------------- functions of MPI */

/* A plugin, such as an extension of Python, may have loaded MPI for itself alone. Then its names are not global. They
 * become global, because the core must find them before those of the MPI that it was linked with. */
static void* find_in_plugins(const char* name) {
  static const char* const libraries[] = {"libmpi.so.40",   "libmpi.so.80",    "libmpi.so.12",
                                          "libmpich.so.12", "libmpi_abi.so.1", "libmpi.so"};
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; ++i) {
    void* const library = dlopen(libraries[i], RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL);
    void* const found = library != NULL ? dlsym(library, name) : NULL;
    if (library != NULL)
      dlclose(library);
    if (found != NULL)
      return found;
  }
  return NULL;
}

static void* find_name(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  return found != NULL ? found : find_in_plugins(name);
}

static void* need(_Atomic(void*)* known, const char* name) {
  void* found = atomic_load_explicit(known, memory_order_acquire);
  if (found != NULL)
    return found;
  found = find_name(name);
  if (found == NULL) {
    fprintf(stderr, "windrow-mpiio: no MPI with %s is loaded\n", name);
    abort();
  }
  atomic_store_explicit(known, found, memory_order_release);
  return found;
}

/* Declares `function`: MPI's own function. */
#define FIND(name, ...)                         \
  static _Atomic(void*) known;                  \
  void* const address = need(&known, #name);    \
  int (*function)(__VA_ARGS__) = NULL;          \
  memcpy(&function, &address, sizeof function); \
  (void)0

static int mpi_open(mpi_word comm, const char* path, int amode, mpi_word info, mpi_word* file) {
  FIND(PMPI_File_open, mpi_word, const char*, int, mpi_word, mpi_word*);
  return function(comm, path, amode, info, file);
}

static int mpi_close(mpi_word* file) {
  FIND(PMPI_File_close, mpi_word*);
  return function(file);
}

static int mpi_set_view(mpi_word file, int64_t displacement, mpi_word etype, mpi_word filetype, const char* datarep,
                        mpi_word info) {
  FIND(PMPI_File_set_view, mpi_word, int64_t, mpi_word, mpi_word, const char*, mpi_word);
  return function(file, displacement, etype, filetype, datarep, info);
}

static int mpi_set_atomicity(mpi_word file, int flag) {
  FIND(PMPI_File_set_atomicity, mpi_word, int);
  return function(file, flag);
}

static int mpi_get_info(mpi_word file, void* info) {
  FIND(PMPI_File_get_info, mpi_word, void*);
  return function(file, info);
}

/* [writes][has_offset][count of type MPI_Count] */
static const char* const k_all[2][2][2] = {
    {{"PMPI_File_read_all", "PMPI_File_read_all_c"}, {"PMPI_File_read_at_all", "PMPI_File_read_at_all_c"}},
    {{"PMPI_File_write_all", "PMPI_File_write_all_c"}, {"PMPI_File_write_at_all", "PMPI_File_write_at_all_c"}}};
static const char* const k_begin[2][2][2] = {{{"PMPI_File_read_all_begin", "PMPI_File_read_all_begin_c"},
                                              {"PMPI_File_read_at_all_begin", "PMPI_File_read_at_all_begin_c"}},
                                             {{"PMPI_File_write_all_begin", "PMPI_File_write_all_begin_c"},
                                              {"PMPI_File_write_at_all_begin", "PMPI_File_write_at_all_begin_c"}}};
static const char* const k_end[2][2] = {{"PMPI_File_read_all_end", "PMPI_File_read_at_all_end"},
                                        {"PMPI_File_write_all_end", "PMPI_File_write_at_all_end"}};

static int mpi_move_begin(const struct mpiio_call* call, int is_large, void* address) {
  int (*at_c)(mpi_word, int64_t, void*, int64_t, mpi_word) = NULL;
  int (*at)(mpi_word, int64_t, void*, int, mpi_word) = NULL;
  int (*all_c)(mpi_word, void*, int64_t, mpi_word) = NULL;
  int (*all)(mpi_word, void*, int, mpi_word) = NULL;
  memcpy(&at_c, &address, sizeof address);
  memcpy(&at, &address, sizeof address);
  memcpy(&all_c, &address, sizeof address);
  memcpy(&all, &address, sizeof address);
  if (call->has_offset)
    return is_large ? at_c(call->file, call->offset, call->memory, call->count, call->datatype)
                    : at(call->file, call->offset, call->memory, (int)call->count, call->datatype);
  return is_large ? all_c(call->file, call->memory, call->count, call->datatype)
                  : all(call->file, call->memory, (int)call->count, call->datatype);
}

static int mpi_move(const struct mpiio_call* call) {
  static _Atomic(void*) known[2][2][2][2];
  /* Counts beyond int come from functions with MPI_Count. */
  const int is_large = call->count != (int)call->count;
  const char* const(*names)[2][2] = call->is_begin ? k_begin : k_all;
  const int writes = call->writes;
  const int has_offset = call->has_offset;
  void* const address = need(&known[call->is_begin][writes][has_offset][is_large], names[writes][has_offset][is_large]);
  if (call->is_begin)
    return mpi_move_begin(call, is_large, address);
  int (*at_c)(mpi_word, int64_t, void*, int64_t, mpi_word, void*) = NULL;
  int (*at)(mpi_word, int64_t, void*, int, mpi_word, void*) = NULL;
  int (*all_c)(mpi_word, void*, int64_t, mpi_word, void*) = NULL;
  int (*all)(mpi_word, void*, int, mpi_word, void*) = NULL;
  memcpy(&at_c, &address, sizeof address);
  memcpy(&at, &address, sizeof address);
  memcpy(&all_c, &address, sizeof address);
  memcpy(&all, &address, sizeof address);
  if (has_offset)
    return is_large ? at_c(call->file, call->offset, call->memory, call->count, call->datatype, call->status)
                    : at(call->file, call->offset, call->memory, (int)call->count, call->datatype, call->status);
  return is_large ? all_c(call->file, call->memory, call->count, call->datatype, call->status)
                  : all(call->file, call->memory, (int)call->count, call->datatype, call->status);
}

static int mpi_end(const struct mpiio_call* call) {
  static _Atomic(void*) known[2][2];
  void* const address = need(&known[call->writes][call->has_offset], k_end[call->writes][call->has_offset]);
  int (*function)(mpi_word, void*, void*) = NULL;
  memcpy(&function, &address, sizeof function);
  return function(call->file, call->memory, call->status);
}

static const struct mpiio_functions functions_of_mpi = {
    .open = mpi_open,
    .close = mpi_close,
    .set_view = mpi_set_view,
    .set_atomicity = mpi_set_atomicity,
    .get_info = mpi_get_info,
    .move = mpi_move,
    .end = mpi_end,
};

/* ------------------------------------------------------------------------------------------- the core */

/* Of this rank. */
static const struct mpiio_functions* _Atomic functions = &functions_of_mpi;

static int is_other_family;

/* PMPI_Get_library_version() of the program's MPI. */
static void* library_version;

/* One rank of a job prints. The launcher's variables say which, because MPI cannot be asked if it is another one. */
static int is_first_rank(void) {
  static const char* const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; ++i) {
    const char* const rank = getenv(variables[i]);
    if (rank != NULL)
      return strcmp(rank, "0") == 0;
  }
  return 1;
}

static void complain(const char* what, const char* why) {
  fprintf(stderr, "windrow-mpiio: %s: %s. Calls of MPI-IO go to MPI as they are.\n", what, why);
}

/* Whether a function of MPI belongs to the library of the standard binary interface, MPI 5.0, chapter 20. Open MPI and
 * MPICH have this library beside their own, and its handles are others. */
static int is_of_standard_abi(const void* function) {
  Dl_info about;
  return dladdr(function, &about) != 0 && about.dli_fname != NULL && strstr(about.dli_fname, "libmpi_abi.") != NULL;
}

/* Whether the program runs with the family of MPI that the core was compiled for. The handles of others differ. */
static int is_own_family(void) {
  char text[8192] = ""; /* MPI_MAX_LIBRARY_VERSION_STRING of all MPIs */
  int length = 0;
  FIND(PMPI_Get_library_version, char*, int*);
  library_version = address;
  if (is_of_standard_abi(address)) {
    if (is_first_rank())
      complain("the program uses the standard ABI of MPI", "this library was compiled for MPI's own");
    return 0;
  }
  function(text, &length);
  const int is_open_mpi = strstr(text, "Open MPI") != NULL;
  const int is_mpich =
      strstr(text, "MPICH") != NULL || strstr(text, "Intel(R) MPI") != NULL || strstr(text, "MVAPICH") != NULL;
  if (mpi_is_open_mpi ? is_open_mpi : is_mpich && !is_open_mpi)
    return 1;
  text[strcspn(text, "\n")] = '\0';
  if (is_first_rank())
    complain(mpi_is_open_mpi ? "this library was compiled for Open MPI, and the program runs with another MPI"
                             : "this library was compiled for MPICH, and the program runs with another MPI",
             text);
  return 0;
}

/* The core is in the folder of this library. */
static void* open_core(void) {
  Dl_info about;
  char path[4096];
  if (dladdr((const void*)&functions_of_mpi, &about) == 0 || about.dli_fname == NULL)
    return NULL;
  const char* const slash = strrchr(about.dli_fname, '/');
  const int folder = slash != NULL ? (int)(slash - about.dli_fname + 1) : 0;
  const int written = snprintf(path, sizeof path, "%.*slibwindrow-mpiio-core.so", folder, about.dli_fname);
  if (written < 0 || (size_t)written >= sizeof path)
    return NULL;
  void* const core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (core == NULL && is_first_rank())
    complain("the core was not loaded", dlerror());
  return core;
}

static void load_core(void) {
  const char* const wish = getenv("WINDROW_MPIIO");
  is_other_family = !is_own_family();
  if (is_other_family || (wish != NULL && strcmp(wish, "off") == 0))
    return;
  void* const core = open_core();
  void* const found = core != NULL ? dlsym(core, "windrow_mpiio_core") : NULL;
  windrow_mpiio_core_function* start = NULL;
  memcpy(&start, &found, sizeof start);
  const struct mpiio_functions* const started = start != NULL ? start(&functions_of_mpi, library_version) : NULL;
  if (started != NULL)
    atomic_store_explicit(&functions, started, memory_order_release);
  else if (start != NULL && is_first_rank())
    complain("the core was not started", "it has found another MPI library than the program");
}

static const struct mpiio_functions* use(void) {
  return atomic_load_explicit(&functions, memory_order_acquire);
}

/* This rank has no core, and others may have one: their first agreement about a file must not wait for this rank. The
 * same steps as in ranks_agree() of the core. */
static void refuse(mpi_word comm) {
  int is_inter = 0;
  int ranks = 1;
  const int none = 0;
  int all = 0;
  if (is_null_comm(comm, find_name))
    return;
  {
    FIND(PMPI_Comm_test_inter, mpi_word, int*);
    if (function(comm, &is_inter) != 0 || is_inter)
      return;
  }
  {
    FIND(PMPI_Comm_size, mpi_word, int*);
    if (function(comm, &ranks) != 0 || ranks == 1)
      return;
  }
  FIND(PMPI_Allreduce, const void*, void*, int, mpi_word, mpi_word, mpi_word);
  function(&none, &all, 1, mpi_int(find_name), mpi_band(find_name), comm);
}

/* ------------------------------------------------------------------------------------------- calls of programs */

/* Begins the definition of MPI_X, and makes PMPI_X another name of it. */
#define TAKE(name, ...)                                                       \
  EXPORTED int PMPI_##name(__VA_ARGS__) __attribute__((alias("MPI_" #name))); \
  EXPORTED int MPI_##name(__VA_ARGS__)

TAKE(File_open, mpi_word comm, const char* path, int amode, mpi_word info, mpi_word* file) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_core);
  if (use() == &functions_of_mpi && !is_other_family)
    refuse(comm);
  return use()->open(comm, path, amode, info, file);
}

TAKE(File_close, mpi_word* file) {
  return use()->close(file);
}

TAKE(File_set_view, mpi_word file, int64_t displacement, mpi_word etype, mpi_word filetype, const char* datarep,
     mpi_word info) {
  return use()->set_view(file, displacement, etype, filetype, datarep, info);
}

TAKE(File_set_atomicity, mpi_word file, int flag) {
  return use()->set_atomicity(file, flag);
}

TAKE(File_get_info, mpi_word file, void* info) {
  return use()->get_info(file, info);
}

/* The functions with one kind of count: from the file pointer and with an offset, whole and in halves. */
#define TAKE_DATA(verb, wanted, suffix, count_type)                                                                    \
  TAKE(File_##verb##_all##suffix, mpi_word file, void* memory, count_type count, mpi_word datatype, void* status) {    \
    const struct mpiio_call call = {                                                                                   \
        .file = file, .memory = memory, .count = count, .datatype = datatype, .status = status, .writes = wanted};     \
    return use()->move(&call);                                                                                         \
  }                                                                                                                    \
  TAKE(File_##verb##_at_all##suffix, mpi_word file, int64_t offset, void* memory, count_type count, mpi_word datatype, \
       void* status) {                                                                                                 \
    const struct mpiio_call call = {.file = file,                                                                      \
                                    .offset = offset,                                                                  \
                                    .memory = memory,                                                                  \
                                    .count = count,                                                                    \
                                    .datatype = datatype,                                                              \
                                    .status = status,                                                                  \
                                    .writes = wanted,                                                                  \
                                    .has_offset = 1};                                                                  \
    return use()->move(&call);                                                                                         \
  }                                                                                                                    \
  TAKE(File_##verb##_all_begin##suffix, mpi_word file, void* memory, count_type count, mpi_word datatype) {            \
    const struct mpiio_call call = {                                                                                   \
        .file = file, .memory = memory, .count = count, .datatype = datatype, .writes = wanted, .is_begin = 1};        \
    return use()->move(&call);                                                                                         \
  }                                                                                                                    \
  TAKE(File_##verb##_at_all_begin##suffix, mpi_word file, int64_t offset, void* memory, count_type count,              \
       mpi_word datatype) {                                                                                            \
    const struct mpiio_call call = {.file = file,                                                                      \
                                    .offset = offset,                                                                  \
                                    .memory = memory,                                                                  \
                                    .count = count,                                                                    \
                                    .datatype = datatype,                                                              \
                                    .writes = wanted,                                                                  \
                                    .has_offset = 1,                                                                   \
                                    .is_begin = 1};                                                                    \
    return use()->move(&call);                                                                                         \
  }                                                                                                                    \
  TAKE_NOTHING

/* A semicolon behind a macro that ends with a function needs a declaration. */
#define TAKE_NOTHING struct mpiio_call

TAKE_DATA(read, 0, , int);
TAKE_DATA(write, 1, , int);
#ifdef MPI_HAS_LARGE_COUNTS
TAKE_DATA(read, 0, _c, int64_t);
TAKE_DATA(write, 1, _c, int64_t);
#endif

#define TAKE_END(verb, all, wanted, offset)                                                        \
  TAKE(File_##verb##_##all##_end, mpi_word file, void* memory, void* status) {                     \
    const struct mpiio_call call = {                                                               \
        .file = file, .memory = memory, .status = status, .writes = wanted, .has_offset = offset}; \
    return use()->end(&call);                                                                      \
  }                                                                                                \
  TAKE_NOTHING

TAKE_END(read, all, 0, 0);
TAKE_END(read, at_all, 0, 1);
TAKE_END(write, all, 1, 0);
TAKE_END(write, at_all, 1, 1);
