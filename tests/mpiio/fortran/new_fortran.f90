! SPDX-License-Identifier: BSD-3-Clause
! collective_calls.inc with the module mpi_f08.
program new_fortran
    use mpi_f08
    implicit none
    type(MPI_File) :: file
    type(MPI_Datatype) :: turn
    type(MPI_Status) :: status
    include 'collective_calls.inc'
end program new_fortran
