/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file parallelIO.h
 * SCORPIO under its first name, ASCEM-IO, as Amanzi calls it: other names for what scorpio.h declares.
 */
#pragma once

#include <scorpio.h>
#include <stdbool.h>

#define UNIFORM_CONTIGUOUS_READ SCORPIO_UNIFORM_CONTIGUOUS_READ
#define NONUNIFORM_CONTIGUOUS_READ SCORPIO_NONUNIFORM_CONTIGUOUS_READ
#define NONCONTIGUOUS_READ SCORPIO_NONCONTIGUOUS_READ
#define EVERYONE_ENTIRE_DATASET_READ SCORPIO_EVERYONE_ENTIRE_DATASET_READ
#define UNIFORM_CONTIGUOUS_WRITE SCORPIO_UNIFORM_CONTIGUOUS_WRITE
#define NONUNIFORM_CONTIGUOUS_WRITE SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE
#define NONCONTIGUOUS_WRITE SCORPIO_NONCONTIGUOUS_WRITE

#define FILE_CREATE SCORPIO_FILE_CREATE
#define FILE_READONLY SCORPIO_FILE_READONLY
#define FILE_READWRITE SCORPIO_FILE_READWRITE

#define PIO_INTEGER SCORPIO_INTEGER
#define PIO_DOUBLE SCORPIO_DOUBLE
#define PIO_FLOAT SCORPIO_FLOAT
#define PIO_LONG SCORPIO_LONG
#define PIO_CHAR SCORPIO_CHAR
#define PIO_BYTE SCORPIO_BYTE
#define PIO_STRING SCORPIO_STRING

#define parallelIO_IOgroup_init scorpio_IOgroup_init
#define parallelIO_IOgroup_cleanup scorpio_IOgroup_cleanup
#define parallelIO_open_file scorpio_open_file
#define parallelIO_close_file scorpio_close_file
#define parallelIO_get_dataset_ndims scorpio_get_dataset_ndims
#define parallelIO_get_dataset_dims scorpio_get_dataset_dims
#define parallelIO_get_dataset_size scorpio_get_dataset_size
#define parallelIO_read_dataset scorpio_read_dataset
#define parallelIO_write_dataset scorpio_write_dataset
#define parallelIO_write_dataset_block scorpio_write_dataset_block
#define parallelIO_read_same_sub_dataset scorpio_read_same_sub_dataset
#define parallelIO_write_str_array scorpio_write_str_array
#define parallelIO_read_str_array scorpio_read_str_array
#define parallelIO_read_simple_attr scorpio_read_simple_attr
#define parallelIO_read_attr scorpio_read_attr
#define parallelIO_write_simple_attr scorpio_write_simple_attr
#define parallelIO_write_attr scorpio_write_attr
#define parallelIO_create_dataset_group scorpio_create_dataset_group
#define parallelIO_close_dataset_group scorpio_close_dataset_group
#define parallelIO_group_exists scorpio_group_exists
#define parallelIO_dataset_exists scorpio_dataset_exists

static inline bool parallelIO_name_exists(int64_t fid, const char *name) {
  return scorpio_name_exists(fid, name) == 1;
}
