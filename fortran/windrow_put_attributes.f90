! SPDX-License-Identifier: BSD-3-Clause
!> Writing attributes of groups and variables. `object` is the path of a group or a variable, '/' for the file.
module windrow_put_attributes
    use, intrinsic :: iso_c_binding, only: c_bool, c_int, c_null_ptr
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_put_attribute, windrow_put_attribute_with, windrow_put_attribute_references

    !> Write an attribute; one of that name is replaced. Collective; rank 0's `value` is written.
    !>
    !> `value`: a scalar or an array of any rank, with gaps in memory or without: integer of kind int8, int16, int32 or
    !> int64, real or complex of kind real32 or real64, logical of default kind or c_bool, or character. Trailing blanks
    !> of text do not count.
    interface windrow_put_attribute
        module procedure put_int8, put_int16, put_int32, put_int64, put_real32, put_real64, put_text
        module procedure put_complex_real32, put_complex_real64, put_bool, put_logical
    end interface windrow_put_attribute

    !> Write an attribute with options, or of a type that `value` does not determine: text of fixed length, unsigned
    !> integers, opaque bytes, enumerations, another byte order, a null space. Collective; rank 0's `value` and options
    !> are written.
    !>
    !> `type`: windrow_uint16, windrow_opaque, ...; absent for text.
    !> `value`: as in windrow_put_attribute(). For windrow_opaque it is integer(int8), and its first dimension is the
    !> bytes of each element, to which the option element_bytes is set. Absent: a null space, for which `options` must
    !> set null_space. `options`: as those of windrow_define_variable(). A text that is longer than element_bytes is
    !> windrow_bad_argument.
    !>
    !>     call windrow_options_set(eight, 'element_bytes', '8')
    !>     call windrow_put_attribute_with(file, '/', 'code', 'Windrow', eight)
    !>     call windrow_put_attribute_with(file, '/', 'ports', windrow_uint16, [80_int16, -1_int16])
    interface windrow_put_attribute_with
        module procedure put_text_with, put_any_with
    end interface windrow_put_attribute_with

contains

    subroutine put_int8(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int8), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_int8, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_int8

    subroutine put_int16(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int16), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_int16, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_int16

    subroutine put_int32(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int32), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_int32, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_int32

    subroutine put_int64(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer(int64), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_int64, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_int64

    subroutine put_real32(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        real(real32), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_float32, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_real32

    subroutine put_real64(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        real(real64), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_float64, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_real64

    subroutine put_complex_real32(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        complex(real32), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_complex64, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_complex_real32

    subroutine put_complex_real64(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        complex(real64), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_complex128, value, &
            c_null_ptr), stat, errmsg)
    end subroutine put_complex_real64

    subroutine put_bool(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        logical(c_bool), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_bool, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_bool

    subroutine put_logical(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        logical, intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_bool, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_logical

    subroutine put_text(file, object, name, value, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        character(*), intent(in) :: value(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_text, value, c_null_ptr), &
            stat, errmsg)
    end subroutine put_text

    subroutine put_text_with(file, object, name, value, options, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        character(*), intent(in) :: value(..)
        type(windrow_options), intent(in) :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_text, value, &
            raw_of(options)), stat, errmsg)
    end subroutine put_text_with

    !> Write an attribute of references: the paths of existing objects, a scalar or an array of any rank; '' refers to
    !> nothing. windrow_get_attribute() reads the paths. Collective; rank 0's are written.
    !>
    !>     call windrow_put_attribute_references(file, '/wind', 'coordinates', ['/x', '/y'])
    subroutine windrow_put_attribute_references(file, object, name, paths, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        character(*), intent(in) :: paths(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_attribute(raw_of(file), c_text(object), c_text(name), windrow_reference, paths, c_null_ptr), &
            stat, errmsg)
    end subroutine windrow_put_attribute_references

    !> Text needs the other procedure: for an array of characters as type(*) gfortran passes a hidden length, which
    !> `errmsg` would take for its own. (bind(C), as in windrow_data, would lose the stride of elements that are
    !> components of others.)
    subroutine put_any_with(file, object, name, type, value, options, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: object, name
        integer, intent(in) :: type
        type(*), intent(in), optional :: value(..)
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_int) :: code
        code = c_put_attribute(raw_of(file), c_text(object), c_text(name), int(type, c_int), value, options_of(options))
        if (c_is_text(value) /= 0) then
            call finish(code, stat)
        else
            call finish(code, stat, errmsg)
        end if
    end subroutine put_any_with
end module windrow_put_attributes
