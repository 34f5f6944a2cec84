! SPDX-License-Identifier: BSD-3-Clause
!> Variables of text of variable length: moved as a whole, through rank 0.
module windrow_texts
    use, intrinsic :: iso_c_binding, only: c_int, c_null_ptr, c_ptr, c_sizeof
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_put_texts, windrow_get_texts

    !> Read all elements of a variable of windrow_text of variable length, or the paths of one of windrow_reference.
    !> Collective: rank 0 reads, and all ranks get all elements. Elements that were never written are ''.
    !>
    !> `texts`: `character(:), allocatable`. It is a list of all elements, the first dimension the fastest, with the
    !> length of the longest text. For a variable with one element it may be a scalar.
    interface windrow_get_texts
        module procedure get_one, get_list
    end interface windrow_get_texts

contains

    !> Write all elements of a variable of windrow_text of variable length, or of windrow_reference as paths of existing
    !> objects. Collective; rank 0's texts are written.
    !>
    !> `texts`: a scalar or an array of any rank with as many elements as the variable; ignored on the other ranks.
    !> Trailing blanks are not written.
    subroutine windrow_put_texts(file, variable, texts, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: variable
        character(*), intent(in) :: texts(..)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_put_texts(raw_of(file), int(variable, c_int), texts), stat, errmsg)
    end subroutine windrow_put_texts

    subroutine get_one(file, variable, texts, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: variable
        character(:), allocatable, intent(out) :: texts
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr), allocatable :: all_texts(:)
        integer(c_int) :: code
        call get_all(file, variable, all_texts, code)
        if (code == windrow_ok) then
            if (size(all_texts) == 1) texts = text_of(all_texts(1))
            if (size(all_texts) /= 1) code = c_refuse(c_null_ptr, &
                c_text('get_texts: the variable has several texts, or none: read it into a list'))
        end if
        call finish(code, stat, errmsg)
    end subroutine get_one

    subroutine get_list(file, variable, texts, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: variable
        character(:), allocatable, intent(out) :: texts(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr), allocatable :: all_texts(:)
        integer(c_int) :: code
        call get_all(file, variable, all_texts, code)
        if (code == windrow_ok) texts = texts_of(all_texts)
        call finish(code, stat, errmsg)
    end subroutine get_list

    !> C pointers to all texts. With a wrong number the call is still made, for the other ranks.
    subroutine get_all(file, variable, texts, code)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: variable
        type(c_ptr), allocatable, intent(out) :: texts(:)
        integer(c_int), intent(out) :: code
        type(c_variable_info) :: info
        info%size = c_sizeof(info)
        code = c_inquire_variable(raw_of(file), int(variable, c_int), info)
        if (code /= windrow_ok) info%elements = 0
        allocate (texts(info%elements))
        texts(:) = c_null_ptr
        code = c_get_texts(raw_of(file), int(variable, c_int) - 1_c_int, texts)
    end subroutine get_all
end module windrow_texts
