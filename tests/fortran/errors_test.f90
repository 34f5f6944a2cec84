! SPDX-License-Identifier: BSD-3-Clause
!> Wrong arguments, on all ranks and on the last one only: the same code and message on every rank, and no rank waits.
program errors_test
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    use mpi_f08
    use checks
    use windrow
    implicit none

    type :: pair
        integer :: left, right
    end type pair

    type(windrow_file) :: file
    type(windrow_decomposition) :: rows
    character(2000) :: errmsg
    integer :: stat, variable
    integer :: good(4), many(8)
    real(real64) :: reals(4)
    logical :: odd_one    ! whether this rank does it wrong

    call begin_checks()
    odd_one = rank == ranks - 1
    good = rank
    many = rank
    reals = rank
    call files()
    call decompositions()
    call windrow_create(MPI_COMM_WORLD, path_of('errors'), file)
    call windrow_define_variable(file, 'numbers', windrow_int32, [4, ranks], variable)
    call windrow_rows(MPI_COMM_WORLD, ranks, rows)
    call definitions()
    call arrays_of_all_ranks()
    call arrays_of_one_rank()
    call blocks_of_one_rank()
    call queued()
    ! After all this the file is in order.
    call windrow_write(file, variable, rows, good, stat, errmsg)
    call expect_ok(stat, errmsg, 'a good write after bad ones')
    call windrow_close(file, stat, errmsg)
    call expect_ok(stat, errmsg, 'close')
    call closed()
    call windrow_decomposition_free(rows)
    call end_checks()

contains

    subroutine files()
        type(windrow_file) :: none
        call windrow_create(MPI_COMM_WORLD, '/no/such/folder/x.raw', none, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_not_found, '/no/such/folder', 'create')
        call windrow_open(MPI_COMM_WORLD, path_of('missing'), none, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_not_found, 'missing', 'open')
        call windrow_open(MPI_COMM_WORLD, path_of('missing'), none, mode=7, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'mode', 'open in no mode')
        call windrow_create(MPI_COMM_NULL, path_of('null'), none, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'MPI_COMM_NULL', 'create on no communicator')
        call windrow_create(MPI_COMM_WORLD, path_of(achar(rank + 65)), none, stat=stat, errmsg=errmsg)
        if (ranks > 1) then
            call expect_error(stat, errmsg, windrow_bad_argument, 'differ', 'create of different names')
        else
            call expect_ok(stat, errmsg, 'create')
            call windrow_discard(none)
        end if
        ! Only the code is asked for.
        call windrow_open(MPI_COMM_WORLD, path_of('missing'), none, stat=stat)
        call expect(stat == windrow_not_found, 'stat without errmsg')
    end subroutine files

    subroutine decompositions()
        type(windrow_decomposition) :: none
        integer(int64) :: first, count
        integer :: start(2), list(2)
        character(*), parameter :: entries = 'every list needs one entry per block and dimension'
        start = 1
        if (odd_one) start(2) = 9
        call windrow_block(MPI_COMM_WORLD, [4, 8], start, [4, 8], none, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'block of dimension 2 ends at 16 but the shape is 8', &
            'a block that leaves the shape')
        start(2) = merge(-3, 1, odd_one)
        call windrow_block(MPI_COMM_WORLD, [4, 8], start, [4, 8], none, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'block of dimension 2 starts at -3', &
            'a block before the shape')
        call windrow_blocks(MPI_COMM_WORLD, [4, 8], reshape([1, 1, 1, 1], [2, 2]), &
            reshape([4, 8, merge(5, 4, odd_one), 8], [2, 2]), none, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'block 2 of dimension 1 ends at 5 but the shape is 4', &
            'the second of two blocks')
        call windrow_block(MPI_COMM_WORLD, [4, 8], [1, 1], good(:merge(1, 2, odd_one)), none, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, entries, 'block: count too short')
        call windrow_block(MPI_COMM_WORLD, [4, 8], [1, 1], [1, 1], none, [1, 1, 1], stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, entries, 'block: memory_shape too long')
        call windrow_blocks(MPI_COMM_WORLD, [4, 8], reshape([1, 1, 1, 1], [2, 2]), reshape([1, 1], [2, 1]), none, &
            stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, entries, 'blocks: tables of two sizes')
        call windrow_same(MPI_COMM_WORLD, [4, 8], none, [1], [4, 8], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, entries, 'same: start too short')
        list = [1, 2]
        if (odd_one) list(2) = 0
        call windrow_points(MPI_COMM_WORLD, 2, list, none, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'entry 2 of the points is 0; the points are 1 to 2', &
            'point 0')
        list = [1, 2]
        call windrow_points(MPI_COMM_WORLD, 2, list, none, [.true.], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'as many owner flags', 'points: owned too short')
        call windrow_rows(MPI_COMM_WORLD, 10*ranks, none, merge(9, 10, odd_one), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'add up to', 'rows that do not add up')
        call windrow_rows(MPI_COMM_WORLD, 10*ranks, none, merge(-1, 10, odd_one), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'negative', 'negative rows')
        call windrow_decomposition_rows(none, first, count, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'NULL', 'rows of nothing')
        call windrow_decomposition_free(none)
    end subroutine decompositions

    subroutine definitions()
        type(windrow_variable_definition) :: no_path(1)
        integer, allocatable :: numbers(:)
        integer :: number
        call windrow_define_variable(file, 'numbers', windrow_int32, [1], number, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_exists, 'numbers', 'define twice')
        call windrow_define_variable(file, 'path', 99, [1], number, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no type 99', 'define what has no type')
        call windrow_define_variable(file, 'negative', windrow_int32, [1, merge(-1, 1, odd_one)], number, stat=stat, &
            errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'dimension 2 is -1', 'a negative shape')
        call expect(number == 0, 'no number of what was not defined')
        no_path(1)%type = windrow_int8
        call windrow_define_variables(file, no_path, numbers, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'path', 'define without a path')
        call windrow_define_group(file, 'numbers/in', stat, errmsg)
        call expect(stat /= 0, 'a group in a variable')
        call windrow_flush_end(file, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_state, '', 'flush_end without flush_begin')
        block
            character(:), allocatable :: text
            call windrow_explain(file, text, 'yaml', stat, errmsg)
            call expect_error(stat, errmsg, windrow_bad_argument, 'json', 'explain in no format')
            call windrow_report(file, text, 'yaml', stat, errmsg)
            call expect_error(stat, errmsg, windrow_bad_argument, 'json', 'report in no format')
        end block
    end subroutine definitions

    subroutine arrays_of_all_ranks()
        complex :: wave(4)
        logical :: truths(4)
        character(4) :: letters(4)
        type(pair) :: pairs(4)
        integer :: cube(2, 4, 2)
        wave = 0
        truths = .true.
        letters = ''
        pairs = pair(1, 2)
        cube = 0
        call windrow_write(file, variable, rows, reals, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array is real(real64), the variable int32', &
            'write of reals')
        call windrow_write(file, variable, rows, wave, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'complex', 'write of complex numbers')
        call windrow_write(file, variable, rows, truths, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'logical', 'write of logicals')
        call windrow_write(file, variable, rows, letters, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array is character(4), the variable int32', &
            'write of characters')
        call windrow_write(file, variable, rows, pairs, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array is', 'write of a derived type')
        call windrow_write(file, variable, rows, [1_int8, 2_int8], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'integer(int8)', 'write of short integers')
        call windrow_write(file, variable, rows, [1_int16, 2_int16], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'integer(int16)', 'write of shorter integers')
        call windrow_write(file, variable, rows, [1_int64, 2_int64], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'integer(int64)', 'write of long integers')
        call windrow_write(file, variable, rows, [1.0_real32], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'real(real32)', 'write of short reals')
        call windrow_read(file, variable, rows, many(1:8:2), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'not contiguous: its dimension 1', 'read into gaps')
        call windrow_read(file, variable, rows, cube(:, 1:2, :), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'its dimension 3 has gaps', 'read into a part of a cube')
        call windrow_write(file, variable, rows, cube(:, 3:4, 2), stat, errmsg)
        call expect_ok(stat, errmsg, 'a part without gaps')
        call windrow_read(file, variable, rows, good(:3), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array has 3 elements, 4 are needed', &
            'read into too little')
        call windrow_write(file, 99, rows, good, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no variable number 99; the file has 1', &
            'write of no variable')
    end subroutine arrays_of_all_ranks

    !> The other ranks get the error of the last one.
    subroutine arrays_of_one_rank()
        if (odd_one) then
            call windrow_write(file, variable, rows, reals, stat, errmsg)
        else
            call windrow_write(file, variable, rows, good, stat, errmsg)
        end if
        call expect_error(stat, errmsg, windrow_bad_argument, 'write of "/numbers": the array is real(real64)', &
            'reals on one rank')
        call expect(windrow_error_rank() == ranks - 1, 'which rank')
        if (odd_one) then
            call windrow_read(file, variable, rows, good(:2), stat, errmsg)
        else
            call windrow_read(file, variable, rows, good, stat, errmsg)
        end if
        call expect_error(stat, errmsg, windrow_bad_argument, 'read of "/numbers": the array has 2 elements, 4', &
            'too little on one rank')
        good = rank
    end subroutine arrays_of_one_rank

    subroutine blocks_of_one_rank()
        integer :: large(4, 8), line
        large = 0
        if (odd_one) then
            call windrow_write_block(file, variable, [1, rank + 1], [4, 1], reals, stat, errmsg)
        else
            call windrow_write_block(file, variable, [1, rank + 1], [4, 1], good, stat, errmsg)
        end if
        call expect_error(stat, errmsg, windrow_bad_argument, 'write_block of "/numbers": the array is real(real64)', &
            'a block of reals')
        call windrow_read_block(file, variable, good(:merge(1, 2, odd_one))*0 + 1, [4, 1], many, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, &
            'start has 1 entry, count 2; the variable has 2 dimensions', 'entries')
        call windrow_read_block(file, merge(2, variable, odd_one), [1, 1], [4, 1], many, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no variable number 2', 'a block of no variable')
        call windrow_read_block(file, variable, [1, 1], [4, 1], many(:merge(3, 8, odd_one)), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array has 3 elements, 4 are needed', &
            'a block into too little')
        call windrow_define_variable(file, 'a line', windrow_int32, [4], line)
        call windrow_write_block(file, line, [1], [4], good(:merge(3, 4, odd_one)), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, &
            'write_block of "/a line": the array has 3 elements, 4 are needed', &
            'a variable of another shape than the first')
        call windrow_flush(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'the flush after a block that was refused')
        call windrow_read_block(file, variable, [1, 1], [4, ranks + 1], large, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'block of dimension 2 ends at', &
            'a block that leaves the variable')
    end subroutine blocks_of_one_rank

    !> put() returns the error on this rank, and the flush on all ranks. Then the queue is empty.
    subroutine queued()
        integer, target :: numbers(4)
        numbers = rank
        call windrow_put(file, variable, rows, numbers, stat, errmsg)
        call expect_ok(stat, errmsg, 'a good put')
        if (odd_one) then
            call windrow_put(file, variable, rows, reals, stat, errmsg)
            call expect(stat == windrow_bad_argument .and. index(errmsg, 'put of "/numbers"') > 0, &
                'a bad put: '//errmsg)
            call windrow_get(file, variable, rows, many(::2), stat, errmsg)
            call expect(stat == windrow_bad_argument .and. index(errmsg, 'get of "/numbers"') > 0, &
                'a bad get: '//errmsg)
        end if
        call windrow_flush(file, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'put of "/numbers": the array is real(real64)', &
            'the flush of a bad put')
        call windrow_flush(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'the flush after')
    end subroutine queued

    subroutine closed()
        call windrow_write(file, variable, rows, good, stat, errmsg)
        call expect(stat == windrow_bad_argument, 'write to a closed file')
        call windrow_put(file, variable, rows, good, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'not open', 'put to a closed file')
        call windrow_write_block(file, variable, [1, 1], [4, 1], good, stat, errmsg)
        call expect(stat == windrow_bad_argument, 'write_block to a closed file')
        call windrow_flush(file, stat, errmsg)
        call expect(stat == windrow_bad_argument, 'flush of a closed file')
        call windrow_sync(file, stat, errmsg)
        call expect(stat == windrow_bad_argument, 'sync of a closed file')
        call windrow_open(MPI_COMM_WORLD, path_of('errors'), file)
        call windrow_write(file, variable, rows, good, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_state, '', 'write to a file that is open for reading')
        call windrow_close(file)
    end subroutine closed
end program errors_test
