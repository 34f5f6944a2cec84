! SPDX-License-Identifier: BSD-3-Clause
!> The calls for Fortran, as codes have them: no interfaces, constants by an include, texts that end in a NUL.
!> Arguments: case, folder.
program fortran_test
    use mpi
    implicit none
    include 'scorpiof.h'
    external :: fscorpio_iogroup_init, fscorpio_iogroup_init2, fscorpio_iogroup_cleanup, fscorpio_cleanup, &
        fscorpio_open_file
    external :: fscorpio_close_file, fscorpio_read_dataset, fscorpio_write_dataset, fscorpio_write_dataset_block
    external :: fscorpio_read_same_sub_dataset, fscorpio_get_dataset_ndims, fscorpio_get_dataset_dims, &
        fscorpio_get_dataset_size
    external :: fscorpio_create_dataset_group, fscorpio_close_dataset_group, fscorpio_group_exists, &
        fscorpio_dataset_exists
    integer :: rank, ranks, ierr, failures
    character(1000) :: name, folder

    failures = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call get_command_argument(1, name)
    call get_command_argument(2, folder)
    select case (name)
    case ('defect07_small_group_numbers')
        call small_group_numbers()
    case ('defect08_zeros_at_init')
        call zeros_at_init()
    case ('calls')
        call calls()
    case default
        call expect(.false., 'a case of that name')
    end select
    call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Finalize(ierr)
    if (failures > 0) error stop 'expectations failed'
    if (rank == 0) print '(a)', 'all as expected'

contains

    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        failures = failures + 1
        print '(a, i0, 2a)', '[rank ', rank, '] not so: ', what
    end subroutine expect

    function path_of(file) result(path)
        character(*), intent(in) :: file
        character(:), allocatable :: path
        path = trim(folder)//'/'//file//char(0)
    end function path_of

    !> A 64-bit number of HDF5 does not fit into an integer(4): groups could not be closed, and files stayed open.
    subroutine small_group_numbers()
        integer :: group, file, number, step
        character(20) :: text
        call fscorpio_iogroup_init2(2, 0, MPI_COMM_WORLD, group, ierr)
        call expect(ierr == 0, 'init')
        call fscorpio_open_file(path_of('numbers.h5'), group, SCORPIO_FILE_CREATE, file, ierr)
        do step = 1, 100
            write (text, '("step ", i0)') step
            call fscorpio_create_dataset_group(number, trim(text)//char(0), file, group, ierr)
            call expect(ierr == 0 .and. number == step, 'create '//text)
            call fscorpio_write_dataset([rank], SCORPIO_INTEGER, 1, [ranks], [1], file, 'who'//char(0), group, &
                SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE, ierr)
            call expect(ierr == 0, 'write')
            call fscorpio_close_dataset_group(number, file, group, ierr)
            call expect(ierr == 0, 'close '//text)
        end do
        call fscorpio_close_dataset_group(number, file, group, ierr)
        call expect(ierr == -1, 'close twice')
        call fscorpio_close_file(file, group, ierr)
        call expect(ierr == 0, 'close')
        call fscorpio_open_file(path_of('numbers.h5'), group, SCORPIO_FILE_READWRITE, file, ierr)
        call expect(ierr == 0, 'the file is closed: it can be changed')
        call fscorpio_close_file(file, group, ierr)
        call fscorpio_iogroup_cleanup(group, ierr)
        call expect(ierr == 0, 'cleanup')
    end subroutine small_group_numbers

    !> Ranks / size is 0 where a group is larger than all: sizes were left as they happened to be.
    subroutine zeros_at_init()
        integer :: groups(4), file, i, who
        call fscorpio_iogroup_init(0, MPI_COMM_WORLD, groups(1), ierr)
        call expect(ierr == 0, 'init with 0 groups')
        call fscorpio_iogroup_init2(0, 0, MPI_COMM_WORLD, groups(2), ierr)
        call expect(ierr == 0, 'init2 with 0 ranks and 0 groups')
        call fscorpio_iogroup_init2(1000, 0, MPI_COMM_WORLD, groups(3), ierr)
        call expect(ierr == 0, 'init2 with more ranks than there are')
        call fscorpio_iogroup_init(ranks, MPI_COMM_WORLD, groups(4), ierr)
        call expect(ierr == 0, 'init with as many groups as ranks')
        call expect(all(groups > 0) .and. groups(1) /= groups(2) .and. groups(2) /= groups(3), 'groups have numbers')
        do i = 1, 4
            call fscorpio_open_file(path_of('zeros '//achar(iachar('0') + i)//'.h5'), groups(i), SCORPIO_FILE_CREATE, &
                file, ierr)
            call expect(ierr == 0, 'create')
            call fscorpio_write_dataset([rank], SCORPIO_INTEGER, 1, [ranks], [1], file, 'who'//char(0), groups(i), &
                SCORPIO_UNIFORM_CONTIGUOUS_WRITE, ierr)
            call expect(ierr == 0, 'write')
            call fscorpio_read_dataset(who, SCORPIO_INTEGER, 1, [ranks], [1], file, 'who'//char(0), groups(i), &
                SCORPIO_UNIFORM_CONTIGUOUS_READ, ierr)
            call expect(ierr == 0 .and. who == rank, 'read')
            if (i < 3) call fscorpio_close_file(file, groups(i), ierr)
        end do
        call fscorpio_cleanup(ierr)
        call expect(ierr == 0, 'cleanup of all groups')
        call fscorpio_open_file(path_of('late.h5'), groups(1), SCORPIO_FILE_CREATE, file, ierr)
        call expect(ierr == -1 .and. file == -1, 'a group that is gone')
    end subroutine zeros_at_init

    subroutine calls()
        integer :: group, file, number, ndims, dims(2), size, there, i
        integer :: corner(2)
        double precision :: values(3, 2), read(3, 2), all(3, 64)
        call fscorpio_iogroup_init2(2, 0, MPI_COMM_WORLD, group, ierr)
        call fscorpio_open_file(path_of('calls.h5'), group, SCORPIO_FILE_CREATE, file, ierr)
        call expect(ierr == 0 .and. file > 0, 'create')
        call fscorpio_create_dataset_group(number, 'step'//char(0), file, group, ierr)
        values = reshape([(6*rank + i + 0.5d0, i=0, 5)], [3, 2])
        ! Dimensions are in C's order: the slowest first. A name without a NUL loses its trailing blanks.
        call fscorpio_write_dataset(values, SCORPIO_DOUBLE, 2, [2*ranks, 3], [2, 3], file, 'rows   ', group, &
            SCORPIO_UNIFORM_CONTIGUOUS_WRITE, ierr)
        call expect(ierr == 0, 'write')
        call fscorpio_write_dataset_block([rank, -rank], SCORPIO_INTEGER, 2, [2, ranks], [2, 1], [0, rank], file, &
            '/block'//char(0), group, ierr)
        call expect(ierr == 0, 'write a block')
        call fscorpio_close_dataset_group(number, file, group, ierr)
        call fscorpio_get_dataset_ndims(ndims, file, 'step/rows'//char(0), group, ierr)
        call expect(ierr == 0 .and. ndims == 2, 'ndims')
        call fscorpio_get_dataset_dims(dims, file, 'step/rows'//char(0), group, ierr)
        call expect(ierr == 0 .and. dims(1) == 2*ranks .and. dims(2) == 3, 'dims')
        call fscorpio_get_dataset_size(size, file, 'step/rows'//char(0), group, ierr)
        call expect(ierr == 0 .and. size == 6*ranks, 'size')
        call fscorpio_get_dataset_size(size, file, 'rows'//char(0), group, ierr)
        call expect(ierr == -1, 'size of nothing')
        call fscorpio_group_exists('step'//char(0), file, group, there)
        call expect(there == 1, 'the group is there')
        call fscorpio_dataset_exists('step'//char(0), file, group, there)
        call expect(there == 0, 'it is no dataset')
        call fscorpio_close_file(file, group, ierr)
        call expect(ierr == 0, 'close')

        call fscorpio_open_file(path_of('calls.h5'), group, SCORPIO_FILE_READONLY, file, ierr)
        read = 0
        call fscorpio_read_dataset(read, SCORPIO_DOUBLE, 2, [2*ranks, 3], [2, 3], file, 'step/rows'//char(0), group, &
            SCORPIO_NONUNIFORM_CONTIGUOUS_READ, ierr)
        call expect(ierr == 0 .and. .not. any(abs(read - values) > 0), 'read')
        call fscorpio_read_dataset(all, SCORPIO_DOUBLE, 2, [2*ranks, 3], [2*ranks, 3], file, 'step/rows'//char(0), &
            group, SCORPIO_EVERYONE_ENTIRE_DATASET_READ, ierr)
        call expect(ierr == 0 .and. abs(all(3, 2*ranks) - (6*ranks - 0.5d0)) < 1d-9, 'read all')
        call fscorpio_read_same_sub_dataset(corner, SCORPIO_INTEGER, 2, [2, 1], [0, ranks - 1], file, &
            'block'//char(0), group, ierr)
        call expect(ierr == 0 .and. corner(1) == ranks - 1 .and. corner(2) == 1 - ranks, 'read a part')
        call fscorpio_close_file(file, group, ierr)
        call fscorpio_iogroup_cleanup(group, ierr)
        call expect(ierr == 0, 'cleanup')
    end subroutine calls
end program fortran_test
