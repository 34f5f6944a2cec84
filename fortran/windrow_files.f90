! SPDX-License-Identifier: BSD-3-Clause
!> Options and files.
!>
!> Common to all modules: `stat` becomes 0 or a code of windrow_base, `errmsg` the message; without `stat` an error
!> stops the program with the message. A collective call fails with the same code and message on every rank. Blanks at
!> the end of names do not count. Costs and errors are those of the function of the same name in windrow.h.
module windrow_files
    use, intrinsic :: iso_c_binding, only: c_int, c_ptr
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_options_create, windrow_options_set, windrow_options_free
    public :: windrow_create, windrow_open, windrow_sync, windrow_close, windrow_discard, windrow_copy

    !> Create a file; it gets its name at windrow_close(). Collective over `comm`, a communicator of `use mpi_f08` or of
    !> `use mpi`.
    interface windrow_create
        module procedure create_file
    end interface windrow_create

    !> Open an existing file: `mode` is windrow_mode_read, the default, or windrow_mode_update. Collective over `comm`.
    interface windrow_open
        module procedure open_file
    end interface windrow_open

    !> Copy a whole file, also to another format. Collective over `comm`. If something cannot be copied, nothing is;
    !> `errmsg` says how much it is, and the command windrow copy lists it.
    interface windrow_copy
        module procedure copy_file
    end interface windrow_copy

contains

    !> Make a set of options. Local. Only the padding of text of fixed length is set, to blanks.
    subroutine windrow_options_create(options, stat, errmsg)
        type(windrow_options), intent(out) :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code
        code = c_options_create(raw)
        if (code == windrow_ok) call hold(options, raw)
        call finish(code, stat, errmsg)
    end subroutine windrow_options_create

    !> Set an option; docs/settings.md lists the keys and their values. Local.
    subroutine windrow_options_set(options, key, value, stat, errmsg)
        type(windrow_options), intent(in) :: options
        character(*), intent(in) :: key, value
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_options_set(raw_of(options), c_text(key), c_text(value)), stat, errmsg)
    end subroutine windrow_options_set

    !> Free; a set that was not made is allowed. Local.
    subroutine windrow_options_free(options)
        type(windrow_options), intent(inout) :: options
        type(windrow_options) :: none
        call c_options_free(raw_of(options))
        options = none
    end subroutine windrow_options_free

    subroutine create_file(comm, path, file, options, stat, errmsg)
        integer, intent(in) :: comm
        character(*), intent(in) :: path
        type(windrow_file), intent(out) :: file
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code
        code = c_create(comm, c_text(path), options_of(options), raw)
        call hold(file, raw)
        call finish(code, stat, errmsg)
    end subroutine create_file

    subroutine open_file(comm, path, file, mode, options, stat, errmsg)
        integer, intent(in) :: comm
        character(*), intent(in) :: path
        type(windrow_file), intent(out) :: file
        integer, intent(in), optional :: mode
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code, how
        how = windrow_mode_read
        if (present(mode)) how = int(mode, c_int)
        code = c_open(comm, c_text(path), how, options_of(options), raw)
        call hold(file, raw)
        call finish(code, stat, errmsg)
    end subroutine open_file

    subroutine copy_file(comm, source, target, options, stat, errmsg)
        integer, intent(in) :: comm
        character(*), intent(in) :: source, target
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_copy(comm, c_text(source), c_text(target), options_of(options)), stat, errmsg)
    end subroutine copy_file

    !> Flush what is queued, and publish all flushed data under the file's name. Collective.
    subroutine windrow_sync(file, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_sync(raw_of(file)), stat, errmsg)
    end subroutine windrow_sync

    !> Flush what is queued, publish and close. Collective. The file is closed whatever the result is; on error a new
    !> file is not published. A file that is not open is allowed.
    subroutine windrow_close(file, stat, errmsg)
        type(windrow_file), intent(inout) :: file
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(windrow_file) :: none
        integer(c_int) :: code
        code = c_close(raw_of(file))
        file = none
        call finish(code, stat, errmsg)
    end subroutine windrow_close

    !> Close without flushing or publishing: a new file is removed. Collective.
    subroutine windrow_discard(file, stat, errmsg)
        type(windrow_file), intent(inout) :: file
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(windrow_file) :: none
        integer(c_int) :: code
        code = c_discard(raw_of(file))
        file = none
        call finish(code, stat, errmsg)
    end subroutine windrow_discard
end module windrow_files
