! SPDX-License-Identifier: BSD-3-Clause
!> The procedures that take a communicator, for type(MPI_Comm) of `use mpi_f08`: more specifics of the same generic
!> names.
module windrow_f08
    use, intrinsic :: iso_fortran_env, only: int32, int64
    use mpi_f08, only: MPI_Comm, MPI_Datatype
    use windrow_base
    use windrow_byte_files
    use windrow_decompositions
    use windrow_files
    implicit none
    private
    public :: windrow_copy, windrow_create, windrow_open, windrow_block, windrow_blocks, windrow_strided_blocks, &
        windrow_rows
    public :: windrow_points, windrow_same, windrow_bytes_open, windrow_byte_list_types

    interface windrow_create
        module procedure create_file
    end interface windrow_create

    interface windrow_open
        module procedure open_file
    end interface windrow_open

    interface windrow_bytes_open
        module procedure open_bytes
    end interface windrow_bytes_open

    interface windrow_byte_list_types
        module procedure list_of_types
    end interface windrow_byte_list_types

    interface windrow_copy
        module procedure copy_file
    end interface windrow_copy

    interface windrow_block
        module procedure block_int32, block_int64
    end interface windrow_block

    interface windrow_blocks
        module procedure blocks_int32, blocks_int64
    end interface windrow_blocks

    interface windrow_strided_blocks
        module procedure strided_blocks_int32, strided_blocks_int64
    end interface windrow_strided_blocks

    interface windrow_rows
        module procedure rows_int32, rows_int64
    end interface windrow_rows

    interface windrow_points
        module procedure points_int32, points_int64
    end interface windrow_points

    interface windrow_same
        module procedure same_int32, same_int64, same_all
    end interface windrow_same

contains

    subroutine create_file(comm, path, file, options, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        character(*), intent(in) :: path
        type(windrow_file), intent(out) :: file
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_create(comm%mpi_val, path, file, options, stat, errmsg)
    end subroutine create_file

    subroutine copy_file(comm, source, target, options, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        character(*), intent(in) :: source, target
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_copy(comm%mpi_val, source, target, options, stat, errmsg)
    end subroutine copy_file

    subroutine open_file(comm, path, file, mode, options, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        character(*), intent(in) :: path
        type(windrow_file), intent(out) :: file
        integer, intent(in), optional :: mode
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_open(comm%mpi_val, path, file, mode, options, stat, errmsg)
    end subroutine open_file

    subroutine open_bytes(comm, path, file, mode, options, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        character(*), intent(in) :: path
        type(windrow_bytes), intent(out) :: file
        integer, intent(in), optional :: mode
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_bytes_open(comm%mpi_val, path, file, mode, options, stat, errmsg)
    end subroutine open_bytes

    subroutine list_of_types(datatype, count, list, offset, displacement, etype, filetype, stat, errmsg)
        type(MPI_Datatype), intent(in) :: datatype
        integer(int64), intent(in) :: count
        type(windrow_byte_list), intent(out) :: list
        integer(int64), intent(in), optional :: offset, displacement
        type(MPI_Datatype), intent(in), optional :: etype, filetype
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer, allocatable :: unit, tile  ! absent if they are not allocated
        if (present(etype)) unit = etype%mpi_val
        if (present(filetype)) tile = filetype%mpi_val
        call windrow_byte_list_types(datatype%mpi_val, count, list, offset, displacement, unit, tile, stat, errmsg)
    end subroutine list_of_types

    subroutine block_int32(comm, shape, start, count, decomposition, memory_shape, memory_start, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int32), intent(in) :: shape(:), start(:), count(:)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int32), intent(in), optional :: memory_shape(:), memory_start(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_block(comm%mpi_val, shape, start, count, decomposition, memory_shape, memory_start, stat, errmsg)
    end subroutine block_int32

    subroutine block_int64(comm, shape, start, count, decomposition, memory_shape, memory_start, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int64), intent(in) :: shape(:), start(:), count(:)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int64), intent(in), optional :: memory_shape(:), memory_start(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_block(comm%mpi_val, shape, start, count, decomposition, memory_shape, memory_start, stat, errmsg)
    end subroutine block_int64

    subroutine blocks_int32(comm, shape, starts, counts, decomposition, memory_shapes, memory_starts, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int32), intent(in) :: shape(:), starts(:, :), counts(:, :)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int32), intent(in), optional :: memory_shapes(:, :), memory_starts(:, :)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_blocks(comm%mpi_val, shape, starts, counts, decomposition, memory_shapes, memory_starts, &
            stat, errmsg)
    end subroutine blocks_int32

    subroutine blocks_int64(comm, shape, starts, counts, decomposition, memory_shapes, memory_starts, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int64), intent(in) :: shape(:), starts(:, :), counts(:, :)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int64), intent(in), optional :: memory_shapes(:, :), memory_starts(:, :)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_blocks(comm%mpi_val, shape, starts, counts, decomposition, memory_shapes, memory_starts, &
            stat, errmsg)
    end subroutine blocks_int64

    subroutine strided_blocks_int32(comm, shape, starts, counts, memory_firsts, memory_strides, decomposition, stat, &
        errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int32), intent(in) :: shape(:), starts(:, :), counts(:, :), memory_firsts(:), memory_strides(:, :)
        type(windrow_decomposition), intent(out) :: decomposition
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_strided_blocks(comm%mpi_val, shape, starts, counts, memory_firsts, memory_strides, decomposition, &
            stat, errmsg)
    end subroutine strided_blocks_int32

    subroutine strided_blocks_int64(comm, shape, starts, counts, memory_firsts, memory_strides, decomposition, stat, &
        errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int64), intent(in) :: shape(:), starts(:, :), counts(:, :), memory_firsts(:), memory_strides(:, :)
        type(windrow_decomposition), intent(out) :: decomposition
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_strided_blocks(comm%mpi_val, shape, starts, counts, memory_firsts, memory_strides, decomposition, &
            stat, errmsg)
    end subroutine strided_blocks_int64

    subroutine rows_int32(comm, rows, decomposition, count, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int32), intent(in) :: rows
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int32), intent(in), optional :: count
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_rows(comm%mpi_val, rows, decomposition, count, stat, errmsg)
    end subroutine rows_int32

    subroutine rows_int64(comm, rows, decomposition, count, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int64), intent(in) :: rows
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int64), intent(in), optional :: count
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_rows(comm%mpi_val, rows, decomposition, count, stat, errmsg)
    end subroutine rows_int64

    subroutine points_int32(comm, points, list, decomposition, owned, stat, errmsg, options)
        type(MPI_Comm), intent(in) :: comm
        integer(int32), intent(in) :: points, list(:)
        type(windrow_decomposition), intent(out) :: decomposition
        logical, intent(in), optional :: owned(:)
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_points(comm%mpi_val, points, list, decomposition, owned, stat, errmsg, options)
    end subroutine points_int32

    subroutine points_int64(comm, points, list, decomposition, owned, stat, errmsg, options)
        type(MPI_Comm), intent(in) :: comm
        integer(int64), intent(in) :: points, list(:)
        type(windrow_decomposition), intent(out) :: decomposition
        logical, intent(in), optional :: owned(:)
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_points(comm%mpi_val, points, list, decomposition, owned, stat, errmsg, options)
    end subroutine points_int64

    subroutine same_int32(comm, shape, decomposition, start, count, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int32), intent(in) :: shape(:)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int32), intent(in), optional :: start(:), count(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_same(comm%mpi_val, shape, decomposition, start, count, stat, errmsg)
    end subroutine same_int32

    subroutine same_int64(comm, shape, decomposition, start, count, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        integer(int64), intent(in) :: shape(:)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int64), intent(in), optional :: start(:), count(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_same(comm%mpi_val, shape, decomposition, start, count, stat, errmsg)
    end subroutine same_int64

    subroutine same_all(comm, decomposition, stat, errmsg)
        type(MPI_Comm), intent(in) :: comm
        type(windrow_decomposition), intent(out) :: decomposition
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call windrow_same(comm%mpi_val, decomposition, stat, errmsg)
    end subroutine same_all
end module windrow_f08
