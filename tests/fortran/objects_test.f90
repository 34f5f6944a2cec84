! SPDX-License-Identifier: BSD-3-Clause
!> Everything but data: the library, options, files, groups, variables, attributes. fortran_test.py makes foreign.h5
!> with h5py before, and reads what this program writes after.
program objects_test
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    use mpi_f08
    use checks
    use windrow
    implicit none

    character(2000) :: errmsg
    integer :: stat

    call begin_checks()
    call library()
    call options()
    call publishing()
    call variables()
    call attributes()
    call reading()
    call copies()
    if (index(path_of(''), '.h5') > 0) call foreign()
    call end_checks()

contains

    !> All of a file into another, and what does not go.
    subroutine copies()
        type(windrow_file) :: file
        character(:), allocatable :: units
        call windrow_create(MPI_COMM_WORLD, path_of('original'), file)
        call windrow_define_group(file, 'group')
        call windrow_put_attribute(file, 'group', 'units', 'K')
        call windrow_close(file)
        call windrow_copy(MPI_COMM_WORLD, path_of('original'), path_of('copy'), stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'copy')
        call windrow_open(MPI_COMM_WORLD, path_of('copy'), file)
        call windrow_get_attribute(file, 'group', 'units', units)
        call expect(units == 'K', 'what was copied: '//units)
        call windrow_close(file)
        call windrow_copy(MPI_COMM_WORLD, path_of('nothing'), path_of('copy'), stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_not_found, 'nothing', 'copy of nothing')
    end subroutine copies

    subroutine library()
        call expect(index(windrow_version(), '0.') == 1, 'the version: '//windrow_version())
        call expect(windrow_has('raw  ') .and. windrow_has('gather=team'), 'what is built in')
        call expect(.not. windrow_has('telepathy'), 'what is not')
        call expect(index(windrow_features(), 'format raw'//new_line('a')) > 0, 'the list: '//windrow_features())
        call expect(windrow_code_name(windrow_not_found) == 'not found', windrow_code_name(windrow_not_found))
        call expect(all([windrow_type_size(windrow_int8), windrow_type_size(windrow_uint16), &
            windrow_type_size(windrow_text)] == [1, 2, 0]), 'sizes of types')
        ! The numbers of the types are those of windrow.h.
        call expect_type(windrow_int8, 'int8')
        call expect_type(windrow_uint8, 'uint8')
        call expect_type(windrow_int16, 'int16')
        call expect_type(windrow_uint16, 'uint16')
        call expect_type(windrow_int32, 'int32')
        call expect_type(windrow_uint32, 'uint32')
        call expect_type(windrow_int64, 'int64')
        call expect_type(windrow_uint64, 'uint64')
        call expect_type(windrow_float32, 'float32')
        call expect_type(windrow_float64, 'float64')
        call expect_type(windrow_text, 'text')
    end subroutine library

    subroutine expect_type(type, name)
        integer, intent(in) :: type
        character(*), intent(in) :: name
        call expect(windrow_type_name(type) == name, name//' is called '//windrow_type_name(type))
    end subroutine expect_type

    subroutine options()
        type(windrow_options) :: set, none
        call windrow_options_create(set, stat, errmsg)
        call expect_ok(stat, errmsg, 'options_create')
        call windrow_options_set(set, 'strategy  ', 'two-phase  ', stat, errmsg)
        call expect_ok(stat, errmsg, 'options_set')
        call windrow_options_set(set, 'stratgy', 'auto', stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'did you mean strategy', 'an unknown option')
        call expect(windrow_error_message() == errmsg .and. windrow_error_rank() == -1, 'the last error')
        call windrow_options_set(none, 'strategy', 'auto', stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'NULL', 'options that were not made')
        call windrow_options_free(set)
        call windrow_options_free(none)
    end subroutine options

    !> sync() publishes, discard() of what was not published leaves nothing.
    subroutine publishing()
        type(windrow_file) :: file
        logical :: there
        call windrow_create(MPI_COMM_WORLD, path_of('discarded'), file)
        call windrow_define_group(file, 'a group', stat, errmsg)
        call expect_ok(stat, errmsg, 'define_group')
        call windrow_discard(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'discard')
        inquire (file=path_of('discarded'), exist=there)
        call expect(.not. there, 'a discarded file is not there')
        call windrow_create(MPI_COMM_WORLD, path_of('published'), file)
        call windrow_sync(file)
        inquire (file=path_of('published'), exist=there)
        call expect(there, 'a file is there after sync')
        call windrow_close(file)
        call windrow_close(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'close of a file that is closed')
    end subroutine publishing

    subroutine variables()
        type(windrow_file) :: file
        type(windrow_options) :: big
        type(windrow_variable_definition) :: many(3)
        type(windrow_variable_info) :: info
        integer, allocatable :: numbers(:)
        integer :: variable
        call windrow_create(MPI_COMM_WORLD, path_of('objects'), file)
        call expect(windrow_variable_count(file) == 0 .and. windrow_group_count(file) == 1, 'a new file')
        call windrow_define_group(file, 'groups/in/groups')
        call windrow_options_create(big)
        call windrow_options_set(big, 'byte_order', 'big')
        call windrow_define_variable(file, 'big', windrow_int32, [2, 3, 4], variable, big, stat, errmsg)
        call expect_ok(stat, errmsg, 'define with options')
        call expect(variable == 1, 'variables count from 1')
        many(1)%path = 'many/first one'
        many(1)%type = windrow_float32
        many(1)%shape = [5, 6]
        many(2)%path = 'many/a scalar'
        many(2)%type = windrow_uint8
        many(3)%path = 'many/größer'
        many(3)%type = windrow_int64
        many(3)%shape = [0, 7]
        many(3)%options = big
        call windrow_define_variables(file, many, numbers, stat, errmsg)
        call expect_ok(stat, errmsg, 'define many')
        call expect(all(numbers == [2, 3, 4]), 'numbers of many')
        call windrow_define_variables(file, many(:0), numbers, stat, errmsg)
        call expect_ok(stat, errmsg, 'define none')
        call expect(size(numbers) == 0, 'none')
        call windrow_options_free(big)

        call windrow_inquire_variable(file, 1, info, stat, errmsg)
        call expect_ok(stat, errmsg, 'inquire')
        call expect(info%path == '/big' .and. info%type == windrow_int32 .and. all(info%shape == [2, 3, 4]), &
            'an inquired variable')
        call expect(info%big_endian .and. info%bytes == 96 .and. info%unsupported == '', 'its storage')
        call expect(.not. info%chunked .and. size(info%chunk) == 0 .and. info%filters == '', 'it has no chunks')
        call expect(.not. info%has_fill_value, 'a fill value')
        call windrow_inquire_variable(file, 3, info)
        call expect(info%path == '/many/a scalar' .and. size(info%shape) == 0 .and. .not. info%big_endian, &
            'an inquired scalar')
        call windrow_inquire_variable(file, 5, info, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no variable number 5; the file has 4', &
            'a number that is too large')
        call windrow_find_variable(file, 'many/größer   ', variable, stat, errmsg)
        call expect_ok(stat, errmsg, 'find')
        call expect(variable == 4, 'the number of what was found')
        call windrow_find_variable(file, 'many/kleiner', variable, stat, errmsg)
        call expect_error(stat, errmsg, windrow_not_found, 'many/kleiner', 'find what is not there')
        call expect(variable == 0, 'the number of nothing')
        call expect(windrow_group_count(file) == 5 .and. windrow_group_path(file, 1) == '/', 'groups')
        call expect(windrow_group_path(file, 99) == '', 'a group that is not there')
        call expect(windrow_unsupported_objects(file) == '', 'all is supported')
        call windrow_close(file)
        call expect(windrow_variable_count(file) == -1 .and. windrow_group_count(file) == -1, &
            'a closed file has no numbers')
    end subroutine variables

    !> Rank 0's values are written.
    subroutine attributes()
        type(windrow_file) :: file, from
        integer :: grid(4, 3), i
        grid = reshape([(i, i=1, 12)], [4, 3])
        call windrow_open(MPI_COMM_WORLD, path_of('objects'), file, windrow_mode_update, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'open for update')
        call windrow_put_attribute(file, '/', 'int8', 8_int8 + int(rank, int8), stat, errmsg)
        call expect_ok(stat, errmsg, 'put_attribute')
        call windrow_put_attribute(file, '/', 'int16', 16_int16)
        call windrow_put_attribute(file, '/', 'int32', 32)
        call windrow_put_attribute(file, '/', 'int64', 64_int64)
        call windrow_put_attribute(file, '/', 'real32', 0.5)
        call windrow_put_attribute(file, '/', 'real64', 0.1_real64)
        call windrow_put_attribute(file, '/', 'text', 'Größe in °C   ')
        call windrow_put_attribute(file, '/', 'replaced', 1)
        call windrow_put_attribute(file, '/', 'replaced', 'by text')
        call windrow_put_attribute(file, 'big', 'int8 list', [1_int8, -2_int8])
        call windrow_put_attribute(file, 'big', 'int16 list', [1_int16, -2_int16])
        call windrow_put_attribute(file, 'big', 'int32 list', [1, -2])
        call windrow_put_attribute(file, 'big', 'int64 list', [1_int64, -2_int64])
        call windrow_put_attribute(file, 'big', 'real32 list', [1.5, -2.5])
        call windrow_put_attribute(file, 'big', 'real64 list', [1.1_real64, -2.2_real64])
        call windrow_put_attribute(file, 'big', 'text list', ['one  ', 'three', '     '])
        call windrow_put_attribute(file, 'big', 'table', grid)
        call windrow_put_attribute(file, 'big', 'part of the table', grid(2:4:2, 3:1:-1), stat, errmsg)
        call expect_ok(stat, errmsg, 'put_attribute of a part with gaps')
        call windrow_put_attribute(file, 'big', 'nothing', grid(:, :0), stat, errmsg)
        call expect_ok(stat, errmsg, 'put_attribute of nothing')
        call windrow_put_attribute(file, 'small', 'x', 1, stat, errmsg)
        call expect_error(stat, errmsg, windrow_not_found, 'small', 'an attribute of nothing')
        call windrow_close(file)

        call windrow_create(MPI_COMM_WORLD, path_of('copied'), file)
        call windrow_open(MPI_COMM_WORLD, path_of('objects'), from)
        call windrow_define_group(file, 'copies')
        call windrow_copy_attribute(file, 'copies', from, '/', 'text', stat, errmsg)
        call expect_ok(stat, errmsg, 'copy_attribute')
        call windrow_copy_attribute(file, 'copies', from, '/', 'no such', stat, errmsg)
        call expect_error(stat, errmsg, windrow_not_found, 'no such', 'copy what is not there')
        call windrow_close(from)
        call windrow_close(file)
    end subroutine attributes

    subroutine reading()
        type(windrow_file) :: file
        type(windrow_attribute_info) :: info
        integer(int8) :: i8, i8_list(2)
        integer(int16) :: i16, i16_list(2)
        integer(int32) :: i32, i32_list(2), table(4, 3), part(2, 3), strided(4)
        integer(int64) :: i64, i64_list(2)
        real(real32) :: r32, r32_list(2)
        real(real64) :: r64, r64_list(2), one(1)
        character(:), allocatable :: text, texts(:)
        integer :: i
        call windrow_open(MPI_COMM_WORLD, path_of('objects'), file)
        call windrow_get_attribute(file, '/', 'int8', i8, stat, errmsg)
        call expect_ok(stat, errmsg, 'get_attribute')
        call windrow_get_attribute(file, '/', 'int16', i16)
        call windrow_get_attribute(file, '/', 'int32', i32)
        call windrow_get_attribute(file, '/', 'int64', i64)
        call expect(i8 == 8 .and. i16 == 16 .and. i32 == 32 .and. i64 == 64, 'integer attributes')
        call windrow_get_attribute(file, '/', 'real32', r32)
        call windrow_get_attribute(file, '/', 'real64', r64)
        call windrow_get_attribute(file, '/', 'real64', one)
        call expect(nint(10*r32) == 5 .and. nint(1000*r64) == 100 .and. nint(1000*one(1)) == 100, 'real attributes')
        call windrow_get_attribute(file, '/', 'text', text, stat, errmsg)
        call expect_ok(stat, errmsg, 'get a text')
        call expect(text == 'Größe in °C' .and. len(text) == len('Größe in °C'), 'a text: '//text)
        call windrow_get_attribute(file, 'big', 'int8 list', i8_list)
        call windrow_get_attribute(file, 'big', 'int16 list', i16_list)
        call windrow_get_attribute(file, 'big', 'int32 list', i32_list)
        call windrow_get_attribute(file, 'big', 'int64 list', i64_list)
        call expect(all(i8_list == [1, -2]) .and. all(i16_list == [1, -2]) .and. all(i32_list == [1, -2]) .and. &
            all(i64_list == [1, -2]), 'lists of integers')
        call windrow_get_attribute(file, 'big', 'real32 list', r32_list)
        call windrow_get_attribute(file, 'big', 'real64 list', r64_list)
        call expect(all(nint(10*r32_list) == [15, -25]) .and. all(nint(10*r64_list) == [11, -22]), 'lists of reals')
        call windrow_get_attribute(file, 'big', 'text list', texts, stat, errmsg)
        call expect_ok(stat, errmsg, 'get texts')
        call expect(size(texts) == 3 .and. len(texts) == 5, 'how many texts')
        call expect(all(texts == ['one  ', 'three', '     ']), 'texts')
        call windrow_get_attribute(file, 'big', 'table', table)
        call expect(all(table == reshape([(i, i=1, 12)], [4, 3])), 'a table')
        call windrow_get_attribute(file, 'big', 'part of the table', part)
        call expect(all(part == table(2:4:2, 3:1:-1)), 'a part of a table')
        strided = 0
        call windrow_get_attribute(file, 'big', 'int32 list', strided(1:3:2))
        call expect(all(strided == [1, 0, -2, 0]), 'into an array with gaps')

        call windrow_get_attribute(file, 'big', 'int32 list', strided, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'has the shape (2), the array (4)', 'another shape')
        call windrow_get_attribute(file, 'big', 'table', part, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'has the shape (4, 3), the array (2, 3)', &
            'another shape of two dimensions')
        call windrow_get_attribute(file, '/', 'int32', r64, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'is int32, not float64', 'another type')
        call windrow_get_attribute(file, 'big', 'text list', text, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'list of texts', 'a list into one')
        call windrow_get_attribute(file, '/', 'int33', i32, stat, errmsg)
        call expect_error(stat, errmsg, windrow_not_found, 'int33', 'get what is not there')
        call windrow_get_attribute(file, '/', 'int33', text, stat, errmsg)
        call expect_error(stat, errmsg, windrow_not_found, 'int33', 'get a text that is not there')

        call expect(windrow_attribute_count(file, 'big') == 10 .and. windrow_attribute_count(file, 'small') == -1, &
            'numbers of attributes')
        call windrow_find_attribute(file, 'big', 'table', info, stat, errmsg)
        call expect_ok(stat, errmsg, 'find_attribute')
        call expect(info%name == 'table' .and. info%type == windrow_int32 .and. all(info%shape == [4, &
            3]) .and. info%elements == 12 .and. info%unsupported == '', 'a found attribute')
        call windrow_find_attribute(file, 'big', 'chair', info, stat, errmsg)
        call expect_error(stat, errmsg, windrow_not_found, 'chair', 'find what is not there')
        call windrow_inquire_attribute(file, 'big', 10, info, stat, errmsg)
        call expect_ok(stat, errmsg, 'inquire_attribute')
        call windrow_inquire_attribute(file, 'big', 11, info, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no attribute number 11; it has 10', &
            'a number that is too large')
        call windrow_close(file)
    end subroutine reading

    !> What h5py made: unsigned and big-endian numbers, a compressed variable, attributes of every kind.
    subroutine foreign()
        type(windrow_file) :: file
        type(windrow_variable_info) :: info
        type(windrow_decomposition) :: all_of_it
        integer :: variable
        integer(int16) :: unsigned(3), of_attribute
        real(real64) :: table(4, 3, 2)
        character(:), allocatable :: text
        call windrow_open(MPI_COMM_WORLD, path_of('foreign'), file, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'open what h5py made')
        call windrow_same(MPI_COMM_WORLD, all_of_it)
        call windrow_find_variable(file, 'a group/unsigned', variable)
        call windrow_read(file, variable, all_of_it, unsigned, stat, errmsg)
        call expect_ok(stat, errmsg, 'read unsigned')
        call expect(all(unsigned == [1_int16, 2_int16, -1_int16]), 'unsigned numbers')
        call windrow_find_variable(file, 'big table', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(info%big_endian .and. all(info%shape == [4, 3, 2]), 'a table of h5py')
        call windrow_read(file, variable, all_of_it, table)
        call expect(nint(table(2, 1, 1)) == 1 .and. nint(table(1, 2, 1)) == 4 .and. nint(table(1, 1, 2)) == 12, &
            'the order of its elements')
        call windrow_get_attribute(file, 'big table', 'unsigned', of_attribute)
        call expect(of_attribute == -2, 'an unsigned attribute')
        call windrow_get_attribute(file, 'big table', 'fixed', text)
        call expect(text == 'of fixed length', 'a text of fixed length: '//text)
        call windrow_find_variable(file, 'compressed', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(info%type == windrow_int32 .and. info%unsupported == '', &
            'a compressed variable: '//info%unsupported)
        call expect(info%chunked .and. all(info%chunk == [10]) .and. .not. info%extendible, 'its chunks')
        call expect(index(info%filters, 'deflate') > 0, 'its filters: '//info%filters)
        call expect(index(windrow_unsupported_objects(file), 'link') > 0, &
            'what cannot be read: '//windrow_unsupported_objects(file))
        call windrow_decomposition_free(all_of_it)
        call windrow_close(file)
    end subroutine foreign
end program objects_test
