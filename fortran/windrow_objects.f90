! SPDX-License-Identifier: BSD-3-Clause
!> Groups and variables. Their numbers count from 1. Shapes are in Fortran's order: the first dimension is the fastest,
!> so a variable of shape (nx, ny, nz) here is one of shape (nz, ny, nx) in C, Python and h5dump.
module windrow_objects
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_loc, c_null_ptr, c_ptr, c_sizeof
    use, intrinsic :: iso_fortran_env, only: int32, int64
    use windrow_base
    use windrow_c
    use windrow_enumerations, only: split_enumeration
    implicit none
    private
    public :: windrow_define_group, windrow_define_variable, windrow_define_variables, windrow_variable_definition
    public :: windrow_variable_count, windrow_find_variable, windrow_inquire_variable, windrow_variable_info
    public :: windrow_group_count, windrow_group_path, windrow_unsupported_objects

    !> A definition for windrow_define_variables(). Without `shape`, a scalar; without `options`, those of the file.
    type :: windrow_variable_definition
        character(:), allocatable :: path
        integer :: type = 0
        integer(int64), allocatable :: shape(:)
        type(windrow_options) :: options
    end type windrow_variable_definition

    !> Description of a variable.
    type :: windrow_variable_info
        character(:), allocatable :: path           !< '/group/name'
        integer :: type = 0                         !< windrow_float64, ...; 0: a type that Windrow cannot read yet
        integer(int64), allocatable :: shape(:)     !< fastest dimension first; of size 0: a scalar
        integer(int64) :: bytes = 0                 !< stored size of all elements
        integer(int64) :: offset = -1               !< first byte in the file, from 0; -1 when not stored contiguously
        logical :: big_endian = .false.
        character(:), allocatable :: unsupported    !< '' or why it cannot be read yet
        logical :: has_fill_value = .false.         !< elements never written have another value than 0
        logical :: chunked = .false.                !< cut into chunks, which are stored one by one
        integer(int64), allocatable :: chunk(:)     !< shape of a chunk, fastest dimension first; of size 0: none
        logical :: extendible = .false.             !< the last dimension may grow: windrow_put_record()
        character(:), allocatable :: filters        !< filters of chunks; '' for none
        integer(int64) :: elements = 0              !< 0 for a null space, which has no shape either
        !< of one element; 0: texts of variable length and references, by windrow_get_texts()
        integer(int64) :: element_bytes = 0
        logical :: is_null = .false.                !< a null space: there is nothing to put or get
        character(:), allocatable :: text_characters        !< 'utf8', 'ascii'; '' when it is not text
        character(:), allocatable :: text_padding           !< the padding of texts in the file; '' when it is not text
        character(:), allocatable :: opaque_tag             !< '' when it is not opaque
        character(:), allocatable :: fill_value             !< as the option; '' for zeros
        character(:), allocatable :: enumeration_names(:)   !< of an enumeration; else of size 0
        integer(int64), allocatable :: enumeration_values(:)
        character(:), allocatable :: dimension_names(:)     !< fastest dimension first; '' for none
    end type windrow_variable_info

    !> Define a variable; missing parent groups are defined too. Collective.
    !>
    !> `shape`: the whole array's, each entry >= 0, as default or as 64-bit integers; absent: a scalar.
    !> `variable`: its number in this file. `options`: of this variable: byte_order, element_bytes, text_characters,
    !> text_padding, opaque_tag, null_space, fill_value, chunks (a text in C's order: slowest dimension first), filters,
    !> extendible, and windrow_options_set_enumeration(). All ranks give the same `path`, `type`, `shape` and options.
    !> Elements never written are 0, or the fill_value.
    interface windrow_define_variable
        module procedure define_variable_int32, define_variable_int64, define_scalar
    end interface windrow_define_variable

contains

    !> Define a group and its parents that do not exist yet. An existing group is not an error. Collective.
    subroutine windrow_define_group(file, path, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_define_group(raw_of(file), c_text(path)), stat, errmsg)
    end subroutine windrow_define_group

    subroutine define_variable_int64(file, path, type, shape, variable, options, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path
        integer, intent(in) :: type
        integer(int64), intent(in) :: shape(:)
        integer, intent(out) :: variable
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(windrow_variable_definition) :: definition(1)
        integer :: variables(1)
        definition(1)%path = path
        definition(1)%type = type
        definition(1)%shape = shape
        if (present(options)) definition(1)%options = options
        variables = 0
        call define_all(file, definition, variables, stat, errmsg)
        variable = variables(1)
    end subroutine define_variable_int64

    subroutine define_variable_int32(file, path, type, shape, variable, options, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path
        integer, intent(in) :: type
        integer(int32), intent(in) :: shape(:)
        integer, intent(out) :: variable
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call define_variable_int64(file, path, type, int(shape, int64), variable, options, stat, errmsg)
    end subroutine define_variable_int32

    subroutine define_scalar(file, path, type, variable, options, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path
        integer, intent(in) :: type
        integer, intent(out) :: variable
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call define_variable_int64(file, path, type, [integer(int64) ::], variable, options, stat, errmsg)
    end subroutine define_scalar

    !> Define several variables at once, with two collective operations in all. Collective. `variables`
    !> [size(definitions)]: their numbers, in order. If an argument is refused, nothing is defined.
    subroutine windrow_define_variables(file, definitions, variables, stat, errmsg)
        type(windrow_file), intent(in) :: file
        type(windrow_variable_definition), intent(in) :: definitions(:)
        integer, allocatable, intent(out) :: variables(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        allocate (variables(size(definitions)), source=0)
        call define_all(file, definitions, variables, stat, errmsg)
    end subroutine windrow_define_variables

    !> C's definitions point into `paths` and `shapes`.
    subroutine define_all(file, definitions, variables, stat, errmsg)
        type(windrow_file), intent(in) :: file
        type(windrow_variable_definition), intent(in) :: definitions(:)
        integer, intent(inout) :: variables(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: paths(:, :)
        integer(c_int64_t), allocatable, target :: shapes(:, :)
        type(c_variable_definition), allocatable :: raw(:)
        integer(c_int) :: code, numbers(size(definitions))
        integer :: i, longest, most
        longest = 0
        most = 0
        do i = 1, size(definitions)
            if (allocated(definitions(i)%path)) longest = max(longest, len(definitions(i)%path))
            if (allocated(definitions(i)%shape)) most = max(most, size(definitions(i)%shape))
        end do
        allocate (paths(longest + 1, size(definitions)), shapes(most + 1, size(definitions)), raw(size(definitions)))
        do i = 1, size(definitions)
            raw(i) = c_variable_definition(c_null_ptr, definitions(i)%type, 0, c_loc(shapes(1, i)), &
                c_options_all(raw_of(definitions(i)%options)))
            if (allocated(definitions(i)%path)) then
                call copy_text(definitions(i)%path, paths(:, i))
                raw(i)%path = c_loc(paths(1, i))
            end if
            if (allocated(definitions(i)%shape)) then
                raw(i)%ndims = int(size(definitions(i)%shape), c_int)
                shapes(:raw(i)%ndims, i) = reversed(definitions(i)%shape)
            end if
        end do
        numbers = -1
        code = c_define_variables(raw_of(file), int(size(definitions), c_int), raw, numbers)
        variables = int(numbers) + 1
        call finish(code, stat, errmsg)
    end subroutine define_all

    subroutine copy_text(text, letters)
        character(*), intent(in) :: text
        character(kind=c_char), intent(out) :: letters(:)
        character(:), allocatable :: with_end
        integer :: i
        with_end = c_text(text)
        do i = 1, len(with_end)
            letters(i) = with_end(i:i)
        end do
    end subroutine copy_text

    !> Number of variables of the file, numbered 1, 2, ...; -1 if it is not open. Local.
    function windrow_variable_count(file) result(count)
        type(windrow_file), intent(in) :: file
        integer :: count
        count = int(c_variable_count(raw_of(file)))
    end function windrow_variable_count

    !> The number of the variable `path`; windrow_not_found, and 0, if there is none. Local.
    subroutine windrow_find_variable(file, path, variable, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path
        integer, intent(out) :: variable
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_int) :: code, number
        number = -1
        code = c_find_variable(raw_of(file), c_text(path), number)
        variable = int(number) + 1
        call finish(code, stat, errmsg)
    end subroutine windrow_find_variable

    !> Describe a variable. Local.
    subroutine windrow_inquire_variable(file, variable, info, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: variable
        type(windrow_variable_info), intent(out) :: info
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_variable_info) :: raw
        integer(c_int) :: code
        raw%size = c_sizeof(raw)
        code = c_inquire_variable(raw_of(file), int(variable, c_int), raw)
        if (code == windrow_ok) then
            info%path = text_of(raw%path)
            info%type = int(raw%type)
            info%shape = reversed(raw%shape(:raw%ndims))
            info%bytes = raw%bytes
            info%offset = raw%offset
            info%big_endian = raw%big_endian /= 0
            info%unsupported = text_of(raw%unsupported)
            info%has_fill_value = raw%has_fill_value /= 0
            info%chunked = raw%chunked /= 0
            info%chunk = reversed(raw%chunk(:merge(raw%ndims, 0_c_int, info%chunked)))
            info%extendible = raw%extendible /= 0
            info%filters = text_of(raw%filters)
            info%elements = raw%elements
            info%element_bytes = raw%element_bytes
            info%is_null = raw%is_null /= 0
            info%text_characters = text_of(raw%text_characters)
            info%text_padding = text_of(raw%text_padding)
            info%opaque_tag = text_of(raw%opaque_tag)
            call split_enumeration(text_of(raw%enumeration), info%enumeration_names, info%enumeration_values)
            info%fill_value = text_of(raw%fill_value)
            info%dimension_names = texts_of(raw%dimension_names(raw%ndims:1:-1))
        end if
        call finish(code, stat, errmsg)
    end subroutine windrow_inquire_variable

    !> Number of groups of the file, numbered 1, 2, ...; 1 is the root; -1 if the file is not open. Local.
    function windrow_group_count(file) result(count)
        type(windrow_file), intent(in) :: file
        integer :: count
        count = int(c_group_count(raw_of(file)))
    end function windrow_group_count

    !> The path of a group; '' for an invalid number. Local.
    function windrow_group_path(file, group) result(path)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: group
        character(:), allocatable :: path
        path = text_of(c_group_path(raw_of(file), int(group, c_int) - 1_c_int))
    end function windrow_group_path

    !> Objects of the file that Windrow can neither read nor copy yet, one per line: 'path: reason'. Local.
    function windrow_unsupported_objects(file) result(text)
        type(windrow_file), intent(in) :: file
        character(:), allocatable :: text
        text = text_of(c_unsupported_objects(raw_of(file)))
    end function windrow_unsupported_objects
end module windrow_objects
