! SPDX-License-Identifier: BSD-3-Clause
! collective_calls.inc with the module mpi.
program module_fortran
    use mpi
    implicit none
    integer :: file, turn, status(MPI_STATUS_SIZE)
    include 'collective_calls.inc'
end program module_fortran
