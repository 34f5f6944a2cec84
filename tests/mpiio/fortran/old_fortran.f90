! SPDX-License-Identifier: BSD-3-Clause
! collective_calls.inc with mpif.h.
program old_fortran
    implicit none
    include 'mpif.h'
    integer :: file, turn, status(MPI_STATUS_SIZE)
    include 'collective_calls.inc'
end program old_fortran
