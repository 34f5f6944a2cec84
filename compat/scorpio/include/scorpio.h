/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file scorpio.h
 * The calls of SCORPIO ("SCalable block-ORiented Parallel I/O", Sreepathi et al., the I/O library of PFLOTRAN and
 * Amanzi) over Windrow.
 *
 * A program that was written for them is compiled with this header and linked to libwindrow_scorpio.  New programs use
 * windrow.h, which has more and is shorter to use.  docs/scorpio.md says what behaves differently.
 *
 *     iogroup_conf_t configuration = {0, 16, comm};
 *     iogroup_t group;
 *     scorpio_IOgroup_init(&configuration, &group);
 *     int file = scorpio_open_file("out.h5", &group, SCORPIO_FILE_CREATE);
 *     scorpio_write_dataset(values, SCORPIO_DOUBLE, 2, globaldims, localdims, file, "pressure", &group,
 * SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE); scorpio_close_file(file, &group);                      the file appears under
 * its name scorpio_IOgroup_cleanup(&group);
 *
 * Conventions, true for every call unless it says otherwise:
 *  - A call is collective over the group's communicator and has the same result on every rank of it, whatever happened
 * on which rank.
 *  - A result that is not described is 0.  -1 is an error; nothing else is handed out then.  windrow_error_message() of
 * windrow.h says what, where and on which rank.  With WINDROW_SCORPIO_MESSAGES=true in its environment rank 0 prints it
 * on standard error.
 *  - Dimensions are in C order: slowest first.  Starts count from 0.  An array given by `int *` has `ndims` entries.
 *  - Arguments marked [same] must be the same on every rank; one that is not is an error on every rank.  Files, types,
 * patterns, names and numbers of dimensions always are.
 *  - A name is a path in the file: "pressure", "/time/pressure".  What is written goes into the current group
 * (scorpio_create_dataset_group()) unless its name begins with a slash; what is read, asked for or given an attribute
 * is looked for from the root.
 *  - Memory that a call hands out is of malloc() and belongs to the caller, who frees it.
 *  - One thread at a time may be inside a group.  Nothing is printed unless asked for, and nobody's program is ended.
 */
#pragma once

/* What the original's header brings with it, and programs rely on; some include it within extern "C". */
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

/** What the calls return on an error, and the room of iofile_t for a path. */
#define FAILURE -1
#define MAX_FILENAME 100

#ifdef __cplusplus
extern "C" {
#define SCORPIO_OF_INT : int /* as in C, whose callers may pass any int */
#else
#define SCORPIO_OF_INT
#endif

/** What scorpio_IOgroup_init() is asked for. */
typedef struct {
  int numIOgroups;        /**< Number of teams; 0: preferredGroupSize holds.  More than ranks: each is a team. */
  int preferredGroupSize; /**< Ranks of a team; below 1 or more than there are: all ranks are one. */
  MPI_Comm commIncoming;
} iogroup_conf_t;

/** An open file, to be read only. */
typedef struct {
  int handle;                  /**< Its number. */
  char filename[MAX_FILENAME]; /**< Its path, cut off where it is longer. */
  /** Not one of HDF5's: a negative number, which HDF5's functions refuse, of the open file; -1 when it is closed.
   * scorpio_name_exists() knows it. */
  int64_t fid;
  /** -1: HDF5's numbers, of which there are none. */
  int64_t acc_tpl, xfer_plist, link_plist, sid, file_dataspace, mem_dataspace, dataset, groupid;
} iofile_t;

/**
 * A group of ranks, and the files that they have open.  A copy is the same group.  Programs read the fields and change
 * none.
 */
typedef struct {
  int localrank;          /**< In the team; 0: the root, which reads and writes. */
  int globalrank;         /**< In the communicator that the group was made of. */
  int localsize;          /**< Ranks of this team; the last one may have fewer. */
  int globalsize;         /**< Ranks of the group. */
  int iogroupRank;        /**< Number of this team, from 0. */
  int iogroupSize;        /**< As localsize. */
  int numIOgroups;        /**< Number of teams. */
  int preferredGroupSize; /**< Ranks of a team. */
  /** The team, the group, and the roots of all teams (MPI_COMM_NULL on other ranks).  The program frees none of them.
   */
  MPI_Comm localcomm, globalcomm, iocomm;
  /** [the number that scorpio_open_file() returned], of the files that were opened through this very struct. */
  iofile_t **file;
  int numFiles;      /**< How often a file was opened through this struct. */
  int datatype_size; /**< 0, and the next two MPI_DATATYPE_NULL and -1: the original's own notes. */
  MPI_Datatype mpi_type;
  int64_t hdf_type;
  int number; /**< The library's; what Fortran calls the group. */
} iogroup_t;

/** Which part of a dataset each rank reads or writes. */
typedef enum SCORPIO_OF_INT {
  SCORPIO_UNIFORM_CONTIGUOUS_READ,    /**< Rows in the order of ranks: dims[0] / ranks each, the first dims[0] mod ranks
                                         one more. */
  SCORPIO_NONUNIFORM_CONTIGUOUS_READ, /**< Rows in the order of ranks: localdims[0] each, together globaldims[0]. */
  SCORPIO_NONCONTIGUOUS_READ,         /**< An error: the calls have no argument for which elements. */
  SCORPIO_EVERYONE_ENTIRE_DATASET_READ, /**< Every rank reads all of it. */
  SCORPIO_UNIFORM_CONTIGUOUS_WRITE,
  SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE,
  SCORPIO_NONCONTIGUOUS_WRITE /**< An error: scorpio_write_dataset_block() writes blocks. */
} iopattern_t;

typedef enum SCORPIO_OF_INT {
  SCORPIO_FILE_CREATE, /**< A new file; one that stands there is replaced when this one is closed. */
  SCORPIO_FILE_READONLY,
  SCORPIO_FILE_READWRITE /**< A file that exists. */
} file_mode_t;

/** Types of elements in memory. */
typedef enum SCORPIO_OF_INT {
  SCORPIO_INTEGER, /**< int */
  SCORPIO_DOUBLE,
  SCORPIO_FLOAT,
  SCORPIO_LONG,
  SCORPIO_CHAR,  /**< A number of one byte, as the machine has char. */
  SCORPIO_BYTE,  /**< One byte that is no number: opaque. */
  SCORPIO_STRING /**< Of attributes only: text that ends with a NUL. */
} datatype_t;

/**
 * Make a group: the ranks of `commIncoming`, cut into teams of consecutive ranks.  Collective over `commIncoming`.
 *
 * The first rank of each team reads and writes for the team, in rounds of bounded memory.  The communicator is
 * duplicated and may be freed afterwards.  Any number of groups, of different team sizes, may exist at a time.
 * @param group  [out] Given back by scorpio_IOgroup_cleanup().
 * Cost: one duplicate of the communicator, and a communicator of each team and one of the roots, for the fields of
 * `group`.  The whole communicator is not
 * split.
 */
WINDROW_API int scorpio_IOgroup_init(iogroup_conf_t *configuration, iogroup_t *group);

/** Close what is still open in the group, as scorpio_close_file() does, and free it.  -1: a file could not be closed
 * well; the group is gone. */
WINDROW_API int scorpio_IOgroup_cleanup(iogroup_t *group);

/**
 * Open an HDF5 file.
 * A file that is created has a temporary name until it is closed; a program that ends before leaves the old one.
 * @return The file's number in this group, from 1; of a closed file it is used again.  -1: error.
 */
WINDROW_API int scorpio_open_file(const char *path, iogroup_t *group, file_mode_t mode);

/** Close a file and the dataset groups that are open in it.  -1: it could not be published or written; the number is
 * free all the same. */
WINDROW_API int scorpio_close_file(int file, iogroup_t *group);

/** Number of dimensions, the dimensions [ndims], or the elements of a dataset.  Local: one rank may ask alone.
 * @return -1: no such dataset, or a number that an int cannot hold. */
WINDROW_API int scorpio_get_dataset_ndims(int *ndims, int file, char *name, iogroup_t *group);
WINDROW_API int scorpio_get_dataset_dims(int *dims, int file, char *name, iogroup_t *group);
WINDROW_API int scorpio_get_dataset_size(int *size, int file, char *name, iogroup_t *group);

/**
 * Read a dataset as a pattern of `..._READ` says.  Numbers are converted to `type`, as HDF5 does.
 * @param data        [product(localdims)] elements; of SCORPIO_EVERYONE_ENTIRE_DATASET_READ [product(globaldims)].
 * @param globaldims  The dataset's.  [same]
 * @param localdims   This rank's part: localdims[0] rows, then as globaldims.  Of a uniform pattern the rank's even
 * share of the rows, or NULL.  Not looked at when everyone reads all.
 */
WINDROW_API int scorpio_read_dataset(void *data, datatype_t type, int ndims, int *globaldims, int *localdims, int file,
                                     char *name, iogroup_t *group, iopattern_t pattern);

/**
 * Write a dataset as a pattern of `..._WRITE` says: a new one, or over one of the same type and dimensions.
 * Arguments as of scorpio_read_dataset().  When it returns, `data` may be changed.  Elements that nobody writes are 0.
 */
WINDROW_API int scorpio_write_dataset(void *data, datatype_t type, int ndims, int *globaldims, int *localdims, int file,
                                      char *name, iogroup_t *group, iopattern_t pattern);

/**
 * Write one block per rank, as scorpio_write_dataset().  Where blocks overlap, the highest rank's stays.
 * @param localdims, localstarts  This rank's block: its dimensions, any 0 for none, and its first element.
 */
WINDROW_API int scorpio_write_dataset_block(void *data, datatype_t type, int ndims, int *globaldims, int *localdims,
                                            int *localstarts, int file, char *name, iogroup_t *group);

/** Read the same block of a dataset on every rank.  @param dims, starts  [same]  @param data  [product(dims)] on every
 * rank. */
WINDROW_API int scorpio_read_same_sub_dataset(void *data, datatype_t type, int ndims, int *dims, int *starts, int file,
                                              char *name, iogroup_t *group);

/** scorpio_read_dataset() and scorpio_write_dataset() of one pattern each: 1 uniform, 2 nonuniform.  The original
 * has them, though its header does not. */
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
 * Write texts as a dataset of one dimension and of text of fixed length, which is as long as the longest needs.
 * @param texts, count  Rank 0's are written; the others' are not looked at.  One that exists must have as many, and
 * room for each.
 */
WINDROW_API int scorpio_write_str_array(char **texts, int count, int file, char *name, iogroup_t *group);

/** Read all texts of a dataset, of fixed or variable length, on every rank.  @param texts  [out] Free each one, then
 * the array. */
WINDROW_API int scorpio_read_str_array(char ***texts, int *count, int file, char *name, iogroup_t *group);

/**
 * Read an attribute of a dataset or a group; "/" is the file.  Numbers are converted.  Local: one rank may ask alone.
 * @param data  [out] Its elements; of SCORPIO_STRING one text for scorpio_read_simple_attr(), and an array of texts,
 * each to be freed too, for scorpio_read_attr().
 * @param ndims, dims  [out] `dims` is to be freed too.
 * scorpio_read_simple_attr() wants an attribute of one element.
 */
WINDROW_API int scorpio_read_simple_attr(char *name, void **data, datatype_t type, int file, char *object,
                                         iogroup_t *group);
WINDROW_API int scorpio_read_attr(char *name, void **data, datatype_t type, int *ndims, int **dims, int file,
                                  char *object, iogroup_t *group);

/**
 * Write an attribute; one of that name is replaced.  Rank 0's data is written.
 * @param data  Elements of `type`.  Of SCORPIO_STRING the text itself, `char *`, when it is one
 * (scorpio_write_simple_attr(), ndims 0), else an array of texts, `char **`.
 */
WINDROW_API int scorpio_write_simple_attr(char *name, void *data, datatype_t type, int file, char *object,
                                          iogroup_t *group);
WINDROW_API int scorpio_write_attr(char *name, void *data, datatype_t type, int ndims, int *dims, int file,
                                   char *object, iogroup_t *group);

/**
 * Make the group `name` of the file, and those above it, the current one; what is not there yet is made.  The name
 * counts from the root.
 * @return Its number in this file, from 1, which an int and an INTEGER(4) hold; -1: error.
 */
WINDROW_API int64_t scorpio_create_dataset_group(char *name, int file, iogroup_t *group);

/** The current group is again the one that was opened last before and is open still; none: the root. */
WINDROW_API int scorpio_close_dataset_group(int64_t number, int file, iogroup_t *group);

/** Whether there is such a group or dataset; links are followed.  Local: one rank may ask alone.  @return 1, 0; -1:
 * error. */
WINDROW_API int scorpio_group_exists(char *name, int file, iogroup_t *group);
WINDROW_API int scorpio_dataset_exists(char *name, int file, iogroup_t *group);

/** The same of either, where the program has iofile_t's `fid` only. */
WINDROW_API int scorpio_name_exists(int64_t fid, const char *name);

/**
 * Make a soft link.
 * @param target    A path, relative to `location` unless it begins with a slash.  Nothing need be there.
 * @param location  From scorpio_create_dataset_group(), or 0 for the root.
 */
WINDROW_API int scorpio_create_link(char *target, int64_t location, char *name, int file, iogroup_t *group);

#ifdef __cplusplus
}
#endif
