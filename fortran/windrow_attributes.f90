! SPDX-License-Identifier: BSD-3-Clause
!> Attributes of groups and variables; windrow_put_attributes writes them. `object` is the path of a group or a
!> variable, '/' for the file. Numbers of attributes count from 1, shapes are in Fortran's order.
module windrow_attributes
    use, intrinsic :: iso_c_binding, only: c_bool, c_int, c_null_ptr, c_ptr, c_sizeof
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    use windrow_base
    use windrow_c
    use windrow_enumerations, only: split_enumeration
    implicit none
    private
    public :: windrow_get_attribute, windrow_copy_attribute, windrow_delete_attribute
    public :: windrow_attribute_count, windrow_inquire_attribute, windrow_find_attribute, windrow_attribute_info

    !> Description of an attribute.
    type :: windrow_attribute_info
        character(:), allocatable :: name
        !< windrow_float64, ..., windrow_text; 0: a type that Windrow cannot read yet
        integer :: type = 0
        integer(int64), allocatable :: shape(:)     !< fastest dimension first; of size 0: a scalar
        integer(int64) :: elements = 0
        character(:), allocatable :: unsupported    !< '' or why it cannot be read yet
        !< of one element; of text as it is stored, 0 for text of variable length and references
        integer(int64) :: element_bytes = 0
        logical :: is_null = .false.                !< a null space, without elements or shape
        character(:), allocatable :: text_characters        !< 'utf8', 'ascii'; '' when it is not text
        character(:), allocatable :: text_padding           !< the padding of texts in the file; '' when it is not text
        character(:), allocatable :: opaque_tag             !< '' when it is not opaque
        character(:), allocatable :: enumeration_names(:)   !< of an enumeration; else of size 0
        integer(int64), allocatable :: enumeration_values(:)
    end type windrow_attribute_info

    !> Read an attribute. Local: all ranks get the attributes at open.
    !>
    !> `value`: a scalar or an array of any rank, of the attribute's own type and shape. Unsigned integers are read into
    !> signed ones of their size, bit by bit. Booleans: logical of default kind or c_bool. Opaque elements:
    !> integer(int8), with a first dimension of the bytes of each. Text and references: `character(:), allocatable`, a
    !> scalar or a list, which gets the length of the longest text. windrow_find_attribute() returns the shape.
    interface windrow_get_attribute
        module procedure get_int8, get_int16, get_int32, get_int64, get_real32, get_real64, get_text, get_texts
        module procedure get_complex_real32, get_complex_real64, get_bool, get_logical
    end interface windrow_get_attribute

contains
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

    subroutine get_complex_real32(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        complex(real32), intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_complex64, value), &
            stat, errmsg)
    end subroutine get_complex_real32

    subroutine get_complex_real64(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        complex(real64), intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_complex128, value), &
            stat, errmsg)
    end subroutine get_complex_real64

    subroutine get_bool(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        logical(c_bool), intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_bool, value), &
            stat, errmsg)
    end subroutine get_bool

    subroutine get_logical(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        logical, intent(inout) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_get_attribute(raw_of(file), c_text(object), c_text(name), windrow_bool, value), &
            stat, errmsg)
    end subroutine get_logical

    subroutine get_text(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        character(:), allocatable, intent(out) :: value
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr), allocatable :: texts(:)
        integer(c_int) :: code
        call find_texts(file, object, name, texts, code)
        if (code == windrow_ok) then
            if (size(texts) == 1) value = text_of(texts(1))
            if (size(texts) /= 1) code = c_refuse(c_null_ptr, &
                c_text('attribute "'//trim(name)//'" is a list of texts, or of none: read it into an array'))
        end if
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
        call find_texts(file, object, name, texts, code)
        if (code == windrow_ok) value = texts_of(texts)
        call finish(code, stat, errmsg)
    end subroutine get_texts

    !> C's pointers to the strings of an attribute, in the order of its elements.
    subroutine find_texts(file, object, name, texts, code)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        type(c_ptr), allocatable, intent(out) :: texts(:)
        integer(c_int), intent(out) :: code
        type(c_attribute_info) :: info
        integer(c_int) :: type
        info%size = c_sizeof(info)
        code = c_find_attribute(raw_of(file), c_text(object), c_text(name), info)
        if (code /= windrow_ok) return
        type = windrow_text
        if (info%type == windrow_reference) type = windrow_reference
        allocate (texts(info%elements))
        texts(:) = c_null_ptr
        code = c_get_attribute_texts(raw_of(file), c_text(object), c_text(name), type, texts)
    end subroutine find_texts

    !> Delete an attribute; windrow_not_found when there is none. Collective.
    subroutine windrow_delete_attribute(file, object, name, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_delete_attribute(raw_of(file), c_text(object), c_text(name)), stat, errmsg)
    end subroutine windrow_delete_attribute

    !> Copy an attribute from another file as stored there. Collective over `file`; `from` must be open on every rank,
    !> and rank 0's is copied.
    subroutine windrow_copy_attribute(file, object, from, from_object, name, stat, errmsg)
        type(windrow_file), intent(in) :: file, from
        character(*), intent(in) :: object, from_object, name
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_copy_attribute(raw_of(file), c_text(object), raw_of(from), c_text(from_object), c_text(name)), &
            stat, errmsg)
    end subroutine windrow_copy_attribute

    !> Number of attributes of an object, numbered 1, 2, ...; -1 if there is no such object. Local.
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
        raw%size = c_sizeof(raw)
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
        raw%size = c_sizeof(raw)
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
        info%element_bytes = raw%element_bytes
        info%is_null = raw%is_null /= 0
        info%text_characters = text_of(raw%text_characters)
        info%text_padding = text_of(raw%text_padding)
        info%opaque_tag = text_of(raw%opaque_tag)
        call split_enumeration(text_of(raw%enumeration), info%enumeration_names, info%enumeration_values)
    end subroutine describe
end module windrow_attributes
