! SPDX-License-Identifier: BSD-3-Clause
!> Names in a file: dimensions, kinds of objects, and links. Numbers of dimensions and of links count from 1.
module windrow_names
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_null_ptr, c_ptr
    use, intrinsic :: iso_fortran_env, only: int32, int64
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_name_dimensions, windrow_define_dimension, windrow_dimension_count, windrow_inquire_dimension
    public :: windrow_inquire_object, windrow_define_link, windrow_link_count, windrow_inquire_link
    public :: windrow_subfile_count, windrow_subfile_name, windrow_check_subfiles, windrow_write_references

    !> Kinds of objects from windrow_inquire_object().
    integer, parameter, public :: windrow_nothing = 0, windrow_group = 1, windrow_variable = 2, windrow_link = 3, &
        windrow_other = 4, windrow_dimension = 5

    !> Define a dimension; a variable of its name has its coordinates if that is its own first dimension. Collective.
    !> `length`: a default or a 64-bit integer.
    interface windrow_define_dimension
        module procedure define_dimension_int32, define_dimension_int64
    end interface windrow_define_dimension

contains

    !> Name the dimensions of a variable, as in netCDF-4; once. Collective.
    !>
    !> `names`: one for each dimension of the variable, fastest first: the name of a variable or dimension in the
    !> variable's group or above it, a path that begins with a slash, or '' for none. If nothing has the name, a new
    !> dimension is defined in the variable's group, so define variables with coordinates first.
    !>
    !>     call windrow_name_dimensions(file, temperature, ['cell', 'time'])
    subroutine windrow_name_dimensions(file, variable, names, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: variable
        character(*), intent(in) :: names(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_name_dimensions(raw_of(file), int(variable, c_int), names), stat, errmsg)
    end subroutine windrow_name_dimensions

    subroutine define_dimension_int64(file, path, length, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path
        integer(int64), intent(in) :: length
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_define_dimension(raw_of(file), c_text(path), length), stat, errmsg)
    end subroutine define_dimension_int64

    subroutine define_dimension_int32(file, path, length, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path
        integer(int32), intent(in) :: length
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call define_dimension_int64(file, path, int(length, int64), stat, errmsg)
    end subroutine define_dimension_int32

    !> Number of dimensions of the file without a variable for coordinates, numbered 1, 2, ...; -1 if it is not open.
    !> Local.
    function windrow_dimension_count(file) result(count)
        type(windrow_file), intent(in) :: file
        integer :: count
        count = int(c_dimension_count(raw_of(file)))
    end function windrow_dimension_count

    !> Path and length of such a dimension. Local.
    subroutine windrow_inquire_dimension(file, dimension, path, length, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: dimension
        character(:), allocatable, intent(out) :: path
        integer(int64), intent(out) :: length
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: raw
        integer(c_int) :: code
        integer(c_int64_t) :: extent
        raw = c_null_ptr
        extent = 0
        code = c_inquire_dimension(raw_of(file), int(dimension, c_int), raw, extent)
        path = text_of(raw)
        length = extent
        call finish(code, stat, errmsg)
    end subroutine windrow_inquire_dimension

    !> Kind of the object at a path: `kind` is windrow_nothing, windrow_group, windrow_variable, windrow_link,
    !> windrow_other or windrow_dimension. Links in the path are followed, except for the last name. Local.
    subroutine windrow_inquire_object(file, path, kind, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path
        integer, intent(out) :: kind
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_int) :: code, found
        found = windrow_nothing
        code = c_inquire_object(raw_of(file), c_text(path), found)
        kind = int(found)
        call finish(code, stat, errmsg)
    end subroutine windrow_inquire_object

    !> Define a soft link: a name that refers to another object. Missing parent groups are defined too. Collective.
    !>
    !> `target`: a path in this file, relative to the link's group unless it begins with a slash. It need not exist.
    subroutine windrow_define_link(file, path, target, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path, target
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_define_link(raw_of(file), c_text(path), c_text(target)), stat, errmsg)
    end subroutine windrow_define_link

    !> Number of soft links of the file, numbered 1, 2, ...; -1 if it is not open. Local.
    function windrow_link_count(file) result(count)
        type(windrow_file), intent(in) :: file
        integer :: count
        count = int(c_link_count(raw_of(file)))
    end function windrow_link_count

    !> Path and target of a soft link, as stored. Local.
    subroutine windrow_inquire_link(file, link, path, target, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: link
        character(:), allocatable, intent(out) :: path, target
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: from, to
        integer(c_int) :: code
        from = c_null_ptr
        to = c_null_ptr
        code = c_inquire_link(raw_of(file), int(link, c_int), from, to)
        path = text_of(from)
        target = text_of(to)
        call finish(code, stat, errmsg)
    end subroutine windrow_inquire_link

    !> Number of subfiles that variables are split over, numbered 1, 2, ...; 0: it is a single file; -1 if it is not
    !> open. Local.
    function windrow_subfile_count(file) result(count)
        type(windrow_file), intent(in) :: file
        integer :: count
        count = int(c_subfile_count(raw_of(file)))
    end function windrow_subfile_count

    !> The name of a subfile, relative to the folder of the file; '' for an invalid number. Local.
    function windrow_subfile_name(file, subfile) result(name)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: subfile
        character(:), allocatable :: name
        name = text_of(c_subfile_name(raw_of(file), int(subfile, c_int) - 1_c_int))
    end function windrow_subfile_name

    !> Check a file and its subfiles: errors, one per line; '' for none. Collective.
    subroutine windrow_check_subfiles(file, problems, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(:), allocatable, intent(out) :: problems
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: text
        integer(c_int) :: code
        text = c_null_ptr
        code = c_check_subfiles(raw_of(file), text)
        problems = text_of(text)
        call finish(code, stat, errmsg)
    end subroutine windrow_check_subfiles

    !> Write a kerchunk reference file, with which xarray and zarr open a file and its subfiles as one. Collective.
    !>
    !> `file`: open for reading. `path`: of the text; '' for NAME.kerchunk.json beside the file. `prefix`: precedes the
    !> file names in it, such as '/data/run/'; '' for none. `left_out`: what Zarr cannot express, one per line; '' for
    !> nothing.
    subroutine windrow_write_references(file, path, prefix, left_out, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: path, prefix
        character(:), allocatable, intent(out) :: left_out
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: text
        integer(c_int) :: code
        text = c_null_ptr
        code = c_write_references(raw_of(file), c_text(path), c_text(prefix), text)
        left_out = text_of(text)
        call finish(code, stat, errmsg)
    end subroutine windrow_write_references
end module windrow_names
