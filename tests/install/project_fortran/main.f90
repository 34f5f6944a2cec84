! SPDX-License-Identifier: BSD-3-Clause
! A user's program: each rank writes one row of a table, reads it back and compares. Argument: the file.
program main
    use, intrinsic :: iso_fortran_env, only: real64
    use mpi_f08
    use windrow
    implicit none
    integer, parameter :: columns = 5
    integer :: rank, ranks, variable, i
    real(real64) :: written(columns), read(columns)
    character(1000) :: path
    type(windrow_file) :: file

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call get_command_argument(1, path)
    written = [(10.0_real64*rank + i, i=1, columns)]
    read = 0
    call windrow_create(MPI_COMM_WORLD, path, file)
    call windrow_define_variable(file, 'table', windrow_float64, [columns, ranks], variable)
    call windrow_write_block(file, variable, [1, rank + 1], [columns, 1], written)
    call windrow_close(file)
    call windrow_open(MPI_COMM_WORLD, path, file)
    call windrow_find_variable(file, 'table', variable)
    call windrow_read_block(file, variable, [1, rank + 1], [columns, 1], read)
    call windrow_close(file)
    if (any(abs(read - written) > 0)) error stop 'read other than was written'
    if (rank == 0) print '(3a, i0, a)', 'windrow ', windrow_version(), ': ', ranks, ' rows'
    call MPI_Finalize()
end program main
