/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file windrow.h
 * Windrow: parallel I/O for MPI programs.  The C interface, to be read as a manual.
 *
 * Each rank holds pieces of arrays.  Windrow rakes the pieces into long rows and puts them into one standard
 * file.  A program defines variables and decompositions once, then puts and flushes at every time step:
 *
 *     windrow_create(comm, "out.h5", NULL, &file);
 *     windrow_define_variable(file, "temperature", WINDROW_FLOAT64, 3, shape, &variable);
 *     windrow_block(comm, 3, shape, start, count, NULL, NULL, &decomposition);
 *     windrow_put(file, variable, decomposition, data);      local: queued, nothing is copied
 *     windrow_flush(file);                                   collective: everything queued moves in one plan
 *     windrow_close(file);                                   collective: the file appears under its name
 *
 * Conventions, true for every entry unless it says otherwise:
 *  - The result is a code of enum windrow_code.  A collective call returns the same code, and sets the same
 *    message, on every rank of its communicator, whatever happened on which rank.
 *  - All ranks make the same collective calls of the same files in the same order.  Ranks that do not all get
 * WINDROW_MPI, with a message that names two ranks, their calls and files, and nothing of these calls is written. After
 * that each call of these files returns WINDROW_MPI on every rank without waiting for another; windrow_close() does not
 * publish, and windrow_discard() returns WINDROW_OK.  Other files go on.
 *  - Sizes and offsets are int64_t.  Shapes, starts and counts are in C order: slowest dimension first, 0-based.
 *  - Text is UTF-8 and NUL-terminated.  A path of an object inside a file is "/group/name"; the leading slash may be
 * left out.
 *  - Arguments marked [same] must be the same on every rank; an argument that is not is an error on every rank.
 *  - Handles are owned by the caller and given back by the call named at their type.  Returned `const char *`
 *    belongs to the handle that it came from and is valid until the next call on that handle.
 *  - The library never prints, aborts or calls exit.  MPI_THREAD_SINGLE suffices; one thread at a time may
 *    be inside a handle (docs/thread-safety.md).
 *
 * Order of this page: version, errors, options, files, simple calls, objects, decompositions, queue and flush, viewers,
 * reports.
 */
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

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
 * Whether something is built in: a format ("hdf5", "raw"), a store ("posix", "faulty"), a preset or a
 * choice of an axis as "axis=choice" ("gather=team", "codec=lzo"), a filter of chunks ("filter=zstd"), "xdmf".  Local.
 * @return 1 or 0.  Since 0.1.
 */
WINDROW_API int windrow_has(const char *feature);

/** What is built in: one item a line, sorted ("format hdf5", "strategy auto", ...).  Local; static text.  Since 0.1. */
WINDROW_API const char *windrow_features(void);

/* ------------------------------------------------------------------------------------------------- errors */

/** Codes grow with severity: when ranks fail differently, the call returns the largest, and the message of the lowest
 * rank with it. */
enum windrow_code {
  WINDROW_OK = 0,
  WINDROW_BAD_ARGUMENT = 1, /**< A value that cannot be right.  Nothing was written. */
  WINDROW_BAD_STATE =
      2, /**< The call does not fit here: a closed file, after MPI_Finalize, write to a file opened for reading. */
  WINDROW_NOT_FOUND = 3,   /**< No such file, variable, group or attribute. */
  WINDROW_EXISTS = 4,      /**< The name is taken. */
  WINDROW_UNSUPPORTED = 5, /**< Not built in, or not built yet; the message says which. */
  WINDROW_BAD_FILE = 6,    /**< The file is not what it should be: foreign, truncated or damaged. */
  WINDROW_NO_PERMISSION = 7,
  WINDROW_NO_SPACE = 8, /**< Disk full or quota exceeded. */
  WINDROW_IO = 9,       /**< The storage failed. */
  WINDROW_OUT_OF_MEMORY = 10,
  WINDROW_MPI = 11,     /**< MPI itself failed: agreement between the ranks cannot be promised.  Or the ranks are in
                           different calls. */
  WINDROW_INTERNAL = 12 /**< A defect of Windrow: please report it. */
};

/** "no space left", ... for a code.  Local; static text.  Since 0.1. */
WINDROW_API const char *windrow_code_name(int code);

/** The message of the last failed call on this thread: what, where, on which rank.  "" when none failed.  Local.  Since
 * 0.1. */
WINDROW_API const char *windrow_error_message(void);

/** The rank (of the call's communicator) that the last error came from; -1 when none or all.  Local.  Since 0.1. */
WINDROW_API int windrow_error_rank(void);

/* ------------------------------------------------------------------------------------------------ options */

/**
 * A set of options, by key and text value; docs/settings.md lists every key with unit and default.
 * Every key may also come from the environment: WINDROW_STRATEGY sets "strategy"; the environment wins over
 * the default, and what the program sets wins over the environment.  Freed by windrow_options_free().
 */
typedef struct windrow_options windrow_options;

/** Make an empty set.  Local.  Since 0.1. */
WINDROW_API int windrow_options_create(windrow_options **options);

/**
 * Set a key.  Local.
 * @return WINDROW_BAD_ARGUMENT: unknown key, or a value that it cannot have; the message lists what it can.  Of keys
 * whose value is a text (filters, chunks, stripe, ...: docs/settings.md) the value is looked at where it is used: by
 * the call that takes the options. Since 0.1.
 */
WINDROW_API int windrow_options_set(windrow_options *options, const char *key, const char *value);

/** Free; NULL is fine.  Local.  Since 0.1. */
WINDROW_API void windrow_options_free(windrow_options *options);

/* -------------------------------------------------------------------------------------------------- files */

/** An open file.  Given back by windrow_close() or windrow_discard(). */
typedef struct windrow_file windrow_file;

enum windrow_mode {
  WINDROW_READ = 0, /**< Reading only. */
  WINDROW_UPDATE =
      1 /**< Reading and writing in place: after an error the message says which variables are undefined. */
};

/**
 * Create a file.  Collective over `comm`, which may be any intracommunicator and may be freed afterwards.
 * The file is written under the temporary name ".NAME.windrow-XXXX" beside `path` and takes its name at
 * windrow_close(): until then a file that stood there before stays whole.  Temporary files of `path` that a killed job
 * has left are removed.
 *
 * @param comm     [same]
 * @param path     [same] The format follows from the option "format", or else from the name, whatever its capitals: .h5
 * .hdf5 .nc4 is HDF5; .nc .cdf is netCDF classic (docs/netcdf.md); .raw is raw.
 * @param options  NULL: defaults and environment.  Copied.  [same]
 *                 "files" = subfiles(N): variables are split over N subfiles in a folder beside `path`, and read as one
 * file (docs/subfiles.md).
 * @param file     [out] NULL on error.
 * @return WINDROW_NOT_FOUND, WINDROW_NO_PERMISSION, WINDROW_IO: the folder; WINDROW_BAD_ARGUMENT: the name, too long
 * for the file system for example; WINDROW_UNSUPPORTED: the format.  That a rank has no memory for the file may show in
 * the first collective call on it. Cost: one open on rank 0; the other writers open at their first write.  Since 0.1.
 */
WINDROW_API int windrow_create(MPI_Comm comm, const char *path, const windrow_options *options, windrow_file **file);

/**
 * Open a file that exists.  Collective over `comm`.
 * @param mode  enum windrow_mode.  [same]
 * @return WINDROW_NOT_FOUND; WINDROW_BAD_FILE: not a file of the format.  Since 0.1.
 */
WINDROW_API int windrow_open(MPI_Comm comm, const char *path, int mode, const windrow_options *options,
                             windrow_file **file);

/**
 * Remove temporary files and folders beside `path` that killed jobs have left, and those of calibrations of its folder.
 * Local: one process calls it.
 * Who writes a temporary file holds a lock of it: one that is locked stays, and so does one on a file system whose
 * locks do not reach all its hosts, or where
 * that is not known.
 *
 * @param path     Of the file that they were to become; it need not be there.
 * @param removed  [out] Their paths, a line each; "" for none.  Valid until this thread's next call.  Since 0.1.
 */
WINDROW_API int windrow_remove_leftovers(const char *path, const char **removed);

/**
 * Flush what is queued, and publish what has been flushed so far under the file's name.  Collective.
 * With the option "durable" it is on stable storage when the call returns.  Since 0.1.
 */
WINDROW_API int windrow_sync(windrow_file *file);

/**
 * Flush what is queued, publish and close.  Collective.  The handle is gone whatever the result; on error a newly
 * created file is not published: what stood under its name before is still there, unless with the option "durable"
 * only the new name could not be stored.  WINDROW_IO: too where somebody has replaced the temporary file meanwhile.
 * An earlier flush that failed before it wrote anything is not an error here: see windrow_flush().  NULL is fine.
 * After MPI_Finalize: WINDROW_BAD_STATE, and the handle is gone.  Since 0.1.
 */
WINDROW_API int windrow_close(windrow_file *file);

/** Close without publishing and without flushing: a created file leaves no trace, unless windrow_sync() has published
 * it: then it stays, with what was defined and written since.  Of a file that goes, what failed before is not told
 * again.  Collective.  Since 0.1. */
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
  WINDROW_TEXT, /**< Text.  A variable has text of fixed length (the option "element_bytes": that many bytes an element,
                   filled up as "text_padding" says, NULs by default; the file's option "text_in_memory" = blanks has
                   them in memory as Fortran does), or else of variable length, moved by windrow_put_texts() and
                     windrow_get_texts().  An attribute has NUL-terminated strings, however they are stored. */
  WINDROW_BOOL, /**< One byte, 0 or 1.  In HDF5 the enumeration FALSE, TRUE, as h5py has it. */
  WINDROW_COMPLEX64,  /**< Two float32: real and imaginary part.  In HDF5 a compound of r and i, as h5py has it. */
  WINDROW_COMPLEX128, /**< Two float64. */
  WINDROW_OPAQUE, /**< Bytes that nobody but the program understands: "element_bytes" an element, with an "opaque_tag".
                     HDF5 gives them only to who asks with the same tag; h5py has none. */
  WINDROW_REFERENCE, /**< A path to an object of the file, absolute, as text: by windrow_put_texts(),
                        windrow_get_texts() and in attributes.
                          "" leads nowhere.  HDF5 keeps the object's place, so the object is there when the reference is
                        written, and the path that is read is one of its names.  Only HDF5 has them. */
  WINDROW_FLOAT16 /**< IEEE 754's binary16, two bytes: numpy's float16, _Float16 of C23.  In HDF5 as h5py has it; netCDF
                     classic has none. Where the language has none, windrow_put_as() and windrow_get_as() have the
                     numbers as floats. */
};

#define WINDROW_STORED (-1) /**< In windrow_put_as() and windrow_get_as() alone: elements as the file has them. */

/** Bytes of one element of a type; 0 for WINDROW_TEXT, WINDROW_OPAQUE, WINDROW_REFERENCE and unknown types.  Local.
 * Since 0.1. */
WINDROW_API int64_t windrow_type_size(int type);

/** "int8" ... "float64", "text", "bool", "complex64", "complex128", "opaque", "reference", "float16".  Local; static
 * text.  Since 0.1. */
WINDROW_API const char *windrow_type_name(int type);

#define WINDROW_MAX_DIMENSIONS 32

/**
 * Define a group and those above it that do not exist yet.  Collective.  One that exists is fine.
 * @param path  [same]  Since 0.1.
 */
WINDROW_API int windrow_define_group(windrow_file *file, const char *path);

/**
 * Define a variable; groups above it are made as needed.  Collective.
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
 *  - "element_bytes": of WINDROW_OPAQUE and of WINDROW_TEXT of fixed length; "text_characters" = utf8 | ascii,
 * "text_padding" = null_padded | null_terminated | space_padded, "opaque_tag"
 *  - "enumeration": names of an integer type's values, "RED=0\nGREEN=1"; elements are the integers, in memory and in
 * the file
 *  - "fill_value": what elements hold that nobody has written, "-999.5", "nan", "true", "1.5,-2" for a complex number,
 * text, "0xfffe" for opaque bytes; zeros else.  Where a first flush writes only parts of a contiguous variable, its
 * writers fill up the rest
 *  - "null_space" = true: neither elements nor a shape; ndims is 0
 *  - "split" and "split_parts": how it is split where the file has subfiles (docs/subfiles.md); "split" = none: not at
 * all
 *  - "files" = subfiles(N), or other libraries' names for it: it is split over N subfiles, also in a new file that has
 * none yet; "files" = one: not at all
 *  - "chunks" and "filters", as in docs/settings.md, for compressed variables of HDF5 files:
 *
 *     windrow_options_set(options, "filters", "shuffle,deflate:1");     chunks of 1 to 2 MiB, cut from the shape alone
 *     windrow_define_variable_with(file, "density", WINDROW_FLOAT64, 3, shape, options, &variable);
 *
 * Every rank encodes its share of the chunks of a flush, and decodes when reading; rank 0 finds room for them in the
 * file.  The file is one that any HDF5 reads which has the filter (docs/filters.md).  Elements of a chunk that nobody
 * has written when the rest of it is are the fill value. Memory of a writer beside the buffers: two buffers of encoded
 * chunks and two chunks; a buffer holds one chunk at least. A flush moves each chunked variable in a plan of its own.
 * Collective.
 * @return WINDROW_BAD_ARGUMENT: an option that does not go with the type; WINDROW_UNSUPPORTED: a filter that is not
 * built in, chunks in a raw file.  Since 0.1.
 */
WINDROW_API int windrow_define_variable_with(windrow_file *file, const char *path, int type, int ndims,
                                             const int64_t *shape, const windrow_options *options, int *variable);

/** A variable to be defined: the arguments of windrow_define_variable_with(). */
typedef struct windrow_variable_definition {
  const char *path;
  int type;
  int ndims;
  const int64_t *shape;
  const windrow_options *options; /**< NULL: as the file's. */
} windrow_variable_definition;

/**
 * Define many variables with two words between the ranks, where calls for each would take one or two a variable.
 * Collective.
 *
 * @param count        How many.  0: nothing is done.                                                            [same]
 * @param definitions  [count]; the options' values too.                                                         [same]
 * @param variables    [count] [out] Their numbers, in order.
 * @return As windrow_define_variable().  When the arguments are refused nothing is defined; when the file refuses one
 *         (WINDROW_NO_SPACE, WINDROW_IO), those before it are defined.  Since 0.1.
 */
WINDROW_API int windrow_define_variables(windrow_file *file, int count, const windrow_variable_definition *definitions,
                                         int *variables);

/** What a file says of a variable.  Set `size` to sizeof(windrow_variable_info) before the call. */
typedef struct windrow_variable_info {
  int64_t size;
  const char *path; /**< "/group/name"; valid until the file is closed. */
  int type;         /**< enum windrow_type; 0: a type that Windrow cannot read yet. */
  int ndims;
  int64_t shape[WINDROW_MAX_DIMENSIONS];
  int64_t bytes;  /**< Stored size of all elements. */
  int64_t offset; /**< First byte in the file; -1 when not stored contiguously.  In netCDF classic that of the first
                   * record of what can grow; it is not known, -1, before the flush after a definition. */
  int big_endian; /**< 1: stored in big-endian order. */
  const char *unsupported;               /**< "" or why it cannot be read yet ("compressed", "compound type", ...). */
  int has_fill_value;                    /**< 1: elements never written are another value than 0. */
  int chunked;                           /**< 1: cut into chunks, which are stored one by one; `offset` is -1 then. */
  int64_t chunk[WINDROW_MAX_DIMENSIONS]; /**< Shape of a chunk. */
  int extendible;                        /**< 1: the first dimension may grow: windrow_put_record(). */
  const char *filters; /**< What becomes of a chunk's bytes, as the option "filters" has it; "" for nothing. */
  int64_t elements;    /**< 0 for a null space, which has not even a shape. */
  int64_t
      element_bytes; /**< Of one element in memory; 0: text of variable length or references, by windrow_get_texts(). */
  int is_null;       /**< 1: a null space; there is nothing to put or get. */
  const char *text_characters; /**< "utf8", "ascii"; "" when it is not text. */
  const char *text_padding;    /**< As the option; "" when it is not text. */
  const char *opaque_tag;      /**< "" when it is not opaque. */
  const char *enumeration;     /**< "", or names of the integers: "NAME=value", one a line. */
  const char
      *dimension_names[WINDROW_MAX_DIMENSIONS]; /**< [ndims] As windrow_name_dimensions() takes them; "" for none. */
  const char *fill_value;                       /**< As the option; "" for zeros. */
  const char *split; /**< How it is split over subfiles, as the option "split_parts" has it: "4x1x2", "3+5+2x1"; "" when
                        it is not. `offset` is -1 then.  Since 0.1. */
} windrow_variable_info;

/** How many variables the file has; -1 for a NULL file.  They are numbered from 0.  Local.  Since 0.1. */
WINDROW_API int windrow_variable_count(const windrow_file *file);

/** The number of the variable called `path`.  Local.  @return WINDROW_NOT_FOUND.  Since 0.1. */
WINDROW_API int windrow_find_variable(const windrow_file *file, const char *path, int *variable);

/** Describe a variable.  Local.  Since 0.1. */
WINDROW_API int windrow_inquire_variable(const windrow_file *file, int variable, windrow_variable_info *info);

/** How many subfiles there are, in which variables have parts; 0: none, the file is one so far; -1 for a NULL file.
 * docs/subfiles.md.  Local.  Since 0.1. */
WINDROW_API int windrow_subfile_count(const windrow_file *file);

/** The name of a subfile, relative to the folder of the file; NULL when there is no such number.  Local; valid until
 * the file is closed.  Since 0.1. */
WINDROW_API const char *windrow_subfile_name(const windrow_file *file, int subfile);

/**
 * What is wrong with the set of a file and its subfiles.  Collective.
 *
 * To open a file does not need all of its subfiles: a get of what lies in one that is missing, damaged, of another set
 * or under the name of another is an error, and all else can be read.  Here all of them are named, with files in their
 * folder that the set does not have, and variables that other programs would read from elsewhere than the map says.
 * Elements are read where their part has a checksum (option checksum), and compared with it.
 *
 * @param problems  [out] One a line; "" for none, and for a file that is one.  The same on every rank; valid until the
 * file is closed. Cost: rank 0 lists the folder and opens the files that do not belong there; the subfiles themselves
 * were looked at when the file was opened.  Parts with a checksum are read once, each by the rank that looks after its
 * subfile, in pieces of the option buffer.
 *
 *     windrow_open(comm, "out.h5", WINDROW_READ, NULL, &file);
 *     windrow_check_subfiles(file, &problems);   if (*problems) fprintf(stderr, "%s", problems);
 * Since 0.1.
 */
WINDROW_API int windrow_check_subfiles(windrow_file *file, const char **problems);

/**
 * Which chunks of a variable the file stores; all else of it reads as the fill value, and needs neither be read nor
 * copied.  Collective.
 *
 * @param variable  [same]
 * @param chunks    How many; 0 too for a variable without chunks that nobody has written; -1: that is not known, as of
 * other variables without chunks and of those in subfiles.
 * @param starts    [chunks][ndims] the first element of each, in no order; valid until the next call of this function
 * for the file, or until it is closed. Cost: rank 0 looks through the index of the chunks.
 *
 *     windrow_inquire_written(file, variable, &chunks, &starts);
 * Since 0.1.
 */
WINDROW_API int windrow_inquire_written(windrow_file *file, int variable, int64_t *chunks, const int64_t **starts);

/**
 * Write a kerchunk reference file: a text (JSON) that says in which bytes of which file each chunk of each variable
 * lies, in subfiles too.  xarray and zarr open it as one data set, and read the bytes where they are.  Collective.
 * docs/kerchunk.md.
 *
 * @param file      Open for reading; HDF5, netCDF classic or raw.  What is being written has such a text by the option
 * references=kerchunk.
 * @param path      The text, which is replaced as a whole; NULL or "": beside the file, as NAME.kerchunk.json. [the
 * same on every rank]
 * @param prefix    Stands before the name of each file in the text: a folder with its slash, or "s3://bucket/run/".
 * NULL or "": nothing, so that readers are started in the folder of the file; the folder itself, where the text lies in
 * another.            [the same on every rank]
 * @param left_out  [out] What Zarr cannot express, one a line and why; "" for nothing.  NULL: not wanted.  The same on
 * every rank; valid until the file is closed.
 * @return WINDROW_BAD_STATE: the file is not open for reading only.  WINDROW_NOT_FOUND, WINDROW_NO_PERMISSION: the
 * folder of `path`. Cost: rank 0 looks each chunk up, no element is read, and holds about 100 bytes for each; a million
 * references at most, further variables are left out.
 *
 *     windrow_open(comm, "out.h5", WINDROW_READ, NULL, &file);
 *     windrow_write_references(file, NULL, NULL, &left_out);   if (*left_out) fprintf(stderr, "%s", left_out);
 * Since 0.1.
 */
WINDROW_API int windrow_write_references(windrow_file *file, const char *path, const char *prefix,
                                         const char **left_out);

/** How many groups the file has, the root included; group 0 is the root.  Local.  Since 0.1. */
WINDROW_API int windrow_group_count(const windrow_file *file);

/** The path of a group; NULL when there is no such number.  Local; valid until the file is closed.  Since 0.1. */
WINDROW_API const char *windrow_group_path(const windrow_file *file, int group);

/**
 * Give the dimensions of a variable names, as netCDF-4 has them, once.  Collective.
 *
 * A name means the dimension or variable called so in the variable's group or, where there is none, in the groups above
 * it.  A variable must have one dimension, of that length (of an HDF5 variable that grows: or longer): it then holds
 * the coordinates, and its own dimension has its name.  What is nowhere becomes a new dimension in the variable's
 * group; so variables with coordinates are to be defined first.  In an HDF5 file these are dimension scales: ncdump,
 * xarray and h5py show them; that of what can grow is unlimited.  In netCDF classic every dimension has a name, made up
 * where none is given. A variable that is called like its own first dimension is that dimension's coordinates, also
 * with more dimensions: station(station, length).  One that is called like another of its dimensions, or of the file's,
 * is not: bounds(time, bounds).  In HDF5 it lies beside the dimension as "_nc4_non_coord_bounds", as netCDF-4 has it,
 * and netCDF's readers and Windrow show it by its own name.  To be named before others that have that dimension.
 *
 * @param variable  [same]
 * @param names     [ndims] each a name, a path that begins with a slash, or "" for none.  [same]
 * @return WINDROW_BAD_ARGUMENT: another length; WINDROW_EXISTS: the dimensions have names, or something else is called
 * so; WINDROW_UNSUPPORTED: a second unlimited dimension in netCDF classic.
 *
 *     const char *names[2] = {"time", "cell"};
 *     windrow_name_dimensions(file, temperature, names);
 * Since 0.1.
 */
WINDROW_API int windrow_name_dimensions(windrow_file *file, int variable, const char *const *names);

/** The same for a list of `count` names, for those who know how long a list is, as language bindings do.  Collective.
 * @return WINDROW_BAD_ARGUMENT too: another number than the variable has dimensions.  Since 0.1. */
WINDROW_API int windrow_name_dimensions_counted(windrow_file *file, int variable, int count, const char *const *names);

/** Define a dimension.  Collective.  A variable of its name, defined before or afterwards, has its coordinates if that
 * is its own first dimension, and else has only the name.
 * @param path, length  [same]; 0: unlimited  @return WINDROW_EXISTS.  Since 0.1. */
WINDROW_API int windrow_define_dimension(windrow_file *file, const char *path, int64_t length);

/** How many dimensions the file has that no variable has the coordinates of; -1 for a NULL file.  Local.  Since 0.1. */
WINDROW_API int windrow_dimension_count(const windrow_file *file);

/** Path and length of such a dimension.  Local; the path is valid until the file is closed.  Since 0.1. */
WINDROW_API int windrow_inquire_dimension(const windrow_file *file, int dimension, const char **path, int64_t *length);

/** What stands at a path. */
enum windrow_kind {
  WINDROW_NOTHING = 0,
  WINDROW_GROUP = 1,
  WINDROW_VARIABLE = 2,
  WINDROW_LINK = 3,     /**< A soft link, wherever it leads. */
  WINDROW_OTHER = 4,    /**< What windrow_unsupported_objects() names. */
  WINDROW_DIMENSION = 5 /**< A name of dimensions that no variable has. */
};

/**
 * What stands at `path`.  Soft links on the way there are followed, one at its end is not.  Local.
 * @param kind  [out] enum windrow_kind.
 * @return WINDROW_OK, for WINDROW_NOTHING too.  Since 0.1.
 */
WINDROW_API int windrow_inquire_object(const windrow_file *file, const char *path, int *kind);

/**
 * Define a soft link: a name that leads to another object.  Groups above it are made as needed.  Collective.
 *
 * windrow_find_variable() and the calls for attributes follow links, up to 16 one after the other; what is defined goes
 * under the names that groups have themselves.
 * @param path    [same]
 * @param target  A path in this file, relative to the link's group unless it begins with a slash.  Nothing need be
 * there.  [same]
 * @return WINDROW_EXISTS; WINDROW_BAD_ARGUMENT: the name, or an empty target.  Since 0.1.
 */
WINDROW_API int windrow_define_link(windrow_file *file, const char *path, const char *target);

/** How many soft links and second names of objects the file has; -1 for a NULL file.  Local.  Since 0.1. */
WINDROW_API int windrow_link_count(const windrow_file *file);

/** Path and target of a link, as they stand in the file.  Local; valid until the file is closed.  Since 0.1. */
WINDROW_API int windrow_inquire_link(const windrow_file *file, int link, const char **path, const char **target);

/**
 * Whether a link is a hard link in the file: a second name of an object, whose first name is the target.  -1: there is
 * no such link.  Local.  Since 0.1.
 */
WINDROW_API int windrow_link_is_hard(const windrow_file *file, int link);

/**
 * Things in the file that Windrow can neither read nor copy yet, one a line: "path: reason".  "" when there are none.
 * Local; valid until the file is closed.  Since 0.1.
 */
WINDROW_API const char *windrow_unsupported_objects(const windrow_file *file);

/**
 * Write all elements of a variable of WINDROW_TEXT of variable length, or of WINDROW_REFERENCE as paths.  Collective;
 * rank 0's texts are written.
 *
 * @param variable  [same]
 * @param texts     [elements] in C order, NUL-terminated; looked at on rank 0 only.  Read only during the call.
 * @return WINDROW_BAD_ARGUMENT: a variable of another type, or a path that is relative or leads to another file;
 * WINDROW_NOT_FOUND: a path that leads to nothing; WINDROW_UNSUPPORTED: more than 1 GiB. Cost: rank 0 writes, and is
 * the only one that needs memory: a few times that of the texts.  Since 0.1.
 */
WINDROW_API int windrow_put_texts(windrow_file *file, int variable, const char *const *texts);

/** The same for a list of `count` texts, for those who know how long a list is, as language bindings do.  Collective.
 * @param count  Looked at on rank 0 only.
 * @return WINDROW_BAD_ARGUMENT too: another number than the variable has elements.  Since 0.1. */
WINDROW_API int windrow_put_texts_counted(windrow_file *file, int variable, int64_t count, const char *const *texts);

/**
 * Read all elements of a variable of WINDROW_TEXT of variable length, or the paths of one of WINDROW_REFERENCE.
 * Collective: rank 0 reads, and all ranks get all.  What was never written is "".
 *
 * @param variable  [same]
 * @param texts     [elements] [out] In C order; valid until the file is closed.
 * @return As windrow_put_texts().
 * Cost: one broadcast; memory on every rank.  Since 0.1.
 */
WINDROW_API int windrow_get_texts(windrow_file *file, int variable, const char **texts);

/**
 * Write an attribute of a group or a variable; one of that name is replaced.  Collective; rank 0's data is written.
 * @param object  Path of a group or a variable; "/" for the file.  [same]
 * @param type    enum windrow_type.
 * @param ndims   0: a scalar.
 * @param data    Elements of `type`; for WINDROW_TEXT and WINDROW_REFERENCE `const char *const *`, one string or path
 * an element.  NULL is fine for none.  Since 0.1.
 */
WINDROW_API int windrow_put_attribute(windrow_file *file, const char *object, const char *name, int type, int ndims,
                                      const int64_t *shape, const void *data);

/** As windrow_put_attribute(), with the options of windrow_define_variable_with(); text of fixed length is cut by
 * nobody: a longer one is WINDROW_BAD_ARGUMENT.  Collective; rank 0's options hold.  Since 0.1. */
WINDROW_API int windrow_put_attribute_with(windrow_file *file, const char *object, const char *name, int type,
                                           int ndims, const int64_t *shape, const void *data,
                                           const windrow_options *options);

/** Write one string as an attribute.  Collective.  Since 0.1. */
WINDROW_API int windrow_put_attribute_text(windrow_file *file, const char *object, const char *name, const char *text);

/**
 * Copy an attribute from another file as it is stored there: what windrow_get_attribute() does not tell, such as text
 * of fixed length and its character set, is kept.  One of that name is replaced.  Collective over `file`; `from` must
 * be open on every rank, and rank 0's is copied.
 * @param object, from_object, name  [same]
 * @return WINDROW_NOT_FOUND; WINDROW_UNSUPPORTED: an attribute that cannot be read yet.  Since 0.1.
 */
WINDROW_API int windrow_copy_attribute(windrow_file *file, const char *object, const windrow_file *from,
                                       const char *from_object, const char *name);

/** Delete an attribute.  Collective.  @param object, name  [same]  @return WINDROW_NOT_FOUND.  Since 0.1. */
WINDROW_API int windrow_delete_attribute(windrow_file *file, const char *object, const char *name);

/** What a file says of an attribute.  Set `size` to sizeof(windrow_attribute_info) before the call. */
typedef struct windrow_attribute_info {
  int64_t size;
  const char *name; /**< Valid until the file is closed. */
  int type;         /**< enum windrow_type; 0: a type that Windrow cannot read yet. */
  int ndims;
  int64_t shape[WINDROW_MAX_DIMENSIONS];
  int64_t elements;
  const char *unsupported; /**< "" or why it cannot be read yet. */
  int64_t element_bytes; /**< Of one element; of text as it is stored, 0 for text of variable length and references. */
  int is_null;           /**< 1: a null space, without elements or shape. */
  const char *text_characters; /**< These four as in windrow_variable_info. */
  const char *text_padding;
  const char *opaque_tag;
  const char *enumeration;
} windrow_attribute_info;

/** How many attributes an object has; -1 when there is no such object.  Local.  Since 0.1. */
WINDROW_API int windrow_attribute_count(const windrow_file *file, const char *object);

/** Describe attribute number `attribute` of an object.  Local.  Since 0.1. */
WINDROW_API int windrow_inquire_attribute(const windrow_file *file, const char *object, int attribute,
                                          windrow_attribute_info *info);

/**
 * Read an attribute.  Local: attributes are handed to all ranks at open.
 * @param type  Must be the attribute's own type.
 * @param data  [elements] of `type`; for WINDROW_TEXT and WINDROW_REFERENCE `const char **`: pointers that are valid
 * until the file is closed.  NULL is fine for an attribute without elements.  Since 0.1.
 */
WINDROW_API int windrow_get_attribute(const windrow_file *file, const char *object, const char *name, int type,
                                      void *data);

/* ----------------------------------------------------------------------------------------- decompositions */

/**
 * Which elements of a shape each rank holds, and where they lie in its memory.  Made once, used for any number of
 * variables, files and time steps.  Given back by windrow_decomposition_free().
 *
 * A decomposition of `ndims` dimensions serves every variable whose first `ndims` dimensions have the decomposition's
 * shape; each element then stands for all the variable's trailing elements, which lie together in memory.
 *
 * Elements held by several ranks: for points the option "owner" says who writes; otherwise the higher
 * rank wins, and within a rank the later block.  Reading gives every holder its copy.
 */
typedef struct windrow_decomposition windrow_decomposition;

/**
 * One block per rank.  Collective over `comm`.
 *
 * @param comm          The file's communicator, or one with the same ranks in the same order.
 * @param ndims, shape  Of the whole array; ndims 0 and NULL for a scalar.  [same]
 * @param start, count  [ndims] This rank's block.  Any count 0: this rank holds nothing.
 * @param memory_shape  [ndims] Box in this rank's memory that the block lies in, ghost cells included; NULL: `count`.
 * @param memory_start  [ndims] First element of the block within that box; NULL: 0.
 * @return WINDROW_BAD_ARGUMENT: a block leaves the shape, or the memory box.
 * Cost: one sparse exchange to find elements held twice.  Since 0.1.
 */
WINDROW_API int windrow_block(MPI_Comm comm, int ndims, const int64_t *shape, const int64_t *start,
                              const int64_t *count, const int64_t *memory_shape, const int64_t *memory_start,
                              windrow_decomposition **decomposition);

/**
 * Several blocks per rank, one after the other in memory, each in its own box.  Collective over `comm`.
 * @param blocks  Number of this rank's blocks; 0 is fine.
 * @param starts, counts, memory_shapes, memory_starts  [blocks][ndims]; the last two may be NULL, as in
 * windrow_block().  Since 0.1.
 */
WINDROW_API int windrow_blocks(MPI_Comm comm, int ndims, const int64_t *shape, int64_t blocks, const int64_t *starts,
                               const int64_t *counts, const int64_t *memory_shapes, const int64_t *memory_starts,
                               windrow_decomposition **decomposition);

/**
 * As windrow_blocks(), for blocks whose elements lie in memory at any distances: with steps, in Fortran order,
 * backwards.  Collective over `comm`.
 *
 * @param memory_offsets  [blocks] Where each block's first element lies, in elements from the beginning of the memory
 * that is put or got.
 * @param memory_strides  [blocks][ndims] From an element to the next along each dimension, in elements; negative:
 * backwards.  Not 0 where the count is more than 1. What is read into elements that lie at one place is undefined.  The
 * variable's trailing elements, if any, lie together.
 *
 *     int64_t columns[2] = {1, ny};                           double a[nx][ny] is written as the array [ny][nx]
 *     windrow_strided_blocks(comm, 2, shape, 1, start, count, (int64_t[]){0}, columns, &transposed);
 *
 * @return WINDROW_BAD_ARGUMENT: a block leaves the shape, or lies before the beginning of the memory.
 * Cost: each element that lies apart is a copy of its own, into the buffer that is written or sent.  Since 0.1.
 */
WINDROW_API int windrow_strided_blocks(MPI_Comm comm, int ndims, const int64_t *shape, int64_t blocks,
                                       const int64_t *starts, const int64_t *counts, const int64_t *memory_offsets,
                                       const int64_t *memory_strides, windrow_decomposition **decomposition);

/**
 * A contiguous run of rows (elements along the slowest dimension) per rank, in rank order.  Collective over `comm`.
 * @param rows        Rows of the whole array.  [same]
 * @param count       Rows of this rank; the sum over all ranks must be `rows`.  WINDROW_EVEN on every rank: the library
 *                    divides them; when the ranks do not divide `rows`, the first `rows` mod `ranks` ranks get one
 * more. Find what this rank got with windrow_decomposition_rows().  Since 0.1.
 */
#define WINDROW_EVEN (-1)
WINDROW_API int windrow_rows(MPI_Comm comm, int64_t rows, int64_t count, windrow_decomposition **decomposition);

/** First row and number of rows of this rank in a decomposition made by windrow_rows().  Local.  Since 0.1. */
WINDROW_API int windrow_decomposition_rows(const windrow_decomposition *decomposition, int64_t *first, int64_t *count);

/**
 * Points: element numbers along one dimension, in any order, each with all its trailing elements; for meshes.
 * Collective over `comm`.
 *
 * @param points  Number of points of the whole array.  [same]  A variable whose leading dimensions multiply to `points`
 * fits too.
 * @param count   Number of this rank's points; 0 is fine.
 * @param list    [count] their numbers, each in [0, points); the order is their order in memory.
 *                A number that is there twice counts once: the later entry is written, and it is this rank's own where
 * either is flagged.
 * @param owned   [count] 1: this rank owns the point (what the partitioner said), 0: a replica; NULL: not known.  All
 * ranks with points give flags, or none does.  With flags each point that anyone holds must be owned by exactly one
 * rank; where one is not, writing by `partitioner`, `idg`, `idg_figure` or `balanced` is refused. Who writes a point
 * held by several ranks is the option "owner" of the file, found here once for all variables and time steps: `auto` the
 * flags where there are any, since replicas may then be out of date, else `balanced` `balanced`     few and long rows,
 * without one rank having much more to do than another ("imbalance"): points, and rows at what one costs in points, by
 *                  the machine's numbers ("machine", else usual ones) and "point_bytes"
 *   `idg`          Interval Data Grouping: the rank that writes the point before or owns the one after, where it holds
 * this one too; needs flags.  Of more than 1024 consecutive points that several hold, it begins anew at each multiple
 * of 1024 `idg_figure`   the same as figure 4 of the paper has it, which makes more rows; needs flags `partitioner` the
 * flag `first`, `highest`, `random`  the lowest rank that holds it, the highest, or any Where flags are needed and
 * there are none, `first` is taken, and windrow_explain() says so. The same lists give the same writers, in whatever
 * order they are.  Reading gives every holder its copy. Cost: each point is told to one rank, and one more close to
 * every 1024-th; about 0.2 microseconds a point that several hold, for each of up to 80 trials, in 20 agreements at
 * most. Source: "Optimization and evaluation of parallel I/O in BIPS3D", section 5.  Since 0.1.
 */
WINDROW_API int windrow_points(MPI_Comm comm, int64_t points, int64_t count, const int64_t *list,
                               const unsigned char *owned, windrow_decomposition **decomposition);

/**
 * As windrow_points(), with options of its own: "imbalance", "point_bytes" and "machine"; others are refused.
 * Collective over `comm`.
 * @param options  NULL: none.  [same]  Since 0.1.
 */
WINDROW_API int windrow_points_with(MPI_Comm comm, int64_t points, int64_t count, const int64_t *list,
                                    const unsigned char *owned, const windrow_options *options,
                                    windrow_decomposition **decomposition);

/**
 * Which points of a decomposition by points this rank writes, and in how many intervals: runs of consecutive numbers.
 * Local.
 *
 * @param owner      A value of the option "owner".
 * @param room       Entries of `list`.
 * @param list       [*count] their numbers, ascending; NULL when `room` is 0: only counted.
 * @param count      [out] How many points.
 * @param intervals  [out]
 * @return WINDROW_BAD_ARGUMENT: the owner cannot be told, since flags are missing or contradict each other, or `room`
 * is too small. Example, the imbalance of a decomposition as the paper's formula 1 has it is (max - min) / mean of
 *     windrow_decomposition_owned(mesh, "idg", 0, NULL, &count, &intervals);
 * over the ranks.  Since 0.1.
 */
WINDROW_API int windrow_decomposition_owned(const windrow_decomposition *decomposition, const char *owner, int64_t room,
                                            int64_t *list, int64_t *count, int64_t *intervals);

/** How many points of a decomposition by points no rank holds: what is not written, and so read as the fill value.
 * Local; the same on every rank.  Since 0.1. */
WINDROW_API int windrow_decomposition_holes(const windrow_decomposition *decomposition, int64_t *holes);

/**
 * Every rank holds (to write: the lowest rank's data is written) or wants (to read) the same part.  Collective over
 * `comm`.
 * @param ndims         0: all of any variable, a scalar too; the other arguments are not looked at.  [same]
 * @param start, count  [ndims]  NULL: all of it.  [same]  Since 0.1.
 */
WINDROW_API int windrow_same(MPI_Comm comm, int ndims, const int64_t *shape, const int64_t *start, const int64_t *count,
                             windrow_decomposition **decomposition);

/**
 * How many elements the memory must have that this rank puts from or gets into: all its boxes, ghost cells included, or
 * up to the last element; 0 where it holds nothing.  For those who know how long an array is, as language bindings do.
 * Local.
 * @param shape  [ndims] Of the variable; of a record: without the first dimension.
 * @return WINDROW_BAD_ARGUMENT: the shape does not fit the decomposition.  Since 0.1.
 */
WINDROW_API int windrow_decomposition_memory(const windrow_decomposition *decomposition, int ndims,
                                             const int64_t *shape, int64_t *elements);

/** Free; NULL is fine.  Local; not before the flush of what was queued with it.  Since 0.1. */
WINDROW_API void windrow_decomposition_free(windrow_decomposition *decomposition);

/* ----------------------------------------------------------------------------------------- queue and flush */

/**
 * Queue data to be written.  Local: ranks may queue different variables in any order, or none.
 * Of elements that several ranks hold one rank writes (windrow_same(): rank 0; points: the owner), so all ranks of a
 * decomposition that hold elements with others have to put, or none, or rank 0 alone by windrow_same(): where what a
 * rank puts would be lost, the flush returns WINDROW_BAD_ARGUMENT.
 * @param data  Elements of the variable's type, as the decomposition lays them out in memory.  Must stay unchanged
 * until the flush. Bad arguments are reported here, and again by the next flush, on every rank.  Since 0.1.
 */
WINDROW_API int windrow_put(windrow_file *file, int variable, const windrow_decomposition *decomposition,
                            const void *data);

/** Queue data to be read; `data` is filled by the flush.  Local.  Since 0.1. */
WINDROW_API int windrow_get(windrow_file *file, int variable, const windrow_decomposition *decomposition, void *data);

/**
 * As windrow_put() and windrow_get(), for one record: one index of the variable's first dimension.  The decomposition
 * is of the other dimensions, so one made once serves every time step.  Local.
 *
 *     windrow_options_set(options, "extendible", "true");
 *     windrow_define_variable_with(file, "temperature", WINDROW_FLOAT64, 3, (int64_t[]){0, ny, nx}, options,
 * &variable); windrow_put_record(file, variable, step, decomposition_of_ny_nx, data);  windrow_flush(file);
 *
 * A put behind the end of a variable defined with the option extendible makes it so long, at the flush; what lies
 * between and is never written reads as 0 or the option fill_value.  In netCDF classic all variables that can grow have
 * one length.  Records of variables of a fixed shape are written and read in the same way.  Since 0.1.
 * @param record  >= 0.  Ranks may put different records in one flush, by decompositions that give no element to several
 * ranks.
 * @return WINDROW_BAD_ARGUMENT: behind the end of what cannot grow, or of what is read.
 */
WINDROW_API int windrow_put_record(windrow_file *file, int variable, int64_t record,
                                   const windrow_decomposition *decomposition, const void *data);
WINDROW_API int windrow_get_record(windrow_file *file, int variable, int64_t record,
                                   const windrow_decomposition *decomposition, void *data);

/**
 * windrow_put() of data of another type than the variable's.  Local.  It is converted at once into a copy that lives
 * until the flush; `data` must stay unchanged until then all the same.
 *
 * Integers, floating-point numbers and booleans become each other and complex numbers; complex numbers only complex
 * ones.  C's rules: fractions are cut off, what is not 0 is true, integers are rounded to floating-point numbers.  A
 * value that does not fit becomes the nearest that does, NaN as an integer 0, and windrow_report() counts it
 * ("values_clamped"); with the file's option conversion=error it is WINDROW_BAD_ARGUMENT. Infinities and NaN stay what
 * they are between floating-point types.
 *
 * @param type  enum windrow_type of `data`; the variable's own, of any kind, is windrow_put(); WINDROW_STORED: elements
 * as the file has them, of its byte order too, so that a program which only hands them on, as `windrow copy` does, need
 * not turn them round twice.
 * @return WINDROW_BAD_ARGUMENT: types that cannot become each other.  The next flush reports it again, on every rank.
 * Memory: this rank's piece in the variable's type, up to its last element in memory.  Since 0.1.
 */
WINDROW_API int windrow_put_as(windrow_file *file, int variable, const windrow_decomposition *decomposition, int type,
                               const void *data);

/** windrow_get() into memory of another type than the variable's; converted in the flush, by the same rules and at the
 * same cost. With conversion=error a value that does not fit is an error of the flush.  Local.  Since 0.1. */
WINDROW_API int windrow_get_as(windrow_file *file, int variable, const windrow_decomposition *decomposition, int type,
                               void *data);

/** windrow_put_record() and windrow_get_record() with data of another type, as windrow_put_as() and windrow_get_as()
 * have it.  Local.  Since 0.1. */
WINDROW_API int windrow_put_record_as(windrow_file *file, int variable, int64_t record,
                                      const windrow_decomposition *decomposition, int type, const void *data);
WINDROW_API int windrow_get_record_as(windrow_file *file, int variable, int64_t record,
                                      const windrow_decomposition *decomposition, int type, void *data);

/**
 * Choose another strategy for the flushes that follow.  Collective; nothing may be queued.
 *
 * A program that reads with one configuration of teams and writes with another, or whose arrays want different ones,
 * changes it between two flushes.  Plans of earlier choices are kept and found again.
 *
 * @param options  "strategy", "owner", "gather", "domains", "codec", "access", "writers", "buffer", "align",
 * "sieve_hole"; what is not set is as the file was opened with.  NULL: all is.  Others may be set to what they are.
 * [same]
 * @return WINDROW_BAD_STATE: puts or gets are queued; WINDROW_BAD_ARGUMENT: another option, or not the same on all
 * ranks.
 *
 *     windrow_options_set(teams, "gather", "team(16)");
 *     windrow_set_strategy(file, teams);   windrow_write(file, density, rows, data);
 *     windrow_set_strategy(file, NULL);    windrow_write(file, velocity, rows, data);
 * Since 0.1.
 */
WINDROW_API int windrow_set_strategy(windrow_file *file, const windrow_options *options);

/**
 * Move everything queued, puts first, then gets.  Collective.
 *
 * Where puts of one flush overlap: the later put of a variable wins; within one put the rules of windrow_decomposition.
 * @return On error nothing more is in the queue; the message says which variables are undefined, others of the queue
 * are as they were or written.  A new file that the storage refused something of is not published any more: each
 * further flush with puts returns that error.  Where nothing was written yet, as after a bad argument or without
 * memory, the flush can be made again with other puts; windrow_close() publishes what other flushes wrote, without
 * these. Who would rather have no file than one without them calls windrow_discard().  Cost: one agreement before and
 * one after the data.  Memory of buffers ("peak_memory") per writer, reader and root of a team: at most the options
 * "buffer" x "buffers" (4 MiB x 2 to 4) and a tenth of that, or two chunks where these are longer, or messages where
 * buffers are below 2 MiB; on any other rank that sends or takes messages, as between hosts, two of a 36th of it, 64 to
 * 512 KiB, three where they may be compressed.  For compressors every rank has two messages and 1 to 2 MiB, more at
 * high levels of zstd
 * ("codec_memory").  A file keeps its plans for later flushes of the same shape: the same decompositions, to the same
 * places.  It keeps up to 128 of them, those used last the longest, in up to 64 MiB on a rank.  Other records and new
 * variables make a plan of their own. Source: extended two-phase I/O, Thakur and Choudhary, Scientific Programming
 * 5(4), 1996; docs/internals/modules/exchange.md.  Since 0.1.
 */
WINDROW_API int windrow_flush(windrow_file *file);

/**
 * windrow_flush() in two calls, so that the program computes while data goes out.  Both are collective.
 *
 *     windrow_put(file, variable, decomposition, now);  windrow_flush_begin(file);
 *     compute(next);                                    another buffer: `now` must stay unchanged until flush_end
 *     windrow_flush_end(file);
 *
 * flush_begin moves puts until the rest lies in the writers' buffers, and returns; a thread of each writer writes what
 * is there, and pieces that need no raking are written from the program's memory by a thread of their holder.  No MPI
 * call is made in between, so MPI_THREAD_SINGLE suffices.  Gets are moved by flush_end.  windrow_put() and
 * windrow_get() between the two queue for the next flush; any other collective call on the file in between ends the
 * flush first and returns its error. Memory: as in windrow_flush(), and until flush_end.
 * @return flush_begin: what was wrong with the queue or the plan; then nothing has begun.  flush_end: what became of
 * the data; WINDROW_BAD_STATE when no flush was begun. With the option io_thread=off, or where the system gives no
 * thread, flush_begin does all of it.  Since 0.1.
 */
WINDROW_API int windrow_flush_begin(windrow_file *file);
WINDROW_API int windrow_flush_end(windrow_file *file);

/**
 * Say that this rank cannot take part, as if a windrow_put() with a bad argument had been made here: the next flush
 * moves nothing and returns WINDROW_BAD_ARGUMENT and `message` on every rank.  For language bindings and libraries that
 * check more than C can: the type and the size of an array, say.  Local.
 * @param file  NULL: only windrow_error_message() of this rank is set.
 * @return WINDROW_BAD_ARGUMENT.  Since 0.1.
 */
WINDROW_API int windrow_refuse(windrow_file *file, const char *message);

/** How messages count and order dimensions, indices and shapes. */
enum windrow_numbering {
  WINDROW_NUMBERING_C = 0,       /* from 0, the slowest dimension first */
  WINDROW_NUMBERING_FORTRAN = 1, /* from 1, the fastest dimension first */
};

/**
 * Set how the messages of this thread's calls count, until it is set again.  For bindings of languages, which pass
 * everything as C has it: they set it for the time of a call.  Local.
 * @param numbering  enum windrow_numbering; another value changes nothing.
 * @return What it was.  Since 0.1.
 */
WINDROW_API int windrow_set_numbering(int numbering);

/** windrow_put() and windrow_flush() in one call.  Collective.  Since 0.1. */
WINDROW_API int windrow_write(windrow_file *file, int variable, const windrow_decomposition *decomposition,
                              const void *data);

/** windrow_get() and windrow_flush() in one call.  Collective.  Since 0.1. */
WINDROW_API int windrow_read(windrow_file *file, int variable, const windrow_decomposition *decomposition, void *data);

/** Write one contiguous block per rank without making a decomposition first.  Collective.  Any count 0: nothing.  Since
 * 0.1. */
WINDROW_API int windrow_write_block(windrow_file *file, int variable, const int64_t *start, const int64_t *count,
                                    const void *data);

/** Read one contiguous block per rank.  Collective.  Since 0.1. */
WINDROW_API int windrow_read_block(windrow_file *file, int variable, const int64_t *start, const int64_t *count,
                                   void *data);

/* ------------------------------------------------------------------------------------------------- viewers */

/*
 * On request a small text in XDMF stands beside an HDF5 file and says which variables are grids, meshes and fields on
 * them, so that ParaView and VisIt open it: PATH with .xmf in place of its ending.  It names the file without its
 * folder: move both together.
 *
 *     windrow_define_variable(file, "step 2/pressure", WINDROW_FLOAT64, 3, nodes, &variable);
 *     windrow_xdmf_uniform_grid(file, "air", 0.5, 3, nodes, origin, spacing, &grid);
 *     windrow_xdmf_field(file, grid, "pressure", WINDROW_AT_NODES, variable);
 *     windrow_close(file);                                   out.h5 and out.xmf appear
 *
 * Variables are defined first; their data may be written before or after.  The text is written by rank 0 and takes its
 * name together with the file, at windrow_close() or windrow_sync(); after a sync, and for a file opened for update, it
 * is replaced as a whole at the next of the two, if grids or fields were added: by what was described since the file
 * was opened.  A file that is written anew without grids leaves an old text alone.
 *
 * Grids of one name are one series in time, each with its own time; they are of one kind.  Names may be any UTF-8
 * without control characters; in the names of the variables and of the file ':' and '|' are WINDROW_UNSUPPORTED.  No
 * data is moved or looked at. Cost: one agreement a call; some hundred bytes a grid or field on each rank and in the
 * text. Source: https://www.xdmf.org, version 3, as VTK's readers take it.
 */

/** Kinds of cells; the numbers are XDMF's. */
enum windrow_cell {
  WINDROW_TRIANGLE = 4,
  WINDROW_QUADRILATERAL = 5, /**< Nodes around it. */
  WINDROW_TETRAHEDRON = 6,
  WINDROW_PYRAMID = 7,      /**< The base around, then the tip. */
  WINDROW_WEDGE = 8,        /**< One triangle, then the other in the same sense. */
  WINDROW_HEXAHEDRON = 9,   /**< The bottom around, then the top in the same sense. */
  WINDROW_MIXED_CELLS = 112 /**< Before the nodes of each cell stands its kind, a number of this list. */
};

/** Where the values of a field are. */
enum windrow_center {
  WINDROW_AT_NODES = 0,
  WINDROW_AT_CELLS = 1
};

/**
 * Describe a grid whose nodes have the same distance everywhere.  Collective.
 *
 * @param name     [same] What the viewer shows.
 * @param time     [same] In the program's units; NAN (of math.h): the grid has no time, and its name is its own.
 * @param ndims    2 or 3.  [same]
 * @param nodes    [ndims] Nodes of each dimension, slowest first (z, y, x), each >= 2; there are one less cells. [same]
 * @param origin   [ndims] Place of the first node, in the same order.  [same]
 * @param spacing  [ndims] Distance of two nodes, each > 0, in the same order.  [same]
 * @param grid     [out] Its number, for windrow_xdmf_field().
 * @return WINDROW_UNSUPPORTED: the file is not HDF5; WINDROW_EXISTS: a grid of that name and time, or one of the two
 * has no time; WINDROW_NO_PERMISSION, WINDROW_BAD_ARGUMENT and others: what stands at the text's name cannot be
 * replaced.  Since 0.1.
 */
WINDROW_API int windrow_xdmf_uniform_grid(windrow_file *file, const char *name, double time, int ndims,
                                          const int64_t *nodes, const double *origin, const double *spacing, int *grid);

/**
 * Describe a grid with its own distances along each dimension.  Collective.  As windrow_xdmf_uniform_grid(), but:
 * @param ndims        2 or 3.  [same]
 * @param coordinates  [ndims] Variables of float32 or float64 with one dimension: the nodes' places along each
 * dimension of the grid, slowest first (z, y, x).  [same]  Since 0.1.
 */
WINDROW_API int windrow_xdmf_rectilinear_grid(windrow_file *file, const char *name, double time, int ndims,
                                              const int *coordinates, int *grid);

/**
 * Describe a grid whose nodes are anywhere.  Collective.  As windrow_xdmf_uniform_grid(), but:
 * @param coordinates  A variable of float32 or float64: nodes of each dimension, slowest first, x 3 places of each node
 * in the order x, y, z; of a grid of two dimensions x 2 or x 3.  [same]  Since 0.1.
 */
WINDROW_API int windrow_xdmf_curvilinear_grid(windrow_file *file, const char *name, double time, int coordinates,
                                              int *grid);

/**
 * Describe a mesh.  Collective.  As windrow_xdmf_uniform_grid(), but:
 * @param cell          enum windrow_cell.  [same]
 * @param connectivity  A variable of integers, cells x nodes of a cell: numbers of the cells' nodes, from 0 on.  For
 *                      WINDROW_MIXED_CELLS of one dimension.  [same]
 * @param cells         For WINDROW_MIXED_CELLS, how many there are; otherwise the connectivity tells, and it is not
 * looked at.  [same]
 * @param coordinates   A variable of float32 or float64, nodes x 3 (x, y, z) or nodes x 2.  [same]
 * One that does not move in time may be described for each time with the same variables.  Since 0.1.
 */
WINDROW_API int windrow_xdmf_mesh(windrow_file *file, const char *name, double time, int cell, int connectivity,
                                  int64_t cells, int coordinates, int *grid);

/**
 * Describe a variable as a field on a grid or mesh.  Collective.
 *
 * @param grid      From one of the calls above.  [same]
 * @param name      [same] What the viewer shows; for a series the same at all times.
 * @param center    enum windrow_center.  [same]
 * @param variable  Of the grid's shape at nodes or at cells (a mesh: nodes or cells), or that x components: 1 is a
 * scalar, 3 are a vector (x, y, z), 6 a symmetric tensor (xx, xy, xz, yy, yz, zz), 9 a tensor, others so many values.
 * [same] Components at the nodes of a grid of two dimensions: VTK's older reader (vtkXdmfReader) does not show them.
 * @return WINDROW_EXISTS: the grid has a field of that name there; WINDROW_BAD_ARGUMENT: the shape.  uint64 is shown as
 * int64.  Since 0.1.
 */
WINDROW_API int windrow_xdmf_field(windrow_file *file, int grid, const char *name, int center, int variable);

/* -------------------------------------------------------------------------------------------------- meshes */

/**
 * Which nodes of a mesh are neighbours, from its cells.  Local; no communication.
 *
 * @param nodes         Number of nodes.
 * @param cell          enum windrow_cell, of all cells, or WINDROW_MIXED_CELLS.
 * @param length        Entries of `connectivity`.
 * @param connectivity  [length] numbers of the cells' nodes from 0 on, cell by cell, in the order that enum
 * windrow_cell says.
 * @param across_cells  0: neighbours are joined by an edge of a cell; else all nodes of a cell are neighbours, as in a
 * finite element's matrix.  Of triangles and tetrahedra it is the same.
 * @param room          Entries of `neighbours`; 0: only `offsets` is made, whose last entry is the room that is needed.
 * @param offsets       [nodes + 1] out: where each node's neighbours begin in `neighbours`.
 * @param neighbours    [room] out: each node's ascend, none twice.
 * Cost: O(length log(cells of a node)); memory for each cell's pairs, 8 bytes each.  Since 0.1.
 */
WINDROW_API int windrow_mesh_neighbours(int64_t nodes, int cell, int64_t length, const int64_t *connectivity,
                                        int across_cells, int64_t room, int64_t *offsets, int64_t *neighbours);

/**
 * Which parts of a partitioned mesh hold a node: its own first, then those of its neighbours, in their order.  A node
 * with one part is local, the others are shared: replicas of them are on all of their parts.  Local; no communication.
 *
 * @param nodes       Number of nodes.
 * @param offsets     [nodes + 1] where each node's neighbours begin, as windrow_mesh_neighbours() or METIS have it.
 * @param neighbours  [offsets[nodes]]
 * @param partition   [nodes] the part of each, from 0 on.
 * @param room        Entries of `parts`; 0: only `part_offsets` is made, whose last entry is the room that is needed.
 * @param part_offsets  [nodes + 1] out: where each node's parts begin in `parts`.
 * @param parts         [room] out.
 * A rank's points are the nodes that have its part in their lists; those where it comes first it owns.
 * Source: "Optimization and evaluation of parallel I/O in BIPS3D", section 5, figure 4.  Since 0.1.
 */
WINDROW_API int windrow_classify_nodes(int64_t nodes, const int64_t *offsets, const int64_t *neighbours,
                                       const int *partition, int64_t room, int64_t *part_offsets, int *parts);

/* ------------------------------------------------------------------------------------------------- reports */

/**
 * The plan of what is queued or, when no rank has anything queued, of the last flush: the choice on each axis and why.
 * Collective.
 * @param format  "text" or "json".  [same]
 * @param text    [out] Valid until the next call on this file.  The same on every rank.  Since 0.1.
 */
WINDROW_API int windrow_explain(windrow_file *file, const char *format, const char **text);

/**
 * What the last flush did, over all ranks: seconds by stage, bytes, messages, storage requests, writers, peak memory;
 * of one that was begun and has not ended
 * ("under_way") only its plans are told.  And how often the
 * file has been opened since windrow_create() or windrow_open(): for its metadata by rank 0, for data by each writer or
 * reader.  Local.
 *
 * Of messages and of the descriptions before them it has the bytes that were sent and those there would have been
 * without a codec
 * ("bytes_sent", "bytes_before_codec", "description_bytes", "description_bytes_before_codec").  "codecs" has, of the
 * messages that a codec or check_messages might have changed: by what became of them, how many they were, their bytes
 * before and after, and the seconds that it took to make and to undo them, of all ranks together; "reasons" of a plan
 * say why.  "sent_by_this_rank" has this rank's messages with data, by plan and rank that they went to.  "peak_memory"
 * is that of buffers on the rank with most, "peak_memory_elsewhere" on one that has not touched the file, as a team's
 * root may not; "codec_memory" what compressors work with; "allocations" are buffers that had to be made, or made
 * larger. With the option trace there is "trace" too: its "file" and, where lines cannot be written, the "problem".
 * That it could not be opened is known on every rank, that a line could not be added on rank 0. "warnings": variables
 * of this process' environment that begin with WINDROW_ and that nothing reads, and the option that is nearest;
 * windrow_explain() has them in its text.
 * @param format  "text" or "json".  Since 0.1.
 */
WINDROW_API int windrow_report(windrow_file *file, const char *format, const char **text);

/* -------------------------------------------------------------------------------------------------- copies */

/** What a copy is asked and what it did.  Set all to 0 and `size` to sizeof(windrow_copy_info) before the call. */
typedef struct windrow_copy_info {
  int64_t size;
  int64_t buffer_bytes; /* Data that a rank holds at a time; 0: 16 MiB.  [same] */
  int explains;         /* Whether `details` shall have plans.  [same] */
  void (*progress)(void *context, int64_t done,
                   int64_t total); /* NULL, or called on this rank after each part: bytes of all ranks. */
  void *context;
  int begun; /* [out] Whether the target had been begun: an error before that is one of the arguments or of the source.
              */
  int64_t variables; /* [out] How many of each are copied. */
  int64_t groups;
  int64_t attributes;
  int64_t bytes;
  const char *refused; /* [out] What cannot be copied, "path: reason" a line; "" for nothing.  Valid until this thread's
                          next copy. */
  const char *changed; /* [out] What is another thing in the target, a line each: hard links, which become soft links.
                          "" for nothing and after an error. Valid as `refused`. */
  const char *details; /* [out] JSON: "report", the sums of windrow_report() of all parts, and "plan" and "explanation"
                          of the largest part, each for "read" and "write".  "" after an error.  Valid as `refused`. */
} windrow_copy_info;

/**
 * Copy a file: every variable, group, attribute, soft link and name of a dimension, in parallel and in bounded memory.
 * Collective over `comm`. The formats may differ, and both files may be sets of subfiles: a copy splits and joins them.
 * Chunks and filters stay, unless the options say others.
 *
 * @param source   [same]
 * @param target   [same]  It appears when the copy is complete; a file of that name stays whole until then, and is
 * replaced.  Its format follows from the option "format" or from its name, as in windrow_create().
 * @param options  For reading and writing; "format" is the target's.  NULL: defaults and environment.  [same]
 * @param info     NULL: nothing is asked.
 * @return WINDROW_UNSUPPORTED: the source has parts that cannot be copied, or the target's format cannot hold them;
 * nothing is written. WINDROW_BAD_ARGUMENT: the target is the source, a part of it, or a folder.  Else as
 * windrow_open() and windrow_create(), and as a flush. Memory: `buffer_bytes` on each rank, and the library's own
 * buffers.  Since 0.1.
 */
WINDROW_API int windrow_copy(MPI_Comm comm, const char *source, const char *target, const windrow_options *options,
                             windrow_copy_info *info);

/* ------------------------------------------------------------------------------------------------ machines */

/**
 * Measure the machine that the ranks run on: copies, links between ranks of one host and of several, compressors, and
 * the storage of a folder: opening files, writing and reading in requests of several lengths by several numbers of
 * ranks.  Collective.  docs/machine-model.md.
 *
 * @param comm       Ranks as the programs will have that use the file: as many, on as many hosts.
 * @param directory  Of the storage.  A file and a folder whose names begin with .windrow-calibration are made in it and
 *                   removed; 32 MiB are written at a time.  Those of a killed calibration are removed.
 *                   [the same on every rank]
 * @param options    file_system, layout and stripe are those of files; NULL: none. [the same on every rank]
 * @param machine    The machine file, for the option machine; it is replaced as a whole when everything has been
 * measured.            [the same on every rank]
 * @return WINDROW_NOT_FOUND: no such folder; WINDROW_NO_PERMISSION, WINDROW_NO_SPACE, WINDROW_IO: the storage or the
 *         machine file.  After an error the machine file is as it was.
 * Cost: less than a minute, most of it storage.  Since 0.1.
 */
WINDROW_API int windrow_calibrate(MPI_Comm comm, const char *directory, const windrow_options *options,
                                  const char *machine);

/**
 * What auto would choose for the flushes of a trace, with predicted seconds beside those measured, and the options that
 * ask for it.  Local; no MPI.
 *
 * @param trace    A file that the option trace has made.
 * @param machine  A machine file; NULL: what is usual for the storage that each flush was made for.
 * @param format   "text" or "json".
 * @param text     [out] Valid until this thread's next call.
 * @return WINDROW_NOT_FOUND, WINDROW_NO_PERMISSION, WINDROW_BAD_FILE: the trace or the machine file.  Of a trace that
 * is cut short what came before is told, and the text says so.  Since 0.1.
 */
WINDROW_API int windrow_advise(const char *trace, const char *machine, const char *format, const char **text);

#ifdef __cplusplus
}
#endif
