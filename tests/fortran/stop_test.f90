! SPDX-License-Identifier: BSD-3-Clause
!> Without `stat` an error stops the program with the message. This program uses the module mpi. Argument: the folder.
program stop_test
    use mpi
    use windrow
    implicit none
    type(windrow_file) :: file
    character(1000) :: folder
    integer :: code
    call MPI_Init(code)
    call get_command_argument(1, folder)
    call windrow_create(MPI_COMM_WORLD, trim(folder)//'/stopped.raw', file)
    call windrow_open(MPI_COMM_WORLD, trim(folder)//'/missing.raw', file)
    print '(a)', 'went on'
    call MPI_Finalize(code)
end program stop_test
