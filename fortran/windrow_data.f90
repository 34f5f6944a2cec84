! SPDX-License-Identifier: BSD-3-Clause
!> Data: queue, flush and combinations; the plan and the report.
!>
!> `data` is an array of any rank, contiguous in memory, of the variable's type. Types are integers of 8 to 64 bits,
!> real and complex of kind real32 or real64, logical(c_bool), character of the length of the variable's texts, and
!> integer(int8) for opaque elements, whose bytes are the first dimension. Another type, gaps (as in a(::2)) and too few
!> elements are windrow_bad_argument, with both types or sizes in the message. The shape of `data` has no effect: the
!> decomposition defines where the elements are in it. The size of an array of assumed size, a(*), cannot be checked.
module windrow_data
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_ptr, c_ptr
    use, intrinsic :: iso_fortran_env, only: int32, int64
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_put, windrow_get, windrow_flush, windrow_flush_begin, windrow_flush_end, windrow_write
    public :: windrow_read, windrow_put_as, windrow_get_as
    public :: windrow_put_record, windrow_get_record, windrow_put_record_as, windrow_get_record_as
    public :: windrow_write_block, windrow_read_block
    public :: windrow_explain, windrow_report, windrow_set_strategy

    !> windrow_put() of one record: one index, from 1, of the variable's last dimension. Local.
    !>
    !> `record`: a default or a 64-bit integer. The decomposition has the dimensions before the last, so one serves
    !> every time step. A put beyond the end of an extendible variable extends it at the flush.
    interface windrow_put_record
        module procedure put_record_int32, put_record_int64
    end interface windrow_put_record

    !> windrow_get() of one record. Local.
    interface windrow_get_record
        module procedure get_record_int32, get_record_int64
    end interface windrow_get_record

    !> windrow_put_record() of data of another type than the variable's: `record` as there, `type` as in
    !> windrow_put_as(). Local.
    interface windrow_put_record_as
        module procedure put_record_as_int32, put_record_as_int64
    end interface windrow_put_record_as

    !> windrow_get_record() into data of another type than the variable's, converted in the flush. Local.
    interface windrow_get_record_as
        module procedure get_record_as_int32, get_record_as_int64
    end interface windrow_get_record_as

    !> Write one block per rank without a decomposition. Collective. Any count 0: nothing.
    !>
    !> `start`, `count`: one entry for each dimension of the variable, from 1, fastest first; default or 64-bit
    !> integers.
    interface windrow_write_block
        module procedure write_block_int32, write_block_int64
    end interface windrow_write_block

    !> Read one block per rank. Collective.
    interface windrow_read_block
        module procedure read_block_int32, read_block_int64
    end interface windrow_read_block

contains

    !> Queue data to be written. Local: nothing is copied. `data` must exist and stay unchanged until the flush. So give
    !> it the attribute `target` or `asynchronous`, and do not pass an expression, which would no longer exist. Bad
    !> arguments are reported here, and again by the next flush, on every rank.
    subroutine windrow_put(file, variable, decomposition, data, stat, errmsg) bind(c, name="windrow_module_put")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(in), target, asynchronous :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_put(raw_of(file), variable, raw_of(decomposition), data), stat, errmsg)
    end subroutine windrow_put

    !> Queue data to be read; the flush fills `data`; the same rules apply as for windrow_put(). Local.
    subroutine windrow_get(file, variable, decomposition, data, stat, errmsg) bind(c, name="windrow_module_get")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(inout), target, asynchronous :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_get(raw_of(file), variable, raw_of(decomposition), data), stat, errmsg)
    end subroutine windrow_get

    !> windrow_put() of data of another type than the variable's, converted at once into a copy. Local. `data` must
    !> still exist, unchanged, until the flush.
    !>
    !> `type`: of the elements of `data`, if they are unsigned, such as windrow_uint8; absent: the array's own.
    !> windrow_put_as() in windrow.h lists the conversions, and the treatment of out-of-range values.
    subroutine windrow_put_as(file, variable, decomposition, data, type, stat, errmsg) &
        bind(c, name="windrow_module_put_as")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(in), target, asynchronous :: data(..)
        integer(c_int), intent(in), optional :: type
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_put_as(raw_of(file), variable, raw_of(decomposition), data, type_or_own(type)), &
            stat, errmsg)
    end subroutine windrow_put_as

    !> windrow_get() into data of another type than the variable's, converted in the flush. Local.
    subroutine windrow_get_as(file, variable, decomposition, data, type, stat, errmsg) &
        bind(c, name="windrow_module_get_as")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(inout), target, asynchronous :: data(..)
        integer(c_int), intent(in), optional :: type
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_get_as(raw_of(file), variable, raw_of(decomposition), data, type_or_own(type)), &
            stat, errmsg)
    end subroutine windrow_get_as

    !> 0: the array's own.
    function type_or_own(type) result(number)
        integer(c_int), intent(in), optional :: type
        integer(c_int) :: number
        number = 0
        if (present(type)) number = type
    end function type_or_own

    subroutine put_record_int64(file, variable, record, decomposition, data, stat, errmsg) &
        bind(c, name="windrow_module_put_record_int64")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int64), intent(in) :: record
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(in), target, asynchronous :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_put_record(raw_of(file), variable, record, raw_of(decomposition), data), stat, errmsg)
    end subroutine put_record_int64

    subroutine put_record_int32(file, variable, record, decomposition, data, stat, errmsg) &
        bind(c, name="windrow_module_put_record_int32")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int32), intent(in) :: record
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(in), target, asynchronous :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_put_record(raw_of(file), variable, int(record, int64), raw_of(decomposition), data), stat, errmsg)
    end subroutine put_record_int32

    subroutine get_record_int64(file, variable, record, decomposition, data, stat, errmsg) &
        bind(c, name="windrow_module_get_record_int64")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int64), intent(in) :: record
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(inout), target, asynchronous :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_get_record(raw_of(file), variable, record, raw_of(decomposition), data), stat, errmsg)
    end subroutine get_record_int64

    subroutine get_record_int32(file, variable, record, decomposition, data, stat, errmsg) &
        bind(c, name="windrow_module_get_record_int32")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int32), intent(in) :: record
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(inout), target, asynchronous :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_get_record(raw_of(file), variable, int(record, int64), raw_of(decomposition), data), stat, errmsg)
    end subroutine get_record_int32

    subroutine put_record_as_int64(file, variable, record, decomposition, data, type, stat, errmsg) &
        bind(c, name="windrow_module_put_record_as_int64")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int64), intent(in) :: record
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(in), target, asynchronous :: data(..)
        integer(c_int), intent(in), optional :: type
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_put_record_as(raw_of(file), variable, record, raw_of(decomposition), data, &
            type_or_own(type)), stat, errmsg)
    end subroutine put_record_as_int64

    subroutine put_record_as_int32(file, variable, record, decomposition, data, type, stat, errmsg) &
        bind(c, name="windrow_module_put_record_as_int32")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int32), intent(in) :: record
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(in), target, asynchronous :: data(..)
        integer(c_int), intent(in), optional :: type
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_put_record_as(raw_of(file), variable, int(record, int64), raw_of(decomposition), data, &
            type_or_own(type)), stat, errmsg)
    end subroutine put_record_as_int32

    subroutine get_record_as_int64(file, variable, record, decomposition, data, type, stat, errmsg) &
        bind(c, name="windrow_module_get_record_as_int64")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int64), intent(in) :: record
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(inout), target, asynchronous :: data(..)
        integer(c_int), intent(in), optional :: type
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_get_record_as(raw_of(file), variable, record, raw_of(decomposition), data, &
            type_or_own(type)), stat, errmsg)
    end subroutine get_record_as_int64

    subroutine get_record_as_int32(file, variable, record, decomposition, data, type, stat, errmsg) &
        bind(c, name="windrow_module_get_record_as_int32")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int32), intent(in) :: record
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(inout), target, asynchronous :: data(..)
        integer(c_int), intent(in), optional :: type
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_get_record_as(raw_of(file), variable, int(record, int64), raw_of(decomposition), data, &
            type_or_own(type)), stat, errmsg)
    end subroutine get_record_as_int32

    !> Change the strategy for the following flushes. Collective; nothing may be queued.
    !>
    !> `options`: strategy, owner, gather, domains, codec, access, writers, buffer, align and sieve_hole; options that
    !> are not set are reset to those of the open call; without `options` all are.
    subroutine windrow_set_strategy(file, options, stat, errmsg)
        type(windrow_file), intent(in) :: file
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_set_strategy(raw_of(file), options_of(options)), stat, errmsg)
    end subroutine windrow_set_strategy

    !> Move everything queued, puts first, then gets. Collective. On error the queue is empty.
    subroutine windrow_flush(file, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_flush(raw_of(file)), stat, errmsg)
    end subroutine windrow_flush

    !> windrow_flush() in two calls, so that the program can compute while data is written; put data must stay unchanged
    !> until windrow_flush_end(). Collective.
    subroutine windrow_flush_begin(file, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_flush_begin(raw_of(file)), stat, errmsg)
    end subroutine windrow_flush_begin

    !> End the flush of windrow_flush_begin(), and report its errors. Collective.
    subroutine windrow_flush_end(file, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_flush_end(raw_of(file)), stat, errmsg)
    end subroutine windrow_flush_end

    !> windrow_put() and windrow_flush() in one call; `data` may be an expression, transpose(a) too. Collective.
    subroutine windrow_write(file, variable, decomposition, data, stat, errmsg) bind(c, name="windrow_module_write")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(in) :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_write(raw_of(file), variable, raw_of(decomposition), data), stat, errmsg)
    end subroutine windrow_write

    !> windrow_get() and windrow_flush() in one call. Collective.
    subroutine windrow_read(file, variable, decomposition, data, stat, errmsg) bind(c, name="windrow_module_read")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        type(windrow_decomposition), intent(in) :: decomposition
        type(*), intent(inout) :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        call finish(c_read(raw_of(file), variable, raw_of(decomposition), data), stat, errmsg)
    end subroutine windrow_read

    subroutine write_block_int64(file, variable, start, count, data, stat, errmsg) &
        bind(c, name="windrow_module_write_block_int64")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int64), intent(in) :: start(:), count(:)
        type(*), intent(in) :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        integer(int64), target :: first(size(start)), many(size(count))
        first = reversed(start) - 1
        many = reversed(count)
        call finish(c_write_block(raw_of(file), variable, list_of(first), list_of(many), data), stat, errmsg)
    end subroutine write_block_int64

    subroutine write_block_int32(file, variable, start, count, data, stat, errmsg) &
        bind(c, name="windrow_module_write_block_int32")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int32), intent(in) :: start(:), count(:)
        type(*), intent(in) :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        integer(int64), target :: first(size(start)), many(size(count))
        first = reversed(int(start, int64)) - 1
        many = reversed(int(count, int64))
        call finish(c_write_block(raw_of(file), variable, list_of(first), list_of(many), data), stat, errmsg)
    end subroutine write_block_int32

    subroutine read_block_int64(file, variable, start, count, data, stat, errmsg) &
        bind(c, name="windrow_module_read_block_int64")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int64), intent(in) :: start(:), count(:)
        type(*), intent(inout) :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        integer(int64), target :: first(size(start)), many(size(count))
        first = reversed(start) - 1
        many = reversed(count)
        call finish(c_read_block(raw_of(file), variable, list_of(first), list_of(many), data), stat, errmsg)
    end subroutine read_block_int64

    subroutine read_block_int32(file, variable, start, count, data, stat, errmsg) &
        bind(c, name="windrow_module_read_block_int32")
        type(windrow_file), intent(in) :: file
        integer(c_int), intent(in) :: variable
        integer(int32), intent(in) :: start(:), count(:)
        type(*), intent(inout) :: data(..)
        integer(c_int), intent(out), optional :: stat
        character(kind=c_char, len=*), intent(inout), optional :: errmsg
        integer(int64), target :: first(size(start)), many(size(count))
        first = reversed(int(start, int64)) - 1
        many = reversed(int(count, int64))
        call finish(c_read_block(raw_of(file), variable, list_of(first), list_of(many), data), stat, errmsg)
    end subroutine read_block_int32

    !> The plan of what is queued or, if no rank has anything queued, of the last flush: the choice on each axis and its
    !> reasons. Collective.
    !> `format`: 'text', the default, or 'json'.
    subroutine windrow_explain(file, text, format, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(:), allocatable, intent(out) :: text
        character(*), intent(in), optional :: format
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code
        raw = c_null_ptr
        code = c_explain(raw_of(file), c_text(format_of(format)), raw)
        text = text_of(raw)
        call finish(code, stat, errmsg)
    end subroutine windrow_explain

    !> What the last flush did, over all ranks: seconds by stage, bytes, messages, storage requests, writers, peak
    !> memory. Local.
    !> `format`: 'text', the default, or 'json'.
    subroutine windrow_report(file, text, format, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(:), allocatable, intent(out) :: text
        character(*), intent(in), optional :: format
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code
        raw = c_null_ptr
        code = c_report(raw_of(file), c_text(format_of(format)), raw)
        text = text_of(raw)
        call finish(code, stat, errmsg)
    end subroutine windrow_report
end module windrow_data
