! SPDX-License-Identifier: BSD-3-Clause
! Collective calls of MPI-IO with mpif.h: old_fortran FOLDER. Each rank has every ranks-th integer.
program old_fortran
    implicit none
    include 'mpif.h'
    integer, parameter :: numbers = 50
    integer :: ierror, rank, ranks, file, turn, i, faults, all_faults, found
    integer :: status(MPI_STATUS_SIZE), mine(numbers), back(numbers)
    integer(kind=MPI_OFFSET_KIND) :: displacement, offset
    integer(kind=MPI_ADDRESS_KIND) :: lower, extent
    character(len=1000) :: folder

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call get_command_argument(1, folder)
    faults = 0
    mine = [(1000*rank + i, i=1, numbers)]
    call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/numbers', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, &
        ierror)
    if (ierror /= MPI_SUCCESS) faults = faults + 1
    lower = 0
    extent = 4*ranks
    call MPI_Type_create_resized(MPI_INTEGER, lower, extent, turn, ierror)
    call MPI_Type_commit(turn, ierror)
    displacement = 4*rank
    call MPI_File_set_view(file, displacement, MPI_INTEGER, turn, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_write_all(file, mine, numbers, MPI_INTEGER, status, ierror)
    if (ierror /= MPI_SUCCESS) faults = faults + 1
    call MPI_Get_count(status, MPI_INTEGER, found, ierror)
    if (found /= numbers) faults = faults + 1
    offset = numbers
    call MPI_File_write_at_all(file, offset, mine, numbers, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    if (ierror /= MPI_SUCCESS) faults = faults + 1
    back = 0
    call MPI_File_read_at_all(file, offset, back, numbers, MPI_INTEGER, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, found, ierror)
    if (found /= numbers .or. any(back /= mine)) faults = faults + 1
    offset = 0
    call MPI_File_seek(file, offset, MPI_SEEK_SET, ierror)
    back = 0
    call MPI_File_read_all(file, back, numbers, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    if (ierror /= MPI_SUCCESS .or. any(back /= mine)) faults = faults + 1
    call MPI_File_close(file, ierror)
    call MPI_Type_free(turn, ierror)
    call MPI_Allreduce(faults, all_faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (rank == 0 .and. all_faults == 0) print '(a)', 'all right'
    if (rank == 0 .and. all_faults > 0) print '(a,i0)', 'FAULT ', all_faults
    call MPI_Finalize(ierror)
end program old_fortran
