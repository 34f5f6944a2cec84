! SPDX-License-Identifier: BSD-3-Clause
!> What the Fortran tests share: expectations that are counted over all ranks, and where the files go. A program's
!> arguments: the folder, and the ending of the format's names.
module checks
    use mpi_f08
    implicit none
    private
    public :: begin_checks, end_checks, expect, expect_ok, expect_error, path_of, rank, ranks

    integer, protected :: rank = 0, ranks = 0
    integer :: failures = 0

contains

    subroutine begin_checks()
        call MPI_Init()
        call MPI_Comm_rank(MPI_COMM_WORLD, rank)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    end subroutine begin_checks

    !> Collective. The program fails where anything failed on any rank.
    subroutine end_checks()
        call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call MPI_Finalize()
        if (failures > 0) error stop 'expectations failed'
        if (rank == 0) print '(a)', 'all as expected'
    end subroutine end_checks

    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        failures = failures + 1
        print '(a, i0, 2a)', '[rank ', rank, '] not so: ', what
    end subroutine expect

    subroutine expect_ok(stat, errmsg, what)
        integer, intent(in) :: stat
        character(*), intent(in) :: errmsg, what
        call expect(stat == 0, what//': '//trim(errmsg))
        call expect(len_trim(errmsg) == 0 .or. stat /= 0, what//': a message without an error: '//trim(errmsg))
    end subroutine expect_ok

    !> Collective: an error has the code `code`, a message with `words` in it, and both are the same on every rank.
    subroutine expect_error(stat, errmsg, code, words, what)
        integer, intent(in) :: stat, code
        character(*), intent(in) :: errmsg, words, what
        character(2000) :: first
        call expect(stat == code, what//': the code')
        call expect(index(errmsg, words) > 0, what//': the message is "'//trim(errmsg)//'"')
        first = errmsg
        call MPI_Bcast(first, len(first), MPI_CHARACTER, 0, MPI_COMM_WORLD)
        call expect(first == errmsg, what//': rank 0 says "'//trim(first)//'", this rank "'//trim(errmsg)//'"')
    end subroutine expect_error

    function path_of(name) result(path)
        character(*), intent(in) :: name
        character(:), allocatable :: path
        character(1000) :: folder, ending
        call get_command_argument(1, folder)
        call get_command_argument(2, ending)
        path = trim(folder)//'/'//name//'.'//trim(ending)
    end function path_of
end module checks
