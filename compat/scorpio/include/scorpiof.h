! SPDX-License-Identifier: BSD-3-Clause
! The constants of scorpio.h for Fortran: include 'scorpiof.h' where
! declarations stand, in fixed and in free form. The calls are external
! procedures; docs/scorpio.md has their arguments.
      integer, parameter :: SCORPIO_UNIFORM_CONTIGUOUS_READ = 0
      integer, parameter :: SCORPIO_NONUNIFORM_CONTIGUOUS_READ = 1
      integer, parameter :: SCORPIO_NONCONTIGUOUS_READ = 2
      integer, parameter :: SCORPIO_EVERYONE_ENTIRE_DATASET_READ = 3
      integer, parameter :: SCORPIO_UNIFORM_CONTIGUOUS_WRITE = 4
      integer, parameter :: SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE = 5
      integer, parameter :: SCORPIO_NONCONTIGUOUS_WRITE = 6

      integer, parameter :: SCORPIO_FILE_CREATE = 0
      integer, parameter :: SCORPIO_FILE_READONLY = 1
      integer, parameter :: SCORPIO_FILE_READWRITE = 2

      integer, parameter :: SCORPIO_INTEGER = 0
      integer, parameter :: SCORPIO_DOUBLE = 1
      integer, parameter :: SCORPIO_FLOAT = 2
      integer, parameter :: SCORPIO_LONG = 3
      integer, parameter :: SCORPIO_CHAR = 4
      integer, parameter :: SCORPIO_BYTE = 5
      integer, parameter :: SCORPIO_STRING = 6
