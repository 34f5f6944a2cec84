! SPDX-License-Identifier: BSD-3-Clause
! A partitioned mesh: each rank holds the nodes of its part by number, and two ranks hold those at a boundary. It is
! written to one HDF5 file in the numbering of the mesh, for any partition, and read back in plain rows.
!   mpirun -n 4 mesh [FILE]
program mesh
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use windrow
    implicit none

    integer, parameter :: levels = 5, nodes = 1009
    integer :: ranks, rank, before, last, count, variable, i, level, wrong
    integer(int64) :: first, mine
    integer, allocatable :: list(:)
    logical, allocatable :: owned(:)
    character(1000) :: path
    real(real64), allocatable, target :: field(:, :), read(:, :)
    type(windrow_file) :: file
    type(windrow_decomposition) :: points, rows

    call MPI_Init()
    path = 'mesh.h5'
    if (command_argument_count() > 0) call get_command_argument(1, path)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)

    ! A closed ring: this part owns the nodes before+1 to last and has a copy of the next part's first node. Its own
    ! order is backwards.
    before = nodes*rank/ranks
    last = nodes*(rank + 1)/ranks
    count = last - before + 1
    list = [(mod(last - i, nodes) + 1, i=0, count - 1)]
    owned = [.false., (.true., i=2, count)]    ! the copy comes first
    allocate (field(levels, count))
    do i = 1, count
        field(:, i) = [(field_at(list(i), level), level=1, levels)]
    end do

    call windrow_create(MPI_COMM_WORLD, path, file)
    ! makes the group too
    call windrow_define_variable(file, 'mesh/potential', windrow_float64, [levels, nodes], variable)
    call windrow_points(MPI_COMM_WORLD, nodes, list, points, owned)
    call windrow_put(file, variable, points, field)    ! local: queued. More variables may follow ...
    call windrow_close(file)                           ! ... and all move together here, or at windrow_flush()

    call windrow_open(MPI_COMM_WORLD, path, file)
    call windrow_find_variable(file, 'mesh/potential', variable)
    call windrow_rows(MPI_COMM_WORLD, nodes, rows)
    call windrow_decomposition_rows(rows, first, mine)
    allocate (read(levels, mine))
    call windrow_read(file, variable, rows, read)
    call windrow_close(file)
    wrong = 0
    do i = 1, int(mine)
        do level = 1, levels
            if (abs(read(level, i) - field_at(int(first) + i - 1, level)) > 0) wrong = wrong + 1
        end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(3a, i0, a, i0, a)', 'mesh: wrote and read ', trim(path), ' on ', ranks, ' ranks, ', wrong, &
        ' values differ'

    call windrow_decomposition_free(points)
    call windrow_decomposition_free(rows)
    call MPI_Finalize()
    if (wrong /= 0) error stop

contains

    !> The examples in C and C++ count from 0.
    pure function field_at(node, level) result(value)
        integer, intent(in) :: node, level
        real(real64) :: value
        value = real(node - 1, real64) + real(level - 1, real64)/16
    end function field_at
end program mesh
