! SPDX-License-Identifier: BSD-3-Clause
!> XDMF for viewers such as ParaView and VisIt, in a file beside an HDF5 file: grids, meshes, and fields on them. All
!> procedures are collective, and all ranks give the same arguments. Dimensions are in Fortran's order, x first; grids
!> count from 1. `time`: in the program's units; absent: the grid has no time, and a unique name.
module windrow_viewers
    use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
    use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int64_t
    use, intrinsic :: iso_fortran_env, only: int32, int64, real64
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_xdmf_uniform_grid, windrow_xdmf_rectilinear_grid, windrow_xdmf_curvilinear_grid, windrow_xdmf_mesh
    public :: windrow_xdmf_field

    !> Kinds of cells; the numbers are XDMF's.
    integer, parameter, public :: windrow_triangle = 4, windrow_quadrilateral = 5, windrow_tetrahedron = 6, &
        windrow_pyramid = 7, windrow_wedge = 8, windrow_hexahedron = 9, windrow_mixed_cells = 112

    !> Centers of the values of a field.
    integer, parameter, public :: windrow_at_nodes = 0, windrow_at_cells = 1

    !> Describe a grid with uniform spacing.
    !>
    !> `nodes`: 2 or 3 numbers of nodes, each >= 2, as default or as 64-bit integers. `origin`: place of the first node.
    !> `spacing`: distance of two nodes, each > 0. `grid`: its number, for windrow_xdmf_field().
    interface windrow_xdmf_uniform_grid
        module procedure uniform_grid_int32, uniform_grid_int64
    end interface windrow_xdmf_uniform_grid

contains

    subroutine uniform_grid_int64(file, name, nodes, origin, spacing, grid, time, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: name
        integer(int64), intent(in) :: nodes(:)
        real(real64), intent(in) :: origin(:), spacing(:)
        integer, intent(out) :: grid
        real(real64), intent(in), optional :: time
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        real(c_double), allocatable :: first(:), distance(:)
        integer(c_int) :: code, number
        number = -1
        ! Lists of another length are omitted, which the library refuses on every rank.
        if (size(origin) == size(nodes)) first = origin(size(origin):1:-1)
        if (size(spacing) == size(nodes)) distance = spacing(size(spacing):1:-1)
        code = c_uniform_grid(raw_of(file), c_text(name), time_of(time), int(size(nodes), c_int), reversed(nodes), &
            first, distance, number)
        grid = int(number) + 1
        call finish(code, stat, errmsg)
    end subroutine uniform_grid_int64

    subroutine uniform_grid_int32(file, name, nodes, origin, spacing, grid, time, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: name
        integer(int32), intent(in) :: nodes(:)
        real(real64), intent(in) :: origin(:), spacing(:)
        integer, intent(out) :: grid
        real(real64), intent(in), optional :: time
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call uniform_grid_int64(file, name, int(nodes, int64), origin, spacing, grid, time, stat, errmsg)
    end subroutine uniform_grid_int32

    !> Describe a grid with coordinates along each dimension. `coordinates`: 2 or 3 variables, x first, of float32 or
    !> float64 with one dimension: the nodes' places along each dimension of the grid.
    subroutine windrow_xdmf_rectilinear_grid(file, name, coordinates, grid, time, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: name
        integer, intent(in) :: coordinates(:)
        integer, intent(out) :: grid
        real(real64), intent(in), optional :: time
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_int) :: code, number, variables(size(coordinates))
        number = -1
        variables = int(coordinates(size(coordinates):1:-1), c_int) - 1
        code = c_rectilinear_grid(raw_of(file), c_text(name), time_of(time), int(size(coordinates), c_int), variables, &
            number)
        grid = int(number) + 1
        call finish(code, stat, errmsg)
    end subroutine windrow_xdmf_rectilinear_grid

    !> Describe a grid with coordinates of each node. `coordinates`: a variable of float32 or float64 of the shape [3,
    !> nx, ny, nz]: x, y and z of each node; of a grid of two dimensions [2 or 3, nx, ny].
    subroutine windrow_xdmf_curvilinear_grid(file, name, coordinates, grid, time, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: name
        integer, intent(in) :: coordinates
        integer, intent(out) :: grid
        real(real64), intent(in), optional :: time
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_int) :: code, number
        number = -1
        code = c_curvilinear_grid(raw_of(file), c_text(name), time_of(time), int(coordinates, c_int) - 1_c_int, number)
        grid = int(number) + 1
        call finish(code, stat, errmsg)
    end subroutine windrow_xdmf_curvilinear_grid

    !> Describe a mesh.
    !>
    !> `cell`: windrow_triangle, ... `connectivity`: a variable of integers of the shape [nodes of a cell, cells]:
    !> numbers of the cells' nodes, which count *from 0*, as in viewers; for windrow_mixed_cells of one dimension.
    !> `coordinates`: a variable of float32 or float64 of the shape [2 or 3, nodes].
    !> `cells`: for windrow_mixed_cells, their number.
    subroutine windrow_xdmf_mesh(file, name, cell, connectivity, coordinates, grid, time, cells, stat, errmsg)
        type(windrow_file), intent(in) :: file
        character(*), intent(in) :: name
        integer, intent(in) :: cell, connectivity, coordinates
        integer, intent(out) :: grid
        real(real64), intent(in), optional :: time
        integer(int64), intent(in), optional :: cells
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_int) :: code, number
        integer(c_int64_t) :: many
        number = -1
        many = 0
        if (present(cells)) many = cells
        code = c_mesh(raw_of(file), c_text(name), time_of(time), int(cell, c_int), int(connectivity, c_int) - 1_c_int, &
            many, int(coordinates, c_int) - 1_c_int, number)
        grid = int(number) + 1
        call finish(code, stat, errmsg)
    end subroutine windrow_xdmf_mesh

    !> Describe a variable as a field on a grid or mesh. `center`: windrow_at_nodes or windrow_at_cells. `variable`: of
    !> the grid's shape there (a mesh: [nodes] or [cells]), or of that shape after a dimension of components.
    subroutine windrow_xdmf_field(file, grid, name, center, variable, stat, errmsg)
        type(windrow_file), intent(in) :: file
        integer, intent(in) :: grid, center, variable
        character(*), intent(in) :: name
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(c_field(raw_of(file), int(grid, c_int) - 1_c_int, c_text(name), int(center, c_int), &
            int(variable, c_int) - 1_c_int), stat, errmsg)
    end subroutine windrow_xdmf_field

    !> NaN means no time.
    function time_of(time) result(value)
        real(real64), intent(in), optional :: time
        real(c_double) :: value
        value = ieee_value(value, ieee_quiet_nan)
        if (present(time)) value = time
    end function time_of
end module windrow_viewers
