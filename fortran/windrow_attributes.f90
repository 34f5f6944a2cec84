! SPDX-License-Identifier: BSD-3-Clause
!> Attributes of groups and variables: integers of 8 to 64 bits, real32, real64 and text. `object` is the path of a
!> group or a variable, '/' for the file. Numbers of attributes count from 1, shapes are in Fortran's order.
module windrow_attributes
    use, intrinsic :: iso_c_binding, only: c_int, c_null_ptr, c_ptr
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_put_attribute, windrow_get_attribute, windrow_copy_attribute
    public :: windrow_attribute_count, windrow_inquire_attribute, windrow_find_attribute, windrow_attribute_info

    !> What a file says of an attribute.
    type :: windrow_attribute_info
        character(:), allocatable :: name
        !< windrow_float64, ..., windrow_text; 0: a type that Windrow cannot read yet
        integer :: type = 0
        integer(int64), allocatable :: shape(:)     !< fastest dimension first; of size 0: a scalar
        integer(int64) :: elements = 0
        character(:), allocatable :: unsupported    !< '' or why it cannot be read yet
    end type windrow_attribute_info

    !> Write an attribute; one of that name is replaced. Collective; rank 0's `value` is written.
    !>
    !> `value`: a scalar or an array of any rank, with gaps in memory or without: integer of kind int8, int16, int32 or
    !> int64, real of kind real32 or real64, or character. Of text the blanks at the end do not count.
    interface windrow_put_attribute
        module procedure put_int8, put_int16, put_int32, put_int64, put_real32, put_real64, put_text
    end interface windrow_put_attribute

    !> Read an attribute. Local: attributes are handed to all ranks at open.
    !>
    !> `value`: of the attribute's own type (unsigned integers go into signed ones of their size, bit by bit) and shape,
    !> a scalar or an array of any rank; or for text `character(:), allocatable`, a scalar or a list, which becomes as
    !> long as what is read. windrow_find_attribute() tells the shape beforehand.
    interface windrow_get_attribute
        module procedure get_int8, get_int16, get_int32, get_int64, get_real32, get_real64, get_text, get_texts
    end interface windrow_get_attribute

contains

    subroutine put_int8(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int8), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_int8, value), stat, errmsg)
    end subroutine put_int8

    subroutine put_int16(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int16), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_int16, value), stat, errmsg)
    end subroutine put_int16

    subroutine put_int32(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int32), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_int32, value), stat, errmsg)
    end subroutine put_int32

    subroutine put_int64(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int64), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_int64, value), stat, errmsg)
    end subroutine put_int64

    subroutine put_real32(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        real(real32), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_float32, value), stat, errmsg)
    end subroutine put_real32

    subroutine put_real64(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        real(real64), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_float64, value), stat, errmsg)
    end subroutine put_real64

    subroutine put_text(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        character(*), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_text, value), stat, errmsg)
    end subroutine put_text

    subroutine get_int8(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int8), intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_int8, value), stat, errmsg)
    end subroutine get_int8

    subroutine get_int16(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int16), intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_int16, value), stat, errmsg)
    end subroutine get_int16

    subroutine get_int32(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int32), intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_int32, value), stat, errmsg)
    end subroutine get_int32

    subroutine get_int64(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int64), intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_int64, value), stat, errmsg)
    end subroutine get_int64

    subroutine get_real32(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        real(real32), intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_float32, value), stat, errmsg)
    end subroutine get_real32

    subroutine get_real64(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        real(real64), intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_float64, value), stat, errmsg)
    end subroutine get_real64

    subroutine get_text(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        character(:), allocatable, intent(out) :: value
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr), allocatable :: texts(:)
        integer(c_int) :: code
        call find_texts(file, object, name, texts, code)
        if (code == windrow_ok .and. size(texts) /= 1) code = c_refuse(c_null_ptr, &
            c_text('attribute "'//trim(name)//'" is a list of texts: read it into an array'))
        if (code == windrow_ok) value = text_of(texts(1))
        call finish(code, stat, errmsg)
    end subroutine get_text

    subroutine get_texts(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        character(:), allocatable, intent(out) :: value(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr), allocatable :: texts(:)
        integer(c_int) :: code
        integer :: i, longest
        call find_texts(file, object, name, texts, code)
        if (code == windrow_ok) then
            longest = 0
            do i = 1, size(texts)
                longest = max(longest, int(c_length(texts(i))))
            end do
            allocate (character(longest) :: value(size(texts)))
            do i = 1, size(texts)
                value(i) = text_of(texts(i))
            end do
        end if
        call finish(code, stat, errmsg)
    end subroutine get_texts

    !> C's pointers to the strings of an attribute, in the order of its elements.
    subroutine find_texts(file, object, name, texts, code)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        type(c_ptr), allocatable, intent(out) :: texts(:)
        integer(c_int), intent(out) :: code
        type(c_attribute_info) :: info
        code = c_find_attribute(raw_of(file), c_text(object), c_text(name), info)
        if (code /= windrow_ok) return
        allocate (texts(info%elements))
        code = c_get_texts(raw_of(file), c_text(object), c_text(name), windrow_text, texts)
    end subroutine find_texts

    !> Copy an attribute from another file as it is stored there. Collective over `file`; `from` is open on every rank,
    !> rank 0's is copied.
    subroutine windrow_copy_attribute(file, object, from, from_object, name, stat, errmsg)
        type(windrow_file), intent(in) :: file, from
        character(*), intent(in) :: object, from_object, name
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_copy_attribute(raw_of(file), c_text(object), raw_of(from), c_text(from_object), c_text(name)), &
            stat, errmsg)
    end subroutine windrow_copy_attribute

    !> How many attributes an object has, with the numbers 1, 2, ...; -1 when there is no such object. Local.
    function windrow_attribute_count(file, object) result(count)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object
        integer :: count
        count = int(c_attribute_count(raw_of(file), c_text(object)))
    end function windrow_attribute_count

    !> Describe an attribute by its number. Local.
    subroutine windrow_inquire_attribute(file, object, attribute, info, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object
        integer, intent(in) :: attribute
        type(windrow_attribute_info), intent(out) :: info
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_attribute_info) :: raw
        integer(c_int) :: code
        code = c_inquire_attribute(raw_of(file), c_text(object), int(attribute, c_int), raw)
        if (code == windrow_ok) call describe(raw, info)
        call finish(code, stat, errmsg)
    end subroutine windrow_inquire_attribute

    !> Describe an attribute by its name; windrow_not_found when there is none. Local.
    subroutine windrow_find_attribute(file, object, name, info, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        type(windrow_attribute_info), intent(out) :: info
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_attribute_info) :: raw
        integer(c_int) :: code
        code = c_find_attribute(raw_of(file), c_text(object), c_text(name), raw)
        if (code == windrow_ok) call describe(raw, info)
        call finish(code, stat, errmsg)
    end subroutine windrow_find_attribute

    subroutine describe(raw, info)
        type(c_attribute_info), intent(in) :: raw
        type(windrow_attribute_info), intent(inout) :: info
        info%name = text_of(raw%name)
        info%type = int(raw%type)
        info%shape = reversed(raw%shape(:raw%ndims))
        info%elements = raw%elements
        info%unsupported = text_of(raw%unsupported)
    end subroutine describe
end module windrow_attributes
