! SPDX-License-Identifier: BSD-3-Clause
!> Grids, a mesh and fields for viewers; fortran_test.py reads the text beside the file.
program viewers_test
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use checks
    use windrow
    implicit none

    type(windrow_file) :: file
    character(2000) :: errmsg
    integer :: stat, pressure, x, y, places, triangles, at_triangles, points, air, other
    real(real64), parameter :: origin(3) = [1.0_real64, 2.0_real64, 3.0_real64]
    real(real64), parameter :: spacing(3) = [0.25_real64, 0.5_real64, 1.0_real64]

    call begin_checks()
    call windrow_create(MPI_COMM_WORLD, path_of('viewers'), file)
    call windrow_define_variable(file, 'pressure', windrow_float64, [4, 3, 2], pressure)
    if (.not. windrow_has('xdmf') .or. index(path_of(''), '.h5') == 0) then
        call windrow_xdmf_uniform_grid(file, 'air', [4, 3, 2], origin, spacing, air, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_unsupported, '', 'a grid in a raw file')
    else
        call described()
    end if
    call windrow_close(file, stat, errmsg)
    call expect_ok(stat, errmsg, 'close')
    call end_checks()

contains

    subroutine described()
        call windrow_define_variable(file, 'x', windrow_float64, [4], x)
        call windrow_define_variable(file, 'y', windrow_float32, [3], y)
        call windrow_define_variable(file, 'places', windrow_float64, [2, 4, 3], places)
        call windrow_define_variable(file, 'triangles', windrow_int32, [3, 5], triangles)
        call windrow_define_variable(file, 'at triangles', windrow_float32, [5], at_triangles)
        call windrow_define_variable(file, 'points', windrow_float64, [2, 7], points)
        call windrow_xdmf_uniform_grid(file, 'air', [4, 3, 2], origin, spacing, air, 0.5_real64, stat, errmsg)
        call expect_ok(stat, errmsg, 'a uniform grid')
        call expect(air == 1, 'grids count from 1')
        call windrow_xdmf_field(file, air, 'p', windrow_at_nodes, pressure, stat, errmsg)
        call expect_ok(stat, errmsg, 'a field at nodes')
        call windrow_xdmf_uniform_grid(file, 'air', [4_int64, 3_int64, 2_int64], origin, spacing, other, 1.5_real64)
        call expect(other == 2, 'the second grid')
        call windrow_xdmf_rectilinear_grid(file, 'sheet', [x, y], other, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'a rectilinear grid')
        call windrow_xdmf_curvilinear_grid(file, 'bent', places, other, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'a curvilinear grid')
        call windrow_xdmf_mesh(file, 'mesh', windrow_triangle, triangles, points, other, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'a mesh')
        call windrow_xdmf_field(file, other, 'flow', windrow_at_cells, at_triangles, stat, errmsg)
        call expect_ok(stat, errmsg, 'a field at cells')
        call windrow_xdmf_field(file, other, 'p', windrow_at_cells, pressure, stat, errmsg)
        call expect(stat == windrow_bad_argument, 'a field of another shape: '//trim(errmsg))
        call windrow_xdmf_uniform_grid(file, 'short', [4, 3, 2], origin(:2), spacing, other, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'origin', 'an origin that is too short')
        call expect(other == 0, 'the number of no grid')
    end subroutine described
end program viewers_test
