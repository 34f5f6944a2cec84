! SPDX-License-Identifier: BSD-3-Clause
!> Text of fixed and of variable length. fortran_test.py makes others.h5 with h5py before, and reads it and texts.h5
!> after. Each rank has two rows, and knows what is in all of them.
program texts_test
    use mpi_f08
    use checks
    use windrow
    implicit none

    type(windrow_file) :: file
    type(windrow_decomposition) :: rows, all_of_it
    character(2000) :: errmsg
    integer :: stat

    call begin_checks()
    call windrow_rows(MPI_COMM_WORLD, 2*ranks, rows, 2)
    call windrow_same(MPI_COMM_WORLD, all_of_it)
    call windrow_create(MPI_COMM_WORLD, path_of('texts'), file)
    call write_texts()
    call refused()
    call texts_of_variable_length()
    call put_and_get_as()
    call write_attribute()
    call windrow_close(file, stat, errmsg)
    call expect_ok(stat, errmsg, 'close')
    call windrow_open(MPI_COMM_WORLD, path_of('texts'), file)
    call read_texts()
    call read_attribute()
    call windrow_close(file)
    if (index(path_of(''), '.h5') > 0) call read_what_h5py_made()
    call windrow_decomposition_free(rows)
    call windrow_decomposition_free(all_of_it)
    call end_checks()

contains

    !> Element x of row y, from 1: 0 to 6 characters; texts of six fill their element.
    elemental function word(x, y) result(value)
        integer, intent(in) :: x, y
        character(6) :: value
        value = repeat(achar(iachar('a') + mod(y, 26)), mod(3*x + y, 7))
    end function word

    subroutine define(name, type, shape, variable, keys)
        character(*), intent(in) :: name
        integer, intent(in) :: type, shape(:)
        integer, intent(out) :: variable
        character(*), intent(in) :: keys(:)    ! 'key=value'
        type(windrow_options) :: options
        integer :: i, equals
        call windrow_options_create(options)
        do i = 1, size(keys)
            equals = index(keys(i), '=')
            call windrow_options_set(options, keys(i)(:equals - 1), keys(i)(equals + 1:))
        end do
        call windrow_define_variable(file, name, type, shape, variable, options, stat, errmsg)
        call expect_ok(stat, errmsg, 'define '//name)
        call windrow_options_free(options)
    end subroutine define

    !> Texts of fixed length in each padding, by each call. Ghost elements stay in memory.
    subroutine write_texts()
        character(16), parameter :: paddings(3) = [character(16) :: 'space_padded', 'null_padded', 'null_terminated']
        character(6), target :: words(3, 2), box(0:4, 0:3)
        type(windrow_decomposition) :: ghosts, row
        integer :: variable, x, y, i
        words = reshape([((word(x, 2*rank + y), x=1, 3), y=1, 2)], [3, 2])
        box = 'ghosts'
        box(1:3, 1:2) = words
        call windrow_block(MPI_COMM_WORLD, [3, 2*ranks], [1, 2*rank + 1], [3, 2], ghosts, shape(box), [2, 2])
        call windrow_block(MPI_COMM_WORLD, [3, ranks], [1, rank + 1], [3, 1], row)
        do i = 1, size(paddings)
            call define('put '//paddings(i), windrow_text, [3, 2*ranks], variable, &
                [character(40) :: 'element_bytes=6', 'text_padding='//paddings(i)])
            call windrow_put(file, variable, rows, words, stat, errmsg)
            call expect_ok(stat, errmsg, 'put of texts')
            call define('block '//paddings(i), windrow_text, [3, 2*ranks], variable, [character(40) :: &
                'element_bytes=6', 'text_padding='//paddings(i)])
            call windrow_write_block(file, variable, [1, 2*rank + 1], [3, 2], words, stat, errmsg)
            call expect_ok(stat, errmsg, 'write_block of texts')
            call define('ghosts '//paddings(i), windrow_text, [3, 2*ranks], variable, [character(40) :: &
                'element_bytes=6', 'text_padding='//paddings(i)])
            call windrow_write(file, variable, ghosts, box, stat, errmsg)
            call expect_ok(stat, errmsg, 'write of texts among others')
            call define('records '//paddings(i), windrow_text, [3, ranks, 2], variable, [character(40) :: &
                'element_bytes=6', 'text_padding='//paddings(i)])
            do y = 1, 2
                call windrow_put_record(file, variable, y, row, words(:, y), stat, errmsg)
                call expect_ok(stat, errmsg, 'put of a record of texts')
            end do
            call windrow_flush(file, stat, errmsg)
            call expect_ok(stat, errmsg, 'flush')
        end do
        call define('default', windrow_text, [3, 2*ranks], variable, ['element_bytes=6'])
        call windrow_write(file, variable, rows, words)
        call define('ascii', windrow_text, [2], variable, [character(24) :: 'element_bytes=2', 'text_characters=ascii'])
        call windrow_write(file, variable, all_of_it, ['ab', 'c '])
        call define('a constant', windrow_text, [integer ::], variable, ['element_bytes=3'])
        call windrow_write(file, variable, all_of_it, 'xyz', stat, errmsg)
        call expect_ok(stat, errmsg, 'write of a constant')
        call expect(all(box(0, :) == 'ghosts') .and. all(words == reshape([((word(x, 2*rank + y), x=1, 3), y=1, 2)], &
            [3, 2])), 'what was put is as it was')
        call windrow_decomposition_free(ghosts)
        call windrow_decomposition_free(row)
    end subroutine write_texts

    subroutine refused()
        character(5) :: words(3, 2)
        character(1) :: letters(3, 2)
        integer :: variable
        words = ''
        letters = ''
        call windrow_find_variable(file, 'default', variable)
        call windrow_write(file, variable, rows, words, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, &
            'the array is character(5), the variable text of 6 bytes', 'texts of another length')
        call windrow_read(file, variable, rows, letters, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'the array is character(1)', 'letters')
    end subroutine refused

    !> Rank 0's texts are written; blanks at their end do not count.
    subroutine texts_of_variable_length()
        character(8) :: four(2, 2)
        character(:), allocatable :: texts(:), text
        integer :: variable, scalar, fixed, empty
        four = reshape([character(8) :: 'one', '', 'größe', 'four   4'], [2, 2])
        call windrow_define_variable(file, 'texts', windrow_text, [2, 2], variable)
        call windrow_define_variable(file, 'one text', windrow_text, scalar)
        if (rank == 0) call windrow_put_texts(file, variable, four, stat, errmsg)
        if (rank > 0) call windrow_put_texts(file, variable, 'not looked at', stat, errmsg)
        call expect_ok(stat, errmsg, 'put_texts')
        call windrow_put_texts(file, scalar, 'alone', stat, errmsg)
        call expect_ok(stat, errmsg, 'put_texts of one')
        call windrow_get_texts(file, variable, texts, stat, errmsg)
        call expect_ok(stat, errmsg, 'get_texts')
        call expect(size(texts) == 4 .and. len(texts) == 8, 'how many texts')
        call expect(all(texts == reshape(four, [4])), 'texts')
        call windrow_get_texts(file, scalar, text)
        call expect(text == 'alone' .and. len(text) == 5, 'one text: '//text)
        call windrow_get_texts(file, scalar, texts)
        call expect(size(texts) == 1 .and. texts(1) == 'alone', 'one text as a list')

        call windrow_put_texts(file, variable, four(:, 1), stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, '2 texts for "/texts", which has 4 elements', &
            'too few texts')
        if (rank == 0) call windrow_put_texts(file, variable, [character(8) :: four, 'five'], stat, errmsg)
        if (rank > 0) call windrow_put_texts(file, variable, four, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, '5 texts for "/texts", which has 4 elements', &
            'too many texts')
        call windrow_put_texts(file, scalar, ['one', 'two'], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, '2 texts for "/one text", which has 1 element', &
            'two texts')
        call windrow_define_variable(file, 'no texts', windrow_text, [2, 0], empty)
        call windrow_put_texts(file, empty, 'one', stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, '1 text for "/no texts", which has 0 elements', &
            'a text for none')
        if (rank == 0) call windrow_put_texts(file, empty, four(:0, :), stat, errmsg)
        if (rank > 0) call windrow_put_texts(file, empty, 'not looked at', stat, errmsg)
        call expect_ok(stat, errmsg, 'put_texts of none')
        call put_assumed_size(variable, [character(8) :: four, 'five'])
        call windrow_get_texts(file, variable, texts)
        call expect(all(texts == reshape(four, [4])), 'what was refused has changed nothing')
        call windrow_get_texts(file, variable, text, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'several texts', 'texts into one')
        call define('fixed', windrow_text, [2], fixed, ['element_bytes=3'])
        call windrow_put_texts(file, fixed, ['abc', 'de '], stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'not text of variable length', &
            'put_texts of fixed length')
        call windrow_get_texts(file, fixed, texts, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'not text of variable length', &
            'get_texts of fixed length')
        call windrow_get_texts(file, 99, texts, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no variable number', 'get_texts of no variable')
        call windrow_put_texts(file, 0, 'x', stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'no variable number', 'put_texts of no variable')
        call windrow_write(file, variable, all_of_it, four, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'windrow_put_texts()', 'write of variable length')
        call windrow_write(file, fixed, all_of_it, ['abc', 'de '])
    end subroutine texts_of_variable_length

    !> The length of the list is unknown: as many texts are used as the variable has elements.
    subroutine put_assumed_size(variable, texts)
        integer, intent(in) :: variable
        character(*), intent(in) :: texts(*)
        call windrow_put_texts(file, variable, texts, stat, errmsg)
        call expect_ok(stat, errmsg, 'put_texts of assumed size')
    end subroutine put_assumed_size

    subroutine put_and_get_as()
        character(3), target :: letters(2, 2)
        integer, target :: numbers(2, 2)
        integer :: variable
        call define('as it is', windrow_text, [2, 2*ranks], variable, [character(30) :: 'element_bytes=3', &
            'text_padding=null_padded'])
        letters = reshape([character(3) :: 'abc', 'd', '', 'e'], [2, 2])
        call windrow_put_as(file, variable, rows, letters, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'put_as of its own type')
        call windrow_flush(file)
        letters = '***'
        call windrow_get_as(file, variable, rows, letters, windrow_text)
        call windrow_flush(file)
        call expect(all(letters == reshape([character(3) :: 'abc', 'd', '', 'e'], [2, 2])), 'text as text')
        call windrow_get_as(file, variable, rows, numbers, stat=stat, errmsg=errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'text cannot become int32', 'text as numbers')
        call windrow_flush(file, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'text cannot become int32', 'its flush')
    end subroutine put_and_get_as

    subroutine write_attribute()
        type(windrow_options) :: options
        call windrow_options_create(options)
        call windrow_options_set(options, 'element_bytes', '4')
        call windrow_put_attribute_with(file, '/', 'fixed', 'abc', options, stat, errmsg)
        call expect_ok(stat, errmsg, 'put_attribute_with of text')
        call windrow_put_attribute_with(file, '/', 'fixed', ['long text'], options, stat, errmsg)
        call expect_error(stat, errmsg, windrow_bad_argument, 'longer than its fixed length', 'a text that is too long')
        call windrow_options_free(options)
    end subroutine write_attribute

    subroutine read_attribute()
        type(windrow_attribute_info) :: info
        character(:), allocatable :: text
        call windrow_get_attribute(file, '/', 'fixed', text)
        call windrow_find_attribute(file, '/', 'fixed', info)
        call expect(text == 'abc' .and. info%element_bytes == 4 .and. info%text_padding == 'space_padded' .and. &
            info%text_characters == 'utf8', 'a text of fixed length: '//text//', '//info%text_padding)
    end subroutine read_attribute

    !> Every padding is blanks here.
    subroutine read_texts()
        character(16), parameter :: paddings(3) = [character(16) :: 'space_padded', 'null_padded', 'null_terminated']
        character(6), parameter :: calls(3) = [character(6) :: 'put', 'block', 'ghosts']
        character(6), target :: words(3, 2*ranks), expected(3, 2*ranks), mine(3, 2), box(0:4, 0:3)
        type(windrow_decomposition) :: ghosts, row
        type(windrow_variable_info) :: info
        integer :: variable, i, k, x, y
        expected = reshape([((word(x, y), x=1, 3), y=1, 2*ranks)], shape(expected))
        call windrow_block(MPI_COMM_WORLD, [3, 2*ranks], [1, 2*rank + 1], [3, 2], ghosts, shape(box), [2, 2])
        call windrow_block(MPI_COMM_WORLD, [3, ranks], [1, rank + 1], [3, 1], row)
        do i = 1, size(paddings)
            do k = 1, size(calls)
                call windrow_find_variable(file, trim(calls(k))//' '//paddings(i), variable, stat, errmsg)
                call expect_ok(stat, errmsg, 'find')
                call windrow_inquire_variable(file, variable, info)
                call expect(info%type == windrow_text .and. info%element_bytes == 6 .and. info%text_padding == &
                    paddings(i) .and. info%text_characters == 'utf8', info%path)
                words = '******'
                call windrow_read(file, variable, all_of_it, words, stat, errmsg)
                call expect_ok(stat, errmsg, 'read of texts')
                call expect(all(words == expected), 'texts '//info%path)
                mine = '******'
                call windrow_read_block(file, variable, [1, 2*rank + 1], [3, 2], mine, stat, errmsg)
                call expect_ok(stat, errmsg, 'read_block of texts')
                call expect(all(mine == expected(:, 2*rank + 1:2*rank + 2)), 'a block of texts '//info%path)
                box = '******'
                call windrow_get(file, variable, ghosts, box)
                call windrow_flush(file)
                call expect(all(box(1:3, 1:2) == mine) .and. all(box(0, :) == '******') &
                    .and. all(box(:, 3) == '******'), 'texts among others '//info%path)
            end do
            call windrow_find_variable(file, 'records '//paddings(i), variable)
            box(1:3, 1) = '******'
            call windrow_get_record(file, variable, 2, row, box(1:3, 1), stat, errmsg)
            call expect_ok(stat, errmsg, 'get_record of texts')
            call windrow_flush(file)
            call expect(all(box(1:3, 1) == expected(:, 2*rank + 2)), 'a record of texts '//paddings(i))
        end do
        call windrow_find_variable(file, 'default', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(info%text_padding == 'space_padded', 'blanks are what Fortran fills up with: '//info%text_padding)
        call windrow_find_variable(file, 'ascii', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(info%text_characters == 'ascii', 'characters: '//info%text_characters)
        call windrow_decomposition_free(ghosts)
        call windrow_decomposition_free(row)
    end subroutine read_texts

    !> Other paddings, chunks, references.
    subroutine read_what_h5py_made()
        type(windrow_variable_info) :: info
        character(8) :: words(2, 3)
        character(:), allocatable :: texts(:), text
        integer :: variable
        call windrow_open(MPI_COMM_WORLD, path_of('others'), file, windrow_mode_update, stat=stat, errmsg=errmsg)
        call expect_ok(stat, errmsg, 'open what h5py made')
        call windrow_find_variable(file, 'words', variable)
        call windrow_inquire_variable(file, variable, info)
        call expect(info%text_padding == 'null_padded' .and. info%element_bytes == 8, 'texts of h5py')
        call windrow_read(file, variable, all_of_it, words, stat, errmsg)
        call expect_ok(stat, errmsg, 'read texts of h5py')
        call expect(all(words == reshape([character(8) :: 'a', 'bb', 'ccc', 'eightful', '', 'grün'], [2, 3])), 'words')
        words(1, 1) = 'new'
        call windrow_write(file, variable, all_of_it, words)
        call windrow_find_variable(file, 'chunked', variable)
        words = ''
        call windrow_read(file, variable, all_of_it, words, stat, errmsg)
        call expect_ok(stat, errmsg, 'read chunks of texts')
        call expect(all(words == 'chunk'), 'chunks of texts')
        call windrow_find_variable(file, 'references', variable)
        call windrow_inquire_variable(file, variable, info)
        call windrow_get_texts(file, variable, texts, stat, errmsg)
        call expect_ok(stat, errmsg, 'get_texts of references')
        call expect(info%type == windrow_reference .and. size(texts) == 2, 'references')
        call expect(all(texts == [character(8) :: '/words', '/bool']), 'where they lead')
        call windrow_get_attribute(file, '/', 'reference', text, stat, errmsg)
        call expect_ok(stat, errmsg, 'get_attribute of a reference')
        call expect(text == '/words', 'where it leads: '//text)
        call windrow_put_attribute_references(file, '/', 'own', '/chunked', stat, errmsg)
        call expect_ok(stat, errmsg, 'put_attribute_references')
        call windrow_put_attribute_references(file, 'words', 'several', [character(8) :: '/bool', '', '/'], stat, &
            errmsg)
        call expect_ok(stat, errmsg, 'put_attribute_references of a list')
        call windrow_get_attribute(file, 'words', 'several', texts, stat, errmsg)
        call expect(size(texts) == 3 .and. all(texts == [character(5) :: '/bool', '', '/']), 'several references')
        call windrow_put_attribute_references(file, '/', 'bad', '/nowhere', stat, errmsg)
        call expect(stat /= windrow_ok .and. index(errmsg, '/nowhere') > 0, 'a reference to nothing: '//trim(errmsg))
        call windrow_close(file, stat, errmsg)
        call expect_ok(stat, errmsg, 'close')
    end subroutine read_what_h5py_made
end program texts_test
