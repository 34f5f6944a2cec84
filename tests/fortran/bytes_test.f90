! SPDX-License-Identifier: BSD-3-Clause
!> Files of plain bytes. Each rank has one column of each of the tables a(4, ranks) of int32, and of b(2, 3, ranks) of
!> real64 behind it.
program bytes_test
    use, intrinsic :: iso_fortran_env, only: int32, int64, real64
    use mpi_f08
    use checks
    use windrow
    implicit none

    type(windrow_bytes) :: file
    type(windrow_byte_list) :: column, nothing
    character(2000) :: errmsg
    character(:), allocatable :: text
    integer(int64) :: tables
    integer :: stat

    call begin_checks()
    tables = 16*int(ranks, int64)
    call windrow_byte_list_pieces([16_int64*rank], [16_int64], column, stat=stat, errmsg=errmsg)
    call expect_ok(stat, errmsg, 'a list')
    call write_tables()
    call read_tables()
    call with_mpi()
    call of_types()
    call refused()
    call windrow_byte_list_free(column)
    call windrow_byte_list_free(nothing)
    call end_checks()

contains

    function a_of(owner) result(a)
        integer, intent(in) :: owner
        integer(int32) :: a(4)
        a = 100*owner + [1, 2, 3, 4]
    end function a_of

    function b_of(owner) result(b)
        integer, intent(in) :: owner
        real(real64) :: b(2, 3)
        b = reshape(owner + [0.125_real64, 0.25_real64, 0.375_real64, 0.5_real64, 0.625_real64, 0.75_real64], [2, 3])
    end function b_of

    !> The columns of b, among ghost cells in memory.
    subroutine write_tables()
        type(windrow_options) :: options
        type(windrow_byte_list) :: box
        real(real64) :: b(0:3, 0:4)
        integer(int64) :: first, last
        b = -1
        b(1:2, 1:3) = b_of(rank)
        call windrow_options_create(options)
        call windrow_options_set(options, 'strategy', 'two-phase')
        call windrow_bytes_open(MPI_COMM_WORLD, path_of('bytes'), file, windrow_mode_update_or_create, options, stat, &
            errmsg)
        call expect_ok(stat, errmsg, 'open')
        call windrow_options_free(options)
        call windrow_bytes_explain(file, .true., column, text)
        call expect(index(text, 'domains') > 0, 'the plan')
        call windrow_bytes_write(file, column, a_of(rank), stat, errmsg)
        call expect_ok(stat, errmsg, 'write')
        ! b(i, j) is at element i + 4*j of the box.
        call windrow_byte_list_runs([tables + 48*rank], [8_int64*5], [16_int64], reshape([3_int64, 1_int64], [2, 1]), &
            reshape([16_int64, 0_int64], [2, 1]), reshape([32_int64, 0_int64], [2, 1]), box, stat, errmsg)
        call expect_ok(stat, errmsg, 'a list of runs')
        call windrow_byte_list_memory(box, first, last, stat, errmsg)
        call expect(first == 40 .and. last == 120, 'the memory of the list')
        call windrow_bytes_write(file, box, b, stat, errmsg)
        call expect_ok(stat, errmsg, 'write of runs')
        call windrow_bytes_report(file, text, 'json')
        call expect(index(text, '"bytes"') > 0, 'the report')
        call windrow_bytes_sync(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'sync')
        call windrow_byte_list_free(box)
        call windrow_bytes_close(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'close')
        call windrow_bytes_close(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'close of a file that is not open')
    end subroutine write_tables

    !> The last rank reads everything, in reverse order of the ranks, and a piece that is not in the file; the others
    !> nothing.
    subroutine read_tables()
        type(windrow_byte_list) :: list
        real(real64) :: b(2, 3, 0:ranks)
        integer(int64) :: bytes, i
        b = -1
        call windrow_bytes_open(MPI_COMM_WORLD, path_of('bytes'), file, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'open')
        if (rank == ranks - 1) call windrow_byte_list_pieces([(tables + 48*i, i=0, ranks)], [(48_int64, i=0, ranks)], &
            list, [(48*(ranks - i), i=0, ranks)], stat, errmsg)
        call expect_ok(stat, errmsg, 'a list of pieces')
        call windrow_bytes_read(file, list, b, bytes, stat, errmsg)
        call expect_ok(stat, errmsg, 'read')
        call expect(bytes == merge(48*ranks, 0, rank == ranks - 1), 'the number of bytes')
        call expect(all(abs(b(:, :, 0) + 1) <= 0), 'what is not in the file is not changed')
        do i = 0, ranks - 1
            if (rank == ranks - 1) call expect(all(abs(b(:, :, ranks - i) - b_of(int(i))) <= 0), &
                'what was written is read')
            if (rank < ranks - 1) call expect(all(abs(b + 1) <= 0), 'nothing is read')
        end do
        call windrow_bytes_write(file, column, a_of(rank), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_state, 'open for reading only', 'write')
        call windrow_byte_list_free(list)
        call windrow_bytes_close(file)
    end subroutine read_tables

    !> An integer as a communicator; a transposed array, which is copied, and an array of derived type.
    subroutine with_mpi()
        type :: pair
            integer(int32) :: one, two
        end type pair
        type(pair) :: pairs(2)
        integer(int32) :: square(2, 2), found(4)
        call windrow_bytes_open(MPI_COMM_WORLD%mpi_val, path_of('plain'), file, windrow_mode_update_or_create)
        square = reshape(a_of(rank), [2, 2])
        call windrow_bytes_write(file, column, transpose(square), stat, errmsg)
        call expect_ok(stat, errmsg, 'write of a transposed array')
        call windrow_bytes_read(file, column, found)
        call expect(all(found == 100*rank + [1, 3, 2, 4]), 'a transposed array')
        pairs = [pair(1, 2), pair(3, rank)]
        call windrow_bytes_write(file, column, pairs, stat, errmsg)
        call expect_ok(stat, errmsg, 'write of a derived type')
        call windrow_bytes_read(file, column, found, stat=stat)
        call expect(all(found == [1, 2, 3, rank]), 'a derived type')
        call windrow_bytes_close(file)
    end subroutine with_mpi

    !> Each rank has every second row of a block of columns, in the order of Fortran, of both kinds of datatypes.
    subroutine of_types()
        type(MPI_Datatype) :: rows, block
        type(windrow_byte_list) :: list
        integer(int32) :: numbers(4, 3), found(4, 3), all(4, 0:3*ranks - 1)
        integer(int64) :: bytes
        integer :: column
        call MPI_Type_vector(6, 1, 2, MPI_INTEGER4, rows)
        call MPI_Type_create_subarray(2, [4, 3*ranks], [2, 3], [1, 3*rank], MPI_ORDER_FORTRAN, MPI_INTEGER4, block)
        numbers = -1
        numbers(::2, :) = reshape(100*rank + [1, 2, 3, 4, 5, 6], [2, 3])
        call windrow_bytes_open(MPI_COMM_WORLD, path_of('types'), file, windrow_mode_update_or_create)
        call windrow_byte_list_types(rows, 1_int64, list, displacement=8_int64, etype=MPI_INTEGER4, filetype=block, &
            stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'a list of types')
        call windrow_bytes_write(file, list, numbers, stat, errmsg)
        call expect_ok(stat, errmsg, 'write of types')
        call windrow_byte_list_free(list)
        ! The last two numbers of the block alone, by the handles of `use mpi`.
        call windrow_byte_list_types(MPI_INTEGER4%mpi_val, 2_int64, list, 4_int64, 8_int64, MPI_INTEGER4%mpi_val, &
            block%mpi_val, stat, errmsg)
        call expect_ok(stat, errmsg, 'a list of integers')
        found = 0
        call windrow_bytes_read(file, list, found, bytes, stat, errmsg)
        call expect_ok(stat, errmsg, 'read of types')
        call expect(bytes == 8 .and. all_equal(found(:2, 1), 100*rank + [5, 6]) .and. found(3, 1) == 0, 'the last two')
        call windrow_byte_list_free(list)
        ! Without a view.
        all = 7
        call windrow_byte_list_types(MPI_INTEGER4, size(all, kind=int64), list, 8_int64)
        call windrow_bytes_read(file, list, all, bytes)
        call windrow_byte_list_free(list)
        call expect(bytes == 4*(size(all) - 1), 'the file ends with the last block')
        do column = 0, 3*ranks - 1
            call expect(all_equal(all(2:3, column), 100*(column/3) + 2*mod(column, 3) + [1, 2]), 'a column')
        end do
        call windrow_byte_list_types(MPI_DATATYPE_NULL, 1_int64, list, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'MPI_DATATYPE_NULL', 'no type')
        call windrow_byte_list_free(list)
        call windrow_bytes_close(file)
        call MPI_Type_free(rows)
        call MPI_Type_free(block)
    end subroutine of_types

    pure function all_equal(found, expected) result(equal)
        integer(int32), intent(in) :: found(:), expected(:)
        logical :: equal
        equal = all(found == expected)
    end function all_equal

    !> What one rank alone does wrong.
    subroutine refused()
        type(windrow_byte_list) :: list
        integer(int32) :: numbers(8), few(3)
        numbers = 0
        few = 0
        call windrow_bytes_open(MPI_COMM_WORLD, path_of('plain'), file, windrow_mode_update)
        if (rank == ranks - 1) then
            call windrow_bytes_write(file, column, few, stat, errmsg)
        else
            call windrow_bytes_write(file, column, numbers, stat, errmsg)
        end if
        call expect_error(stat, errmsg, windrow_bad_argument, &
            'bytes_write: the array has 12 bytes, and the list has bytes from 0 to 16', 'a short array')
        if (rank == ranks - 1) then
            call windrow_bytes_read(file, column, numbers(::2), stat=stat, errmsg=errmsg)
        else
            call windrow_bytes_read(file, nothing, numbers, stat=stat, errmsg=errmsg)
        end if
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array is not contiguous', 'an array with gaps')
        call windrow_byte_list_pieces([0_int64], [4_int64], list, [-4_int64])
        call windrow_bytes_read(file, list, numbers, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'from -4 to 0', 'a place before the array')
        call windrow_byte_list_free(list)
        call windrow_bytes_read(file, column, numbers, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'read after errors')
        call expect(all(numbers(:4) == [1, 2, 3, rank]) .and. all(numbers(5:) == 0), 'nothing was written')
        ! A list that one rank cannot make.
        if (rank == ranks - 1) then
            call windrow_byte_list_pieces([0_int64, 9_int64], [4_int64], list, stat=stat, errmsg=errmsg)
            call expect(stat == windrow_bad_argument .and. index(errmsg, 'different sizes') > 0, 'a list of two sizes')
        else
            call windrow_byte_list_pieces([0_int64], [4_int64], list)
        end if
        call windrow_bytes_write(file, list, numbers + 5, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the list', 'a list that could not be made')
        call windrow_byte_list_free(list)
        call windrow_bytes_read(file, column, numbers, stat=stat, errmsg=errmsg)
        call expect(all(numbers(:4) == [1, 2, 3, rank]), 'nothing was written by ranks with a good list')
        call windrow_bytes_close(file)
        call windrow_byte_list_pieces([0_int64, 9_int64], [4_int64, -1_int64], list, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'entry 2 of the list: its length is -1', 'a length')
        call windrow_byte_list_free(list)
        call windrow_byte_list_runs([0_int64], [0_int64], [4_int64], reshape([3_int64], [1, 1]), &
            reshape([16_int64, 0_int64], [2, 1]), reshape([32_int64], [1, 1]), list, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'different sizes', 'sizes of runs')
        call windrow_byte_list_free(list)
        call windrow_bytes_open(MPI_COMM_WORLD, path_of('missing'), file, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_not_found, path_of('missing'), 'a missing file')
    end subroutine refused
end program bytes_test
