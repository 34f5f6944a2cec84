! SPDX-License-Identifier: BSD-3-Clause
!> Files of plain bytes: bytes.h.
!>
!> Offsets, lengths and strides are bytes, in the file and in memory, of integer(int64). Offsets are counted from 0, as
!> in MPI-IO.
module windrow_byte_files
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_ptr, c_ptr
    use, intrinsic :: iso_fortran_env, only: int64
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_byte_list_pieces, windrow_byte_list_runs, windrow_byte_list_types, windrow_byte_list_memory, &
        windrow_byte_list_free
    public :: windrow_bytes_open, windrow_bytes_write, windrow_bytes_read, windrow_bytes_explain, &
        windrow_bytes_report, windrow_bytes_sync, windrow_bytes_close

    !> Open a file of plain bytes: `mode` is windrow_mode_read, the default, windrow_mode_update or
    !> windrow_mode_update_or_create. Collective over `comm`, a communicator of `use mpi_f08` or of `use mpi`.
    interface windrow_bytes_open
        module procedure open_bytes
    end interface windrow_bytes_open

    !> Make a list of `count` elements of an MPI datatype in memory, which are the bytes of the file from `offset` on.
    !> Local.
    !>
    !> `displacement`, `etype`, `filetype`: as of MPI_File_set_view(); absent: 0, MPI_BYTE, and the etype. `offset`, by
    !> default 0, is in etypes. Datatypes are those of `use mpi_f08` or of `use mpi`. Types with absolute addresses, for
    !> MPI_BOTTOM, are not possible.
    interface windrow_byte_list_types
        module procedure list_of_types
    end interface windrow_byte_list_types

contains

    !> Make a list of pieces. Local.
    !>
    !> `memory_offsets`: from the first byte of the array that a call passes; absent: the pieces are in memory one after
    !> another.
    subroutine windrow_byte_list_pieces(file_offsets, lengths, list, memory_offsets, stat, errmsg)
        integer(int64), intent(in) :: file_offsets(:), lengths(:)
        type(windrow_byte_list), intent(out) :: list
        integer(int64), intent(in), optional :: memory_offsets(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code
        logical :: fit
        fit = size(file_offsets) == size(lengths)
        if (present(memory_offsets)) fit = fit .and. size(memory_offsets) == size(lengths)
        if (.not. fit) then
            call refuse_list(list, 'byte_list_pieces: the lists have different sizes', stat, errmsg)
            return
        end if
        code = c_byte_list_pieces(size(lengths, kind=int64), file_offsets, memory_offsets, lengths, raw)
        call hold(list, raw)
        call finish(code, stat, errmsg)
    end subroutine windrow_byte_list_pieces

    !> Make a list of nested regular runs, such as a block of an array. Local.
    !>
    !> `file_offsets`, `memory_offsets`, `lengths`: of the first piece of each run. `counts`, `file_strides`,
    !> `memory_strides`: (loops, runs), the loops in any order. A run with fewer loops has a count of 1 in the others.
    subroutine windrow_byte_list_runs(file_offsets, memory_offsets, lengths, counts, file_strides, memory_strides, &
        list, stat, errmsg)
        integer(int64), intent(in) :: file_offsets(:), memory_offsets(:), lengths(:)
        integer(int64), intent(in) :: counts(:, :), file_strides(:, :), memory_strides(:, :)
        type(windrow_byte_list), intent(out) :: list
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64), allocatable :: firsts(:, :)
        type(c_ptr) :: raw
        integer(c_int) :: code
        integer :: runs
        runs = size(lengths)
        if (size(file_offsets) /= runs .or. size(memory_offsets) /= runs .or. size(counts, 2) /= runs .or. &
            any(shape(file_strides) /= shape(counts)) .or. any(shape(memory_strides) /= shape(counts))) then
            call refuse_list(list, 'byte_list_runs: the lists have different sizes', stat, errmsg)
            return
        end if
        allocate (firsts(3, runs))
        firsts(1, :) = file_offsets
        firsts(2, :) = memory_offsets
        firsts(3, :) = lengths
        code = c_byte_list_runs(int(runs, int64), int(size(counts, 1), c_int), firsts, counts, file_strides, &
            memory_strides, raw)
        call hold(list, raw)
        call finish(code, stat, errmsg)
    end subroutine windrow_byte_list_runs

    subroutine list_of_types(datatype, count, list, offset, displacement, etype, filetype, stat, errmsg)
        integer, intent(in) :: datatype
        integer(int64), intent(in) :: count
        type(windrow_byte_list), intent(out) :: list
        integer(int64), intent(in), optional :: offset, displacement
        integer, intent(in), optional :: etype, filetype
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64) :: first, begin
        type(c_ptr) :: raw
        integer(c_int) :: code
        first = 0
        begin = 0
        if (present(offset)) first = offset
        if (present(displacement)) begin = displacement
        code = c_byte_list_types(begin, etype, filetype, first, count, datatype, raw)
        call hold(list, raw)
        call finish(code, stat, errmsg)
    end subroutine list_of_types

    !> A list that could not be made: calls with it fail on all ranks.
    subroutine refuse_list(list, message, stat, errmsg)
        type(windrow_byte_list), intent(out) :: list
        character(*), intent(in) :: message
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64) :: nothing(1)
        type(c_ptr) :: raw
        integer(c_int) :: code
        nothing = 0
        code = c_byte_list_pieces(-1_int64, nothing, lengths=nothing, list=raw)
        call hold(list, raw)
        call fail(int(code), message, stat, errmsg)
    end subroutine refuse_list

    !> The memory of a list: its bytes are at offsets `first` to `last` - 1 of the array that a call passes. Local.
    subroutine windrow_byte_list_memory(list, first, last, stat, errmsg)
        type(windrow_byte_list), intent(in) :: list
        integer(int64), intent(out) :: first, last
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_byte_list_memory(raw_of(list), first, last), stat, errmsg)
    end subroutine windrow_byte_list_memory

    !> Free; a list that was not made is allowed. Local.
    subroutine windrow_byte_list_free(list)
        type(windrow_byte_list), intent(inout) :: list
        type(windrow_byte_list) :: none
        call c_byte_list_free(raw_of(list))
        list = none
    end subroutine windrow_byte_list_free

    subroutine open_bytes(comm, path, file, mode, options, stat, errmsg)
        integer, intent(in) :: comm
        character(*), intent(in) :: path
        type(windrow_bytes), intent(out) :: file
        integer, intent(in), optional :: mode
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code, how
        how = windrow_mode_read
        if (present(mode)) how = int(mode, c_int)
        code = c_bytes_open(comm, c_text(path), how, options_of(options), raw)
        call hold(file, raw)
        call finish(code, stat, errmsg)
    end subroutine open_bytes

    !> Write the bytes of all lists. Collective.
    !>
    !> `list`: without one that a call has set, this rank writes nothing. `data`: a scalar or an array of any type and
    !> rank, contiguous, with all bytes of the list; an expression is allowed. The size of an array of assumed size,
    !> a(*), cannot be checked.
    subroutine windrow_bytes_write(file, list, data, stat, errmsg) bind(c, name="windrow_module_bytes_write")
        type(windrow_bytes), intent(in) :: file
        type(windrow_byte_list), intent(in) :: list
        type(*), intent(in) :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_bytes_write(raw_of(file), raw_of(list), data), stat, errmsg)
    end subroutine windrow_bytes_write

    !> Read the bytes of all lists. Collective.
    !>
    !> `bytes_read`: bytes of this rank's list before the end of the file. The memory of the others is not changed.
    subroutine windrow_bytes_read(file, list, data, bytes_read, stat, errmsg) bind(c, name="windrow_module_bytes_read")
        type(windrow_bytes), intent(in) :: file
        type(windrow_byte_list), intent(in) :: list
        type(*), intent(inout) :: data(..)
        integer(c_int64_t), intent(out), optional :: bytes_read
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        integer(c_int64_t) :: bytes
        integer(c_int) :: code
        code = c_bytes_read(raw_of(file), raw_of(list), data, bytes)
        if (present(bytes_read)) bytes_read = bytes
        call finish(code, stat, errmsg)
    end subroutine windrow_bytes_read

    !> The plan by which such a call would move the lists: windrow_bytes_write() if `writes`, else
    !> windrow_bytes_read(). Collective. `format`: 'text', the default, or 'json'.
    subroutine windrow_bytes_explain(file, writes, list, text, format, stat, errmsg)
        type(windrow_bytes), intent(in) :: file
        logical, intent(in) :: writes
        type(windrow_byte_list), intent(in) :: list
        character(:), allocatable, intent(out) :: text
        character(*), intent(in), optional :: format
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code
        raw = c_null_ptr
        code = c_bytes_explain(raw_of(file), merge(1_c_int, 0_c_int, writes), raw_of(list), &
            c_text(format_of(format)), raw)
        text = text_of(raw)
        call finish(code, stat, errmsg)
    end subroutine windrow_bytes_explain

    !> What the last write or read did over all ranks, and its plan. Local. `format`: 'text', the default, or
    !> 'json'.
    subroutine windrow_bytes_report(file, text, format, stat, errmsg)
        type(windrow_bytes), intent(in) :: file
        character(:), allocatable, intent(out) :: text
        character(*), intent(in), optional :: format
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code
        raw = c_null_ptr
        code = c_bytes_report(raw_of(file), c_text(format_of(format)), raw)
        text = text_of(raw)
        call finish(code, stat, errmsg)
    end subroutine windrow_bytes_report

    !> When the call returns, everything that was written is on stable storage. Collective.
    subroutine windrow_bytes_sync(file, stat, errmsg)
        type(windrow_bytes), intent(in) :: file
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_bytes_sync(raw_of(file)), stat, errmsg)
    end subroutine windrow_bytes_sync

    !> Close. Collective. The file is closed whatever the result is. A file that is not open is allowed.
    subroutine windrow_bytes_close(file, stat, errmsg)
        type(windrow_bytes), intent(inout) :: file
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(windrow_bytes) :: none
        integer(c_int) :: code
        code = c_bytes_close(raw_of(file))
        file = none
        call finish(code, stat, errmsg)
    end subroutine windrow_bytes_close
end module windrow_byte_files
