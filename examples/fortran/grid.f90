! SPDX-License-Identifier: BSD-3-Clause
! A 3-d grid, cut into one block per rank, each with a layer of ghost cells around it; written to one HDF5 file and read
! back in another cut, as a restart on another machine would.   mpirun -n 4 grid [FILE]
program grid
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use windrow
    implicit none

    integer, parameter :: shape_of_all(3) = [10, 20, 30]    ! x is the fastest
    integer :: ranks, rank, cut(3), place(3), start(3), count(3), variable, x, y, z, wrong
    integer(int64) :: first, slabs
    character(1000) :: path
    real(real64), allocatable :: values(:, :, :), slab(:, :, :)
    type(windrow_file) :: file
    type(windrow_decomposition) :: blocks, rows

    call MPI_Init()
    path = 'grid.h5'
    if (command_argument_count() > 0) call get_command_argument(1, path)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    cut = 0
    call MPI_Dims_create(ranks, 3, cut)

    ! This rank's block, `count` elements from `start` on, and the box in its memory: the block and one ghost cell on
    ! each side.
    place = [mod(rank, cut(1)), mod(rank/cut(1), cut(2)), rank/(cut(1)*cut(2))]
    start = shape_of_all*place/cut + 1
    count = shape_of_all*(place + 1)/cut - start + 1
    allocate (values(0:count(1) + 1, 0:count(2) + 1, 0:count(3) + 1))
    do z = 0, count(3) + 1
        do y = 0, count(2) + 1
            do x = 0, count(1) + 1
                values(x, y, z) = value_at(start(1) + x - 1, start(2) + y - 1, start(3) + z - 1)
            end do
        end do
    end do

    ! Write: the ghost cells stay in memory, and only the blocks are written. An error stops all ranks, because no call
    ! has `stat`.
    call windrow_create(MPI_COMM_WORLD, path, file)
    call windrow_define_variable(file, 'temperature', windrow_float64, shape_of_all, variable)
    call windrow_put_attribute(file, 'temperature', 'units', 'K')
    call windrow_block(MPI_COMM_WORLD, shape_of_all, start, count, blocks, memory_shape=shape(values), &
        memory_start=[2, 2, 2])
    call windrow_write(file, variable, blocks, values)    ! put and flush; the blocks serve the next time step too
    call windrow_close(file)

    ! Read: the same array in slabs along its slowest dimension, divided by the library.
    call windrow_open(MPI_COMM_WORLD, path, file)
    call windrow_find_variable(file, 'temperature', variable)
    call windrow_rows(MPI_COMM_WORLD, shape_of_all(3), rows)
    call windrow_decomposition_rows(rows, first, slabs)
    allocate (slab(shape_of_all(1), shape_of_all(2), slabs))
    call windrow_read(file, variable, rows, slab)
    call windrow_close(file)
    wrong = 0
    do z = 1, int(slabs)
        do y = 1, shape_of_all(2)
            do x = 1, shape_of_all(1)
                if (abs(slab(x, y, z) - value_at(x, y, int(first) + z - 1)) > 0) wrong = wrong + 1
            end do
        end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(3a, i0, a, i0, a)', 'grid: wrote and read ', trim(path), ' on ', ranks, ' ranks, ', wrong, &
        ' values differ'

    call windrow_decomposition_free(blocks)
    call windrow_decomposition_free(rows)
    call MPI_Finalize()
    if (wrong /= 0) error stop

contains

    !> The examples in C and C++ count from 0.
    pure function value_at(x, y, z) result(value)
        integer, intent(in) :: x, y, z
        real(real64) :: value
        value = real((z - 1)*10000 + (y - 1)*100 + x - 1, real64)
    end function value_at
end program grid
