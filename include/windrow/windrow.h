/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file windrow.h
 * Windrow: parallel I/O for MPI programs.  The C interface, with its manual.
 *
 * Each rank holds pieces of arrays.  Windrow aggregates the pieces into long contiguous requests and writes them to one
 * standard file.  A program defines variables and decompositions once, then puts and flushes at every time step:
 *
 *     windrow_create(comm, "out.h5", NULL, &file);
 *     windrow_define_variable(file, "temperature", WINDROW_FLOAT64, 3, shape, &variable);
 *     windrow_block(comm, 3, shape, start, count, NULL, NULL, &decomposition);
 *     windrow_put(file, variable, decomposition, data);      local: queues, without a copy
 *     windrow_flush(file);                                   collective: moves everything queued, in one plan
 *     windrow_close(file);                                   collective: the file gets its name
 *
 * Conventions, for every function unless it says otherwise:
 *  - The result is a code of enum windrow_code.  A collective call returns the same code and sets the same message on
 *    every rank of its communicator, whichever rank failed.
 *  - All ranks make the same collective calls for the same files in the same order.  If they do not, all of them get
 *    WINDROW_MPI, with a message that names two ranks, their calls and files, and nothing of these calls is written.
 *    Later calls for these files return WINDROW_MPI on every rank without waiting for another rank.  windrow_close()
 *    then does not publish, and windrow_discard() returns WINDROW_OK.  Other files are not affected, with one
 *    exception: if the ranks were in calls of three files or more, all files that were opened between the first and the
 *    last of these are affected, too.
 *    With MPI_THREAD_MULTIPLE threads may use several files at once, so each file is compared by itself: different
 *    calls for one file, and different calls to open or create files or to make decompositions, are found.  If some
 *    ranks are in calls for one file, and others in calls for another or for none, this is not found, and they wait.
 *  - Sizes and offsets are int64_t.  Shapes, starts and counts are in C order: slowest dimension first, 0-based.
 *  - Text is UTF-8 and NUL-terminated.  A path of an object in a file is "/group/name"; the leading slash is optional.
 *    It has at most 200 groups and a name: what files of others have in deeper groups is named as unsupported.
 *  - Arguments marked [same] must be equal on every rank.  If one differs, every rank gets an error.
 *  - The caller owns handles, and frees them with the function named at their type.  A returned `const char *` belongs
 *    to the handle that it came from, and is valid until the next call on that handle.  NULL instead of a file is an
 *    error of that rank alone: in a collective call the other ranks wait for it.
 *  - The library never prints, aborts or calls exit.  MPI_THREAD_SINGLE suffices.  One thread at a time may use a
 *    handle (docs/thread-safety.md).
 *
 * Order of this page: version, errors, options, files, objects, decompositions, queue and flush, viewers, meshes,
 * reports, copies, machines.  Files of plain bytes are in bytes.h, which this page includes.
 */
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include <windrow/bytes.h>
#include <windrow/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ version */

#define WINDROW_VERSION_MAJOR 0
#define WINDROW_VERSION_MINOR 1
#define WINDROW_VERSION_PATCH 0

/** "0.1.0".  Local.  Since 0.1. */
WINDROW_API const char *windrow_version(void);

/**
 * Whether something is built in: a format ("hdf5", "raw"), a store ("posix", "faulty"), a preset, a choice of an axis
 * as "axis=choice" ("gather=team", "codec=lzo"), a filter of chunks ("filter=zstd"), or "xdmf".  Local.
 * @return 1 or 0.  Since 0.1.
 */
WINDROW_API int windrow_has(const char *feature);

/** Lists what is built in: one item per line, sorted ("format hdf5", "strategy auto", ...).  Local; static text.
 * Since 0.1. */
WINDROW_API const char *windrow_features(void);

/* ------------------------------------------------------------------------------------------------- errors */

/** Codes grow with severity.  If ranks fail differently, the call returns the largest code, with the message of the
 * lowest rank that has it. */
enum windrow_code {
  WINDROW_OK = 0,
  WINDROW_BAD_ARGUMENT = 1, /**< An invalid value.  Nothing was written. */
  WINDROW_BAD_STATE =
      2, /**< Not allowed now: a closed file, after MPI_Finalize, writing to a file opened for reading. */
  WINDROW_NOT_FOUND = 3,   /**< No such file, variable, group or attribute. */
  WINDROW_EXISTS = 4,      /**< The name is taken. */
  WINDROW_UNSUPPORTED = 5, /**< Not built in, or not implemented; the message says which. */
  WINDROW_BAD_FILE = 6,    /**< The file has another format, or is truncated or damaged. */
  WINDROW_NO_PERMISSION = 7,
  WINDROW_NO_SPACE = 8, /**< Disk full or quota exceeded. */
  WINDROW_IO = 9,       /**< The storage failed. */
  WINDROW_OUT_OF_MEMORY = 10,
  WINDROW_MPI = 11,     /**< MPI failed, so the ranks may not agree; or the ranks are in different calls. */
  WINDROW_INTERNAL = 12 /**< A defect of Windrow: please report it. */
};

/** "no space left", ... for a code.  Local; static text.  Since 0.1. */
WINDROW_API const char *windrow_code_name(int code);

/** The message of the last failed call of this thread: what, where, on which rank.  "" if none failed.  Local.  Since
 * 0.1. */
WINDROW_API const char *windrow_error_message(void);

/** The rank (of the call's communicator) with the last error; -1 for none or all.  Local.  Since 0.1. */
WINDROW_API int windrow_error_rank(void);

/* ------------------------------------------------------------------------------------------------ options */

/**
 * A set of options: keys with values as text.  docs/settings.md lists every key with its unit and default.  Each key
 * can also be set in the environment: WINDROW_STRATEGY sets "strategy".  The environment overrides the default, and the
 * program overrides the environment.  Free it with windrow_options_free().
 */
typedef struct windrow_options windrow_options;

/** Create an empty set.  Local.  Since 0.1. */
WINDROW_API int windrow_options_create(windrow_options **options);

/**
 * Set a key.  Local.
 * @return WINDROW_BAD_ARGUMENT: an unknown key or an invalid value; the message lists the valid ones.  Values that are
 * texts (filters, chunks, stripe, ...: docs/settings.md) are checked by the call that takes the options.  Since 0.1.
 */
WINDROW_API int windrow_options_set(windrow_options *options, const char *key, const char *value);

/** Free a set.  NULL is allowed.  Local.  Since 0.1. */
WINDROW_API void windrow_options_free(windrow_options *options);

/* -------------------------------------------------------------------------------------------------- files */

/** An open file.  Freed by windrow_close() or windrow_discard(). */
typedef struct windrow_file windrow_file;

enum windrow_mode {
  WINDROW_READ = 0,   /**< Reading only. */
  WINDROW_UPDATE = 1, /**< Reading and writing in place: after an error the message names the undefined variables. */
  WINDROW_UPDATE_OR_CREATE = 2 /**< For windrow_bytes_open() only. */
};

/**
 * Create a file.  Collective over `comm`, which may be any intracommunicator and may be freed afterwards.
 * The file is written under the temporary name ".NAME.windrow-XXXX" in the folder of `path`, and gets its name at
 * windrow_close().  Until then a previous file of that name stays intact.  Temporary files of `path` that killed jobs
 * left are removed.
 *
 * @param comm     [same]
 * @param path     [same]  The option "format" selects the format, or else the ending of the name, in any case: .h5
 *                 .hdf5 .nc4 is HDF5; .nc .cdf is netCDF classic (docs/netcdf.md); .raw is raw.
 * @param options  NULL: defaults and environment.  Copied.  [same]
 *                 "files" = subfiles(N): variables are split over N subfiles in a folder beside `path`, and read as
 *                 one file (docs/subfiles.md).
 * @param file     [out] NULL on error.
 * @return WINDROW_NOT_FOUND, WINDROW_NO_PERMISSION, WINDROW_IO: the folder; WINDROW_BAD_ARGUMENT: the name, for example
 * too long for the file system; WINDROW_UNSUPPORTED: the format.  If a rank has no memory for the file, the first
 * collective call on the file may be the one that reports it.
 * Cost: rank 0 opens the file; the other writers open it at their first write.  Since 0.1.
 */
WINDROW_API int windrow_create(MPI_Comm comm, const char *path, const windrow_options *options, windrow_file **file);

/**
 * Open an existing file.  Collective over `comm`.
 * @param mode  enum windrow_mode.  [same]
 * @return WINDROW_NOT_FOUND; WINDROW_BAD_FILE: not a file of the format.  Since 0.1.
 */
WINDROW_API int windrow_open(MPI_Comm comm, const char *path, int mode, const windrow_options *options,
                             windrow_file **file);

/**
 * Remove temporary files and folders that killed jobs left beside `path`, and those of calibrations in its folder.
 * Local: one process calls it.
 * The writer of a temporary file holds a lock on it, and locked files are not removed.  Nothing is removed if locks do
 * not reach all hosts of the file system, or if that is unknown.
 *
 * @param path     Final name of the temporary files; the file need not exist.
 * @param removed  [out] The removed paths, one per line; "" for none.  Valid until this thread's next call.  Since 0.1.
 */
WINDROW_API int windrow_remove_leftovers(const char *path, const char **removed);

/**
 * Flush what is queued, and publish all flushed data under the file's name.  Collective.
 * Other programs may read the file from then on, but not open it for update until it is closed.  While a later sync or
 * the close changes its header, they refuse it for a moment.
 * With the option "durable" the data is on stable storage when the call returns.  Since 0.1.
 */
WINDROW_API int windrow_sync(windrow_file *file);

/**
 * Flush what is queued, publish and close.  Collective.  The handle is freed whatever the result is.  On error a new
 * file is not published, and a previous file of its name is still there; except with the option "durable", if only the
 * new name could not be stored.  WINDROW_IO is also returned if another program has replaced the temporary file.
 * An earlier flush that failed before it wrote anything is not an error here: see windrow_flush().  NULL is allowed.
 * After MPI_Finalize: WINDROW_BAD_STATE, and the handle is freed.  Since 0.1.
 */
WINDROW_API int windrow_close(windrow_file *file);

/** Close without flushing or publishing.  Collective.  A new file is removed, unless windrow_sync() has published it:
 * then it stays, with everything that was defined and written since.  Errors from earlier calls are not reported again
 * for a file that is discarded.  Since 0.1. */
WINDROW_API int windrow_discard(windrow_file *file);

/* ------------------------------------------------------------------------------------------------ objects */

/** Types of elements, in memory and in the file. */
enum windrow_type {
  WINDROW_INT8 = 1,
  WINDROW_UINT8,
  WINDROW_INT16,
  WINDROW_UINT16,
  WINDROW_INT32,
  WINDROW_UINT32,
  WINDROW_INT64,
  WINDROW_UINT64,
  WINDROW_FLOAT32,
  WINDROW_FLOAT64,
  WINDROW_TEXT, /**< Text.  A variable has text of fixed length (the option "element_bytes": bytes per element, padded
                   by "text_padding", NULs by default; with the file's option "text_in_memory" = blanks the memory has
                   Fortran's padding), or of variable length, moved by windrow_put_texts() and windrow_get_texts().  An
                   attribute has NUL-terminated strings, however they are stored. */
  WINDROW_BOOL, /**< One byte, 0 or 1.  In HDF5 the enumeration FALSE, TRUE, as in h5py. */
  WINDROW_COMPLEX64,  /**< Two float32: real and imaginary part.  In HDF5 a compound of r and i, as in h5py. */
  WINDROW_COMPLEX128, /**< Two float64. */
  WINDROW_OPAQUE, /**< Bytes without a meaning to the library: "element_bytes" per element, with an "opaque_tag".  HDF5
                     returns them only for the same tag; h5py does not support it. */
  WINDROW_REFERENCE, /**< An absolute path to an object of the file, as text: by windrow_put_texts(),
                        windrow_get_texts() and in attributes.  "" refers to nothing.  HDF5 stores the object's address,
                        so the object must exist when the reference is written, and reading returns one of its paths.
                        Only HDF5 supports it. */
  WINDROW_FLOAT16    /**< IEEE 754's binary16, two bytes: numpy's float16, _Float16 of C23.  In HDF5 as in h5py; not in
                        netCDF classic.  In languages without it, windrow_put_as() and windrow_get_as() convert to
                        float. */
};

#define WINDROW_STORED (-1) /**< For windrow_put_as() and windrow_get_as() only: elements in the file's byte order. */

/** Bytes of one element of a type; 0 for WINDROW_TEXT, WINDROW_OPAQUE, WINDROW_REFERENCE and unknown types.  Local.
 * Since 0.1. */
WINDROW_API int64_t windrow_type_size(int type);

/** "int8" ... "float64", "text", "bool", "complex64", "complex128", "opaque", "reference", "float16".  Local; static
 * text.  Since 0.1. */
WINDROW_API const char *windrow_type_name(int type);

#define WINDROW_MAX_DIMENSIONS 32

/**
 * Define a group and its parents that do not exist yet.  Collective.  An existing group is not an error.
 * @param path  [same]  Since 0.1.
 */
WINDROW_API int windrow_define_group(windrow_file *file, const char *path);

/**
 * Define a variable.  Missing parent groups are defined too.  Collective.
 * @param path      [same]
 * @param type      enum windrow_type.  [same]
 * @param ndims     0 to WINDROW_MAX_DIMENSIONS; 0 is a scalar.  [same]
 * @param shape     [ndims] extent of each dimension, each >= 0.  [same]
 * @param variable  [out] Its number in this file, for windrow_put() and windrow_get().
 * @return WINDROW_EXISTS; WINDROW_BAD_ARGUMENT: type, shape or name.  Elements never written are 0.  Since 0.1.
 */
WINDROW_API int windrow_define_variable(windrow_file *file, const char *path, int type, int ndims, const int64_t *shape,
                                        int *variable);

/**
 * As windrow_define_variable(), with options of the variable:
 *  - "byte_order" = native | little | big
 *  - "element_bytes": bytes per element of WINDROW_OPAQUE, and of WINDROW_TEXT with fixed length; "text_characters" =
 *    utf8 | ascii, "text_padding" = null_padded | null_terminated | space_padded, "opaque_tag"
 *  - "enumeration": names of the values of an integer type, "RED=0\nGREEN=1"; elements are the integers, in memory and
 *    in the file
 *  - "fill_value": value of elements that were never written, "-999.5", "nan", "true", "1.5,-2" for a complex number,
 *    text, "0xfffe" for opaque bytes; default: zeros.  If the first flush writes only parts of a contiguous variable,
 *    its writers fill the rest
 *  - "null_space" = true: neither elements nor a shape; ndims is 0
 *  - "split" and "split_parts": how the variable is split if the file has subfiles (docs/subfiles.md); "split" = none:
 *    not at all
 *  - "files" = subfiles(N), or other libraries' names for it: split the variable over N subfiles, also in a new file
 *    that has none yet; "files" = one: do not split
 *  - "chunks" and "filters", as in docs/settings.md, for compressed variables of HDF5 files:
 *
 *     windrow_options_set(options, "filters", "shuffle,deflate:1");     chunks of 1 to 2 MiB, chosen from the shape
 *     windrow_define_variable_with(file, "density", WINDROW_FLOAT64, 3, shape, options, &variable);
 *
 * Every rank encodes its share of the chunks of a flush, and decodes when reading.  Rank 0 allocates space for them in
 * the file.  Any HDF5 with the filter reads the file (docs/filters.md).  If a chunk is partially written, its other
 * elements have the fill value.  In addition to its buffers a writer needs memory for two buffers of encoded chunks and
 * two chunks; a buffer holds at least one chunk.  A flush moves each chunked variable in a separate plan.
 * Collective.
 * @return WINDROW_BAD_ARGUMENT: an option that does not fit the type; WINDROW_UNSUPPORTED: a filter that is not built
 * in, or chunks in a raw file.  Since 0.1.
 */
WINDROW_API int windrow_define_variable_with(windrow_file *file, const char *path, int type, int ndims,
                                             const int64_t *shape, const windrow_options *options, int *variable);

/** A definition of a variable: the arguments of windrow_define_variable_with(). */
typedef struct windrow_variable_definition {
  const char *path;
  int type;
  int ndims;
  const int64_t *shape;
  const windrow_options *options; /**< NULL: those of the file. */
} windrow_variable_definition;

/**
 * Define several variables at once, with two collective operations in all instead of one or two per variable.
 * Collective.
 *
 * @param count        Number of variables.  0: does nothing.  [same]
 * @param definitions  [count], including the values of the options.  [same]
 * @param variables    [count] [out] Their numbers, in order.
 * @return As windrow_define_variable().  If an argument is refused, nothing is defined.  If the file refuses one
 * (WINDROW_NO_SPACE, WINDROW_IO), those before it are defined.  Since 0.1.
 */
WINDROW_API int windrow_define_variables(windrow_file *file, int count, const windrow_variable_definition *definitions,
                                         int *variables);

/** Description of a variable.  Set `size` to sizeof(windrow_variable_info) before the call. */
typedef struct windrow_variable_info {
  int64_t size;
  const char *path; /**< "/group/name"; valid until the file is closed. */
  int type;         /**< enum windrow_type; 0: a type that Windrow cannot read yet. */
  int ndims;
  int64_t shape[WINDROW_MAX_DIMENSIONS];
  int64_t bytes;  /**< Stored size of all elements. */
  int64_t offset; /**< First byte in the file; -1 if not stored contiguously.  In netCDF classic that of the first
                   * record of an extendible variable; unknown, -1, before the flush after a definition. */
  int big_endian; /**< 1: stored in big-endian order. */
  const char *unsupported;               /**< Why it cannot be read yet ("compressed", "compound type", ...), or "". */
  int has_fill_value;                    /**< 1: elements that were never written are not 0. */
  int chunked;                           /**< 1: stored in chunks; `offset` is -1. */
  int64_t chunk[WINDROW_MAX_DIMENSIONS]; /**< Shape of a chunk. */
  int extendible;                        /**< 1: the first dimension can grow: windrow_put_record(). */
  const char *filters;                   /**< Filters of chunks, as in the option "filters"; "" for none. */
  int64_t elements;                      /**< 0 for a null space, which has no shape either. */
  int64_t
      element_bytes; /**< Of one element in memory; 0: text of variable length or references: windrow_get_texts(). */
  int is_null;       /**< 1: a null space, without elements to put or get. */
  const char *text_characters; /**< "utf8", "ascii"; "" if it is not text. */
  const char *text_padding;    /**< As the option; "" if it is not text. */
  const char *opaque_tag;      /**< "" if it is not opaque. */
  const char *enumeration;     /**< Names of integer values, "NAME=value", one per line; or "". */
  const char *dimension_names[WINDROW_MAX_DIMENSIONS]; /**< [ndims] As for windrow_name_dimensions(); "" for none. */
  const char *fill_value;                              /**< As the option; "" for zeros. */
  const char *split; /**< Split over subfiles, as in the option "split_parts": "4x1x2", "3+5+2x1"; `offset` is -1 then.
                        "" if it is not split.  Since 0.1. */
} windrow_variable_info;

/** Number of variables of the file; -1 for a NULL file.  They are numbered from 0.  Local.  Since 0.1. */
WINDROW_API int windrow_variable_count(const windrow_file *file);

/** Find the number of the variable `path`.  Local.  @return WINDROW_NOT_FOUND.  Since 0.1. */
WINDROW_API int windrow_find_variable(const windrow_file *file, const char *path, int *variable);

/** Describe a variable.  Local.  Since 0.1. */
WINDROW_API int windrow_inquire_variable(const windrow_file *file, int variable, windrow_variable_info *info);

/** Number of subfiles in which variables have parts; 0: none, the file is a single file so far; -1 for a NULL file.
 * docs/subfiles.md.  Local.  Since 0.1. */
WINDROW_API int windrow_subfile_count(const windrow_file *file);

/** Name of a subfile, relative to the folder of the file; NULL for an invalid number.  Local; valid until the file is
 * closed.  Since 0.1. */
WINDROW_API const char *windrow_subfile_name(const windrow_file *file, int subfile);

/** Files that were half changed when this file was opened: the path of the file itself, or names as
 * windrow_subfile_name() returns them.  A program was killed while it changed them, or is changing them.  Windrow reads
 * their old content; other programs may refuse them.  Opening the file for update restores them.  One per line, "" for
 * none, NULL for a NULL file.  Local; valid until the file is closed.  Since 0.1. */
WINDROW_API const char *windrow_interrupted(const windrow_file *file);

/**
 * Check a file and its subfiles.  Collective.
 *
 * A file can be opened even if some of its subfiles are missing, damaged, part of another set, or under the name of
 * another subfile.  Only a get of data in such a subfile is an error.  This call reports all of them.  It also reports
 * unexpected files in their folder, and variables that refer other programs to other places than the map does.
 * Elements of parts with a checksum (option checksum) are read and verified.
 *
 * @param problems  [out] One per line; "" for none, and for a single file.  The same on every rank; valid until the
 *                  file is closed.
 * Cost: rank 0 lists the folder and opens unexpected files; the subfiles themselves were checked at open.  Parts with
 * a checksum are read once, each by the rank that owns its subfile, in pieces of the option buffer.
 *
 *     windrow_open(comm, "out.h5", WINDROW_READ, NULL, &file);
 *     windrow_check_subfiles(file, &problems);   if (*problems) fprintf(stderr, "%s", problems);
 * Since 0.1.
 */
WINDROW_API int windrow_check_subfiles(windrow_file *file, const char **problems);

/**
 * List what is stored of a variable, as boxes.  All other elements have the fill value, and need neither be read nor
 * copied.  Collective.
 *
 * The boxes do not overlap.  Of a variable in chunks they consist of its stored chunks, up to the edge of the array.
 * They are all of a variable that is not chunked, or none of it if it was never written.  The same holds for each part
 * of a variable in subfiles.  A part that cannot be examined counts as stored, and so does a variable whose chunks
 * HDF5 cannot list.
 *
 * @param variable  [same]
 * @param boxes     [out] Number of boxes; 0: nothing was ever written.
 * @param starts    [out] [boxes][ndims] First element of each box, in C order; valid until the next call of this
 *                  function for the file, or until it is closed.
 * @param counts    [out] [boxes][ndims] Number of elements along each dimension; valid as long.
 * Cost: rank 0 and the ranks in charge of subfiles walk through the indexes of the chunks, and send the boxes.
 *
 *     windrow_inquire_written(file, variable, &boxes, &starts, &counts);
 * Since 0.1.
 */
WINDROW_API int windrow_inquire_written(windrow_file *file, int variable, int64_t *boxes, const int64_t **starts,
                                        const int64_t **counts);

/**
 * Write a kerchunk reference file: a JSON text with the place of each chunk of each variable, also in subfiles.  xarray
 * and zarr open it as one data set, and read the data in place.  Collective.  docs/kerchunk.md.
 *
 * @param file      Open for reading; HDF5, netCDF classic or raw.  For a new file use the option references=kerchunk.
 * @param path      The reference file, which is replaced atomically; NULL or "": NAME.kerchunk.json beside the file.
 *                  [same]
 * @param prefix    Precedes each file name in the text: a folder with its slash, or "s3://bucket/run/".  NULL or "":
 *                  none, so that readers must be started in the folder of the file; if the text is in another folder,
 *                  the file's folder is used.  [same]
 * @param left_out  [out] What Zarr cannot express, with the reason, one per line; "" for nothing.  NULL: not wanted.
 *                  The same on every rank; valid until the file is closed.
 * @return WINDROW_BAD_STATE: the file is not open for reading only.  WINDROW_NOT_FOUND, WINDROW_NO_PERMISSION: the
 * folder of `path`.
 * Cost: rank 0 looks up each chunk, with about 100 bytes of memory for each, and reads no element.  The maximum is a
 * million references; further variables are omitted.
 *
 *     windrow_open(comm, "out.h5", WINDROW_READ, NULL, &file);
 *     windrow_write_references(file, NULL, NULL, &left_out);   if (*left_out) fprintf(stderr, "%s", left_out);
 * Since 0.1.
 */
WINDROW_API int windrow_write_references(windrow_file *file, const char *path, const char *prefix,
                                         const char **left_out);

/** Number of groups of the file, including the root, which is group 0.  Local.  Since 0.1. */
WINDROW_API int windrow_group_count(const windrow_file *file);

/** Path of a group; NULL for an invalid number.  Local; valid until the file is closed.  Since 0.1. */
WINDROW_API const char *windrow_group_path(const windrow_file *file, int group);

/**
 * Name the dimensions of a variable, as in netCDF-4; once per variable.  Collective.
 *
 * A name refers to the dimension or variable of that name in the variable's group or, if there is none, in its parents.
 * A variable must have one dimension of that length (an extendible HDF5 variable: or longer).  It then holds the
 * coordinates, and its own dimension has its name.  If nothing has the name, a new dimension is defined in the
 * variable's group; so define variables with coordinates first.
 *
 * In an HDF5 file these are dimension scales, which ncdump, xarray and h5py show; that of an extendible variable is
 * unlimited.  In netCDF classic every dimension has a name, which is generated if none is given.
 *
 * A variable with the name of its own first dimension has that dimension's coordinates, also if it has more dimensions:
 * station(station, length).  A variable with the name of another of its dimensions, or of another dimension of the
 * file, does not: bounds(time, bounds).  In HDF5 it is stored as "_nc4_non_coord_bounds", as in netCDF-4, and Windrow
 * and netCDF's readers show its own name.  Name the dimensions of such a variable before those of others that share the
 * dimension.
 *
 * @param variable  [same]
 * @param names     [ndims] each a name, a path that begins with a slash, or "" for none.  [same]
 * @return WINDROW_BAD_ARGUMENT: another length; WINDROW_EXISTS: the dimensions have names, or another object has the
 * name; WINDROW_UNSUPPORTED: a second unlimited dimension in netCDF classic.
 *
 *     const char *names[2] = {"time", "cell"};
 *     windrow_name_dimensions(file, temperature, names);
 * Since 0.1.
 */
WINDROW_API int windrow_name_dimensions(windrow_file *file, int variable, const char *const *names);

/** The same for a list of `count` names, for callers that know the length, such as language bindings.  Collective.
 * @return Also WINDROW_BAD_ARGUMENT: `count` is not the variable's number of dimensions.  Since 0.1. */
WINDROW_API int windrow_name_dimensions_counted(windrow_file *file, int variable, int count, const char *const *names);

/** Define a dimension.  Collective.  A variable of this name, defined before or later, has its coordinates if the
 * dimension is its first one, and otherwise only has the same name.
 * @param path, length  [same]; length 0: unlimited  @return WINDROW_EXISTS.  Since 0.1. */
WINDROW_API int windrow_define_dimension(windrow_file *file, const char *path, int64_t length);

/** Number of dimensions of the file without a variable for coordinates; -1 for a NULL file.  Local.  Since 0.1. */
WINDROW_API int windrow_dimension_count(const windrow_file *file);

/** Path and length of such a dimension.  Local; the path is valid until the file is closed.  Since 0.1. */
WINDROW_API int windrow_inquire_dimension(const windrow_file *file, int dimension, const char **path, int64_t *length);

/** Kinds of objects. */
enum windrow_kind {
  WINDROW_NOTHING = 0,
  WINDROW_GROUP = 1,
  WINDROW_VARIABLE = 2,
  WINDROW_LINK = 3,     /**< A soft link, whatever its target is. */
  WINDROW_OTHER = 4,    /**< An object that windrow_unsupported_objects() lists. */
  WINDROW_DIMENSION = 5 /**< A dimension without a variable. */
};

/**
 * Kind of the object at `path`.  Soft links in the path are followed, except for the last name.  Local.
 * @param kind  [out] enum windrow_kind.
 * @return WINDROW_OK, also for WINDROW_NOTHING.  Since 0.1.
 */
WINDROW_API int windrow_inquire_object(const windrow_file *file, const char *path, int *kind);

/**
 * Define a soft link: a name that refers to another object.  Missing parent groups are defined too.  Collective.
 *
 * windrow_find_variable() and the calls for attributes follow up to 16 links.  Definitions use the names of the groups
 * themselves.
 * @param path    [same]
 * @param target  A path in this file, relative to the link's group unless it begins with a slash.  The target need not
 *                exist.  [same]
 * @return WINDROW_EXISTS; WINDROW_BAD_ARGUMENT: the name, or an empty target.  Since 0.1.
 */
WINDROW_API int windrow_define_link(windrow_file *file, const char *path, const char *target);

/** Number of soft links and additional hard links of the file; -1 for a NULL file.  Local.  Since 0.1. */
WINDROW_API int windrow_link_count(const windrow_file *file);

/** Path and target of a link, as stored.  Local; valid until the file is closed.  Since 0.1. */
WINDROW_API int windrow_inquire_link(const windrow_file *file, int link, const char **path, const char **target);

/**
 * Whether a link is a hard link: another name of an object, whose first name is the target.  -1: no such link.  Local.
 * Since 0.1.
 */
WINDROW_API int windrow_link_is_hard(const windrow_file *file, int link);

/**
 * Objects of the file that Windrow can neither read nor copy yet, one per line: "path: reason".  "" for none.  The
 * reason begins with "damaged: " if the object is damaged.
 * Local; valid until the file is closed.  Since 0.1.
 */
WINDROW_API const char *windrow_unsupported_objects(const windrow_file *file);

/**
 * Write all elements of a variable of WINDROW_TEXT with variable length, or the paths of one of WINDROW_REFERENCE.
 * Collective; rank 0's texts are written.
 *
 * @param variable  [same]
 * @param texts     [elements] in C order, NUL-terminated; used on rank 0 only, and only during the call.
 * @return WINDROW_BAD_ARGUMENT: a variable of another type, or a path that is relative or refers to another file;
 * WINDROW_NOT_FOUND: a path that does not exist; WINDROW_UNSUPPORTED: more than 1 GiB.
 * Cost: rank 0 writes; only it needs memory, a few times the size of the texts.  Since 0.1.
 */
WINDROW_API int windrow_put_texts(windrow_file *file, int variable, const char *const *texts);

/** The same for a list of `count` texts, for callers that know the length, such as language bindings.  Collective.
 * @param count  Used on rank 0 only.
 * @return Also WINDROW_BAD_ARGUMENT: `count` is not the variable's number of elements.  Since 0.1. */
WINDROW_API int windrow_put_texts_counted(windrow_file *file, int variable, int64_t count, const char *const *texts);

/**
 * Read all elements of a variable of WINDROW_TEXT with variable length, or the paths of one of WINDROW_REFERENCE.
 * Collective: rank 0 reads, and all ranks get all elements.  Elements that were never written are "".
 *
 * @param variable  [same]
 * @param texts     [elements] [out] In C order; valid until the file is closed.
 * @return As windrow_put_texts().
 * Cost: one broadcast; memory on every rank.  Since 0.1.
 */
WINDROW_API int windrow_get_texts(windrow_file *file, int variable, const char **texts);

/**
 * Write an attribute of a group or a variable, replacing one of that name.  Collective; rank 0's data is written.
 * @param object  Path of a group or a variable; "/" for the file.  [same]
 * @param type    enum windrow_type.
 * @param ndims   0: a scalar.
 * @param data    Elements of `type`; for WINDROW_TEXT and WINDROW_REFERENCE `const char *const *`, one string or path
 *                per element.  NULL is allowed if there are none.  Since 0.1.
 */
WINDROW_API int windrow_put_attribute(windrow_file *file, const char *object, const char *name, int type, int ndims,
                                      const int64_t *shape, const void *data);

/** As windrow_put_attribute(), with the options of windrow_define_variable_with(), of which rank 0's are used.  A text
 * that is longer than its fixed length is WINDROW_BAD_ARGUMENT; it is never truncated.  Collective.  Since 0.1. */
WINDROW_API int windrow_put_attribute_with(windrow_file *file, const char *object, const char *name, int type,
                                           int ndims, const int64_t *shape, const void *data,
                                           const windrow_options *options);

/** Write one string as an attribute.  Collective.  Since 0.1. */
WINDROW_API int windrow_put_attribute_text(windrow_file *file, const char *object, const char *name, const char *text);

/**
 * Copy an attribute from another file as it is stored there, with properties that windrow_get_attribute() does not
 * return, such as the length and character set of text.  Replaces one of that name.  Collective over `file`.  `from`
 * must be open on every rank, and rank 0's is used.
 * @param object, from_object, name  [same]
 * @return WINDROW_NOT_FOUND; WINDROW_UNSUPPORTED: an attribute that cannot be read yet.  Since 0.1.
 */
WINDROW_API int windrow_copy_attribute(windrow_file *file, const char *object, const windrow_file *from,
                                       const char *from_object, const char *name);

/** Delete an attribute.  Collective.  @param object, name  [same]  @return WINDROW_NOT_FOUND.  Since 0.1. */
WINDROW_API int windrow_delete_attribute(windrow_file *file, const char *object, const char *name);

/** Description of an attribute.  Set `size` to sizeof(windrow_attribute_info) before the call. */
typedef struct windrow_attribute_info {
  int64_t size;
  const char *name; /**< Valid until the file is closed. */
  int type;         /**< enum windrow_type; 0: a type that Windrow cannot read yet. */
  int ndims;
  int64_t shape[WINDROW_MAX_DIMENSIONS];
  int64_t elements;
  const char *unsupported;     /**< Why it cannot be read yet, or "". */
  int64_t element_bytes;       /**< Of one element; of text as stored, 0 for text of variable length and references. */
  int is_null;                 /**< 1: a null space, without elements or shape. */
  const char *text_characters; /**< This and the next three as in windrow_variable_info. */
  const char *text_padding;
  const char *opaque_tag;
  const char *enumeration;
} windrow_attribute_info;

/** Number of attributes of an object; -1 if there is no such object.  Local.  Since 0.1. */
WINDROW_API int windrow_attribute_count(const windrow_file *file, const char *object);

/** Describe attribute number `attribute` of an object.  Local.  Since 0.1. */
WINDROW_API int windrow_inquire_attribute(const windrow_file *file, const char *object, int attribute,
                                          windrow_attribute_info *info);

/**
 * Read an attribute.  Local: all ranks get the attributes at open.
 * @param type  Must be the attribute's own type.
 * @param data  [elements] of `type`; for WINDROW_TEXT and WINDROW_REFERENCE `const char **`: pointers that are valid
 *              until the file is closed.  NULL is allowed for an attribute without elements.  Since 0.1.
 */
WINDROW_API int windrow_get_attribute(const windrow_file *file, const char *object, const char *name, int type,
                                      void *data);

/* ----------------------------------------------------------------------------------------- decompositions */

/**
 * Which elements of a shape each rank holds, and where they are in its memory.  Made once, used for any number of
 * variables, files and time steps.  Freed by windrow_decomposition_free().
 *
 * A decomposition with `ndims` dimensions can be used for every variable whose first `ndims` dimensions have its shape.
 * Each element then stands for all trailing elements of the variable, which are contiguous in memory.
 *
 * If several ranks hold an element: for points the option "owner" determines the writer; otherwise the higher rank
 * wins, and within a rank the later block.  When reading, every holder gets a copy.
 */
typedef struct windrow_decomposition windrow_decomposition;

/**
 * One block per rank.  Collective over `comm`.
 *
 * @param comm          The file's communicator, or one with the same ranks in the same order.
 * @param ndims, shape  Of the whole array; ndims 0 and NULL for a scalar.  [same]
 * @param start, count  [ndims] This rank's block.  Any count 0: this rank holds nothing.
 * @param memory_shape  [ndims] Box in this rank's memory around the block, ghost cells included; NULL: `count`.
 * @param memory_start  [ndims] First element of the block within that box; NULL: 0.
 * @return WINDROW_BAD_ARGUMENT: a block exceeds the shape or the memory box.
 * Cost: one sparse exchange to find elements that several ranks hold.  Since 0.1.
 */
WINDROW_API int windrow_block(MPI_Comm comm, int ndims, const int64_t *shape, const int64_t *start,
                              const int64_t *count, const int64_t *memory_shape, const int64_t *memory_start,
                              windrow_decomposition **decomposition);

/**
 * Several blocks per rank, consecutive in memory, each in its own box.  Collective over `comm`.
 * @param blocks  Number of this rank's blocks; 0 is allowed.
 * @param starts, counts, memory_shapes, memory_starts  [blocks][ndims]; the last two may be NULL, as in
 *                windrow_block().  Since 0.1.
 */
WINDROW_API int windrow_blocks(MPI_Comm comm, int ndims, const int64_t *shape, int64_t blocks, const int64_t *starts,
                               const int64_t *counts, const int64_t *memory_shapes, const int64_t *memory_starts,
                               windrow_decomposition **decomposition);

/**
 * As windrow_blocks(), for blocks whose elements have any strides in memory: with gaps, in Fortran order, or backwards.
 * Collective over `comm`.
 *
 * @param memory_offsets  [blocks] Position of each block's first element, in elements from the beginning of the memory
 *                        that is put or got.
 * @param memory_strides  [blocks][ndims] Distance of neighbouring elements along each dimension, in elements; negative:
 *                        backwards.  Not 0 if the count is above 1.  If several elements are at one place, reading
 *                        into them is undefined.  The variable's trailing elements, if any, are contiguous.
 *
 *     int64_t columns[2] = {1, ny};                           double a[nx][ny] is written as the array [ny][nx]
 *     windrow_strided_blocks(comm, 2, shape, 1, start, count, (int64_t[]){0}, columns, &transposed);
 *
 * @return WINDROW_BAD_ARGUMENT: a block exceeds the shape, or begins before the memory.
 * Cost: each separate element is copied individually into the buffer that is written or sent.  Since 0.1.
 */
WINDROW_API int windrow_strided_blocks(MPI_Comm comm, int ndims, const int64_t *shape, int64_t blocks,
                                       const int64_t *starts, const int64_t *counts, const int64_t *memory_offsets,
                                       const int64_t *memory_strides, windrow_decomposition **decomposition);

/**
 * A contiguous range of rows (elements along the slowest dimension) per rank, in rank order.  Collective over `comm`.
 * @param rows   Rows of the whole array.  [same]
 * @param count  Rows of this rank; the sum over all ranks must be `rows`.  WINDROW_EVEN on every rank: the library
 *               divides them; the first `rows` mod `ranks` ranks get one more.  windrow_decomposition_rows() returns
 *               the rows of this rank.  Since 0.1.
 */
#define WINDROW_EVEN (-1)
WINDROW_API int windrow_rows(MPI_Comm comm, int64_t rows, int64_t count, windrow_decomposition **decomposition);

/** First row and number of rows of this rank in a decomposition made by windrow_rows().  Local.  Since 0.1. */
WINDROW_API int windrow_decomposition_rows(const windrow_decomposition *decomposition, int64_t *first, int64_t *count);

/**
 * Points: element numbers along one dimension, in any order, each with all its trailing elements; for meshes.
 * Collective over `comm`.
 *
 * @param points  Number of points of the whole array.  [same]  It can also be used for variables whose leading
 *                dimensions multiply to `points`.
 * @param count   Number of this rank's points; 0 is allowed.
 * @param list    [count] their numbers, each in [0, points), in the order of memory.  A repeated number counts once:
 *                the later entry is written, and the rank owns it if either entry is flagged.
 * @param owned   [count] 1: this rank owns the point (from the partitioner), 0: a replica; NULL: unknown.  All ranks
 *                with points give flags, or none does.  With flags each point that a rank holds must be owned by
 *                exactly one rank; otherwise writing with `partitioner`, `idg`, `idg_figure` or `balanced` is refused.
 *
 * If several ranks hold a point, the file's option "owner" determines which of them writes it.  This is computed here,
 * once for all variables and time steps:
 *  - `auto`: the flags if there are any, because replicas may be out of date; otherwise `balanced`
 *  - `balanced`: few and long rows, with a bounded load difference between ranks ("imbalance").  The load is the number
 *    of points, plus the cost of rows in points, from the machine's numbers ("machine", else typical ones) and
 *    "point_bytes"
 *  - `idg`: Interval Data Grouping: the rank that writes the previous point or owns the next one, if it holds this one
 *    too; needs flags.  In a sequence of more than 1024 shared points it begins again at each multiple of 1024
 *  - `idg_figure`: the same according to figure 4 of the paper, which makes more rows; needs flags
 *  - `partitioner`: the flags
 *  - `first`, `highest`, `random`: the lowest rank that holds it, the highest, or any
 *
 * If flags are needed but there are none, `first` is used, and windrow_explain() says so.  The same lists give the same
 * writers, in whatever order they are.  When reading, every holder gets a copy.
 * Cost: each point is sent to one rank, and one more near every 1024th; about 0.2 microseconds per shared point and
 * trial, up to 80 trials; at most 20 agreements.
 * Source: "Optimization and evaluation of parallel I/O in BIPS3D", section 5.  Since 0.1.
 */
WINDROW_API int windrow_points(MPI_Comm comm, int64_t points, int64_t count, const int64_t *list,
                               const unsigned char *owned, windrow_decomposition **decomposition);

/**
 * As windrow_points(), with the options "imbalance", "point_bytes" and "machine"; others are refused.
 * Collective over `comm`.
 * @param options  NULL: none.  [same]  Since 0.1.
 */
WINDROW_API int windrow_points_with(MPI_Comm comm, int64_t points, int64_t count, const int64_t *list,
                                    const unsigned char *owned, const windrow_options *options,
                                    windrow_decomposition **decomposition);

/**
 * The points of a decomposition by points that this rank writes, and the number of intervals of consecutive numbers
 * that they form.  Local.
 *
 * @param owner      A value of the option "owner".
 * @param room       Capacity of `list`.
 * @param list       [*count] [out] their numbers, ascending; NULL if `room` is 0: only counts.
 * @param count      [out] Number of points.
 * @param intervals  [out] Number of intervals.
 * @return WINDROW_BAD_ARGUMENT: the owner cannot be determined, because flags are missing or contradictory, or `room`
 * is too small.
 * Example: the imbalance of a decomposition (formula 1 of the paper) is (max - min) / mean over the ranks of `count`:
 *     windrow_decomposition_owned(mesh, "idg", 0, NULL, &count, &intervals);
 * Since 0.1.
 */
WINDROW_API int windrow_decomposition_owned(const windrow_decomposition *decomposition, const char *owner, int64_t room,
                                            int64_t *list, int64_t *count, int64_t *intervals);

/** Number of points of a decomposition by points that no rank holds.  They are not written, and read as the fill value.
 * Local; the same on every rank.  Since 0.1. */
WINDROW_API int windrow_decomposition_holes(const windrow_decomposition *decomposition, int64_t *holes);

/**
 * A replicated part: every rank holds the same part.  When writing, the lowest rank's data is written.
 * Collective over `comm`.
 * @param ndims         0: all of any variable, also of a scalar; the other arguments are ignored.  [same]
 * @param start, count  [ndims]  NULL: everything.  [same]  Since 0.1.
 */
WINDROW_API int windrow_same(MPI_Comm comm, int ndims, const int64_t *shape, const int64_t *start, const int64_t *count,
                             windrow_decomposition **decomposition);

/**
 * Number of elements of the memory that this rank puts from or gets into: all its boxes, ghost cells included, or up to
 * the last element; 0 if it holds nothing.  For callers that know the length of an array, such as language bindings.
 * Local.
 * @param shape  [ndims] Of the variable; of a record: without the first dimension.
 * @return WINDROW_BAD_ARGUMENT: the shape does not fit the decomposition.  Since 0.1.
 */
WINDROW_API int windrow_decomposition_memory(const windrow_decomposition *decomposition, int ndims,
                                             const int64_t *shape, int64_t *elements);

/** Free a decomposition, not before the flush of requests that use it.  NULL is allowed.  Local.  Since 0.1. */
WINDROW_API void windrow_decomposition_free(windrow_decomposition *decomposition);

/* ----------------------------------------------------------------------------------------- queue and flush */

/**
 * Queue data to be written.  Local: ranks may queue different variables in any order, or none.
 * One of the ranks that hold an element writes it (windrow_same(): rank 0; points: the owner).  So either every rank
 * that shares elements with others must put the variable, or none; for windrow_same() rank 0 alone may put.  If a put
 * would be lost because the owner did not put, the flush fails with WINDROW_BAD_ARGUMENT.
 * @param data  Elements of the variable's type, in the decomposition's memory layout.  Must stay unchanged until the
 *              flush.
 * Bad arguments are reported here, and again by the next flush on every rank.  Since 0.1.
 */
WINDROW_API int windrow_put(windrow_file *file, int variable, const windrow_decomposition *decomposition,
                            const void *data);

/** Queue data to be read; `data` is filled by the flush.  Local.  Since 0.1. */
WINDROW_API int windrow_get(windrow_file *file, int variable, const windrow_decomposition *decomposition, void *data);

/**
 * As windrow_put() and windrow_get(), for one record: one index of the variable's first dimension.  The decomposition
 * has the other dimensions, so one serves every time step.  Local.
 *
 *     windrow_options_set(options, "extendible", "true");
 *     int64_t shape[3] = {0, ny, nx};
 *     windrow_define_variable_with(file, "temperature", WINDROW_FLOAT64, 3, shape, options, &variable);
 *     windrow_put_record(file, variable, step, decomposition_of_ny_nx, data);
 *     windrow_flush(file);
 *
 * A put beyond the end of an extendible variable (option extendible) extends it at the flush.  Records in between that
 * are never written read as 0 or the option fill_value.  In netCDF classic all extendible variables have one length.
 * Records of variables with a fixed shape are written and read in the same way.  Since 0.1.
 * @param record  >= 0.  Ranks may put different records in one flush, if no element of their decompositions is shared.
 * @return WINDROW_BAD_ARGUMENT: beyond the end, when reading or of a variable that is not extendible.
 */
WINDROW_API int windrow_put_record(windrow_file *file, int variable, int64_t record,
                                   const windrow_decomposition *decomposition, const void *data);
WINDROW_API int windrow_get_record(windrow_file *file, int variable, int64_t record,
                                   const windrow_decomposition *decomposition, void *data);

/**
 * windrow_put() of data of another type than the variable's.  Local.  The data is converted at once into a copy that
 * exists until the flush; `data` must still stay unchanged until then.
 *
 * Integers, floating-point numbers and booleans can be converted to each other and to complex numbers; complex numbers
 * only to complex ones.  By the rules of C: fractions are truncated, everything but 0 is true, integers are rounded to
 * floating-point numbers.  An out-of-range value becomes the nearest representable one, and NaN becomes 0 as an
 * integer; windrow_report() counts them ("values_clamped").  With the file's option conversion=error it is
 * WINDROW_BAD_ARGUMENT.  Infinities and NaN are kept between floating-point types.
 *
 * @param type  enum windrow_type of `data`.  The variable's own type, of any kind: as windrow_put().  WINDROW_STORED:
 *              elements in the file's byte order, so that a program that only passes them on, such as `windrow copy`,
 *              need not swap them twice.
 * @return WINDROW_BAD_ARGUMENT: types that cannot be converted.  The next flush reports it again, on every rank.
 * Memory: this rank's piece in the variable's type, up to its last element in memory.  Since 0.1.
 */
WINDROW_API int windrow_put_as(windrow_file *file, int variable, const windrow_decomposition *decomposition, int type,
                               const void *data);

/** windrow_get() into memory of another type than the variable's.  Converted in the flush, by the same rules and at the
 * same cost.  With conversion=error an out-of-range value is an error of the flush.  Local.  Since 0.1. */
WINDROW_API int windrow_get_as(windrow_file *file, int variable, const windrow_decomposition *decomposition, int type,
                               void *data);

/** windrow_put_record() and windrow_get_record() with data of another type, as in windrow_put_as() and
 * windrow_get_as().  Local.  Since 0.1. */
WINDROW_API int windrow_put_record_as(windrow_file *file, int variable, int64_t record,
                                      const windrow_decomposition *decomposition, int type, const void *data);
WINDROW_API int windrow_get_record_as(windrow_file *file, int variable, int64_t record,
                                      const windrow_decomposition *decomposition, int type, void *data);

/**
 * Change the strategy for the following flushes.  Collective; nothing may be queued.
 *
 * A program that needs different teams for reading and writing, or for different arrays, changes the strategy between
 * two flushes.  Plans of earlier strategies stay cached.
 *
 * @param options  "strategy", "owner", "gather", "domains", "codec", "access", "writers", "buffer", "align",
 *                 "sieve_hole"; options that are not set are reset to those of the open call.  NULL: all are.  Other
 *                 options may only have their present value.  [same]
 * @return WINDROW_BAD_STATE: puts or gets are queued; WINDROW_BAD_ARGUMENT: another option, or different values on the
 * ranks.
 *
 *     windrow_options_set(teams, "gather", "team(16)");
 *     windrow_set_strategy(file, teams);   windrow_write(file, density, rows, data);
 *     windrow_set_strategy(file, NULL);    windrow_write(file, velocity, rows, data);
 * Since 0.1.
 */
WINDROW_API int windrow_set_strategy(windrow_file *file, const windrow_options *options);

/**
 * Move everything queued: puts first, then gets.  Collective.
 *
 * If puts of one flush overlap: the later put of a variable wins; within one put the rules of windrow_decomposition.
 * @return On error the queue is empty.  The message names the variables that are undefined; the others are unchanged or
 * written.  If the storage refused a request of a new file, the file cannot be published any more, and each further
 * flush with puts returns that error.  If nothing was written yet, for example after a bad argument or without memory,
 * the flush can be repeated with other puts; windrow_close() then publishes what other flushes wrote.  Call
 * windrow_discard() instead if an incomplete file is worse than none.
 *
 * Cost: one agreement before and one after the data.
 * Memory of buffers ("peak_memory") per writer, reader and root of a team: at most the options "buffer" x "buffers"
 * (4 MiB x 2 to 4) plus a tenth; or two chunks if these are larger; or messages if buffers are below 2 MiB.  Any other
 * rank that sends or receives messages, as between hosts, needs two messages of 1/36 of that, 64 to 512 KiB each; three
 * if they may be compressed.  For compressors every rank needs two messages and 1 to 2 MiB, more at high levels of
 * zstd ("codec_memory").
 *
 * A file caches its plans for later flushes of the same shape: the same decompositions at the same places.  It caches
 * up to 128 of them, in up to 64 MiB per rank; the least recently used is dropped first.  Other records and new
 * variables need plans of their own.
 * Source: extended two-phase I/O, Thakur and Choudhary, Scientific Programming 5(4), 1996;
 * docs/internals/modules/exchange.md.  Since 0.1.
 */
WINDROW_API int windrow_flush(windrow_file *file);

/**
 * windrow_flush() in two calls, so that the program can compute while data is written.  Both are collective.
 *
 *     windrow_put(file, variable, decomposition, now);  windrow_flush_begin(file);
 *     compute(next);                                    another buffer: `now` must stay unchanged until flush_end
 *     windrow_flush_end(file);
 *
 * flush_begin moves puts until the rest is in the writers' buffers, and returns.  A thread of each writer then writes
 * these buffers, and threads of the other ranks write pieces that are not aggregated from the program's memory.  No MPI
 * call is made in between, so MPI_THREAD_SINGLE suffices.  Gets are moved by flush_end.  windrow_put() and
 * windrow_get() between the two calls queue for the next flush.  Any other collective call on the file in between first
 * ends the flush, and returns its error.
 * Memory: as in windrow_flush(), until flush_end.
 * @return flush_begin: errors of the queue or the plan; then nothing was begun.  flush_end: errors of moving the data;
 * WINDROW_BAD_STATE if no flush was begun.  With the option io_thread=off, or if the system provides no thread,
 * flush_begin does all the work.  Since 0.1.
 */
WINDROW_API int windrow_flush_begin(windrow_file *file);
WINDROW_API int windrow_flush_end(windrow_file *file);

/**
 * Report that this rank cannot take part, as if it had called windrow_put() with a bad argument: the next flush moves
 * nothing, and returns WINDROW_BAD_ARGUMENT and `message` on every rank.  For language bindings and libraries that
 * check more than C can, such as the type and the size of an array.  Local.
 * @param file  NULL: only sets windrow_error_message() of this rank.
 * @return WINDROW_BAD_ARGUMENT.  Since 0.1.
 */
WINDROW_API int windrow_refuse(windrow_file *file, const char *message);

/** How messages number and order dimensions, indices and shapes. */
enum windrow_numbering {
  WINDROW_NUMBERING_C = 0,       /* from 0, the slowest dimension first */
  WINDROW_NUMBERING_FORTRAN = 1, /* from 1, the fastest dimension first */
};

/**
 * Set how the messages of this thread's calls number, until it is set again.  For language bindings, which pass
 * everything in C order, and set it for the time of a call.  Local.
 * @param numbering  enum windrow_numbering; another value changes nothing.
 * @return The previous value.  Since 0.1.
 */
WINDROW_API int windrow_set_numbering(int numbering);

/** windrow_put() and windrow_flush() in one call.  Collective.  Since 0.1. */
WINDROW_API int windrow_write(windrow_file *file, int variable, const windrow_decomposition *decomposition,
                              const void *data);

/** windrow_get() and windrow_flush() in one call.  Collective.  Since 0.1. */
WINDROW_API int windrow_read(windrow_file *file, int variable, const windrow_decomposition *decomposition, void *data);

/** Write one contiguous block per rank without a decomposition.  Collective.  Any count 0: nothing.  Since 0.1. */
WINDROW_API int windrow_write_block(windrow_file *file, int variable, const int64_t *start, const int64_t *count,
                                    const void *data);

/** Read one contiguous block per rank.  Collective.  Since 0.1. */
WINDROW_API int windrow_read_block(windrow_file *file, int variable, const int64_t *start, const int64_t *count,
                                   void *data);

/* ------------------------------------------------------------------------------------------------- viewers */

/*
 * An XDMF file can be written beside an HDF5 file.  It describes which variables are grids, meshes and fields on them,
 * so that ParaView and VisIt can open them.  Its name is PATH with the ending .xmf.  It refers to the file without its
 * folder: move both together.
 *
 *     windrow_define_variable(file, "step 2/pressure", WINDROW_FLOAT64, 3, nodes, &variable);
 *     windrow_xdmf_uniform_grid(file, "air", 0.5, 3, nodes, origin, spacing, &grid);
 *     windrow_xdmf_field(file, grid, "pressure", WINDROW_AT_NODES, variable);
 *     windrow_close(file);                                   out.h5 and out.xmf appear
 *
 * Variables are defined first; their data may be written before or later.  Rank 0 writes the XDMF file, which gets its
 * name together with the file, at windrow_close() or windrow_sync().  After a sync, and for a file opened for update,
 * the next of these calls replaces it if grids or fields were added; it then has those that were described since the
 * file was opened.  A new file without grids leaves an old XDMF file unchanged.
 *
 * Grids of one name are a time series, each with its own time; all are of one kind.  Names may be any UTF-8 without
 * control characters.  In the names of variables and of the file ':' and '|' are WINDROW_UNSUPPORTED.  No data is moved
 * or read.
 * Cost: one agreement per call; some hundred bytes per grid or field on each rank and in the XDMF file.
 * Source: https://www.xdmf.org, version 3, as VTK's readers support it.
 */

/** Kinds of cells; the numbers are XDMF's. */
enum windrow_cell {
  WINDROW_TRIANGLE = 4,
  WINDROW_QUADRILATERAL = 5, /**< Nodes in order around it. */
  WINDROW_TETRAHEDRON = 6,
  WINDROW_PYRAMID = 7,      /**< Nodes around the base, then the tip. */
  WINDROW_WEDGE = 8,        /**< One triangle, then the other in the same direction. */
  WINDROW_HEXAHEDRON = 9,   /**< Nodes around the bottom, then around the top in the same direction. */
  WINDROW_MIXED_CELLS = 112 /**< The nodes of each cell are preceded by its kind, one of these numbers. */
};

/** Where the values of a field are. */
enum windrow_center {
  WINDROW_AT_NODES = 0,
  WINDROW_AT_CELLS = 1
};

/**
 * Describe a grid with uniform spacing.  Collective.
 *
 * @param name     Shown by the viewer.  [same]
 * @param time     In the program's units; NAN (of math.h): the grid has no time, and a unique name.  [same]
 * @param ndims    2 or 3.  [same]
 * @param nodes    [ndims] Nodes of each dimension, slowest first (z, y, x), each >= 2; there is one cell less.  [same]
 * @param origin   [ndims] Position of the first node, in the same order.  [same]
 * @param spacing  [ndims] Distance of neighbouring nodes, each > 0, in the same order.  [same]
 * @param grid     [out] Its number, for windrow_xdmf_field().
 * @return WINDROW_UNSUPPORTED: the file is not HDF5; WINDROW_EXISTS: a grid of that name and time exists, or one of two
 * grids of a name has no time; WINDROW_NO_PERMISSION, WINDROW_BAD_ARGUMENT and others: the object at the XDMF file's
 * name cannot be replaced.  Since 0.1.
 */
WINDROW_API int windrow_xdmf_uniform_grid(windrow_file *file, const char *name, double time, int ndims,
                                          const int64_t *nodes, const double *origin, const double *spacing, int *grid);

/**
 * Describe a grid with coordinates along each dimension.  Collective.  As windrow_xdmf_uniform_grid(), but:
 * @param ndims        2 or 3.  [same]
 * @param coordinates  [ndims] One-dimensional variables of float32 or float64: positions of the nodes along each
 *                     dimension of the grid, slowest first (z, y, x).  [same]  Since 0.1.
 */
WINDROW_API int windrow_xdmf_rectilinear_grid(windrow_file *file, const char *name, double time, int ndims,
                                              const int *coordinates, int *grid);

/**
 * Describe a grid with coordinates of each node.  Collective.  As windrow_xdmf_uniform_grid(), but:
 * @param coordinates  A variable of float32 or float64: nodes of each dimension, slowest first, x 3 coordinates in the
 *                     order x, y, z; for a grid with two dimensions x 2 or x 3.  [same]  Since 0.1.
 */
WINDROW_API int windrow_xdmf_curvilinear_grid(windrow_file *file, const char *name, double time, int coordinates,
                                              int *grid);

/**
 * Describe a mesh.  Collective.  As windrow_xdmf_uniform_grid(), but:
 * @param cell          enum windrow_cell.  [same]
 * @param connectivity  A variable of integers, cells x nodes of a cell: node numbers of the cells, from 0.  For
 *                      WINDROW_MIXED_CELLS one-dimensional.  [same]
 * @param cells         For WINDROW_MIXED_CELLS the number of cells; otherwise ignored.  [same]
 * @param coordinates   A variable of float32 or float64, nodes x 3 (x, y, z) or nodes x 2.  [same]
 * A mesh that does not move can be described for each time with the same variables.  Since 0.1.
 */
WINDROW_API int windrow_xdmf_mesh(windrow_file *file, const char *name, double time, int cell, int connectivity,
                                  int64_t cells, int coordinates, int *grid);

/**
 * Describe a variable as a field on a grid or mesh.  Collective.
 *
 * @param grid      From one of the calls above.  [same]
 * @param name      Shown by the viewer; in a time series the same at all times.  [same]
 * @param center    enum windrow_center.  [same]
 * @param variable  Has the grid's shape at nodes or at cells (a mesh: nodes or cells), or that x components: 1 is a
 *                  scalar, 3 are a vector (x, y, z), 6 a symmetric tensor (xx, xy, xz, yy, yz, zz), 9 a tensor, other
 *                  numbers a list of values.  [same]  VTK's older reader (vtkXdmfReader) does not show components at
 *                  the nodes of a two-dimensional grid.
 * @return WINDROW_EXISTS: the grid has a field of that name there; WINDROW_BAD_ARGUMENT: the shape.  uint64 is shown as
 * int64.  Since 0.1.
 */
WINDROW_API int windrow_xdmf_field(windrow_file *file, int grid, const char *name, int center, int variable);

/* -------------------------------------------------------------------------------------------------- meshes */

/**
 * Find the neighbours of the nodes of a mesh from its cells.  Local.
 *
 * @param nodes         Number of nodes.
 * @param cell          enum windrow_cell, of all cells, or WINDROW_MIXED_CELLS.
 * @param length        Length of `connectivity`.
 * @param connectivity  [length] node numbers of the cells, from 0, cell by cell, in the order of enum windrow_cell.
 * @param across_cells  0: neighbours are connected by an edge of a cell; otherwise all nodes of a cell are neighbours,
 *                      as in a finite element matrix.  For triangles and tetrahedra both are the same.
 * @param room          Capacity of `neighbours`; 0: only `offsets` is computed, whose last entry is the required
 *                      capacity.
 * @param offsets       [nodes + 1] [out] where each node's neighbours begin in `neighbours`.
 * @param neighbours    [room] [out] those of each node are ascending and unique.
 * Cost: O(length log(cells of a node)); memory for the pairs of each cell, 8 bytes each.  Since 0.1.
 */
WINDROW_API int windrow_mesh_neighbours(int64_t nodes, int cell, int64_t length, const int64_t *connectivity,
                                        int across_cells, int64_t room, int64_t *offsets, int64_t *neighbours);

/**
 * List the parts of a partitioned mesh that hold each node: its own part first, then those of its neighbours in their
 * order.  A node with one part is local; the others are shared, with replicas on all their parts.  Local.
 *
 * @param nodes       Number of nodes.
 * @param offsets     [nodes + 1] where each node's neighbours begin, as in windrow_mesh_neighbours() or METIS.
 * @param neighbours  [offsets[nodes]]
 * @param partition   [nodes] the part of each node, from 0.
 * @param room        Capacity of `parts`; 0: only `part_offsets` is computed, whose last entry is the needed capacity.
 * @param part_offsets  [nodes + 1] [out] where each node's parts begin in `parts`.
 * @param parts         [room] [out]
 * A rank's points are the nodes with its part in their lists; it owns those where its part is the first.
 * Source: "Optimization and evaluation of parallel I/O in BIPS3D", section 5, figure 4.  Since 0.1.
 */
WINDROW_API int windrow_classify_nodes(int64_t nodes, const int64_t *offsets, const int64_t *neighbours,
                                       const int *partition, int64_t room, int64_t *part_offsets, int *parts);

/* ------------------------------------------------------------------------------------------------- reports */

/**
 * The plan of what is queued or, if no rank has anything queued, of the last flush: the choice on each axis and its
 * reasons.  It is the plan of the next flush.  Nothing moves, and the file does not change.  If that flush makes
 * variables longer or gives them their first place in an HDF5 file, the plan assumes where their bytes will be.
 * Collective.
 * @param format  "text" or "json".  [same]
 * @param text    [out] Valid until the next call on this file.  The same on every rank.  Since 0.1.
 */
WINDROW_API int windrow_explain(windrow_file *file, const char *format, const char **text);

/**
 * What the last flush did, over all ranks: seconds by stage, bytes, messages, storage requests, writers, peak memory.
 * Also how often the file was opened since windrow_create() or windrow_open(): for metadata by rank 0, for data by each
 * writer or reader.  Of a flush that has not ended ("under_way") it only has the plans.  Local.
 *
 * Some names in JSON:
 *  - "bytes_sent", "bytes_before_codec", "description_bytes", "description_bytes_before_codec": bytes of messages and
 *    of descriptions, as sent and without compression
 *  - "codecs": of the messages that a codec or check_messages may have changed, by codec: their number, bytes before
 *    and after, and the seconds of all ranks to encode and decode; "reasons" of a plan give the reason
 *  - "sent_by_this_rank": this rank's messages with data, by plan and receiver
 *  - "peak_memory": memory of buffers on the rank with the most; "peak_memory_elsewhere": on ranks that did not access
 *    the file, such as roots of teams; "codec_memory": memory of compressors; "allocations": buffers that were
 *    allocated or enlarged
 *  - "trace", with the option trace: its "file" and, if lines cannot be written, the "problem".  Every rank knows that
 *    it could not be opened; rank 0 knows that a line could not be appended
 *  - "warnings": variables of this process's environment that begin with WINDROW_ and are not options, with the most
 *    similar option; windrow_explain() has them in its text
 * @param format  "text" or "json".  Since 0.1.
 */
WINDROW_API int windrow_report(windrow_file *file, const char *format, const char **text);

/* -------------------------------------------------------------------------------------------------- copies */

/** Options and results of a copy.  Set all members to 0 and `size` to sizeof(windrow_copy_info) before the call. */
typedef struct windrow_copy_info {
  int64_t size;
  int64_t buffer_bytes; /* Data that a rank holds at a time; 0: 16 MiB.  [same] */
  int explains;         /* Whether `details` includes plans.  [same] */
  void (*progress)(void *context, int64_t done,
                   int64_t total); /* NULL, or called on this rank after each part, with bytes of all ranks. */
  void *context;
  int begun; /* [out] Whether the target was created: an earlier error is one of the arguments or of the source. */
  int64_t variables; /* [out] Number of copied objects of each kind. */
  int64_t groups;
  int64_t attributes;
  int64_t bytes;
  const char
      *refused; /* [out] What cannot be copied, "path: reason" per line, or "".  Valid until this thread's next copy. */
  const char *changed; /* [out] What differs in the target, one per line: hard links, which become soft links.  "" for
                          nothing and after an error.  Valid as `refused`. */
  const char
      *details; /* [out] JSON: "report", the sums of windrow_report() over all parts, and "plan" and "explanation" of
                   the largest part, each for "read" and "write".  "" after an error.  Valid as `refused`. */
} windrow_copy_info;

/**
 * Copy a file: every variable, group, attribute, soft link and name of a dimension, in parallel and in bounded memory.
 * Collective over `comm`.  The formats may differ, and both files may have subfiles: a copy can split and join them.
 * Chunks and filters are kept, unless the options set others.
 *
 * @param source   [same]
 * @param target   [same]  It appears when the copy is complete; until then a previous file of that name stays intact.
 *                 Its format follows from the option "format" or from its name, as in windrow_create().
 * @param options  For reading and writing; "format" is the target's.  NULL: defaults and environment.  [same]
 * @param info     NULL: no results are wanted.
 * @return WINDROW_UNSUPPORTED: the source has parts that cannot be copied, or that the target's format cannot hold;
 * nothing is written.  WINDROW_BAD_ARGUMENT: the target is the source, a part of it, or a folder.  Otherwise as
 * windrow_open(), windrow_create() and windrow_flush().
 * Memory: `buffer_bytes` on each rank, and the library's own buffers.  Since 0.1.
 */
WINDROW_API int windrow_copy(MPI_Comm comm, const char *source, const char *target, const windrow_options *options,
                             windrow_copy_info *info);

/* ------------------------------------------------------------------------------------------------ machines */

/**
 * Measure the machine of the ranks: copies, links between ranks of one host and of several, compressors, and the
 * storage of a folder: opening files, writing and reading in requests of several lengths by several numbers of ranks.
 * Collective.  docs/machine-model.md.
 *
 * @param comm       As many ranks and hosts as the programs that will use the file.
 * @param directory  On the storage.  A file and a folder whose names begin with .windrow-calibration are created in it
 *                   and removed; 32 MiB are written at a time.  Those of a killed calibration are removed.  [same]
 * @param options    file_system, layout and stripe as for files; NULL: none.  [same]
 * @param machine    The machine file, for the option machine; it is replaced atomically when everything is measured.
 *                   [same]
 * @return WINDROW_NOT_FOUND: no such folder; WINDROW_NO_PERMISSION, WINDROW_NO_SPACE, WINDROW_IO: the storage or the
 * machine file.  After an error the machine file is unchanged.
 * Cost: less than a minute, most of it for the storage.  Since 0.1.
 */
WINDROW_API int windrow_calibrate(MPI_Comm comm, const char *directory, const windrow_options *options,
                                  const char *machine);

/**
 * What auto would choose for the flushes of a trace, with predicted and measured seconds, and the options that select
 * it.  Local; no MPI.
 *
 * @param trace    A file written by the option trace.
 * @param machine  A machine file; NULL: typical numbers of the storage of each flush.
 * @param format   "text" or "json".
 * @param text     [out] Valid until this thread's next call.
 * @return WINDROW_NOT_FOUND, WINDROW_NO_PERMISSION, WINDROW_BAD_FILE: the trace or the machine file.  A truncated trace
 * is used up to the damage, which the text reports.  Since 0.1.
 */
WINDROW_API int windrow_advise(const char *trace, const char *machine, const char *format, const char **text);

#ifdef __cplusplus
}
#endif
