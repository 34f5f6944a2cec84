! SPDX-License-Identifier: BSD-3-Clause
!> Meshes: which nodes are neighbours, and which parts of a partition hold a node. Local; no communication.
!>
!> Nodes and positions in lists count from 1; parts are ranks, and count from 0. Of concatenated lists, list i is
!> numbers(offsets(i):offsets(i + 1) - 1).
module windrow_meshes
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
    use, intrinsic :: iso_fortran_env, only: int64
    use windrow_base
    use windrow_c
    use windrow_viewers, only: windrow_triangle, windrow_quadrilateral, windrow_tetrahedron, windrow_pyramid, &
        windrow_wedge, windrow_hexahedron, windrow_mixed_cells
    implicit none
    private
    public :: windrow_mesh_neighbours, windrow_classify_nodes

contains

    !> The neighbours of each node, from the mesh's cells.
    !>
    !> `cell`: windrow_tetrahedron, ..., or windrow_mixed_cells, where the nodes of each cell are preceded by its kind.
    !> `connectivity`: the nodes of the cells, cell by cell. `across_cells`: .true.: all nodes of a cell are neighbours;
    !> otherwise those connected by an edge. `offsets` (nodes + 1), `neighbours`: each node's ascend.
    subroutine windrow_mesh_neighbours(nodes, cell, connectivity, offsets, neighbours, across_cells, stat, errmsg)
        integer(int64), intent(in) :: nodes, connectivity(:)
        integer, intent(in) :: cell
        integer(int64), allocatable, intent(out) :: offsets(:), neighbours(:)
        logical, intent(in), optional :: across_cells
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_int64_t), allocatable :: numbers(:)
        integer(c_int) :: across, code
        across = 0
        if (present(across_cells)) across = merge(1_c_int, 0_c_int, across_cells)
        numbers = from_zero(cell, connectivity)
        allocate (offsets(max(0_int64, nodes) + 1), neighbours(0))
        offsets = 0
        code = c_mesh_neighbours(nodes, int(cell, c_int), size(numbers, kind=int64), numbers, across, 0_int64, &
            offsets, neighbours)
        if (code == windrow_ok .and. offsets(size(offsets)) > 0) then
            deallocate (neighbours)
            allocate (neighbours(offsets(size(offsets))))
            code = c_mesh_neighbours(nodes, int(cell, c_int), size(numbers, kind=int64), numbers, across, &
                                     size(neighbours, kind=int64), offsets, neighbours)
        end if
        offsets = offsets + 1
        neighbours = neighbours + 1
        call finish(code, stat, errmsg)
    end subroutine windrow_mesh_neighbours

    !> The parts that hold each node: its own first, then those of its neighbours. A node with one part is local, the
    !> others are shared.
    !>
    !> `offsets`, `neighbours`: as from windrow_mesh_neighbours(). `partition` (nodes): the part of each, from 0.
    !> `part_offsets` (nodes + 1), `parts`.
    subroutine windrow_classify_nodes(offsets, neighbours, partition, part_offsets, parts, stat, errmsg)
        integer(int64), intent(in) :: offsets(:), neighbours(:)
        integer, intent(in) :: partition(:)
        integer(int64), allocatable, intent(out) :: part_offsets(:)
        integer, allocatable, intent(out) :: parts(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_int64_t), allocatable :: begins(:), numbers(:)
        integer(c_int64_t) :: nodes
        integer(c_int) :: code
        nodes = size(partition, kind=int64)
        if (size(offsets, kind=int64) /= nodes + 1) nodes = -1  ! refused by the call
        begins = offsets - 1
        numbers = neighbours - 1
        allocate (part_offsets(size(partition) + 1), parts(0))
        part_offsets = 0
        code = c_classify_nodes(nodes, begins, numbers, int(partition, c_int), 0_int64, part_offsets, parts)
        if (code == windrow_ok .and. part_offsets(size(part_offsets)) > 0) then
            deallocate (parts)
            allocate (parts(part_offsets(size(part_offsets))))
            code = c_classify_nodes(nodes, begins, numbers, int(partition, c_int), size(parts, kind=int64), &
                part_offsets, parts)
        end if
        part_offsets = part_offsets + 1
        call finish(code, stat, errmsg)
    end subroutine windrow_classify_nodes

    !> Converts nodes to count from 0; the kinds of mixed cells are kept.
    function from_zero(cell, connectivity) result(numbers)
        integer, intent(in) :: cell
        integer(int64), intent(in) :: connectivity(:)
        integer(c_int64_t) :: numbers(size(connectivity))
        integer(int64) :: at, last
        if (cell /= windrow_mixed_cells) then
            numbers = connectivity - 1
            return
        end if
        numbers = connectivity
        at = 1
        do while (at <= size(connectivity, kind=int64))
            last = min(at + nodes_of(connectivity(at)), size(connectivity, kind=int64))
            numbers(at + 1:last) = connectivity(at + 1:last) - 1
            at = last + 1
        end do
    end function from_zero

    pure integer(int64) function nodes_of(kind)
        integer(int64), intent(in) :: kind
        select case (kind)
        case (windrow_triangle)
            nodes_of = 3
        case (windrow_quadrilateral, windrow_tetrahedron)
            nodes_of = 4
        case (windrow_pyramid)
            nodes_of = 5
        case (windrow_wedge)
            nodes_of = 6
        case (windrow_hexahedron)
            nodes_of = 8
        case default
            nodes_of = 0  ! refused by the call
        end select
    end function nodes_of

end module windrow_meshes
