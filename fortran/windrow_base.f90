! SPDX-License-Identifier: BSD-3-Clause
!> Handles, constants, errors and text for the other modules. Users `use windrow`, which hides what is only for these.
module windrow_base
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int32, int64
    use windrow_c
    implicit none
    private

    !> Maximum number of dimensions of a variable; a Fortran array has up to 15.
    integer, parameter, public :: windrow_max_dimensions = max_dimensions

    !> Values of `stat`; see enum windrow_code in windrow.h.
    integer, parameter, public :: windrow_ok = 0, windrow_bad_argument = 1, windrow_bad_state = 2, &
        windrow_not_found = 3, windrow_exists = 4, windrow_unsupported = 5, windrow_bad_file = 6, &
        windrow_no_permission = 7, windrow_no_space = 8, windrow_io = 9, windrow_out_of_memory = 10, windrow_mpi = 11, &
        windrow_internal = 12

    !> Types of elements. Fortran has no unsigned integers: a signed one of the same size takes the bits of an unsigned
    !> one. windrow_text is character, windrow_bool logical(c_bool), windrow_complex64 complex(real32),
    !> windrow_complex128 complex(real64), and windrow_opaque integer(int8), whose first dimension is the bytes of an
    !> element. windrow_reference is an absolute path to an object of the file, as text: windrow_put_texts(),
    !> windrow_get_texts(); in attributes it is read. Few compilers have a kind for windrow_float16: windrow_put_as()
    !> and windrow_get_as() take real(real32) for it.
    integer, parameter, public :: windrow_int8 = 1, windrow_uint8 = 2, windrow_int16 = 3, windrow_uint16 = 4, &
        windrow_int32 = 5, windrow_uint32 = 6, windrow_int64 = 7, windrow_uint64 = 8, windrow_float32 = 9, &
        windrow_float64 = 10, windrow_text = 11, windrow_bool = 12, windrow_complex64 = 13, windrow_complex128 = 14, &
        windrow_opaque = 15, windrow_reference = 16, windrow_float16 = 17

    !> For windrow_put_as() and windrow_get_as() only: elements in the file's byte order.
    integer, parameter, public :: windrow_stored = -1

    !> How windrow_open() opens a file. (WINDROW_READ of C would be the name of a procedure.) The last is for
    !> windrow_bytes_open() only.
    integer, parameter, public :: windrow_mode_read = 0, windrow_mode_update = 1, windrow_mode_update_or_create = 2

    !> An open file. Freed by windrow_close() or windrow_discard(). A copy by assignment is the same file.
    type, bind(c), public :: windrow_file
        private
        type(c_ptr) :: raw = c_null_ptr
    end type windrow_file

    !> A set of options. Freed by windrow_options_free().
    type, bind(c), public :: windrow_options
        private
        type(c_ptr) :: raw = c_null_ptr
    end type windrow_options

    !> Which elements of a shape each rank holds, and where they are in its memory. Freed by
    !> windrow_decomposition_free().
    type, bind(c), public :: windrow_decomposition
        private
        type(c_held) :: held
    end type windrow_decomposition

    !> An open file of plain bytes. Freed by windrow_bytes_close(). A copy by assignment is the same file.
    type, bind(c), public :: windrow_bytes
        private
        type(c_ptr) :: raw = c_null_ptr
    end type windrow_bytes

    !> Which bytes of a file a rank moves, and where they are in its memory. Without one, a rank moves nothing. If a
    !> list could not be made, calls with it move nothing, and return an error on all ranks. Freed by
    !> windrow_byte_list_free().
    type, bind(c), public :: windrow_byte_list
        private
        type(c_ptr) :: raw = c_null_ptr
    end type windrow_byte_list

    public :: windrow_version, windrow_has, windrow_features, windrow_code_name, windrow_error_message, &
        windrow_error_rank
    public :: windrow_type_size, windrow_type_name

    ! For the other modules alone.
    public :: raw_of, options_of, hold, finish, fail, text_of, texts_of, c_text, format_of, reversed, widen, list_of

    interface raw_of
        module procedure raw_of_file, raw_of_options, raw_of_decomposition, raw_of_bytes, raw_of_byte_list
    end interface raw_of

    interface hold
        module procedure hold_file, hold_options, hold_decomposition, hold_bytes, hold_byte_list
    end interface hold

    interface widen
        module procedure widen_list, widen_table
    end interface widen

contains

    !> "0.1.0". Local.
    function windrow_version() result(text)
        character(:), allocatable :: text
        text = text_of(c_version())
    end function windrow_version

    !> Whether something is built in: a format ('hdf5', 'raw'), a store, a preset, or a choice of an axis as
    !> 'gather=team'. Local.
    function windrow_has(feature) result(yes)
        character(*), intent(in) :: feature
        logical :: yes
        yes = c_has(c_text(feature)) /= 0
    end function windrow_has

    !> List of what is built in, one item per line. Local.
    function windrow_features() result(text)
        character(:), allocatable :: text
        text = text_of(c_features())
    end function windrow_features

    !> 'no space left', ... for a value of `stat`. Local.
    function windrow_code_name(code) result(text)
        integer, intent(in) :: code
        character(:), allocatable :: text
        text = text_of(c_code_name(int(code, c_int)))
    end function windrow_code_name

    !> The message of the last failed call: what, where, on which rank; '' if none failed. `errmsg` returns the same.
    !> Local.
    function windrow_error_message() result(text)
        character(:), allocatable :: text
        text = text_of(c_error_message())
    end function windrow_error_message

    !> The rank, from 0, that the last error came from; -1 when none or all. Local.
    function windrow_error_rank() result(rank)
        integer :: rank
        rank = int(c_error_rank())
    end function windrow_error_rank

    !> Bytes of one element of a type; 0 for windrow_text, windrow_opaque, windrow_reference and unknown types. Local.
    function windrow_type_size(type) result(bytes)
        integer, intent(in) :: type
        integer(int64) :: bytes
        bytes = c_type_size(int(type, c_int))
    end function windrow_type_size

    !> 'int8' ... 'float64', 'text', 'bool', 'complex64', 'complex128', 'opaque', 'reference'. Local.
    function windrow_type_name(type) result(text)
        integer, intent(in) :: type
        character(:), allocatable :: text
        text = text_of(c_type_name(int(type, c_int)))
    end function windrow_type_name

    !> The end of every procedure that can fail: returns the code and the library's message, or stops if the caller has
    !> no `stat`.
    subroutine finish(code, stat, errmsg)
        integer(c_int), intent(in) :: code
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(:), allocatable :: message
        message = ''
        if (code /= windrow_ok) message = text_of(c_error_message())
        if (code /= windrow_ok .and. .not. present(stat)) error stop 'windrow: '//message
        if (present(stat)) stat = int(code)
        if (present(errmsg)) errmsg = message
    end subroutine finish

    !> An error as in allocate(): without `stat` the program stops.
    subroutine fail(code, message, stat, errmsg)
        integer, intent(in) :: code
        character(*), intent(in) :: message
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        if (.not. present(stat)) error stop 'windrow: '//message
        stat = code
        if (present(errmsg)) errmsg = message
    end subroutine fail

    !> A copy of C's text; '' for a null pointer.
    function text_of(raw) result(text)
        type(c_ptr), intent(in) :: raw
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer(c_size_t) :: length, i
        length = 0
        if (c_associated(raw)) length = c_length(raw)
        allocate (character(length) :: text)
        if (length == 0) return
        call c_f_pointer(raw, letters, [length])
        do i = 1, length
            text(i:i) = letters(i)
        end do
    end function text_of

    !> Copies of C's texts, as long as the longest.
    function texts_of(raw) result(texts)
        type(c_ptr), intent(in) :: raw(:)
        character(:), allocatable :: texts(:)
        integer :: i, longest
        longest = 0
        do i = 1, size(raw)
            if (c_associated(raw(i))) longest = max(longest, int(c_length(raw(i))))
        end do
        allocate (character(longest) :: texts(size(raw)))
        do i = 1, size(raw)
            texts(i) = text_of(raw(i))
        end do
    end function texts_of

    !> C's text: without the blanks at its end.
    pure function c_text(text) result(with_end)
        character(*), intent(in) :: text
        character(kind=c_char, len=len_trim(text) + 1) :: with_end
        with_end = trim(text)//c_null_char
    end function c_text

    !> The format of a plan or a report, which may be absent.
    function format_of(format) result(name)
        character(*), intent(in), optional :: format
        character(:), allocatable :: name
        name = 'text'
        if (present(format)) name = format
    end function format_of

    !> Converts Fortran's order of dimensions to C's, and back.
    pure function reversed(list) result(turned)
        integer(int64), intent(in) :: list(:)
        integer(int64) :: turned(size(list))
        turned = list(size(list):1:-1)
    end function reversed

    !> A list that may be absent, as 64-bit integers; not allocated when it is: such an argument counts as absent in
    !> turn.
    subroutine widen_list(list, wide)
        integer(int32), intent(in), optional :: list(:)
        integer(int64), allocatable, intent(out) :: wide(:)
        if (present(list)) wide = int(list, int64)
    end subroutine widen_list

    subroutine widen_table(list, wide)
        integer(int32), intent(in), optional :: list(:, :)
        integer(int64), allocatable, intent(out) :: wide(:, :)
        if (present(list)) wide = int(list, int64)
    end subroutine widen_table

    !> A list as C functions take it.
    function list_of(values) result(list)
        integer(int64), intent(in), target, contiguous :: values(:)
        type(c_sizes) :: list
        list%values = c_null_ptr
        if (size(values) > 0) list%values = c_loc(values)
        list%entries = int(size(values), c_int)
    end function list_of

    pure function raw_of_file(file) result(raw)
        type(windrow_file), intent(in) :: file
        type(c_ptr) :: raw
        raw = file%raw
    end function raw_of_file

    pure function raw_of_options(options) result(raw)
        type(windrow_options), intent(in) :: options
        type(c_ptr) :: raw
        raw = options%raw
    end function raw_of_options

    pure function raw_of_decomposition(decomposition) result(held)
        type(windrow_decomposition), intent(in) :: decomposition
        type(c_held) :: held
        held = decomposition%held
    end function raw_of_decomposition

    pure function raw_of_bytes(file) result(raw)
        type(windrow_bytes), intent(in) :: file
        type(c_ptr) :: raw
        raw = file%raw
    end function raw_of_bytes

    pure function raw_of_byte_list(list) result(raw)
        type(windrow_byte_list), intent(in) :: list
        type(c_ptr) :: raw
        raw = list%raw
    end function raw_of_byte_list

    !> Of options that may be absent.
    pure function options_of(options) result(raw)
        type(windrow_options), intent(in), optional :: options
        type(c_ptr) :: raw
        raw = c_null_ptr
        if (present(options)) raw = options%raw
    end function options_of

    subroutine hold_file(file, raw)
        type(windrow_file), intent(out) :: file
        type(c_ptr), intent(in) :: raw
        file%raw = raw
    end subroutine hold_file

    subroutine hold_bytes(file, raw)
        type(windrow_bytes), intent(out) :: file
        type(c_ptr), intent(in) :: raw
        file%raw = raw
    end subroutine hold_bytes

    subroutine hold_byte_list(list, raw)
        type(windrow_byte_list), intent(out) :: list
        type(c_ptr), intent(in) :: raw
        list%raw = raw
    end subroutine hold_byte_list

    subroutine hold_options(options, raw)
        type(windrow_options), intent(out) :: options
        type(c_ptr), intent(in) :: raw
        options%raw = raw
    end subroutine hold_options

    subroutine hold_decomposition(decomposition, held)
        type(windrow_decomposition), intent(out) :: decomposition
        type(c_held), intent(in) :: held
        decomposition%held = held
    end subroutine hold_decomposition
end module windrow_base
