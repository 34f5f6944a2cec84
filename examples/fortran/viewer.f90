! SPDX-License-Identifier: BSD-3-Clause
! A 3-d grid at two times and a mesh of tetrahedra, written to one HDF5 file with an XDMF text beside it: ParaView opens
! viewer.xmf (File, Open, "Xdmf3 Reader").   mpirun -n 4 viewer [FILE.h5]
program viewer
    use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
    use mpi_f08
    use windrow
    implicit none

    integer, parameter :: nx = 9, ny = 7, nz = 5
    integer, parameter :: cubes = 3, side = cubes + 1, nodes = side**3, cells = cubes**3*6
    integer :: rank, step
    character(1000) :: path
    type(windrow_file) :: file

    call MPI_Init()
    path = 'viewer.h5'
    if (command_argument_count() > 0) call get_command_argument(1, path)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call windrow_create(MPI_COMM_WORLD, path, file)
    do step = 0, 1
        call write_step(step, 0.25_real64 + step)
    end do
    call write_mesh()
    call windrow_close(file)    ! the file and its text appear together
    if (rank == 0) print '(3a)', 'viewer: wrote ', trim(path), ', and the .xmf beside it'
    call MPI_Finalize()

contains

    !> One time of the grid: temperature and velocity at the nodes, material in the cells. Each rank has whole planes.
    subroutine write_step(step, time)
        integer, intent(in) :: step
        real(real64), intent(in) :: time
        integer :: variable(3), grid, x, y, z
        integer(int64) :: first, planes, first_cell, layers
        character(6) :: group
        real(real64), allocatable, target :: temperature(:, :, :)
        real(real32), allocatable, target :: velocity(:, :, :, :)
        integer(int32), allocatable, target :: material(:, :, :)
        type(windrow_decomposition) :: at_nodes, at_cells
        write (group, '(a, i0)') 'step ', step
        call windrow_define_variable(file, group//'/temperature', windrow_float64, [nx, ny, nz], variable(1))
        call windrow_define_variable(file, group//'/velocity', windrow_float32, [3, nx, ny, nz], variable(2))
        call windrow_define_variable(file, group//'/material', windrow_int32, [nx - 1, ny - 1, nz - 1], variable(3))
        call windrow_xdmf_uniform_grid(file, 'air & water', [nx, ny, nz], [100.0_real64, 10.0_real64, -1.0_real64], &
            [2.0_real64, 0.25_real64, 0.5_real64], grid, time)
        call windrow_xdmf_field(file, grid, 'temperature', windrow_at_nodes, variable(1))
        call windrow_xdmf_field(file, grid, 'velocity', windrow_at_nodes, variable(2))
        call windrow_xdmf_field(file, grid, 'material <1>', windrow_at_cells, variable(3))

        call windrow_rows(MPI_COMM_WORLD, nz, at_nodes)    ! a program keeps these for all its steps
        call windrow_rows(MPI_COMM_WORLD, nz - 1, at_cells)
        call windrow_decomposition_rows(at_nodes, first, planes)
        call windrow_decomposition_rows(at_cells, first_cell, layers)
        allocate (temperature(nx, ny, planes), velocity(3, nx, ny, planes), material(nx - 1, ny - 1, layers))
        do z = 1, int(planes)
            do y = 1, ny
                do x = 1, nx
                    temperature(x, y, z) = place(x, y, first + z - 1) + time
                    velocity(:, x, y, z) = real([x - 1, y - 1, int(first) + z - 2], real32)
                end do
            end do
        end do
        do z = 1, int(layers)
            do y = 1, ny - 1
                do x = 1, nx - 1
                    material(x, y, z) = int(place(x, y, first_cell + z - 1)) + step*1000
                end do
            end do
        end do
        call windrow_put(file, variable(1), at_nodes, temperature)
        call windrow_put(file, variable(2), at_nodes, velocity)
        call windrow_put(file, variable(3), at_cells, material)
        call windrow_flush(file)
        call windrow_decomposition_free(at_nodes)
        call windrow_decomposition_free(at_cells)
    end subroutine write_step

    !> The examples in C and C++ count from 0.
    pure function place(x, y, z) result(value)
        integer, intent(in) :: x, y
        integer(int64), intent(in) :: z
        real(real64) :: value
        value = real((z - 1)*100 + (y - 1)*10 + x - 1, real64)
    end function place

    !> A box of cubes, each cut into six tetrahedra around its diagonal. Each rank has a run of nodes and one of cells.
    subroutine write_mesh()
        integer, parameter :: corners(4, 6) = reshape([0, 1, 3, 7, 0, 3, 2, 7, 0, 2, 6, 7, 0, 6, 4, 7, 0, 4, 5, 7, 0, &
            5, 1, 7], [4, 6])    ! bits: x, y, z
        integer :: variable(4), mesh, i, k, cube, corner, node
        integer(int64) :: first, count
        real(real64), allocatable, target :: places(:, :), potential(:)
        integer(int64), allocatable, target :: connectivity(:, :)
        integer(int8), allocatable, target :: part(:)
        type(windrow_decomposition) :: at_nodes, at_cells
        call windrow_define_variable(file, 'mesh/places', windrow_float64, [3, nodes], variable(1))
        call windrow_define_variable(file, 'mesh/cells', windrow_int64, [4, cells], variable(2))
        call windrow_define_variable(file, 'mesh/potential', windrow_float64, [nodes], variable(3))
        call windrow_define_variable(file, 'mesh/part', windrow_uint8, [cells], variable(4))
        call windrow_xdmf_mesh(file, 'box', windrow_tetrahedron, variable(2), variable(1), mesh)    ! no time
        call windrow_xdmf_field(file, mesh, 'potential', windrow_at_nodes, variable(3))
        call windrow_xdmf_field(file, mesh, 'part', windrow_at_cells, variable(4))

        call windrow_rows(MPI_COMM_WORLD, nodes, at_nodes)
        call windrow_rows(MPI_COMM_WORLD, cells, at_cells)
        call windrow_decomposition_rows(at_nodes, first, count)
        allocate (places(3, count), potential(count))
        do i = 1, int(count)
            node = int(first) + i - 2
            places(:, i) = real([mod(node, side), mod(node/side, side)*2, node/side**2*3], real64)
            potential(i) = dot_product(places(:, i), [1.0_real64, 10.0_real64, 100.0_real64])
        end do
        call windrow_decomposition_rows(at_cells, first, count)
        allocate (connectivity(4, count), part(count))
        do i = 1, int(count)
            cube = (int(first) + i - 2)/6
            do k = 1, 4
                corner = corners(k, mod(int(first) + i - 2, 6) + 1)
                node = cube/cubes**2 + ibits(corner, 2, 1)    ! viewers count nodes from 0
                node = node*side + mod(cube/cubes, cubes) + ibits(corner, 1, 1)
                connectivity(k, i) = node*side + mod(cube, cubes) + ibits(corner, 0, 1)
            end do
            part(i) = int(rank, int8)
        end do
        call windrow_put(file, variable(1), at_nodes, places)
        call windrow_put(file, variable(2), at_cells, connectivity)
        call windrow_put(file, variable(3), at_nodes, potential)
        call windrow_put(file, variable(4), at_cells, part)
        call windrow_flush(file)
        call windrow_decomposition_free(at_nodes)
        call windrow_decomposition_free(at_cells)
    end subroutine write_mesh
end program viewer
