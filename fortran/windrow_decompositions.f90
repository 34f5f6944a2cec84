! SPDX-License-Identifier: BSD-3-Clause
!> Decompositions: which elements of a shape each rank holds, and where they are in its memory. Made once, used for any
!> number of variables, files and time steps; freed by windrow_decomposition_free().
!>
!> Order: the first dimension is the fastest, and the first element is number 1. A decomposition serves every variable
!> whose *last* dimensions have its shape; each element then stands for all the elements of the variable's dimensions
!> before these.
!>
!> The procedures that make one are collective over `comm`, an `integer` of `use mpi` or a `type(MPI_Comm)` of `use
!> mpi_f08`: the file's communicator or one with the same ranks in the same order. Sizes are default or 64-bit integers,
!> all of a call of one kind. Memory for copies of the lists is freed before the procedure returns.
module windrow_decompositions
    use, intrinsic :: iso_c_binding, only: c_int, c_int8_t, c_ptr
    use, intrinsic :: iso_fortran_env, only: int32, int64
    use windrow_base
    use windrow_c
    implicit none
    private
    public :: windrow_block, windrow_blocks, windrow_strided_blocks, windrow_rows, windrow_decomposition_rows
    public :: windrow_points, windrow_same, windrow_decomposition_free, windrow_decomposition_owned
    public :: windrow_decomposition_holes, windrow_decomposition_memory

    !> One block per rank.
    !>
    !> `shape` (ndims): of the whole array, the same on every rank. `start`, `count` (ndims): this rank's block; any
    !> count 0: nothing.
    !> `memory_shape` (ndims): the box in this rank's memory around the block, ghost cells included; default: `count`.
    !> `memory_start` (ndims): first element of the block within that box; default: 1 in each dimension.
    !>
    !>     call windrow_block(comm, [nx, ny], start, [mx, my], blocks, [mx + 2, my + 2], [2, 2])
    interface windrow_block
        module procedure block_int32, block_int64
    end interface windrow_block

    !> Several blocks per rank, consecutive in memory, each in its own box: tables of (ndims, blocks), otherwise as
    !> windrow_block().
    interface windrow_blocks
        module procedure blocks_int32, blocks_int64
    end interface windrow_blocks

    !> As windrow_blocks(), for blocks whose elements have any strides in memory: with gaps, backwards, with the
    !> dimensions in another order. The whole array is passed, and must be contiguous.
    !>
    !> `memory_firsts` (blocks): position of each block's first element in the array, from 1, in the order of its
    !> elements.
    !> `memory_strides` (ndims, blocks): from an element to the next along each dimension, in elements; negative:
    !> backwards. Not 0 where the count is more than 1.
    !>
    !>     ! Every second element of a(2*n), and a(ny, nx) as the variable of shape [nx, ny].
    !>     call windrow_strided_blocks(comm, [n], starts, counts, [1], reshape([2], [1, 1]), part)
    !>     call windrow_strided_blocks(comm, [nx, ny], starts, counts, [1], reshape([ny, 1], [2, 1]), turned)
    interface windrow_strided_blocks
        module procedure strided_blocks_int32, strided_blocks_int64
    end interface windrow_strided_blocks

    !> A contiguous range of rows per rank, in rank order. Rows count along the last dimension, the slowest.
    !>
    !> `rows`: of the whole array. `count`: of this rank; the sum over all ranks must be `rows`; absent on every rank:
    !> the library divides them. windrow_decomposition_rows() returns the rows of this rank.
    interface windrow_rows
        module procedure rows_int32, rows_int64
    end interface windrow_rows

    !> Points by number along the last dimension, in any order, each with all the elements of the dimensions before; for
    !> meshes.
    !>
    !> `points`: of the whole array. `list`: the numbers of this rank's points, from 1; their order is that in memory;
    !> of size 0: none. `owned` (size(list)): whether this rank owns the point, .false. for a replica; absent: unknown.
    !> The option `owner` determines which of several ranks writes a point; each reader gets a copy. `options`:
    !> imbalance, point_bytes, machine.
    interface windrow_points
        module procedure points_int32, points_int64
    end interface windrow_points

    !> A replicated part: every rank holds the same one, `start` and `count`; absent: everything. The lowest rank's data
    !> is written. Without shape and part: all of any variable, also of a scalar.
    interface windrow_same
        module procedure same_int32, same_int64, same_all
    end interface windrow_same

    !> Number of elements of an array that this rank puts from or gets into: all its boxes, ghost cells included, or up
    !> to the last element; 0 if it holds nothing. Local.
    !>
    !> `shape`: of the variable; of a record: without the last dimension. `elements`: a 64-bit integer.
    interface windrow_decomposition_memory
        module procedure memory_int32, memory_int64
    end interface windrow_decomposition_memory

contains

    subroutine block_int64(comm, shape, start, count, decomposition, memory_shape, memory_start, stat, errmsg)
        integer, intent(in) :: comm
        integer(int64), intent(in) :: shape(:), start(:), count(:)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int64), intent(in), optional :: memory_shape(:), memory_start(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64), allocatable :: box(:), ghost(:)
        type(c_held) :: held
        integer(c_int) :: code
        logical :: fit
        fit = size(start) == size(shape) .and. size(count) == size(shape)
        held%ndims = int(size(shape), c_int)
        held%elements = product(count)
        if (present(memory_shape)) then
            fit = fit .and. size(memory_shape) == size(shape)
            box = reversed(memory_shape)
            held%elements = product(memory_shape)
        end if
        if (any(count <= 0)) held%elements = 0
        if (present(memory_start)) then
            fit = fit .and. size(memory_start) == size(shape)
            ghost = reversed(memory_start) - 1
        end if
        if (fit) then
            code = c_block(comm, held%ndims, reversed(shape), reversed(start) - 1, reversed(count), box, ghost, &
                held%decomposition)
        else
            code = refused(comm, held%decomposition)
        end if
        call hold(decomposition, held)
        call finish(code, stat, errmsg)
    end subroutine block_int64

    subroutine block_int32(comm, shape, start, count, decomposition, memory_shape, memory_start, stat, errmsg)
        integer, intent(in) :: comm
        integer(int32), intent(in) :: shape(:), start(:), count(:)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int32), intent(in), optional :: memory_shape(:), memory_start(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64), allocatable :: box(:), ghost(:)
        call widen(memory_shape, box)
        call widen(memory_start, ghost)
        call block_int64(comm, int(shape, int64), int(start, int64), int(count, int64), decomposition, box, ghost, &
            stat, errmsg)
    end subroutine block_int32

    subroutine blocks_int64(comm, shape, starts, counts, decomposition, memory_shapes, memory_starts, stat, errmsg)
        integer, intent(in) :: comm
        integer(int64), intent(in) :: shape(:), starts(:, :), counts(:, :)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int64), intent(in), optional :: memory_shapes(:, :), memory_starts(:, :)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64), allocatable :: boxes(:, :), ghosts(:, :)
        type(c_held) :: held
        integer(c_int) :: code
        integer :: n
        logical :: fit
        n = size(shape)
        fit = size(counts, 1) == n .and. all(ubound(starts) == ubound(counts))
        held%ndims = int(n, c_int)
        if (present(memory_shapes)) then
            fit = fit .and. all(ubound(memory_shapes) == ubound(counts))
            if (fit) boxes = memory_shapes(n:1:-1, :)
        end if
        if (present(memory_starts)) then
            fit = fit .and. all(ubound(memory_starts) == ubound(counts))
            if (fit) ghosts = memory_starts(n:1:-1, :) - 1
        end if
        if (fit) then
            if (present(memory_shapes)) then
                held%elements = sum(product(memory_shapes, 1))
            else
                held%elements = sum(product(counts, 1))
            end if
            if (all(product(counts, 1) <= 0)) held%elements = 0
            code = c_blocks(comm, held%ndims, reversed(shape), size(counts, 2, int64), starts(n:1:-1, :) - 1, &
                counts(n:1:-1, :), boxes, ghosts, held%decomposition)
        else
            code = refused(comm, held%decomposition)
        end if
        call hold(decomposition, held)
        call finish(code, stat, errmsg)
    end subroutine blocks_int64

    subroutine blocks_int32(comm, shape, starts, counts, decomposition, memory_shapes, memory_starts, stat, errmsg)
        integer, intent(in) :: comm
        integer(int32), intent(in) :: shape(:), starts(:, :), counts(:, :)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int32), intent(in), optional :: memory_shapes(:, :), memory_starts(:, :)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64), allocatable :: boxes(:, :), ghosts(:, :)
        call widen(memory_shapes, boxes)
        call widen(memory_starts, ghosts)
        call blocks_int64(comm, int(shape, int64), int(starts, int64), int(counts, int64), decomposition, boxes, &
            ghosts, stat, errmsg)
    end subroutine blocks_int32

    subroutine strided_blocks_int64(comm, shape, starts, counts, memory_firsts, memory_strides, decomposition, stat, &
        errmsg)
        integer, intent(in) :: comm
        integer(int64), intent(in) :: shape(:), starts(:, :), counts(:, :), memory_firsts(:), memory_strides(:, :)
        type(windrow_decomposition), intent(out) :: decomposition
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_held) :: held
        integer(c_int) :: code
        integer :: n
        n = size(shape)
        held%ndims = int(n, c_int)
        if (size(counts, 1) == n .and. all(ubound(starts) == ubound(counts)) .and. &
            size(memory_firsts) == size(counts, 2) .and. all(ubound(memory_strides) == ubound(counts))) then
            code = c_strided_blocks(comm, held%ndims, reversed(shape), size(counts, 2, int64), &
                starts(n:1:-1, :) - 1, counts(n:1:-1, :), memory_firsts - 1, memory_strides(n:1:-1, :), &
                held%decomposition)
        else
            code = refused(comm, held%decomposition)
        end if
        if (code == windrow_ok) &
            code = c_decomposition_memory(held%decomposition, held%ndims, reversed(shape), held%elements)
        call hold(decomposition, held)
        call finish(code, stat, errmsg)
    end subroutine strided_blocks_int64

    subroutine strided_blocks_int32(comm, shape, starts, counts, memory_firsts, memory_strides, decomposition, stat, &
        errmsg)
        integer, intent(in) :: comm
        integer(int32), intent(in) :: shape(:), starts(:, :), counts(:, :), memory_firsts(:), memory_strides(:, :)
        type(windrow_decomposition), intent(out) :: decomposition
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call strided_blocks_int64(comm, int(shape, int64), int(starts, int64), int(counts, int64), &
            int(memory_firsts, int64), int(memory_strides, int64), decomposition, stat, errmsg)
    end subroutine strided_blocks_int32

    subroutine rows_int64(comm, rows, decomposition, count, stat, errmsg)
        integer, intent(in) :: comm
        integer(int64), intent(in) :: rows
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int64), intent(in), optional :: count
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64), parameter :: even = -1
        type(c_held) :: held
        integer(c_int) :: code
        integer(int64) :: mine, first
        mine = even
        ! A negative count is an error, but -1 has another meaning in C.
        if (present(count)) mine = merge(count, even - 1, count >= 0)
        held%ndims = 1
        code = c_rows(comm, rows, mine, held%decomposition)
        if (code == windrow_ok) code = c_decomposition_rows(held%decomposition, first, held%elements)
        call hold(decomposition, held)
        call finish(code, stat, errmsg)
    end subroutine rows_int64

    subroutine rows_int32(comm, rows, decomposition, count, stat, errmsg)
        integer, intent(in) :: comm
        integer(int32), intent(in) :: rows
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int32), intent(in), optional :: count
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64), allocatable :: mine
        if (present(count)) mine = int(count, int64)
        call rows_int64(comm, int(rows, int64), decomposition, mine, stat, errmsg)
    end subroutine rows_int32

    !> First row, from 1, and number of rows of this rank in a decomposition made by windrow_rows(). Local.
    subroutine windrow_decomposition_rows(decomposition, first, count, stat, errmsg)
        type(windrow_decomposition), intent(in) :: decomposition
        integer(int64), intent(out) :: first, count
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_held) :: held
        integer(c_int) :: code
        held = raw_of(decomposition)
        first = 0
        count = 0
        code = c_decomposition_rows(held%decomposition, first, count)
        first = first + 1
        call finish(code, stat, errmsg)
    end subroutine windrow_decomposition_rows

    subroutine points_int64(comm, points, list, decomposition, owned, stat, errmsg, options)
        integer, intent(in) :: comm
        integer(int64), intent(in) :: points, list(:)
        type(windrow_decomposition), intent(out) :: decomposition
        logical, intent(in), optional :: owned(:)
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_int8_t), allocatable :: flags(:)
        type(c_held) :: held
        integer(c_int) :: code
        logical :: fit
        fit = .true.
        if (present(owned)) then
            fit = size(owned) == size(list)
            flags = merge(1_c_int8_t, 0_c_int8_t, owned)
        end if
        held%points = points
        held%elements = size(list, kind=int64)
        if (.not. fit) held%elements = -1  ! refused inside the collective call
        code = c_points(comm, points, held%elements, list - 1, flags, c_options_all(options_of(options)), &
                        held%decomposition)
        call hold(decomposition, held)
        call finish(code, stat, errmsg)
    end subroutine points_int64

    subroutine points_int32(comm, points, list, decomposition, owned, stat, errmsg, options)
        integer, intent(in) :: comm
        integer(int32), intent(in) :: points, list(:)
        type(windrow_decomposition), intent(out) :: decomposition
        logical, intent(in), optional :: owned(:)
        type(windrow_options), intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call points_int64(comm, int(points, int64), int(list, int64), decomposition, owned, stat, errmsg, options)
    end subroutine points_int32

    !> The points that this rank writes with the value `owner` of the option `owner`, ascending, and the number of their
    !> runs of consecutive numbers. Local.
    subroutine windrow_decomposition_owned(decomposition, owner, list, intervals, stat, errmsg)
        type(windrow_decomposition), intent(in) :: decomposition
        character(*), intent(in) :: owner
        integer(int64), allocatable, intent(out) :: list(:)
        integer(int64), intent(out) :: intervals
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_held) :: held
        integer(int64) :: count
        integer(c_int) :: code
        held = raw_of(decomposition)
        intervals = 0
        count = 0
        allocate (list(0))
        code = c_decomposition_owned(held%decomposition, c_text(owner), 0_int64, list, count, intervals)
        if (code == windrow_ok .and. count > 0) then
            deallocate (list)
            allocate (list(count))
            code = c_decomposition_owned(held%decomposition, c_text(owner), count, list, count, intervals)
        end if
        list = list + 1
        call finish(code, stat, errmsg)
    end subroutine windrow_decomposition_owned

    !> Number of points of a decomposition by windrow_points() that no rank holds. Local; the same on every rank.
    subroutine windrow_decomposition_holes(decomposition, holes, stat, errmsg)
        type(windrow_decomposition), intent(in) :: decomposition
        integer(int64), intent(out) :: holes
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_held) :: held
        integer(c_int) :: code
        held = raw_of(decomposition)
        holes = 0
        code = c_decomposition_holes(held%decomposition, holes)
        call finish(code, stat, errmsg)
    end subroutine windrow_decomposition_holes

    subroutine memory_int64(decomposition, shape, elements, stat, errmsg)
        type(windrow_decomposition), intent(in) :: decomposition
        integer(int64), intent(in) :: shape(:)
        integer(int64), intent(out) :: elements
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_held) :: held
        integer(c_int) :: code
        held = raw_of(decomposition)
        elements = 0
        code = c_decomposition_memory(held%decomposition, int(size(shape), c_int), reversed(shape), elements)
        call finish(code, stat, errmsg)
    end subroutine memory_int64

    subroutine memory_int32(decomposition, shape, elements, stat, errmsg)
        type(windrow_decomposition), intent(in) :: decomposition
        integer(int32), intent(in) :: shape(:)
        integer(int64), intent(out) :: elements
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call memory_int64(decomposition, int(shape, int64), elements, stat, errmsg)
    end subroutine memory_int32

    subroutine same_int64(comm, shape, decomposition, start, count, stat, errmsg)
        integer, intent(in) :: comm
        integer(int64), intent(in) :: shape(:)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int64), intent(in), optional :: start(:), count(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64), allocatable :: first(:), many(:)
        type(c_held) :: held
        integer(c_int) :: code
        logical :: fit
        fit = .true.
        held%ndims = int(size(shape), c_int)
        held%elements = product(shape)
        if (present(start)) then
            fit = size(start) == size(shape)
            first = reversed(start) - 1
        end if
        if (present(count)) then
            fit = fit .and. size(count) == size(shape)
            many = reversed(count)
            held%elements = product(count)
        end if
        if (fit) then
            code = c_same(comm, held%ndims, reversed(shape), first, many, held%decomposition)
        else
            code = refused(comm, held%decomposition)
        end if
        call hold(decomposition, held)
        call finish(code, stat, errmsg)
    end subroutine same_int64

    subroutine same_int32(comm, shape, decomposition, start, count, stat, errmsg)
        integer, intent(in) :: comm
        integer(int32), intent(in) :: shape(:)
        type(windrow_decomposition), intent(out) :: decomposition
        integer(int32), intent(in), optional :: start(:), count(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(int64), allocatable :: first(:), many(:)
        call widen(start, first)
        call widen(count, many)
        call same_int64(comm, int(shape, int64), decomposition, first, many, stat, errmsg)
    end subroutine same_int32

    subroutine same_all(comm, decomposition, stat, errmsg)
        integer, intent(in) :: comm
        type(windrow_decomposition), intent(out) :: decomposition
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call same_int64(comm, [integer(int64) ::], decomposition, stat=stat, errmsg=errmsg)
    end subroutine same_all

    !> Free; one that was not made is allowed. Local; not before the flush of requests that use it.
    subroutine windrow_decomposition_free(decomposition)
        type(windrow_decomposition), intent(inout) :: decomposition
        type(windrow_decomposition) :: none
        type(c_held) :: held
        held = raw_of(decomposition)
        call c_decomposition_free(held%decomposition)
        decomposition = none
    end subroutine windrow_decomposition_free

    !> The library refuses inconsistent lists inside the collective call, so that every rank gets the error.
    function refused(comm, decomposition) result(code)
        integer, intent(in) :: comm
        type(c_ptr), intent(out) :: decomposition
        integer(c_int) :: code
        integer(int64), parameter :: nothing(1) = 0
        code = c_blocks(comm, 1_c_int, nothing, -1_int64, nothing, nothing, decomposition=decomposition)
    end function refused
end module windrow_decompositions
