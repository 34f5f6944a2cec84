! SPDX-License-Identifier: BSD-3-Clause
!> Names of dimensions, links, and kinds of objects; fortran_test.py reads the file with h5py.
program names_test
    use, intrinsic :: iso_fortran_env, only: int64
    use mpi_f08
    use checks
    use windrow
    implicit none

    type(windrow_file) :: file
    character(2000) :: errmsg
    integer :: stat
    logical :: has_names

    call begin_checks()
    call windrow_create(MPI_COMM_WORLD, path_of('names'), file)
    call links()
    call dimensions()
    call links_listed()
    if (has_names) call dimensions_listed()
    call windrow_close(file, stat, errmsg)
    call expect_ok(stat, errmsg, 'close')
    call expect(windrow_link_count(file) == -1 .and. windrow_dimension_count(file) == -1, 'of a closed file')
    call windrow_open(MPI_COMM_WORLD, path_of('names'), file)
    call links_listed()
    if (has_names) call dimensions_listed()
    call windrow_close(file)
    if (windrow_has('hdf5')) call subfiles()
    call end_checks()

contains

    subroutine subfiles()
        type(windrow_options) :: options
        character(:), allocatable :: problems
        integer :: variable
        call windrow_options_create(options)
        call windrow_options_set(options, 'files', 'subfiles(2)')
        call windrow_create(MPI_COMM_WORLD, path_of('subfiles'), file, options)
        call windrow_options_free(options)
        call windrow_define_variable(file, 'v', windrow_float64, [8, 4], variable)
        call windrow_close(file)
        call windrow_open(MPI_COMM_WORLD, path_of('subfiles'), file)
        call expect(windrow_subfile_count(file) == 2, 'how many subfiles')
        call expect(index(windrow_subfile_name(file, 2), '/1.') > 0, 'the name of the second')
        call expect(windrow_subfile_name(file, 3) == '', 'no third')
        call windrow_check_subfiles(file, problems, stat, errmsg)
        call expect_ok(stat, errmsg, 'check_subfiles')
        call expect(problems == '', 'a whole set: '//problems)
        call windrow_write_references(file, '', '/data/', problems, stat, errmsg)
        call expect_ok(stat, errmsg, 'write_references')
        call expect(problems == '', 'all of it: '//problems)
        call windrow_close(file)
    end subroutine subfiles

    subroutine links()
        integer :: variable, found
        call windrow_define_variable(file, 'group/inner/value', windrow_int32, [3], variable)
        call windrow_write_block(file, variable, [1], [merge(3, 0, rank == 0)], [1, 2, 3])
        call windrow_define_link(file, 'group/short  ', 'inner/value  ', stat, errmsg)
        call expect_ok(stat, errmsg, 'define_link')
        call windrow_define_link(file, 'größe', '/nowhere')
        call windrow_define_link(file, 'group', '/nowhere', stat, errmsg)
        call expect_error(stat, errmsg, windrow_exists, 'group', 'a link where a group is')
        call windrow_define_link(file, 'new', '', stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'target', 'a link to nothing')
        call windrow_find_variable(file, 'group/short', found)
        call expect(found == variable, 'a link is followed')
    end subroutine links

    subroutine dimensions()
        integer :: time, field, scalar
        character(5), parameter :: four(4) = [character(5) :: 'cell', '', 'time', 'more']
        call windrow_define_variable(file, 'time', windrow_float64, [4], time)
        call windrow_define_variable(file, 'ocean/field', windrow_float64, [5, 3, 4], field)
        call windrow_define_variable(file, 'scalar', windrow_float64, scalar)
        call windrow_name_dimensions(file, field, [character(5) :: 'cell', '', 'time'], stat, errmsg)
        has_names = stat /= windrow_unsupported
        if (.not. has_names) return    ! built without HDF5's high-level library
        call expect_ok(stat, errmsg, 'name_dimensions')
        call windrow_name_dimensions(file, time, ['time'])
        call windrow_define_dimension(file, 'unused', 11, stat, errmsg)
        call expect_ok(stat, errmsg, 'define_dimension')
        call windrow_define_dimension(file, 'group/huge', 2_int64**40)
        call windrow_define_dimension(file, 'unused', 11_int64, stat, errmsg)
        call expect_error(stat, errmsg, windrow_exists, 'unused', 'a dimension twice')
        call windrow_name_dimensions(file, time, ['t', 'u'], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, '2 names for "/time", which has 1 dimension', &
            'many names')
        call windrow_name_dimensions(file, scalar, ['t'], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, '1 name for "/scalar"', 'a name for a scalar')
        call windrow_name_dimensions(file, field, four(:merge(4, 3, rank == ranks - 1)), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, '4 names for "/ocean/field", which has 3 dimensions', &
            'many names on one rank')
        call windrow_name_dimensions(file, 99, ['t'], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no variable number', 'names for nothing')
        call windrow_name_dimensions(file, field, ['x', 'y', 'z'], stat, errmsg)
        call expect_error(stat, errmsg, windrow_exists, 'have names already', 'other names')
    end subroutine dimensions

    subroutine links_listed()
        character(:), allocatable :: path, target
        integer :: i
        call expect(windrow_link_count(file) == 2, 'how many links')
        do i = 1, windrow_link_count(file)
            call windrow_inquire_link(file, i, path, target, stat, errmsg)
            call expect_ok(stat, errmsg, 'inquire_link')
            call expect(path == '/group/short' .and. target == 'inner/value' .or. &
                path == '/größe' .and. target == '/nowhere', 'a link: '//path//' to '//target)
        end do
        call windrow_inquire_link(file, 3, path, target, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no link number 3; the file has 2', 'a number too large')
        call windrow_inquire_link(file, 0, path, target, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no link number 0', 'a number too small')
        call expect_kind('/', windrow_group)
        call expect_kind('group/inner', windrow_group)
        call expect_kind('group/inner/value', windrow_variable)
        call expect_kind('group/short', windrow_link)
        call expect_kind('nowhere', windrow_nothing)
    end subroutine links_listed

    subroutine dimensions_listed()
        type(windrow_variable_info) :: info
        character(:), allocatable :: path
        integer(int64) :: length
        integer :: variable, i, cells
        call windrow_find_variable(file, 'ocean/field', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(size(info%dimension_names) == 3 .and. len(info%dimension_names) == 4, 'how many names')
        call expect(all(info%dimension_names == ['cell', '    ', 'time']), 'names, fastest first')
        call windrow_find_variable(file, 'group/inner/value', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(size(info%dimension_names) == 1 .and. all(info%dimension_names == ''), 'a dimension without a name')
        call windrow_find_variable(file, 'scalar', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(size(info%dimension_names) == 0, 'a scalar')
        call expect(windrow_dimension_count(file) == 3, 'how many dimensions')
        cells = 0
        do i = 1, windrow_dimension_count(file)
            call windrow_inquire_dimension(file, i, path, length, stat, errmsg)
            call expect_ok(stat, errmsg, 'inquire_dimension')
            if (path == '/ocean/cell' .and. length == 5) cells = cells + 1
            if (path == '/unused' .and. length == 11) cells = cells + 10
            if (path == '/group/huge' .and. length == 2_int64**40) cells = cells + 100
        end do
        call expect(cells == 111, 'dimensions')
        call windrow_inquire_dimension(file, 4, path, length, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no dimension number 4; the file has 3', 'too large')
        call expect_kind('ocean/cell', windrow_dimension)
    end subroutine dimensions_listed

    subroutine expect_kind(path, kind)
        character(*), intent(in) :: path
        integer, intent(in) :: kind
        integer :: found
        call windrow_inquire_object(file, path, found, stat, errmsg)
        call expect_ok(stat, errmsg, 'exists')
        call expect(found == kind, 'what stands at '//path)
    end subroutine expect_kind
end program names_test
