/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file scorpio.h
 * The calls of SCORPIO ("SCalable block-ORiented Parallel I/O", Sreepathi et al., the I/O library of PFLOTRAN and
 * Amanzi) over Windrow.
 *
 * Compile programs that use these calls with this header, and link them to libwindrow_scorpio.  New programs should use
 * windrow.h, which has more functions and is simpler.  docs/scorpio.md lists differences in behaviour.
 *
 *     iogroup_conf_t configuration = {0, 16, comm};
 *     iogroup_t group;
 *     scorpio_IOgroup_init(&configuration, &group);
 *     int file = scorpio_open_file("out.h5", &group, SCORPIO_FILE_CREATE);
 *     scorpio_write_dataset(values, SCORPIO_DOUBLE, 2, globaldims, localdims, file, "pressure", &group,
 *                           SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE);
 *     scorpio_close_file(file, &group);                      the file gets its name
 *     scorpio_IOgroup_cleanup(&group);
 *
 * Conventions, for every call unless it says otherwise:
 *  - A call is collective over the group's communicator, and has the same result on all of its ranks, whichever rank
 *    failed.
 *  - A result that is not described is 0.  -1 is an error; then no other results are returned.  windrow_error_message()
 *    of windrow.h returns what failed, where and on which rank.  With WINDROW_SCORPIO_MESSAGES=true in the environment
 *    rank 0 prints it on standard error.
 *  - Dimensions are in C order: slowest first.  Starts count from 0.  An array given by `int *` has `ndims` entries.
 *  - Arguments marked [same] must be equal on every rank; otherwise every rank gets an error.  This always applies to
 *    files, types, patterns, names and numbers of dimensions.
 *  - A name is a path in the file: "pressure", "/time/pressure".  Writing uses the current group
 *    (scorpio_create_dataset_group()) unless the name begins with a slash.  Reading, queries and attributes use paths
 *    from the root.
 *  - Memory that a call returns is from malloc(), and the caller frees it.
 *  - One thread at a time may use a group.  Nothing is printed unless requested, and no program is ended.
 */
#pragma once

/* Headers that the original includes and programs rely on; some include it within extern "C". */
#ifdef __cplusplus
extern "C++" {
#endif
#include <assert.h>
#include <limits.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__has_include)
#if __has_include(<hdf5.h>)
#include <hdf5.h>
#endif
#endif

#include <windrow/export.h>
#ifdef __cplusplus
}
#endif

/** Result of calls on an error, and size of the path in iofile_t. */
#define FAILURE -1
#define MAX_FILENAME 100

#ifdef __cplusplus
extern "C" {
#define SCORPIO_OF_INT : int /* as in C, whose callers may pass any int */
#else
#define SCORPIO_OF_INT
#endif

/** Arguments of scorpio_IOgroup_init(). */
typedef struct {
  int numIOgroups;        /**< Number of teams; 0: use preferredGroupSize.  More than ranks: one team per rank. */
  int preferredGroupSize; /**< Ranks per team; below 1 or more than all ranks: a single team. */
  MPI_Comm commIncoming;
} iogroup_conf_t;

/** An open file; programs only read it. */
typedef struct {
  int handle;                  /**< Its number. */
  char filename[MAX_FILENAME]; /**< Its path, truncated if it is longer. */
  /** A negative number of the open file, which HDF5's functions refuse; -1 when it is closed.  For
   * scorpio_name_exists(). */
  int64_t fid;
  /** -1: there are no HDF5 identifiers. */
  int64_t acc_tpl, xfer_plist, link_plist, sid, file_dataspace, mem_dataspace, dataset, groupid;
} iofile_t;

/**
 * A group of ranks, and their open files.  A copy is the same group.  Programs only read the fields.
 */
typedef struct {
  int localrank;          /**< In the team; 0: the root, which reads and writes. */
  int globalrank;         /**< In the group's original communicator. */
  int localsize;          /**< Ranks of this team; the last one may have fewer. */
  int globalsize;         /**< Ranks of the group. */
  int iogroupRank;        /**< Number of this team, from 0. */
  int iogroupSize;        /**< As localsize. */
  int numIOgroups;        /**< Number of teams. */
  int preferredGroupSize; /**< Ranks of a team. */
  /** The team, the group, and the roots of all teams (MPI_COMM_NULL on other ranks).  The program frees none of them.
   */
  MPI_Comm localcomm, globalcomm, iocomm;
  /** [number from scorpio_open_file()] the files that were opened through this struct. */
  iofile_t **file;
  int numFiles;      /**< Number of openings of files through this struct. */
  int datatype_size; /**< 0, and the next two MPI_DATATYPE_NULL and -1: internal to the original. */
  MPI_Datatype mpi_type;
  int64_t hdf_type;
  int number; /**< The library's number; the group in Fortran. */
} iogroup_t;

/** Which part of a dataset each rank reads or writes. */
typedef enum SCORPIO_OF_INT {
  SCORPIO_UNIFORM_CONTIGUOUS_READ,    /**< Rows in the order of ranks: dims[0] / ranks each, the first dims[0] mod ranks
                                         one more. */
  SCORPIO_NONUNIFORM_CONTIGUOUS_READ, /**< Rows in the order of ranks: localdims[0] each, together globaldims[0]. */
  SCORPIO_NONCONTIGUOUS_READ,         /**< An error: the calls have no argument for the elements. */
  SCORPIO_EVERYONE_ENTIRE_DATASET_READ, /**< Every rank reads the whole dataset. */
  SCORPIO_UNIFORM_CONTIGUOUS_WRITE,
  SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE,
  SCORPIO_NONCONTIGUOUS_WRITE /**< An error: scorpio_write_dataset_block() writes blocks. */
} iopattern_t;

typedef enum SCORPIO_OF_INT {
  SCORPIO_FILE_CREATE, /**< A new file; an existing file is replaced when this one is closed. */
  SCORPIO_FILE_READONLY,
  SCORPIO_FILE_READWRITE /**< An existing file. */
} file_mode_t;

/** Types of elements in memory. */
typedef enum SCORPIO_OF_INT {
  SCORPIO_INTEGER, /**< int */
  SCORPIO_DOUBLE,
  SCORPIO_FLOAT,
  SCORPIO_LONG,
  SCORPIO_CHAR,  /**< A number of one byte, signed like the machine's char. */
  SCORPIO_BYTE,  /**< An opaque byte. */
  SCORPIO_STRING /**< For attributes only: NUL-terminated text. */
} datatype_t;

/**
 * Make a group: the ranks of `commIncoming`, divided into teams of consecutive ranks.  Collective over `commIncoming`.
 *
 * The first rank of each team reads and writes for the team, in rounds of bounded memory.  The communicator is
 * duplicated and may be freed afterwards.  Any number of groups, with different team sizes, may exist at a time.
 * @param group  [out] Freed by scorpio_IOgroup_cleanup().
 * Cost: a duplicate of the communicator, one communicator per team and one of the roots, for the fields of `group`. The
 * whole communicator is not split.
 */
WINDROW_API int scorpio_IOgroup_init(iogroup_conf_t *configuration, iogroup_t *group);

/** Close the group's open files, as scorpio_close_file() does, and free it.  -1: an error of closing a file; the group
 * is freed. */
WINDROW_API int scorpio_IOgroup_cleanup(iogroup_t *group);

/**
 * Open an HDF5 file.
 * A new file has a temporary name until it is closed; a program that ends before leaves the old file.
 * @return The file's number in this group, from 1; numbers of closed files are reused.  -1: error.
 */
WINDROW_API int scorpio_open_file(const char *path, iogroup_t *group, file_mode_t mode);

/** Close a file and the dataset groups that are open in it.  -1: it could not be published or written; the
 * number is freed anyway. */
WINDROW_API int scorpio_close_file(int file, iogroup_t *group);

/** Number of dimensions, the dimensions [ndims], or the elements of a dataset.  Local: one rank may call
 * it alone.  @return -1: no such dataset, or a number beyond the range of int. */
WINDROW_API int scorpio_get_dataset_ndims(int *ndims, int file, char *name, iogroup_t *group);
WINDROW_API int scorpio_get_dataset_dims(int *dims, int file, char *name, iogroup_t *group);
WINDROW_API int scorpio_get_dataset_size(int *size, int file, char *name, iogroup_t *group);

/**
 * Read a dataset by a pattern `..._READ`.  Numbers are converted to `type`, as in HDF5.
 * @param data        [product(localdims)] elements; of SCORPIO_EVERYONE_ENTIRE_DATASET_READ [product(globaldims)].
 * @param globaldims  The dataset's.  [same]
 * @param localdims   This rank's part: localdims[0] rows, then as globaldims.  For a uniform pattern the rank's even
 *                    share of the rows, or NULL.  Ignored if everyone reads the whole dataset.
 */
WINDROW_API int scorpio_read_dataset(void *data, datatype_t type, int ndims, int *globaldims, int *localdims, int file,
                                     char *name, iogroup_t *group, iopattern_t pattern);

/**
 * Write a dataset by a pattern `..._WRITE`: a new one, or an existing one of the same type and dimensions.
 * Arguments as for scorpio_read_dataset().  When it returns, `data` may be changed.  Elements that are not written are
 * 0.
 */
WINDROW_API int scorpio_write_dataset(void *data, datatype_t type, int ndims, int *globaldims, int *localdims, int file,
                                      char *name, iogroup_t *group, iopattern_t pattern);

/**
 * Write one block per rank, as scorpio_write_dataset().  If blocks overlap, the highest rank's wins.
 * @param localdims, localstarts  This rank's block: its dimensions, any 0 for none, and its first element.
 */
WINDROW_API int scorpio_write_dataset_block(void *data, datatype_t type, int ndims, int *globaldims, int *localdims,
                                            int *localstarts, int file, char *name, iogroup_t *group);

/** Read the same block of a dataset on every rank.  @param dims, starts  [same]  @param data  [product(dims)] on every
 * rank. */
WINDROW_API int scorpio_read_same_sub_dataset(void *data, datatype_t type, int ndims, int *dims, int *starts, int file,
                                              char *name, iogroup_t *group);

/** scorpio_read_dataset() and scorpio_write_dataset() with a fixed pattern: 1 uniform, 2 nonuniform.  They are in the
 * original, but not in its header. */
WINDROW_API int scorpio_read_dataset1(void *data, datatype_t type, int ndims, int *globaldims, int *localdims, int file,
                                      char *name, iogroup_t *group);
WINDROW_API int scorpio_read_dataset2(void *data, datatype_t type, int ndims, int *globaldims, int *localdims, int file,
                                      char *name, iogroup_t *group);
WINDROW_API int scorpio_write_dataset1(void *data, datatype_t type, int ndims, int *globaldims, int *localdims,
                                       int file, char *name, iogroup_t *group);
WINDROW_API int scorpio_write_dataset2(void *data, datatype_t type, int ndims, int *globaldims, int *localdims,
                                       int file, char *name, iogroup_t *group);

/** Read all of a dataset on every rank: scorpio_read_dataset() with SCORPIO_EVERYONE_ENTIRE_DATASET_READ. */
WINDROW_API int scorpio_read_entire_dataset(void *data, datatype_t type, int ndims, int *globaldims, int file,
                                            char *name, iogroup_t *group);
WINDROW_API int scorpio_read_dataset_all(void *data, datatype_t type, int ndims, int *globaldims, int file, char *name,
                                         iogroup_t *group);

/**
 * Write texts as a one-dimensional dataset of text with fixed length, that of the longest.
 * @param texts, count  Rank 0's are written; the others' are ignored.  An existing dataset must have the same number,
 *                      and enough space for each.
 */
WINDROW_API int scorpio_write_str_array(char **texts, int count, int file, char *name, iogroup_t *group);

/** Read all texts of a dataset, of fixed or variable length, on every rank.  @param texts  [out] Free each one, then
 * the array. */
WINDROW_API int scorpio_read_str_array(char ***texts, int *count, int file, char *name, iogroup_t *group);

/**
 * Read an attribute of a dataset or a group; "/" is the file.  Numbers are converted.  Local: one rank may call it
 * alone.
 * @param data  [out] Its elements; for SCORPIO_STRING a text from scorpio_read_simple_attr(), and an array of texts
 *              from scorpio_read_attr(), each of which must be freed too.
 * @param ndims, dims  [out] `dims` must be freed too.
 * scorpio_read_simple_attr() needs an attribute with one element.
 */
WINDROW_API int scorpio_read_simple_attr(char *name, void **data, datatype_t type, int file, char *object,
                                         iogroup_t *group);
WINDROW_API int scorpio_read_attr(char *name, void **data, datatype_t type, int *ndims, int **dims, int file,
                                  char *object, iogroup_t *group);

/**
 * Write an attribute, replacing one of that name.  Rank 0's data is written.
 * @param data  Elements of `type`.  For SCORPIO_STRING a single text, `char *` (scorpio_write_simple_attr(), ndims 0),
 *              or an array of texts, `char **`.
 */
WINDROW_API int scorpio_write_simple_attr(char *name, void *data, datatype_t type, int file, char *object,
                                          iogroup_t *group);
WINDROW_API int scorpio_write_attr(char *name, void *data, datatype_t type, int ndims, int *dims, int file,
                                   char *object, iogroup_t *group);

/**
 * Open the group `name` of the file as the current one, and define it and its parents if they do not exist.  The name
 * is a path from the root.
 * @return Its number in this file, from 1, in the range of int and INTEGER(4); -1: error.
 */
WINDROW_API int64_t scorpio_create_dataset_group(char *name, int file, iogroup_t *group);

/** Close a group.  The current group is then the one that was opened last and is still open; if none, the root. */
WINDROW_API int scorpio_close_dataset_group(int64_t number, int file, iogroup_t *group);

/** Whether there is such a group or dataset; links are followed.  Local: one rank may call it alone.  @return 1, 0;
 * -1: error. */
WINDROW_API int scorpio_group_exists(char *name, int file, iogroup_t *group);
WINDROW_API int scorpio_dataset_exists(char *name, int file, iogroup_t *group);

/** The same for both, for programs that only have `fid` of iofile_t. */
WINDROW_API int scorpio_name_exists(int64_t fid, const char *name);

/**
 * Make a soft link.
 * @param target    A path, relative to `location` unless it begins with a slash.  It need not exist.
 * @param location  From scorpio_create_dataset_group(), or 0 for the root.
 */
WINDROW_API int scorpio_create_link(char *target, int64_t location, char *name, int file, iogroup_t *group);

#ifdef __cplusplus
}
#endif
