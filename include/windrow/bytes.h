/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file bytes.h
 * Files of plain bytes: a part of windrow.h, which includes it.
 *
 * For programs with file formats of their own, and for code that comes from MPI-IO.  Each rank passes a list of the
 * bytes that it moves: where they are in the file and where in its memory.  One collective call moves the lists of all
 * ranks with the same plans, options and reports as variables:
 *
 *     windrow_bytes_open(comm, "field.dat", WINDROW_UPDATE_OR_CREATE, NULL, &file);
 *     windrow_byte_list_pieces(count, file_offsets, memory_offsets, lengths, &list);     local
 *     windrow_bytes_write(file, list, data);                                             collective
 *     windrow_bytes_close(file);
 *
 * The file is changed in place: there is no temporary name, nothing is truncated, and the file never becomes longer
 * than the last byte that is written.  Bytes that no list has stay as they are.  If a program is killed during a write,
 * each listed byte is old or new, so that a piece may be half written.  Windrow writes over short gaps between listed
 * bytes only under a lock of the file, after it has read them: see the option "access".  Other Windrow files on the
 * same path respect that lock.  A program that writes into such a gap at the same time without Windrow must first lock
 * the bytes by fcntl() with F_OFD_SETLKW or F_SETLKW.  Or set the option "access" to "list".  Never hold such a lock in
 * a rank of the file during a call: the call would wait for the lock, and the rank for the call.
 */
#pragma once

#include <mpi.h>
#include <stdint.h>

#include <windrow/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct windrow_options windrow_options;

/** An open file of plain bytes.  Freed by windrow_bytes_close(). */
typedef struct windrow_bytes windrow_bytes;

/** Which bytes of a file a rank moves, and where they are in its memory.  It may be used for any file, for reading and
 * for writing, and by several calls, which then use the same plan.  Freed by windrow_byte_list_free().
 *
 * If a list cannot be made, the function returns the error, and the list keeps it: calls with this list move nothing,
 * and return the error on every rank.  So a rank with a bad list need not leave the other ranks waiting.  Such a list
 * is freed too. */
typedef struct windrow_byte_list windrow_byte_list;

/* -------------------------------------------------------------------------------------------------- lists */

/**
 * Make a list of pieces.  Local.
 * Pieces may have any order.  If they overlap in the file, the later piece is written, and a read fills each of them.
 *
 * @param count           Number of pieces.  0: this rank moves nothing.
 * @param file_offsets    [count] Bytes from the start of the file, each >= 0.
 * @param memory_offsets  [count] Bytes from the buffer that a call passes; they may be negative.  NULL: the pieces are
 *                        in memory one after another.
 * @param lengths         [count] Bytes, each >= 0.
 * @param list            [out] After an error, it refuses calls on all ranks.
 * @return WINDROW_BAD_ARGUMENT: a negative offset or length, an end beyond 2^60 in the file or 2^63 - 1 in memory; the
 * message names the entry.
 * Cost: O(count log count) time, O(count) if the pieces ascend; about 5 bytes of memory for each irregular piece, less
 * for regular ones.  Since 0.1.
 */
WINDROW_API int windrow_byte_list_pieces(int64_t count, const int64_t *file_offsets, const int64_t *memory_offsets,
                                         const int64_t *lengths, windrow_byte_list **list);

/** A piece that is repeated by nested loops, such as a block of an array. */
typedef struct windrow_byte_run {
  int64_t file_offset, memory_offset; /**< Of the first piece. */
  int64_t length;                     /**< Of each piece, in bytes. */
  int loops;                          /**< 0: the piece is not repeated. */
  const int64_t *counts;              /**< [loops] Steps of each loop, in any order of the loops. */
  const int64_t *file_strides;        /**< [loops] Bytes from step to step; they may be negative. */
  const int64_t *memory_strides;      /**< [loops] The same in memory. */
} windrow_byte_run;

/**
 * Make a list of nested regular runs.  Local.  As windrow_byte_list_pieces(), but regular patterns are never expanded
 * into pieces: a block of an array costs O(dimensions).  Runs that interleave are expanded where they do.  If pieces of
 * one run overlap in the file, any of them is written.
 * Cost: about 1 kB of memory for each run while the list is made; use pieces for millions of irregular ones.  Since
 * 0.1.
 */
WINDROW_API int windrow_byte_list_runs(int64_t count, const windrow_byte_run *runs, windrow_byte_list **list);

/** What a rank sees of a file, as a view in MPI-IO: copies of `filetype`, which follow each other at its extent from
 * byte `displacement` on.  Only the bytes of their data are seen. */
typedef struct windrow_byte_view {
  int64_t displacement;  /**< Bytes from the start of the file, >= 0. */
  MPI_Datatype etype;    /**< The unit of offsets in the view. */
  MPI_Datatype filetype; /**< Made of etypes.  Its displacements ascend and do not overlap. */
} windrow_byte_view;

/**
 * Make a list from MPI datatypes: byte i of `count` elements of `datatype` is byte i of the view from `offset` on.
 * Local.  For code that comes from MPI-IO: MPI_File_write_at_all(file, offset, memory, count, datatype, status) is
 * windrow_bytes_write(file, list, memory).
 *
 * All constructors of datatypes are supported.  Vectors, subarrays and distributed arrays are not expanded into pieces
 * where one of memory and view is contiguous or the rows of both are of equal length: such a list costs O(dimensions).
 * Where rows of memory and view differ, and in structures with holes, a list takes about 5 bytes for each contiguous
 * part.  Datatypes need not be committed, and are not kept.
 *
 * @param view      NULL: the bytes of the file, from byte 0 on.
 * @param offset    In etypes, >= 0.  Holes of the view are not counted.
 * @param count     >= 0.
 * @param datatype  If it has addresses, as for MPI_BOTTOM, pass NULL as the memory of calls.
 * @param list      [out] After an error, it refuses calls on all ranks.
 * @return WINDROW_BAD_ARGUMENT: no datatype, a view without data, displacements of a filetype that are negative or do
 * not ascend, a filetype whose size is no multiple of that of the etype, an end beyond 2^60 in the file or 2^63 - 1 in
 * memory.  Since 0.1.
 */
WINDROW_API int windrow_byte_list_types(const windrow_byte_view *view, int64_t offset, int64_t count,
                                        MPI_Datatype datatype, windrow_byte_list **list);

/**
 * The memory of a list: all its bytes are in [begin, end) from the buffer that a call passes.  Local.
 * @param list  NULL, without bytes, or one that could not be made: 0 and 0.  Since 0.1.
 */
WINDROW_API int windrow_byte_list_memory(const windrow_byte_list *list, int64_t *begin, int64_t *end);

/** Free a list.  NULL is allowed.  Local.  Since 0.1. */
WINDROW_API void windrow_byte_list_free(windrow_byte_list *list);

/* -------------------------------------------------------------------------------------------------- files */

/**
 * Open a file of plain bytes.  Collective over `comm`, which may be any intracommunicator and may be freed afterwards.
 *
 * @param path     [same]
 * @param mode     WINDROW_READ, WINDROW_UPDATE, or WINDROW_UPDATE_OR_CREATE: a file that does not exist is made,
 * without bytes.  [same]
 * @param options  NULL: defaults and environment.  Those of the strategy, the storage, traces and machines apply; those
 *                 of variables and formats are ignored.  Copied.  [same]
 * @param file     [out] NULL on error.
 * @return WINDROW_NOT_FOUND, WINDROW_NO_PERMISSION, WINDROW_IO; WINDROW_BAD_ARGUMENT: a folder, a device or a pipe, the
 * option "files" asks for several files, or arguments differ between ranks.  After an error no file was made.
 * Cost: rank 0 opens the file; the others open it at their first request.  Since 0.1.
 */
WINDROW_API int windrow_bytes_open(MPI_Comm comm, const char *path, int mode, const windrow_options *options,
                                   windrow_bytes **file);

/**
 * Write the bytes of all lists.  Collective.
 * Where the lists of several ranks have the same byte, the highest of these ranks writes it.
 *
 * @param list    NULL: this rank writes nothing.  It is not changed, and may be freed after the call.
 * @param memory  The buffer that the list refers to.  NULL: its offsets are addresses, as with MPI_BOTTOM.
 * @return WINDROW_BAD_STATE: open for reading only, or the process of a rank holds a lock of F_SETLK (fcntl) on bytes
 * that it writes; WINDROW_BAD_ARGUMENT: a list that could not be made, or a null pointer as memory of a list that has
 * none there; WINDROW_UNSUPPORTED: access=sieve, and the file system has no locks; WINDROW_NO_SPACE, WINDROW_IO: listed
 * bytes are old or new.  WINDROW_IO also if another program has replaced or removed the file since it was opened: then
 * nothing was written.
 * Cost: two agreements of all ranks if the same lists were written before, about six otherwise.  Since 0.1.
 */
WINDROW_API int windrow_bytes_write(windrow_bytes *file, const windrow_byte_list *list, const void *memory);

/**
 * Read the bytes of all lists.  Collective.
 * Bytes beyond the end of the file are not read, and their memory is not changed.
 *
 * @param list        NULL: this rank reads nothing.
 * @param bytes_read  [out] Bytes of this rank's list before the end of the file.  A byte that the list has several
 *                    times counts for each of its places in memory.  NULL: not wanted.
 * @return WINDROW_IO: also if another program has replaced the file since it was opened; WINDROW_BAD_FILE: the file was
 * truncated during the call.  The content of the listed memory is then undefined.  Since 0.1.
 */
WINDROW_API int windrow_bytes_read(windrow_bytes *file, const windrow_byte_list *list, void *memory,
                                   int64_t *bytes_read);

/**
 * The plan by which such a call would move the lists: the choice on each axis and its reasons.  Collective.
 * @param writes  1: windrow_bytes_write(), 0: windrow_bytes_read().  [same]
 * @param format  "text" or "json".  [same]
 * @param text    [out] Valid until the next call on this file.  The same on every rank.  Since 0.1.
 */
WINDROW_API int windrow_bytes_explain(windrow_bytes *file, int writes, const windrow_byte_list *list,
                                      const char *format, const char **text);

/**
 * Report that this rank cannot take part: the next windrow_bytes_write(), windrow_bytes_read() or
 * windrow_bytes_explain() moves nothing, and returns WINDROW_BAD_ARGUMENT and `message` on every rank.  For language
 * bindings and libraries that check more than C can, such as the size of an array.  Local.
 * @param file  NULL: only sets windrow_error_message() of this rank.
 * @return WINDROW_BAD_ARGUMENT.  Since 0.1.
 */
WINDROW_API int windrow_bytes_refuse(windrow_bytes *file, const char *message);

/** What the last windrow_bytes_write() or windrow_bytes_read() did over all ranks, and its plan, as windrow_report().
 * Local.  Since 0.1. */
WINDROW_API int windrow_bytes_report(windrow_bytes *file, const char *format, const char **text);

/**
 * Sum up numbers of all ranks.  Collective.  For code that must agree before it decides how to move bytes.  Nothing of
 * the file is read or written.
 *
 * @param count    [same] 0 to 64.
 * @param numbers  [count] In: of this rank.  Out: the sums over all ranks, the same on each.  Sums beyond 64 bits wrap
 *                 around.  Unchanged after an error.
 * @return WINDROW_BAD_ARGUMENT: also if the counts differ between ranks.
 * Cost: one agreement.  Where all ranks share a host it goes through shared memory, without messages.
 *
 *     int64_t bytes = mine;                                    all ranks get the same total
 *     windrow_bytes_sum(file, 1, &bytes);
 *     if (bytes > 0) windrow_bytes_write(file, list, data);
 *
 * Since 0.1.
 */
WINDROW_API int windrow_bytes_sum(windrow_bytes *file, int64_t count, int64_t *numbers);

/** When the call returns, everything that was written is on stable storage.  Collective.  Since 0.1. */
WINDROW_API int windrow_bytes_sync(windrow_bytes *file);

/** Close.  Collective.  The handle is freed whatever the result is.  NULL is allowed.
 * @return WINDROW_IO: also if another program has replaced the file since it was opened.  Since 0.1. */
WINDROW_API int windrow_bytes_close(windrow_bytes *file);

#ifdef __cplusplus
}
#endif
