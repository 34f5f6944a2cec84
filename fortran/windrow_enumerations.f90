! SPDX-License-Identifier: BSD-3-Clause
!> Names of integers' values: lists here, a text of lines NAME=value in C.
module windrow_enumerations
    use, intrinsic :: iso_c_binding, only: c_int, c_null_ptr
    use, intrinsic :: iso_fortran_env, only: int32, int64
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_options_set_enumeration
    public :: split_enumeration    ! for the other modules alone

    !> Make a variable or an attribute of integers an enumeration: set the option `enumeration`. Local.
    !>
    !> `names` [size(values)]: blanks at the end do not count. `values`: default or 64-bit integers within the range of
    !> the type. Elements are the integers, in memory and in the file; windrow_inquire_variable() returns the names.
    !>
    !>     call windrow_options_set_enumeration(options, ['water', 'ice  '], [0, 1])
    !>     call windrow_define_variable(file, 'state', windrow_int8, [nx, ny], variable, options)
    interface windrow_options_set_enumeration
        module procedure set_enumeration_int32, set_enumeration_int64
    end interface windrow_options_set_enumeration

contains

    subroutine set_enumeration_int64(options, names, values, stat, errmsg)
        type(windrow_options), intent(in) :: options
        character(*), intent(in) :: names(:)
        integer(int64), intent(in) :: values(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(:), allocatable :: text
        character(20) :: number
        integer(c_int) :: code
        integer :: i
        if (size(names) /= size(values)) then
            write (number, '(i0)') size(names)
            text = 'options_set_enumeration: '//trim(number)//trim(merge(' name ', ' names', size(names) == 1))//' for '
            write (number, '(i0)') size(values)
            code = c_refuse(c_null_ptr, c_text(text//trim(number)//trim(merge(' value ', ' values', &
                size(values) == 1))))
        else
            text = ''
            do i = 1, size(values)
                write (number, '(i0)') values(i)
                text = text//trim(names(i))//'='//trim(number)
                if (i < size(values)) text = text//new_line('a')
            end do
            code = c_options_set(raw_of(options), c_text('enumeration'), c_text(text))
        end if
        call finish(code, stat, errmsg)
    end subroutine set_enumeration_int64

    subroutine set_enumeration_int32(options, names, values, stat, errmsg)
        type(windrow_options), intent(in) :: options
        character(*), intent(in) :: names(:)
        integer(int32), intent(in) :: values(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call set_enumeration_int64(options, names, int(values, int64), stat, errmsg)
    end subroutine set_enumeration_int32

    !> Splits the text into names and values; values from 2**63 on are their bits.
    subroutine split_enumeration(text, names, values)
        character(*), intent(in) :: text
        character(:), allocatable, intent(out) :: names(:)
        integer(int64), allocatable, intent(out) :: values(:)
        integer, allocatable :: first(:), equals(:)    ! of each line
        integer :: i, lines, last
        lines = 0
        if (len(text) > 0) lines = count([(text(i:i) == new_line('a'), i=1, len(text))]) + 1
        allocate (first(lines), equals(lines), values(lines))
        last = -1
        do i = 1, lines
            first(i) = last + 2
            last = index(text(first(i):)//new_line('a'), new_line('a')) + first(i) - 2
            equals(i) = index(text(first(i):last), '=', back=.true.) + first(i) - 1    ! the name may contain '=' too
            values(i) = c_number(c_text(text(equals(i) + 1:last)), c_null_ptr, 10_c_int)
        end do
        allocate (character(maxval([0, equals - first])) :: names(lines))
        do i = 1, lines
            names(i) = text(first(i):equals(i) - 1)
        end do
    end subroutine split_enumeration
end module windrow_enumerations
