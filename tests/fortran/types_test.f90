! SPDX-License-Identifier: BSD-3-Clause
!> Elements beyond integers, reals and text: variables, attributes, conversion. fortran_test.py makes others.h5 with
!> h5py before, and reads types.h5 after. Each rank has two rows, and knows what is in all of them.
program types_test
    use, intrinsic :: iso_c_binding, only: c_bool
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    use mpi_f08
    use checks
    use windrow
    implicit none

    type(windrow_file) :: file
    type(windrow_decomposition) :: rows, all_of_it
    character(2000) :: errmsg
    integer :: stat

    call begin_checks()
    call library()
    call windrow_rows(MPI_COMM_WORLD, 2*ranks, rows, 2)
    call windrow_same(MPI_COMM_WORLD, all_of_it)
    call windrow_create(MPI_COMM_WORLD, path_of('types'), file)
    call write_types()
    call conversion()
    call refused()
    call write_attributes()
    call windrow_close(file, stat, errmsg)
    call expect_ok(stat, errmsg, 'close')
    call windrow_open(MPI_COMM_WORLD, path_of('types'), file)
    call read_types()
    call read_attributes()
    call windrow_close(file)
    if (index(path_of(''), '.h5') > 0) call read_what_h5py_made()
    call windrow_decomposition_free(rows)
    call windrow_decomposition_free(all_of_it)
    call end_checks()

contains

    subroutine library()
        integer, parameter :: types(6) = [windrow_bool, windrow_complex64, windrow_complex128, windrow_opaque, &
            windrow_reference, windrow_float16]
        character(10), parameter :: names(6) = [character(10) :: 'bool', 'complex64', 'complex128', 'opaque', &
            'reference', 'float16']
        integer(int64), parameter :: sizes(6) = [1, 8, 16, 0, 0, 2]
        integer :: i
        do i = 1, size(types)
            call expect(windrow_type_name(types(i)) == names(i), trim(names(i))//' is called '// &
                windrow_type_name(types(i)))
            call expect(windrow_type_size(types(i)) == sizes(i), 'the size of '//names(i))
        end do
    end subroutine library

    !> Element x of row y, from 1.
    elemental function truth(x, y) result(value)
        integer, intent(in) :: x, y
        logical(c_bool) :: value
        value = mod(x + y, 3) == 0
    end function truth

    elemental function wave(x, y) result(value)
        integer, intent(in) :: x, y
        complex(real64) :: value
        value = cmplx(x + 100*y, -x, real64)
    end function wave

    elemental function state(x, y) result(value)
        integer, intent(in) :: x, y
        integer(int8) :: value
        value = int(merge(-1, mod(x + y, 2), x == 3), int8)
    end function state

    subroutine write_types()
        logical(c_bool), target :: truths(3, 2)
        complex(real32), target :: small(3, 2)
        complex(real64), target :: large(3, 2)
        integer(int8), target :: bytes(5, 3, 2), states(3, 2)
        type(windrow_options) :: options
        integer :: variable, x, y, i
        call windrow_define_variable(file, 'bool', windrow_bool, [3, 2*ranks], variable)
        truths = reshape([((truth(x, 2*rank + y), x=1, 3), y=1, 2)], [3, 2])
        call windrow_put(file, variable, rows, truths, stat, errmsg)
        call expect_ok(stat, errmsg, 'put of booleans')
        call windrow_options_create(options)
        call windrow_options_set(options, 'byte_order', 'big')
        call windrow_define_variable(file, 'complex64', windrow_complex64, [3, 2*ranks], variable, options)
        call windrow_options_free(options)
        small = reshape([((cmplx(wave(x, 2*rank + y), kind=real32), x=1, 3), y=1, 2)], [3, 2])
        call windrow_put(file, variable, rows, small, stat, errmsg)
        call expect_ok(stat, errmsg, 'put of complex numbers')
        call windrow_define_variable(file, 'complex128', windrow_complex128, [3, 2*ranks], variable)
        large = reshape([((wave(x, 2*rank + y), x=1, 3), y=1, 2)], [3, 2])
        call windrow_put(file, variable, rows, large)
        call windrow_options_create(options)
        call windrow_options_set(options, 'element_bytes', '5')
        call windrow_options_set(options, 'opaque_tag', 'a tag')
        call windrow_define_variable(file, 'opaque', windrow_opaque, [3, 2*ranks], variable, options, stat, errmsg)
        call expect_ok(stat, errmsg, 'define opaque elements')
        call windrow_options_free(options)
        bytes = reshape([(((int(10*x + i - 5*y, int8), i=1, 5), x=1, 3), y=2*rank + 1, 2*rank + 2)], [5, 3, 2])
        call windrow_put(file, variable, rows, bytes, stat, errmsg)
        call expect_ok(stat, errmsg, 'put of opaque elements')

        call windrow_options_create(options)
        call windrow_options_set_enumeration(options, [character(10) :: 'water', 'ice', 'fog = haze'], [0, 1, -1], &
            stat, errmsg)
        call expect_ok(stat, errmsg, 'options_set_enumeration')
        call windrow_define_variable(file, 'state', windrow_int8, [3, 2*ranks], variable, options, stat, errmsg)
        call expect_ok(stat, errmsg, 'define an enumeration')
        states = reshape([((state(x, 2*rank + y), x=1, 3), y=1, 2)], [3, 2])
        call windrow_put(file, variable, rows, states)
        call windrow_options_set_enumeration(options, ['none', 'most'], [0_int64, huge(0_int64)])
        call windrow_define_variable(file, 'large state', windrow_int64, [1], variable, options)
        call windrow_put(file, variable, all_of_it, [huge(0_int64)])
        call windrow_options_set_enumeration(options, ['none', 'most'], [0], stat, errmsg)
        call expect(stat == windrow_bad_argument .and. index(errmsg, '2 names for 1 value') > 0, trim(errmsg))
        call windrow_options_free(options)
        call windrow_options_create(options)
        call windrow_options_set(options, 'null_space', 'true')
        call windrow_define_variable(file, 'nothing', windrow_float64, variable, options, stat, errmsg)
        call expect_ok(stat, errmsg, 'define a null space')
        call windrow_options_free(options)
        call windrow_put(file, variable, all_of_it, large, stat, errmsg)
        call expect_ok(stat, errmsg, 'put of nothing')
        call windrow_flush(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'flush')
    end subroutine write_types

    subroutine conversion()
        real(real64), target :: reals(2, 2)
        real(real32), target :: halves(2, 2)
        integer(int8), target :: bytes(2, 2), unsigned(2, 2)
        logical(c_bool), target :: truths(2, 2)
        complex(real64), target :: waves(2, 2)
        character(:), allocatable :: report
        integer :: variable
        reals = reshape([1.9_real64, -300.0_real64, 0.0_real64, real(rank, real64)], [2, 2])
        call windrow_define_variable(file, 'converted', windrow_int16, [2, 2*ranks], variable)
        call windrow_put_as(file, variable, rows, reals, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'put_as')
        call windrow_get_as(file, variable, rows, halves, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'get_as')
        call windrow_get_as(file, variable, rows, bytes)
        call windrow_get_as(file, variable, rows, unsigned, windrow_uint8)
        call windrow_get_as(file, variable, rows, truths)
        call windrow_get_as(file, variable, rows, waves)
        call windrow_flush(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'flush of conversions')
        call expect(all(nint(halves) == reshape([1, -300, 0, rank], [2, 2])), 'integers as reals')
        call expect(all(bytes == reshape([1, -128, 0, rank], [2, 2])), 'integers as short ones')
        call expect(all(unsigned == reshape([1, 0, 0, rank], [2, 2])), 'integers as unsigned ones')
        call expect(all(truths .eqv. reshape([.true., .true., .false., rank > 0], [2, 2])), 'integers as booleans')
        call expect(all(nint(real(waves)) == nint(halves)) .and. all(abs(aimag(waves)) <= 0), 'integers as complex')
        call windrow_report(file, report, 'json')
        call expect(index(report, '"values_clamped"') > 0, 'the report counts what does not fit')
        call windrow_define_variable(file, 'float16', windrow_float16, [2, 2*ranks], variable)
        call windrow_put_as(file, variable, rows, reals, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'put_as of numbers of 16 bits')
        call windrow_get_as(file, variable, rows, halves)
        call windrow_flush(file)
        call expect(all(abs(halves - reshape([1.900390625, -300.0, 0.0, real(rank)], [2, 2])) <= 0), &
            'numbers of 16 bits')
        call windrow_find_variable(file, 'converted', variable)
        unsigned = -1_int8    ! 255
        call windrow_put_as(file, variable, rows, unsigned, windrow_uint8)
        call windrow_flush(file)
        call windrow_read(file, variable, rows, reals, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array is real(real64)', 'read is no get_as')
        call windrow_get_as(file, variable, rows, reals)
        call windrow_flush(file)
        call expect(all(nint(reals) == 255), 'unsigned numbers')

        call windrow_put_as(file, variable, rows, unsigned, windrow_int32, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'integer(int8), which holds no elements of type int32', &
            'put_as of a type that the array has not')
        call windrow_put_as(file, variable, rows, reals(:, :1), stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array has 2 elements, 4 are needed', 'too little')
        call windrow_put_as(file, variable, rows, 'abc', stat=stat, errmsg=errmsg)
        call expect(stat == windrow_bad_argument, 'put_as of text: '//trim(errmsg))
        call windrow_flush(file, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no elements of type int32', &
            'the flush of what was refused')
    end subroutine conversion

    !> An error on one rank or on all is reported on all.
    subroutine refused()
        logical :: truths(3, 2)
        integer(int8) :: bytes(5, 3)
        integer(int16) :: shorts(15, 2)
        integer :: variable
        truths = .true.
        bytes = 0
        shorts = 0
        call windrow_find_variable(file, 'bool', variable)
        call windrow_write(file, variable, rows, truths, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array is logical of 4 bytes, the variable bool', &
            'logical of another kind')
        call windrow_find_variable(file, 'opaque', variable)
        call windrow_write(file, variable, rows, bytes, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array has 15 elements, 30 are needed', &
            'too few bytes')
        call windrow_write(file, variable, rows, shorts, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the variable opaque, for integer(int8)', 'no bytes')
    end subroutine refused

    subroutine read_types()
        logical(c_bool) :: truths(3, 2*ranks)
        complex(real32) :: small(3, 2*ranks)
        complex(real64) :: large(3, 2*ranks)
        integer(int8) :: bytes(5, 3, 2*ranks), states(3, 2*ranks)
        type(windrow_variable_info) :: info
        integer :: variable, x, y, i
        call windrow_find_variable(file, 'bool', variable)
        call windrow_read(file, variable, all_of_it, truths, stat, errmsg)
        call expect_ok(stat, errmsg, 'read of booleans')
        call expect(logical(all(truths .eqv. reshape([((truth(x, y), x=1, 3), y=1, 2*ranks)], shape(truths)))), &
            'booleans')
        call windrow_find_variable(file, 'complex64', variable)
        call windrow_read(file, variable, all_of_it, small)
        large = reshape([((wave(x, y), x=1, 3), y=1, 2*ranks)], shape(large))
        call expect(all(abs(small - large) <= 0), 'short complex numbers')
        call windrow_inquire_variable(file, variable, info)
        call expect(info%type == windrow_complex64 .and. info%big_endian .and. info%element_bytes == 8, 'their type')
        call windrow_find_variable(file, 'complex128', variable)
        large = 0
        call windrow_read(file, variable, all_of_it, large)
        call expect(all(abs(small - large) <= 0), 'complex numbers')
        call windrow_find_variable(file, 'opaque', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(info%type == windrow_opaque .and. info%element_bytes == 5 .and. info%opaque_tag == 'a tag' .and. &
            info%elements == 6*ranks .and. info%bytes == 30*ranks .and. all(info%shape == [3, 2*ranks]), 'opaque: '// &
            info%opaque_tag)
        call windrow_read(file, variable, all_of_it, bytes, stat, errmsg)
        call expect_ok(stat, errmsg, 'read of opaque elements')
        call expect(all(bytes == reshape([(((10*x + i - 5*y, i=1, 5), x=1, 3), y=1, 2*ranks)], shape(bytes))), 'bytes')
        call windrow_find_variable(file, 'state', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(info%type == windrow_int8 .and. size(info%enumeration_names) == 3 .and. &
            len(info%enumeration_names) == 10, 'an enumeration')
        call expect(all(info%enumeration_names == [character(10) :: 'water', 'ice', 'fog = haze']) .and. &
            all(info%enumeration_values == [0, 1, -1]), 'its names and values')
        call expect(info%text_padding == '' .and. info%opaque_tag == '' .and. .not. info%is_null, 'what it has not')
        call windrow_read(file, variable, all_of_it, states)
        call expect(all(states == reshape([((state(x, y), x=1, 3), y=1, 2*ranks)], shape(states))), 'states')
        call windrow_find_variable(file, 'large state', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(all(info%enumeration_values == [0_int64, huge(0_int64)]), 'large values')
        call windrow_find_variable(file, 'nothing', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(info%is_null .and. info%elements == 0 .and. size(info%shape) == 0 .and. &
            size(info%enumeration_names) == 0, 'a null space')
    end subroutine read_types

    subroutine write_attributes()
        type(windrow_options) :: options
        integer :: i
        integer(int8) :: bytes(4, 2), states(2)
        complex(real64) :: many(4)
        logical :: truths(2, 2)
        many = [(wave(i, 1), i=1, 4)]
        truths = reshape([.true., .false., .false., .true.], [2, 2])
        bytes = reshape([(int(i, int8), i=1, 8)], [4, 2])
        states = [0_int8, 2_int8]
        call windrow_put_attribute(file, '/', 'complex64', (1.5, -2.5), stat, errmsg)
        call expect_ok(stat, errmsg, 'put_attribute of a complex number')
        call windrow_put_attribute(file, '/', 'complex128', many(1:3:2), stat, errmsg)
        call expect_ok(stat, errmsg, 'put_attribute of complex numbers with gaps')
        call windrow_put_attribute(file, '/', 'logical', .true., stat, errmsg)
        call expect_ok(stat, errmsg, 'put_attribute of a logical')
        call windrow_put_attribute(file, '/', 'logicals', truths)
        call windrow_put_attribute(file, '/', 'bools', [.false._c_bool, .true._c_bool])
        call windrow_put_attribute_with(file, '/', 'unsigned', windrow_uint16, [1_int16, -1_int16], stat=stat, &
            errmsg=errmsg)
        call expect_ok(stat, errmsg, 'put_attribute_with of unsigned integers')
        call windrow_put_attribute_with(file, '/', 'opaque', windrow_opaque, bytes, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'put_attribute_with of opaque elements')
        call windrow_put_attribute_with(file, '/', 'null', windrow_float32, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'put_attribute_with of a null space')
        call windrow_options_create(options)
        call windrow_options_set(options, 'opaque_tag', 'tagged')
        call windrow_put_attribute_with(file, '/', 'one opaque', windrow_opaque, bytes(:, 2), options)
        call windrow_options_free(options)
        call windrow_options_create(options)
        call windrow_options_set_enumeration(options, ['off', 'on '], [0, 2])
        call windrow_put_attribute_with(file, '/', 'states', windrow_int8, states, options, stat, errmsg)
        call expect_ok(stat, errmsg, 'put_attribute_with of an enumeration')
        call windrow_options_free(options)

        call windrow_put_attribute_with(file, '/', 'wrong', windrow_uint8, [1, 2], stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the value is integer(int32), not uint8', 'another type')
        call windrow_put_attribute_with(file, '/', 'wrong', windrow_opaque, 1_int8, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'not opaque: an array of integer(int8)', &
            'an opaque scalar')
        call windrow_put_attribute_with(file, '/', 'wrong', 99, [1, 2], stat=stat, errmsg=errmsg)
        call expect(stat == windrow_bad_argument, 'put_attribute_with of no type: '//trim(errmsg))
        call windrow_put_attribute(file, '/', 'gone', 1)
        call windrow_delete_attribute(file, '/', 'gone', stat, errmsg)
        call expect_ok(stat, errmsg, 'delete_attribute')
        call windrow_delete_attribute(file, '/', 'gone', stat, errmsg)
        call expect_error(stat, errmsg, windrow_not_found, 'gone', 'delete_attribute of nothing')
    end subroutine write_attributes

    subroutine read_attributes()
        type(windrow_attribute_info) :: info
        complex(real32) :: one
        complex(real64) :: two(2)
        logical :: yes, truths(2, 2), strided(4)
        logical(c_bool) :: bools(2)
        integer(int16) :: unsigned(2)
        integer(int8) :: bytes(4, 2), single(4), states(2)
        real(real32) :: nothing
        integer :: i
        call windrow_get_attribute(file, '/', 'complex64', one, stat, errmsg)
        call expect_ok(stat, errmsg, 'get_attribute of a complex number')
        call windrow_get_attribute(file, '/', 'complex128', two)
        call expect(abs(one - (1.5, -2.5)) <= 0 .and. all(abs(two - [wave(1, 1), wave(3, 1)]) <= 0), &
            'complex attributes')
        call windrow_get_attribute(file, '/', 'logical', yes, stat, errmsg)
        call expect_ok(stat, errmsg, 'get_attribute of a logical')
        call windrow_get_attribute(file, '/', 'logicals', truths)
        call windrow_get_attribute(file, '/', 'bools', bools)
        call expect(yes .and. all(truths .eqv. reshape([.true., .false., .false., .true.], [2, 2])), 'logicals')
        strided = .true.
        call windrow_get_attribute(file, '/', 'bools', strided(1:3:2))
        call expect(all(bools .eqv. [.false., .true.]) .and. all(strided .eqv. [.false., .true., .true., .true.]), &
            'bools')
        call windrow_get_attribute(file, '/', 'unsigned', unsigned)
        call expect(all(unsigned == [1_int16, -1_int16]), 'unsigned numbers')
        call windrow_get_attribute(file, '/', 'opaque', bytes, stat, errmsg)
        call expect_ok(stat, errmsg, 'get_attribute of opaque elements')
        call windrow_get_attribute(file, '/', 'one opaque', single)
        call expect(all(bytes == reshape([(i, i=1, 8)], [4, 2])) .and. all(single == [5, 6, 7, 8]), 'opaque bytes')
        call windrow_find_attribute(file, '/', 'one opaque', info)
        call expect(info%type == windrow_opaque .and. info%element_bytes == 4 .and. size(info%shape) == 0 .and. &
            info%opaque_tag == 'tagged', 'an opaque attribute')
        call windrow_get_attribute(file, '/', 'opaque', single, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'has the shape (4, 2), the array (4)', 'another shape')
        call windrow_get_attribute(file, '/', 'states', states)
        call windrow_find_attribute(file, '/', 'states', info)
        call expect(all(states == [0, 2]) .and. all(info%enumeration_names == ['off', 'on ']) .and. &
            all(info%enumeration_values == [0, 2]), 'an enumeration')
        call windrow_find_attribute(file, '/', 'null', info)
        call expect(info%is_null .and. info%elements == 0 .and. info%type == windrow_float32, 'a null space')
        call windrow_get_attribute(file, '/', 'null', nothing, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'it has no value', 'the value of a null space')
        call expect(windrow_attribute_count(file, '/') == 10, 'how many there are')
    end subroutine read_attributes

    subroutine read_what_h5py_made()
        type(windrow_variable_info) :: info
        logical(c_bool) :: truths(4)
        complex(real64) :: waves(2)
        integer :: variable
        call windrow_open(MPI_COMM_WORLD, path_of('others'), file, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'open what h5py made')
        call windrow_find_variable(file, 'bool', variable)
        call windrow_read(file, variable, all_of_it, truths)
        call expect(all(truths .eqv. [.true., .false., .false., .true.]), 'booleans of h5py')
        call windrow_find_variable(file, 'complex', variable)
        call windrow_read(file, variable, all_of_it, waves)
        call expect(all(abs(waves - [(1.0_real64, 2.0_real64), (0.0_real64, -3.0_real64)]) <= 0), 'waves of h5py')
        call windrow_find_variable(file, 'colour', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(size(info%enumeration_values) == 2 .and. maxval(info%enumeration_values) == 500, 'colours of h5py')
        call expect(info%enumeration_names(maxloc(info%enumeration_values, 1)) == 'GREEN', 'a name of h5py')
        call windrow_close(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'close')
    end subroutine read_what_h5py_made
end program types_test
