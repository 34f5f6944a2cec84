! SPDX-License-Identifier: BSD-3-Clause
!> Data by every decomposition and every call that moves it; fortran_test.py reads the file with h5py. Each value says
!> where it belongs: x + 100 y, counted from 1.
program data_test
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    use mpi_f08
    use checks
    use windrow
    implicit none

    type(windrow_file) :: file
    character(2000) :: errmsg
    integer :: stat

    call begin_checks()
    call windrow_create(MPI_COMM_WORLD, path_of('data'), file)
    call ghosts()
    call several()
    call strided()
    call rows()
    call points()
    call same()
    call one_rank_holds_all()
    call records()
    call converted_records()
    call write_while_computing()
    call other_strategies()
    call expressions()
    call windrow_close(file, stat, errmsg)
    call expect_ok(stat, errmsg, 'close')

    call windrow_open(MPI_COMM_WORLD, path_of('data'), file, mode=windrow_mode_update)
    call update()
    call windrow_close(file)

    call windrow_open(MPI_COMM_WORLD%mpi_val, path_of('data'), file)
    call read_in_another_cut()
    call read_points_and_rows()
    call windrow_close(file)
    call beyond_32_bits()
    call end_checks()

contains

    pure function value_at(x, y) result(value)
        integer, intent(in) :: x, y
        integer :: value
        value = x + 100*y
    end function value_at

    subroutine ghosts()
        type(windrow_decomposition) :: part
        integer :: variable, x, y
        real(real64), allocatable, target :: box(:, :)
        allocate (box(0:8, 0:6), source=-1.0_real64)
        do y = 1, 5
            do x = 1, 7
                box(x, y) = value_at(x, 5*rank + y)
            end do
        end do
        call windrow_define_variable(file, 'grids/with ghost cells', windrow_float64, [7, 5*ranks], variable, &
            stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'define')
        call windrow_block(MPI_COMM_WORLD, [7, 5*ranks], [1, 5*rank + 1], [7, 5], part, shape(box), [2, 2], stat, &
            errmsg)
        call expect_ok(stat, errmsg, 'block')
        call windrow_put(file, variable, part, box, stat, errmsg)
        call expect_ok(stat, errmsg, 'put')
        call windrow_flush(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'flush')
        call windrow_decomposition_free(part)
        call windrow_decomposition_free(part)
    end subroutine ghosts

    !> Rank r has the columns r + 1 and r + 1 + ranks, each in a separate box with a row before it; a table of 64-bit
    !> integers.
    subroutine several()
        type(windrow_decomposition) :: part, plain
        integer(int64) :: starts(2, 2), counts(2, 2), boxes(2, 2), ghosts(2, 2)
        integer(int16), target :: columns(8, 2)
        integer :: variable, x
        character(:), allocatable :: text
        starts = reshape([1, rank + 1, 1, rank + 1 + ranks], [2, 2])
        counts = reshape([6, 1, 6, 1], [2, 2])
        boxes = reshape([8, 1, 8, 1], [2, 2])
        ghosts = reshape([3, 1, 3, 1], [2, 2])
        columns = -1
        do x = 1, 6
            columns(x + 2, 1) = int(value_at(x, rank + 1), int16)
            columns(x + 2, 2) = int(value_at(x, rank + 1 + ranks), int16)
        end do
        call windrow_define_variable(file, 'several', windrow_int16, [6_int64, 2_int64*ranks], variable)
        call windrow_blocks(MPI_COMM_WORLD, [6_int64, 2_int64*ranks], starts, counts, part, boxes, ghosts, stat, errmsg)
        call expect_ok(stat, errmsg, 'blocks of 64 bits')
        call windrow_put(file, variable, part, columns)
        call windrow_explain(file, text)
        call expect(index(text, 'plan to write') > 0, 'the plan: '//text)
        call windrow_explain(file, text, 'json', stat, errmsg)
        call expect_ok(stat, errmsg, 'explain')
        call expect(text(1:1) == '[', 'the plan as JSON: '//text)
        call windrow_flush(file)
        call windrow_report(file, text, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'report')
        call expect(index(text, 'bytes') > 0 .or. index(text, 'B') > 0, 'the report: '//text)
        call windrow_report(file, text, format='json')
        call expect(text(1:1) == '{', 'the report as JSON: '//text)

        columns = 0
        call windrow_blocks(MPI_COMM_WORLD%mpi_val, int([6, 2*ranks]), int(starts), int(counts), plain, stat=stat, &
            errmsg=errmsg)
        call expect_ok(stat, errmsg, 'blocks of 32 bits')
        call windrow_read(file, variable, plain, columns(1:6, 1:1), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array has 6 elements, 12 are needed', 'too short')
        call windrow_get(file, variable, part, columns)
        call windrow_flush(file)
        call expect(all(columns(3:8, 2) == [(value_at(x, rank + 1 + ranks), x=1, 6)]), 'what was read into boxes')
        call expect(all(columns(1:2, :) == 0), 'what lies before the boxes stays')
        call windrow_decomposition_free(part)
        call windrow_decomposition_free(plain)
    end subroutine several

    !> Elements with any strides in memory: with the dimensions in another order, and two interleaved blocks, one of
    !> them reversed.
    subroutine strided()
        type(windrow_decomposition) :: turned, part, none
        integer :: variable, x, y, starts(2, 1), counts(2, 1)
        integer(int64) :: elements, starts_64(1, 2), counts_64(1, 2), firsts(2), strides(1, 2)
        integer(int16) :: columns(2, 3)
        integer :: apart(8)
        starts(:, 1) = [1, 2*rank + 1]
        counts(:, 1) = [3, 2]
        call windrow_strided_blocks(MPI_COMM_WORLD, [3, 2*ranks], starts, counts, [1], reshape([2, 1], [2, 1]), &
            turned, stat, errmsg)
        call expect_ok(stat, errmsg, 'strided_blocks of 32 bits')
        columns = reshape([((int(value_at(x, 2*rank + y), int16), y=1, 2), x=1, 3)], [2, 3])
        call windrow_define_variable(file, 'turned', windrow_int16, [3, 2*ranks], variable)
        call windrow_write(file, variable, turned, columns, stat, errmsg)
        call expect_ok(stat, errmsg, 'write of a turned array')
        columns = 0
        call windrow_read(file, variable, turned, columns)
        call expect(all(columns == reshape([((value_at(x, 2*rank + y), y=1, 2), x=1, 3)], [2, 3])), &
            'a turned array read')
        call windrow_read(file, variable, turned, columns(:, :2), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array has 4 elements, 6 are needed', &
            'too few columns')

        starts_64 = reshape([4_int64*rank + 1, 4_int64*rank + 3], [1, 2])
        counts_64 = 2
        firsts = [7, 2]
        strides = reshape([-2, 2], [1, 2])
        call windrow_strided_blocks(MPI_COMM_WORLD%mpi_val, [4_int64*ranks], starts_64, counts_64, firsts, strides, &
            part, stat, errmsg)
        call expect_ok(stat, errmsg, 'strided_blocks of 64 bits')
        call windrow_decomposition_memory(part, [4*ranks], elements, stat, errmsg)
        call expect_ok(stat, errmsg, 'decomposition_memory')
        call expect(elements == 7, 'up to the last element')
        call windrow_decomposition_memory(turned, [5_int64, 3_int64, 2_int64*ranks], elements)
        call expect(elements == 5*6, 'dimensions before those of the decomposition')
        call windrow_decomposition_memory(part, [4*ranks + 1], elements, stat, errmsg)
        call expect(stat == windrow_bad_argument .and. elements == 0, 'a shape that does not fit: '//trim(errmsg))
        call windrow_define_variable(file, 'apart', windrow_int32, [4*ranks], variable)
        apart = -1
        apart([7, 5, 2, 4]) = [(4*rank + x, x=1, 4)]
        call windrow_write(file, variable, part, apart(:7), stat, errmsg)
        call expect_ok(stat, errmsg, 'write of elements that lie apart')
        call windrow_write(file, variable, part, apart(:6), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array has 6 elements, 7 are needed', 'one too few')
        apart = 0
        call windrow_read(file, variable, part, apart)
        call expect(all(apart == [0, 4*rank + 3, 0, 4*rank + 4, 4*rank + 2, 0, 4*rank + 1, 0]), 'elements apart read')

        ! Wrong on the last rank alone.
        firsts(2) = merge(0, 2, rank == ranks - 1)
        call windrow_strided_blocks(MPI_COMM_WORLD, [4_int64*ranks], starts_64, counts_64, firsts, strides, none, &
            stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'outside the memory', 'element 0 of an array')
        firsts(2) = 2
        call windrow_strided_blocks(MPI_COMM_WORLD, [4_int64*ranks], starts_64, counts_64, &
            firsts(:merge(1, 2, rank == ranks - 1)), strides, none, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'every list needs one entry per block and dimension', &
            'too few first elements')
        call windrow_decomposition_memory(none, [4*ranks], elements, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the decomposition is NULL', 'the memory of nothing')
        call windrow_decomposition_free(turned)
        call windrow_decomposition_free(part)
    end subroutine strided

    !> The last rank has as many rows as are left; the others one each.
    subroutine rows()
        type(windrow_decomposition) :: part, wide
        integer :: variable, x, y, mine
        integer(int64) :: first, count
        real(real32), allocatable :: slab(:, :)
        mine = merge(11 - (ranks - 1), 1, rank == ranks - 1)
        call windrow_rows(MPI_COMM_WORLD, 11, part, mine, stat, errmsg)
        call expect_ok(stat, errmsg, 'rows')
        call windrow_decomposition_rows(part, first, count, stat, errmsg)
        call expect_ok(stat, errmsg, 'decomposition_rows')
        call expect(first == rank + 1 .and. count == mine, 'which rows')
        allocate (slab(3, mine))
        do y = 1, mine
            slab(:, y) = [(value_at(x, int(first) + y - 1), x=1, 3)]
        end do
        call windrow_define_variable(file, 'rows', windrow_float32, [3, 11], variable)
        call windrow_write(file, variable, part, slab, stat, errmsg)
        call expect_ok(stat, errmsg, 'write of rows')
        call windrow_rows(MPI_COMM_WORLD, 11_int64, wide)
        call windrow_decomposition_rows(wide, first, count)
        call expect(count == 11/ranks .or. count == 11/ranks + 1, 'rows that the library divides')
        call windrow_decomposition_free(part)
        call windrow_decomposition_free(wide)
    end subroutine rows

    !> Ten points a rank, backwards, and before them a copy of the next rank's first point, which is wrong there: its
    !> owner writes it.
    subroutine points()
        type(windrow_decomposition) :: part, unowned
        type(windrow_options) :: options
        type(windrow_file) :: other
        integer :: variable, i
        integer, allocatable :: list(:)
        integer(int64), allocatable :: values(:, :)
        list = [mod(10*(rank + 1), 10*ranks) + 1, (10*rank + i, i=10, 1, -1)]
        allocate (values(4, size(list)))
        do i = 1, size(list)
            values(:, i) = value_at(1, list(i)) + [0, 1, 2, 3]
        end do
        if (ranks > 1) values(:, 1) = -1
        call windrow_define_variable(file, 'points', windrow_int64, [4, 10*ranks], variable)
        call windrow_points(MPI_COMM_WORLD, 10*ranks, list, part, [.false., (.true., i=1, 10)], stat, errmsg)
        call expect_ok(stat, errmsg, 'points')
        call windrow_write(file, variable, part, values, stat, errmsg)
        call expect_ok(stat, errmsg, 'write of points')

        values = 0
        call windrow_points(MPI_COMM_WORLD, 10_int64*ranks, int(list, int64), unowned, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'points without owners')
        call windrow_read(file, variable, unowned, values)
        do i = 1, size(list)
            call expect(all(values(:, i) == value_at(1, list(i)) + [0, 1, 2, 3]), 'points read')
        end do

        call owners_and_holes()

        ! By the lowest rank that holds it.
        call windrow_options_create(options)
        call windrow_options_set(options, 'owner', 'first', stat, errmsg)
        call expect_ok(stat, errmsg, 'options_set')
        call windrow_create(MPI_COMM_WORLD, path_of('first'), other, options, stat, errmsg)
        call expect_ok(stat, errmsg, 'create with options')
        call windrow_define_variable(other, 'who', windrow_int32, [10*ranks], variable)
        call windrow_write(other, variable, unowned, [(rank, i=1, size(list))], stat, errmsg)
        call expect_ok(stat, errmsg, 'write of an expression')
        call windrow_close(other)
        call windrow_options_free(options)
        call windrow_decomposition_free(part)
        call windrow_decomposition_free(unowned)
    end subroutine points

    subroutine same()
        type(windrow_decomposition) :: all_of_it, part, part_64
        integer :: variable
        integer(int8) :: five(5), two(2)
        real(real64) :: number
        call windrow_same(MPI_COMM_WORLD, all_of_it, stat, errmsg)
        call expect_ok(stat, errmsg, 'same')
        call windrow_define_variable(file, 'a scalar', windrow_float64, variable, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'define a scalar')
        call windrow_write(file, variable, all_of_it, 42.5_real64 + rank, stat, errmsg)
        call expect_ok(stat, errmsg, 'write of a scalar')
        number = 0
        call windrow_read(file, variable, all_of_it, number)
        call expect(abs(number - 42.5_real64) < 1e-12_real64, 'the lowest rank writes')

        call windrow_define_variable(file, 'five', windrow_int8, [5], variable)
        call windrow_write(file, variable, all_of_it, [1_int8, 2_int8, 3_int8, 4_int8, 5_int8])
        call windrow_same(MPI_COMM_WORLD, [5], part, start=[2], count=[2], stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'same part')
        call windrow_write(file, variable, part, [-2_int8, -3_int8])
        call windrow_same(MPI_COMM_WORLD%mpi_val, [5_int64], part_64, [3_int64], [2_int64])
        two = 0
        call windrow_read(file, variable, part_64, two)
        call expect(all(two == [-3, 4]), 'a part read on all ranks')
        five = 0
        call windrow_read(file, variable, all_of_it, five)
        call expect(all(five == [1, -2, -3, 4, 5]), 'all read on all ranks')
        call windrow_decomposition_free(all_of_it)
        call windrow_decomposition_free(part)
        call windrow_decomposition_free(part_64)
    end subroutine same

    subroutine one_rank_holds_all()
        integer :: variable, many
        integer :: values(3, 4), back(12)
        integer(int16), allocatable :: bits(:)
        type(windrow_decomposition) :: none
        values = reshape([111, 112, 113, 121, 122, 123, 131, 132, 133, 141, 142, 143], [3, 4])
        many = merge(4, 0, rank == ranks - 1)
        call windrow_define_variable(file, 'one rank', windrow_int32, [3, 4], variable)
        call windrow_write_block(file, variable, [1, 1], [3, many], values(:, :many), stat, errmsg)
        call expect_ok(stat, errmsg, 'write_block')
        back = 0
        call windrow_read_block(file, variable, [2_int64, 2_int64], [1_int64, 3_int64], back, stat, errmsg)
        call expect_ok(stat, errmsg, 'read_block')
        call expect(all(back(:3) == [122, 132, 142]) .and. all(back(4:) == 0), 'a block read')

        ! Unsigned in the file: the bits of signed ones. No rank but the first holds anything.
        allocate (bits(merge(3, 0, rank == 0)))
        if (rank == 0) bits = [-1_int16, 0_int16, 7_int16]
        call windrow_define_variable(file, 'unsigned', windrow_uint16, [3], variable)
        call windrow_block(MPI_COMM_WORLD%mpi_val, [3], [1], [size(bits)], none, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'a block of some ranks')
        call windrow_write(file, variable, none, bits, stat, errmsg)
        call expect_ok(stat, errmsg, 'write of some ranks')
        call windrow_decomposition_free(none)
    end subroutine one_rank_holds_all

    !> Five steps of a table that each rank holds two columns of; and, in HDF5, one that grows to the third.
    subroutine records()
        type(windrow_decomposition) :: part
        type(windrow_options) :: growing
        type(windrow_variable_info) :: info
        integer :: variable, step, x, y
        integer, target :: table(4, 2), back(4, 2)
        call windrow_define_variable(file, 'records/fixed', windrow_int32, [4, 2*ranks, 5], variable)
        call windrow_block(MPI_COMM_WORLD, [4, 2*ranks], [1, 2*rank + 1], [4, 2], part)
        do step = 1, 5
            table = reshape([((value_at(x, 2*rank + y) + 10000*step, x=1, 4), y=1, 2)], [4, 2])
            call windrow_put_record(file, variable, step, part, table, stat, errmsg)
            call expect_ok(stat, errmsg, 'put_record')
            call windrow_flush(file)
        end do
        back = 0
        call windrow_get_record(file, variable, 5_int64, part, back, stat, errmsg)
        call expect_ok(stat, errmsg, 'get_record')
        call windrow_flush(file)
        call expect(all(back == table), 'a record read')
        call windrow_get_record(file, variable, 0, part, back, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the record is 0; they count from 1', 'record 0')
        call windrow_flush(file, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the record is 0', 'the flush of record 0')
        call windrow_put_record(file, variable, 1_int64, part, table(:, :1), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array has 4 elements, 8 are needed', 'half a record')
        call windrow_flush(file, stat, errmsg)

        if (index(path_of(''), '.h5') > 0) then
            call windrow_options_create(growing)
            call windrow_options_set(growing, 'extendible', 'true')
            call windrow_define_variable(file, 'records/growing', windrow_int32, [4, 2*ranks, 0], variable, growing)
            call windrow_options_free(growing)
            call windrow_put_record(file, variable, 3_int64, part, table)
            call windrow_flush(file, stat, errmsg)
            call expect_ok(stat, errmsg, 'a record behind the end')
            call windrow_inquire_variable(file, variable, info)
            call expect(all(info%shape == [4, 2*ranks, 3]), 'a shape that has grown')
            call expect(info%extendible .and. info%chunked .and. size(info%chunk) == 3, 'what says that it can')
        end if
        call windrow_decomposition_free(part)
    end subroutine records

    !> Two steps of reals for a variable of integers, which are read as bytes and as complex numbers.
    subroutine converted_records()
        type(windrow_decomposition) :: part
        integer :: variable, step, x, y
        integer(int64) :: elements
        real(real64), target :: reals(4, 2)
        integer(int8), target :: bytes(4, 2)
        complex(real32), target :: waves(4, 2)
        call windrow_define_variable(file, 'records/converted', windrow_int16, [4, 2*ranks, 2], variable)
        call windrow_block(MPI_COMM_WORLD, [4, 2*ranks], [1, 2*rank + 1], [4, 2], part)
        call windrow_decomposition_memory(part, [4, 2*ranks], elements)
        call expect(elements == size(reals), 'the elements of a record')
        do step = 1, 2
            reals = reshape([((value_at(x, 2*rank + y) + step/4.0_real64, x=1, 4), y=1, 2)], [4, 2])
            if (step == 1) call windrow_put_record_as(file, variable, step, part, reals, stat=stat, errmsg=errmsg)
            if (step == 2) call windrow_put_record_as(file, variable, 2_int64, part, reals, windrow_float64, stat, &
                errmsg)
            call expect_ok(stat, errmsg, 'put_record_as')
            call windrow_flush(file, stat, errmsg)
            call expect_ok(stat, errmsg, 'flush of a converted record')
        end do
        call windrow_get_record_as(file, variable, 2, part, bytes, windrow_uint8, stat, errmsg)
        call expect_ok(stat, errmsg, 'get_record_as of unsigned numbers')
        call windrow_get_record_as(file, variable, 1_int64, part, waves, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'get_record_as')
        call windrow_flush(file)
        call expect(all(iand(int(bytes), 255) == min(int(reals), 255)), 'a record as unsigned bytes')
        call expect(all(nint(real(waves)) == int(reals)) .and. all(abs(aimag(waves)) <= 0), &
            'a record as complex numbers')

        call windrow_put_record_as(file, variable, 0, part, reals, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'put_record_as: the record is 0; they count from 1', &
            'record 0')
        call windrow_get_record_as(file, variable, 0_int64, part, reals, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'get_record_as: the record is 0', 'get of record 0')
        call windrow_get_record_as(file, variable, 1, part, reals(:, :1), stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array has 4 elements, 8 are needed', 'half a record')
        call windrow_put_record_as(file, variable, 1, part, bytes, windrow_int32, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'integer(int8), which holds no elements of type int32', &
            'a type that the array has not')
        call windrow_flush(file, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'put_record_as: the record is 0', 'the flush of record 0')
        call windrow_decomposition_free(part)
    end subroutine converted_records

    subroutine write_while_computing()
        type(windrow_decomposition) :: part
        integer :: variable, i
        integer(int64), allocatable, target, asynchronous :: values(:)
        values = [(int(1000*rank + i, int64), i=1, 1000)]
        call windrow_define_variable(file, 'Größe der Fläche/während', windrow_int64, [1000*ranks], variable)
        call windrow_block(MPI_COMM_WORLD, [1000_int64*ranks], [1000_int64*rank + 1], [1000_int64], part)
        call put_assumed_size(variable, part, values)
        call windrow_flush_begin(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'flush_begin')
        call windrow_flush_end(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'flush_end')
        call windrow_decomposition_free(part)
        call windrow_sync(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'sync')
    end subroutine write_while_computing

    subroutine other_strategies()
        type(windrow_options) :: options
        type(windrow_decomposition) :: part
        type(windrow_variable_info) :: info
        integer, target :: numbers(2)
        integer :: variable
        character(:), allocatable :: plan
        call windrow_options_create(options)
        call windrow_options_set(options, 'strategy', 'two-phase')
        call windrow_set_strategy(file, options, stat, errmsg)
        call expect_ok(stat, errmsg, 'set_strategy')
        call windrow_options_set(options, 'fill_value', '-7')
        call windrow_define_variable(file, 'filled', windrow_int32, [2*ranks + 1], variable, options)
        call windrow_inquire_variable(file, variable, info)
        call expect(info%has_fill_value .and. info%fill_value == '-7', 'a fill value: '//info%fill_value)
        call windrow_block(MPI_COMM_WORLD, [2*ranks + 1], [2*rank + 1], [2], part)
        numbers = rank
        call windrow_put(file, variable, part, numbers)
        call windrow_set_strategy(file, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_state, 'queued', 'set_strategy with a queue')
        call windrow_explain(file, plan)
        call expect(index(plan, 'two-phase') > 0, 'the plan: '//plan)
        call windrow_flush(file)
        call windrow_set_strategy(file, options, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'fill_value', 'set_strategy with other options')
        call windrow_set_strategy(file, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'set_strategy as before')
        call windrow_options_free(options)
        call windrow_decomposition_free(part)
    end subroutine other_strategies

    !> What is written may be an expression, of which compilers make a copy without gaps; of transpose() they make none.
    subroutine expressions()
        type(windrow_decomposition) :: part
        type(windrow_options) :: options
        integer :: variable, names, x, y
        integer, target :: turned(3, 2), first(2), many(2)
        character(3) :: words(2, 2), read(2, 2)
        do y = 1, 3
            do x = 1, 2
                turned(y, x) = value_at(x, 3*rank + y)
            end do
        end do
        first = [1, 3*rank + 1]
        many = [2, 3]
        call windrow_block(MPI_COMM_WORLD, [2, 3*ranks], first, many, part)
        call windrow_define_variable(file, 'expressions', windrow_int32, [2, 3*ranks], variable)
        call windrow_write(file, variable, part, transpose(turned), stat, errmsg)
        call expect_ok(stat, errmsg, 'write of a transposed array')
        call expect_block(variable, transpose(turned), 'transpose')
        call windrow_write(file, variable, part, transpose(turned) + 1, stat, errmsg)
        call expect_ok(stat, errmsg, 'write of a sum')
        call expect_block(variable, transpose(turned) + 1, 'a sum')
        call windrow_write_block(file, variable, first, many, transpose(2*turned), stat, errmsg)
        call expect_ok(stat, errmsg, 'write_block of a transposed expression')
        call expect_block(variable, 2*transpose(turned), 'a transposed expression')
        call windrow_write_block(file, variable, first, many, transpose((turned(3:1:-1, [2, 1]))), stat, errmsg)
        call expect_ok(stat, errmsg, 'write_block of chosen elements')
        call expect_block(variable, transpose((turned(3:1:-1, [2, 1]))), 'chosen elements')
        call windrow_write(file, variable, part, (turned(3:1:-1, :)), stat, errmsg)
        call expect_ok(stat, errmsg, 'write of a part backwards')
        call windrow_write(file, variable, part, turned(3:1:-1, :), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'not contiguous: its dimension 1', 'a part backwards')
        call windrow_put(file, variable, part, transpose(turned), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'not contiguous', 'put of a transposed array')
        call windrow_flush(file, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'not contiguous', 'flush of it')
        call windrow_decomposition_free(part)
        words = reshape(['one', 'two', 'abc', 'xyz'], [2, 2])
        call windrow_options_create(options)
        call windrow_options_set(options, 'element_bytes', '3')
        call windrow_define_variable(file, 'expressions of text', windrow_text, [2, 2], names, options)
        call windrow_options_free(options)
        call windrow_write_block(file, names, [1, 1], merge(2, 0, [rank == 0, rank == 0]), transpose(words), stat, &
            errmsg)
        call expect_ok(stat, errmsg, 'write_block of transposed texts')
        call windrow_read_block(file, names, [1, 1], [2, 2], read)
        call expect(all(read == transpose(words)), 'transposed texts')
    end subroutine expressions

    !> That this rank's block of the expressions is what was written.
    subroutine expect_block(variable, expected, what)
        integer, intent(in) :: variable, expected(2, 3)
        character(*), intent(in) :: what
        integer :: found(2, 3)
        call windrow_read_block(file, variable, [1, 3*rank + 1], [2, 3], found)
        call expect(all(found == expected), what)
    end subroutine expect_block

    subroutine put_assumed_size(variable, part, values)
        integer, intent(in) :: variable
        type(windrow_decomposition), intent(in) :: part
        integer(int64), intent(in), target, asynchronous :: values(*)
        call windrow_put(file, variable, part, values, stat, errmsg)
        call expect_ok(stat, errmsg, 'put of an array of assumed size')
    end subroutine put_assumed_size

    subroutine update()
        integer :: variable
        integer :: values(8)
        values = [-11, 0, -12, 0, 0, 0, 0, 0]
        call windrow_find_variable(file, '/one rank', variable, stat, errmsg)
        call expect_ok(stat, errmsg, 'find')
        ! An expression has no gaps: every second element becomes two in a row.
        call windrow_write_block(file, variable, [1, 4], [merge(2, 0, rank == 0), 1], (values(1:3:2)), stat, errmsg)
        call expect_ok(stat, errmsg, 'update')
    end subroutine update

    subroutine read_in_another_cut()
        type(windrow_decomposition) :: part
        integer :: variable, x, y, first, last
        real(real64), allocatable :: piece(:, :)
        call windrow_find_variable(file, 'grids/with ghost cells', variable)
        first = 7*rank/ranks + 1
        last = 7*(rank + 1)/ranks
        allocate (piece(first:last, 5*ranks))
        call windrow_block(MPI_COMM_WORLD, [7, 5*ranks], [first, 1], shape(piece), part)
        call windrow_read(file, variable, part, piece, stat, errmsg)
        call expect_ok(stat, errmsg, 'read')
        do y = 1, 5*ranks
            do x = first, last
                call expect(nint(piece(x, y)) == value_at(x, y), 'a grid read in another cut')
            end do
        end do
        call windrow_decomposition_free(part)
    end subroutine read_in_another_cut

    !> Writers of points, points that no rank holds, and meshes: of ten points per rank every tenth is omitted.
    subroutine owners_and_holes()
        type(windrow_decomposition) :: part
        type(windrow_options) :: options
        integer(int64), allocatable :: mine(:), offsets(:), neighbours(:), part_offsets(:)
        integer(int64) :: intervals, holes
        integer, allocatable :: parts(:)
        integer :: i
        call windrow_options_create(options)
        call windrow_options_set(options, 'imbalance', '10')
        call windrow_points(MPI_COMM_WORLD, 10*ranks, [(10*rank + i, i=9, 1, -1)], part, options=options, stat=stat, &
            errmsg=errmsg)
        call expect_ok(stat, errmsg, 'points with options')
        call windrow_decomposition_owned(part, 'balanced', mine, intervals, stat, errmsg)
        call expect_ok(stat, errmsg, 'owned')
        call expect(all(mine == [(10*rank + i, i=1, 9)]) .and. intervals == 1, 'points that this rank writes')
        call windrow_decomposition_owned(part, 'idg', mine, intervals, stat, errmsg)
        call expect(stat == windrow_bad_argument .and. size(mine) == 0, 'no flags, no idg')
        call windrow_decomposition_holes(part, holes, stat, errmsg)
        call expect(holes == ranks, 'points that nobody holds')
        call windrow_decomposition_free(part)
        call windrow_options_free(options)

        ! Two tetrahedra with a common face; then a triangle and a quadrilateral with a common edge.
        call windrow_mesh_neighbours(5_int64, windrow_tetrahedron, int([1, 2, 3, 4, 2, 3, 4, 5], int64), offsets, &
                                     neighbours, stat=stat)
        call expect(stat == 0 .and. all(offsets == [1, 4, 8, 12, 16, 19]), 'offsets of neighbours')
        call expect(all(neighbours == [2, 3, 4, 1, 3, 4, 5, 1, 2, 4, 5, 1, 2, 3, 5, 2, 3, 4]), 'neighbours')
        call windrow_classify_nodes(offsets, neighbours, [0, 0, 0, 0, 1], part_offsets, parts, stat, errmsg)
        call expect(all(parts == [0, 0, 1, 0, 1, 0, 1, 1, 0]) .and. part_offsets(6) == 10, 'parts of nodes')
        call windrow_mesh_neighbours(5_int64, windrow_mixed_cells, int([4, 1, 2, 3, 5, 2, 4, 5, 3], int64), offsets, &
            neighbours, .true., stat, errmsg)
        call expect(stat == 0 .and. size(neighbours) == 16, 'neighbours across mixed cells')
        call windrow_mesh_neighbours(3_int64, windrow_tetrahedron, int([1, 2, 3, 4], int64), offsets, neighbours, &
            stat=stat)
        call expect(stat == windrow_bad_argument, 'a node that is not there')
    end subroutine owners_and_holes

    !> Two gets in one flush.
    subroutine read_points_and_rows()
        type(windrow_decomposition) :: part, mine
        integer :: points_variable, rows_variable
        integer(int64), target :: one(4, 1)
        real(real32), target :: row(3)
        call windrow_find_variable(file, 'points', points_variable)
        call windrow_find_variable(file, 'rows', rows_variable)
        call windrow_points(MPI_COMM_WORLD%mpi_val, 10*ranks, [10*ranks - rank], part)
        call windrow_block(MPI_COMM_WORLD, [3, 11], [1, 11 - rank], [3, 1], mine)
        call windrow_get(file, points_variable, part, one, stat, errmsg)
        call expect_ok(stat, errmsg, 'get')
        call windrow_get(file, rows_variable, mine, row)
        call windrow_flush(file)
        call expect(all(one(:, 1) == value_at(1, 10*ranks - rank) + [0, 1, 2, 3]), 'a point read')
        call expect(all(nint(row) == value_at(1, 11 - rank) + [0, 1, 2]), 'a row read')
        call windrow_decomposition_free(part)
        call windrow_decomposition_free(mine)
    end subroutine read_points_and_rows

    !> Three thousand million elements, of which eight at the end are written; the rest is a hole.
    subroutine beyond_32_bits()
        integer(int64), parameter :: all_of_them = 3000000000_int64
        integer(int8) :: back(8)
        integer :: variable
        type(windrow_file) :: large
        type(windrow_variable_info) :: info
        integer(int64) :: many
        many = merge(8, 0, rank == ranks - 1)
        call windrow_create(MPI_COMM_WORLD, path_of('large'), large)
        call windrow_define_variable(large, 'large', windrow_int8, [all_of_them], variable, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'define a large variable')
        call windrow_inquire_variable(large, variable, info)
        call expect(info%shape(1) == all_of_them .and. info%bytes == all_of_them, 'a large shape')
        call windrow_write_block(large, variable, [all_of_them - 7], [many], [1_int8, 2_int8, 3_int8, 4_int8, 5_int8, &
            6_int8, 7_int8, 8_int8])
        back = 0
        call windrow_read_block(large, variable, [all_of_them - 7], [8_int64], back)
        call expect(all(back == [1, 2, 3, 4, 5, 6, 7, 8]), 'the end of a large variable')
        call windrow_close(large, stat, errmsg)
        call expect_ok(stat, errmsg, 'close a large file')
    end subroutine beyond_32_bits
end program data_test
