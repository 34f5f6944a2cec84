! SPDX-License-Identifier: BSD-3-Clause
!> Interfaces of windrow.h, and of the functions of shim.c and arrays.c, which replace those with communicators, object
!> numbers or data. Not for users, who `use windrow`.
module windrow_c
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int8_t, c_int64_t, c_null_ptr, c_ptr, c_size_t
    implicit none
    public

    integer, parameter :: max_dimensions = 32

    !> struct windrow_variable_info
    type, bind(c) :: c_variable_info
        integer(c_int64_t) :: size
        type(c_ptr) :: path
        integer(c_int) :: type
        integer(c_int) :: ndims
        integer(c_int64_t) :: shape(max_dimensions)
        integer(c_int64_t) :: bytes
        integer(c_int64_t) :: offset
        integer(c_int) :: big_endian
        type(c_ptr) :: unsupported
        integer(c_int) :: has_fill_value
        integer(c_int) :: chunked
        integer(c_int64_t) :: chunk(max_dimensions)
        integer(c_int) :: extendible
        type(c_ptr) :: filters
        integer(c_int64_t) :: elements
        integer(c_int64_t) :: element_bytes
        integer(c_int) :: is_null
        type(c_ptr) :: text_characters
        type(c_ptr) :: text_padding
        type(c_ptr) :: opaque_tag
        type(c_ptr) :: enumeration
        type(c_ptr) :: dimension_names(max_dimensions)
        type(c_ptr) :: fill_value
    end type c_variable_info

    !> struct windrow_attribute_info
    type, bind(c) :: c_attribute_info
        integer(c_int64_t) :: size
        type(c_ptr) :: name
        integer(c_int) :: type
        integer(c_int) :: ndims
        integer(c_int64_t) :: shape(max_dimensions)
        integer(c_int64_t) :: elements
        type(c_ptr) :: unsupported
        integer(c_int64_t) :: element_bytes
        integer(c_int) :: is_null
        type(c_ptr) :: text_characters
        type(c_ptr) :: text_padding
        type(c_ptr) :: opaque_tag
        type(c_ptr) :: enumeration
    end type c_attribute_info

    !> struct windrow_variable_definition
    type, bind(c) :: c_variable_definition
        type(c_ptr) :: path
        integer(c_int) :: type
        integer(c_int) :: ndims
        type(c_ptr) :: shape
        type(c_ptr) :: options
    end type c_variable_definition

    !> struct held of shim.h
    type, bind(c) :: c_held
        type(c_ptr) :: decomposition = c_null_ptr
        integer(c_int64_t) :: elements = 0
        integer(c_int64_t) :: points = -1
        integer(c_int) :: ndims = 0
    end type c_held

    !> struct sizes of shim.h
    type, bind(c) :: c_sizes
        type(c_ptr) :: values
        integer(c_int) :: entries
    end type c_sizes

    interface
        function c_version() bind(c, name="windrow_version") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function c_version

        function c_has(feature) bind(c, name="windrow_has") result(yes)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: feature(*)
            integer(c_int) :: yes
        end function c_has

        function c_features() bind(c, name="windrow_features") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function c_features

        function c_code_name(code) bind(c, name="windrow_code_name") result(text)
            import :: c_int, c_ptr
            integer(c_int), intent(in), value :: code
            type(c_ptr) :: text
        end function c_code_name

        function c_error_message() bind(c, name="windrow_error_message") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function c_error_message

        function c_error_rank() bind(c, name="windrow_error_rank") result(rank)
            import :: c_int
            integer(c_int) :: rank
        end function c_error_rank

        function c_options_create(options) bind(c, name="windrow_fortran_options_create") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(out) :: options
            integer(c_int) :: code
        end function c_options_create

        function c_options_set(options, key, value) bind(c, name="windrow_fortran_options_set") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: options
            character(kind=c_char), intent(in) :: key(*), value(*)
            integer(c_int) :: code
        end function c_options_set

        subroutine c_options_free(options) bind(c, name="windrow_fortran_options_free")
            import :: c_ptr
            type(c_ptr), intent(in), value :: options
        end subroutine c_options_free

        !> Options as a C function takes them.
        pure function c_options_all(options) bind(c, name="windrow_fortran_options_all") result(all_options)
            import :: c_ptr
            type(c_ptr), intent(in), value :: options
            type(c_ptr) :: all_options
        end function c_options_all

        function c_set_strategy(file, options) bind(c, name="windrow_fortran_set_strategy") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file, options
            integer(c_int) :: code
        end function c_set_strategy

        function c_create(comm, path, options, file) bind(c, name="windrow_fortran_create") result(code)
            import :: c_char, c_int, c_ptr
            integer, intent(in), value :: comm
            character(kind=c_char), intent(in) :: path(*)
            type(c_ptr), intent(in), value :: options
            type(c_ptr), intent(out) :: file
            integer(c_int) :: code
        end function c_create

        function c_copy(comm, source, target, options) bind(c, name="windrow_fortran_copy") result(code)
            import :: c_char, c_int, c_ptr
            integer, intent(in), value :: comm
            character(kind=c_char), intent(in) :: source(*), target(*)
            type(c_ptr), intent(in), value :: options
            integer(c_int) :: code
        end function c_copy

        function c_open(comm, path, mode, options, file) bind(c, name="windrow_fortran_open") result(code)
            import :: c_char, c_int, c_ptr
            integer, intent(in), value :: comm
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), intent(in), value :: mode
            type(c_ptr), intent(in), value :: options
            type(c_ptr), intent(out) :: file
            integer(c_int) :: code
        end function c_open

        function c_sync(file) bind(c, name="windrow_fortran_sync") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: code
        end function c_sync

        function c_close(file) bind(c, name="windrow_fortran_close") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: code
        end function c_close

        function c_discard(file) bind(c, name="windrow_discard") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: code
        end function c_discard

        function c_byte_list_pieces(count, file_offsets, memory_offsets, lengths, list) &
            bind(c, name="windrow_fortran_byte_list_pieces") result(code)
            import :: c_int, c_int64_t, c_ptr
            integer(c_int64_t), intent(in), value :: count
            integer(c_int64_t), intent(in) :: file_offsets(*), lengths(*)
            integer(c_int64_t), intent(in), optional :: memory_offsets(*)
            type(c_ptr), intent(out) :: list
            integer(c_int) :: code
        end function c_byte_list_pieces

        function c_byte_list_runs(count, loops, firsts, counts, file_strides, memory_strides, list) &
            bind(c, name="windrow_fortran_byte_list_runs") result(code)
            import :: c_int, c_int64_t, c_ptr
            integer(c_int64_t), intent(in), value :: count
            integer(c_int), intent(in), value :: loops
            integer(c_int64_t), intent(in) :: firsts(3, *), counts(*), file_strides(*), memory_strides(*)
            type(c_ptr), intent(out) :: list
            integer(c_int) :: code
        end function c_byte_list_runs

        function c_byte_list_types(displacement, etype, filetype, offset, count, datatype, list) &
            bind(c, name="windrow_fortran_byte_list_types") result(code)
            import :: c_int, c_int64_t, c_ptr
            integer(c_int64_t), intent(in), value :: displacement, offset, count
            integer, intent(in), optional :: etype, filetype
            integer, intent(in), value :: datatype
            type(c_ptr), intent(out) :: list
            integer(c_int) :: code
        end function c_byte_list_types

        function c_byte_list_memory(list, first, last) bind(c, name="windrow_byte_list_memory") result(code)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: list
            integer(c_int64_t), intent(out) :: first, last
            integer(c_int) :: code
        end function c_byte_list_memory

        subroutine c_byte_list_free(list) bind(c, name="windrow_byte_list_free")
            import :: c_ptr
            type(c_ptr), intent(in), value :: list
        end subroutine c_byte_list_free

        function c_bytes_open(comm, path, mode, options, file) bind(c, name="windrow_fortran_bytes_open") result(code)
            import :: c_char, c_int, c_ptr
            integer, intent(in), value :: comm
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), intent(in), value :: mode
            type(c_ptr), intent(in), value :: options
            type(c_ptr), intent(out) :: file
            integer(c_int) :: code
        end function c_bytes_open

        function c_bytes_write(file, list, data) bind(c, name="windrow_fortran_bytes_write") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file, list
            type(*), intent(in) :: data(..)
            integer(c_int) :: code
        end function c_bytes_write

        function c_bytes_read(file, list, data, bytes_read) bind(c, name="windrow_fortran_bytes_read") result(code)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: file, list
            type(*), intent(inout) :: data(..)
            integer(c_int64_t), intent(out) :: bytes_read
            integer(c_int) :: code
        end function c_bytes_read

        function c_bytes_explain(file, writes, list, format, text) bind(c, name="windrow_bytes_explain") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file, list
            integer(c_int), intent(in), value :: writes
            character(kind=c_char), intent(in) :: format(*)
            type(c_ptr), intent(inout) :: text
            integer(c_int) :: code
        end function c_bytes_explain

        function c_bytes_report(file, format, text) bind(c, name="windrow_bytes_report") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: format(*)
            type(c_ptr), intent(inout) :: text
            integer(c_int) :: code
        end function c_bytes_report

        function c_bytes_sync(file) bind(c, name="windrow_bytes_sync") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: code
        end function c_bytes_sync

        function c_bytes_close(file) bind(c, name="windrow_bytes_close") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: code
        end function c_bytes_close

        function c_type_size(type) bind(c, name="windrow_type_size") result(bytes)
            import :: c_int, c_int64_t
            integer(c_int), intent(in), value :: type
            integer(c_int64_t) :: bytes
        end function c_type_size

        function c_type_name(type) bind(c, name="windrow_type_name") result(text)
            import :: c_int, c_ptr
            integer(c_int), intent(in), value :: type
            type(c_ptr) :: text
        end function c_type_name

        function c_define_group(file, path) bind(c, name="windrow_define_group") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int) :: code
        end function c_define_group

        function c_define_variables(file, count, definitions, variables) &
            bind(c, name="windrow_fortran_define_variables") result(code)
            import :: c_int, c_ptr, c_variable_definition
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: count
            type(c_variable_definition), intent(in) :: definitions(*)
            integer(c_int), intent(inout) :: variables(*)
            integer(c_int) :: code
        end function c_define_variables

        function c_variable_count(file) bind(c, name="windrow_variable_count") result(count)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: count
        end function c_variable_count

        function c_find_variable(file, path, variable) bind(c, name="windrow_find_variable") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), intent(inout) :: variable
            integer(c_int) :: code
        end function c_find_variable

        function c_inquire_variable(file, variable, info) bind(c, name="windrow_fortran_inquire_variable") result(code)
            import :: c_int, c_ptr, c_variable_info
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_variable_info), intent(inout) :: info
            integer(c_int) :: code
        end function c_inquire_variable

        function c_group_count(file) bind(c, name="windrow_group_count") result(count)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: count
        end function c_group_count

        function c_group_path(file, group) bind(c, name="windrow_group_path") result(text)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: group
            type(c_ptr) :: text
        end function c_group_path

        function c_subfile_count(file) bind(c, name="windrow_subfile_count") result(count)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: count
        end function c_subfile_count

        function c_subfile_name(file, subfile) bind(c, name="windrow_subfile_name") result(text)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: subfile
            type(c_ptr) :: text
        end function c_subfile_name

        function c_check_subfiles(file, problems) bind(c, name="windrow_check_subfiles") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            type(c_ptr), intent(inout) :: problems
            integer(c_int) :: code
        end function c_check_subfiles

        function c_write_references(file, path, prefix, left_out) bind(c, name="windrow_write_references") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: path(*), prefix(*)
            type(c_ptr), intent(inout) :: left_out
            integer(c_int) :: code
        end function c_write_references

        function c_unsupported_objects(file) bind(c, name="windrow_unsupported_objects") result(text)
            import :: c_ptr
            type(c_ptr), intent(in), value :: file
            type(c_ptr) :: text
        end function c_unsupported_objects

        function c_name_dimensions(file, variable, names) &
            bind(c, name="windrow_fortran_name_dimensions") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(*), intent(in) :: names(..)
            integer(c_int) :: code
        end function c_name_dimensions

        function c_define_dimension(file, path, length) bind(c, name="windrow_define_dimension") result(code)
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int64_t), intent(in), value :: length
            integer(c_int) :: code
        end function c_define_dimension

        function c_dimension_count(file) bind(c, name="windrow_dimension_count") result(count)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: count
        end function c_dimension_count

        function c_inquire_dimension(file, dimension, path, length) &
            bind(c, name="windrow_fortran_inquire_dimension") result(code)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: dimension
            type(c_ptr), intent(inout) :: path
            integer(c_int64_t), intent(inout) :: length
            integer(c_int) :: code
        end function c_inquire_dimension

        function c_inquire_object(file, path, kind) bind(c, name="windrow_inquire_object") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), intent(inout) :: kind
            integer(c_int) :: code
        end function c_inquire_object

        function c_define_link(file, path, target) bind(c, name="windrow_define_link") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: path(*), target(*)
            integer(c_int) :: code
        end function c_define_link

        function c_link_count(file) bind(c, name="windrow_link_count") result(count)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: count
        end function c_link_count

        function c_inquire_link(file, link, path, target) bind(c, name="windrow_fortran_inquire_link") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: link
            type(c_ptr), intent(inout) :: path, target
            integer(c_int) :: code
        end function c_inquire_link

        function c_put_texts(file, variable, texts) bind(c, name="windrow_fortran_put_texts") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(*), intent(in) :: texts(..)
            integer(c_int) :: code
        end function c_put_texts

        function c_get_texts(file, variable, texts) bind(c, name="windrow_fortran_get_texts") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_ptr), intent(inout) :: texts(*)
            integer(c_int) :: code
        end function c_get_texts

        function c_put_attribute(file, object, name, type, value, options) &
            bind(c, name="windrow_fortran_put_attribute") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: object(*), name(*)
            integer(c_int), intent(in), value :: type
            type(*), intent(in), optional :: value(..)
            type(c_ptr), intent(in), value :: options
            integer(c_int) :: code
        end function c_put_attribute

        function c_is_text(value) bind(c, name="windrow_fortran_is_text") result(yes)
            import :: c_int
            type(*), intent(in), optional :: value(..)
            integer(c_int) :: yes
        end function c_is_text

        function c_delete_attribute(file, object, name) bind(c, name="windrow_delete_attribute") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: object(*), name(*)
            integer(c_int) :: code
        end function c_delete_attribute

        function c_copy_attribute(file, object, from, from_object, name) &
            bind(c, name="windrow_copy_attribute") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file, from
            character(kind=c_char), intent(in) :: object(*), from_object(*), name(*)
            integer(c_int) :: code
        end function c_copy_attribute

        function c_attribute_count(file, object) bind(c, name="windrow_attribute_count") result(count)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: object(*)
            integer(c_int) :: count
        end function c_attribute_count

        function c_inquire_attribute(file, object, attribute, info) &
            bind(c, name="windrow_fortran_inquire_attribute") result(code)
            import :: c_attribute_info, c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: object(*)
            integer(c_int), intent(in), value :: attribute
            type(c_attribute_info), intent(inout) :: info
            integer(c_int) :: code
        end function c_inquire_attribute

        function c_find_attribute(file, object, name, info) bind(c, name="windrow_fortran_find_attribute") result(code)
            import :: c_attribute_info, c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: object(*), name(*)
            type(c_attribute_info), intent(inout) :: info
            integer(c_int) :: code
        end function c_find_attribute

        function c_get_attribute(file, object, name, type, value) &
            bind(c, name="windrow_fortran_get_attribute") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: object(*), name(*)
            integer(c_int), intent(in), value :: type
            type(*), intent(inout) :: value(..)
            integer(c_int) :: code
        end function c_get_attribute

        function c_get_attribute_texts(file, object, name, type, texts) &
            bind(c, name="windrow_get_attribute") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: object(*), name(*)
            integer(c_int), intent(in), value :: type
            type(c_ptr), intent(inout) :: texts(*)
            integer(c_int) :: code
        end function c_get_attribute_texts

        function c_block(comm, ndims, shape, start, count, memory_shape, memory_start, decomposition) &
            bind(c, name="windrow_fortran_block") result(code)
            import :: c_int, c_int64_t, c_ptr
            integer, intent(in), value :: comm
            integer(c_int), intent(in), value :: ndims
            integer(c_int64_t), intent(in) :: shape(*), start(*), count(*)
            integer(c_int64_t), intent(in), optional :: memory_shape(*), memory_start(*)
            type(c_ptr), intent(out) :: decomposition
            integer(c_int) :: code
        end function c_block

        function c_blocks(comm, ndims, shape, blocks, starts, counts, memory_shapes, memory_starts, decomposition) &
            bind(c, name="windrow_fortran_blocks") result(code)
            import :: c_int, c_int64_t, c_ptr
            integer, intent(in), value :: comm
            integer(c_int), intent(in), value :: ndims
            integer(c_int64_t), intent(in), value :: blocks
            integer(c_int64_t), intent(in) :: shape(*), starts(*), counts(*)
            integer(c_int64_t), intent(in), optional :: memory_shapes(*), memory_starts(*)
            type(c_ptr), intent(out) :: decomposition
            integer(c_int) :: code
        end function c_blocks

        function c_strided_blocks(comm, ndims, shape, blocks, starts, counts, memory_offsets, memory_strides, &
            decomposition) bind(c, name="windrow_fortran_strided_blocks") result(code)
            import :: c_int, c_int64_t, c_ptr
            integer, intent(in), value :: comm
            integer(c_int), intent(in), value :: ndims
            integer(c_int64_t), intent(in), value :: blocks
            integer(c_int64_t), intent(in) :: shape(*), starts(*), counts(*), memory_offsets(*), memory_strides(*)
            type(c_ptr), intent(out) :: decomposition
            integer(c_int) :: code
        end function c_strided_blocks

        function c_rows(comm, rows, count, decomposition) bind(c, name="windrow_fortran_rows") result(code)
            import :: c_int, c_int64_t, c_ptr
            integer, intent(in), value :: comm
            integer(c_int64_t), intent(in), value :: rows, count
            type(c_ptr), intent(out) :: decomposition
            integer(c_int) :: code
        end function c_rows

        function c_decomposition_rows(decomposition, first, count) &
            bind(c, name="windrow_decomposition_rows") result(code)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: decomposition
            integer(c_int64_t), intent(inout) :: first, count
            integer(c_int) :: code
        end function c_decomposition_rows

        function c_points(comm, points, count, list, owned, options, decomposition) &
            bind(c, name="windrow_fortran_points") result(code)
            import :: c_int, c_int8_t, c_int64_t, c_ptr
            integer, intent(in), value :: comm
            integer(c_int64_t), intent(in), value :: points, count
            integer(c_int64_t), intent(in) :: list(*)
            integer(c_int8_t), intent(in), optional :: owned(*)
            type(c_ptr), intent(in), value :: options
            type(c_ptr), intent(out) :: decomposition
            integer(c_int) :: code
        end function c_points

        function c_decomposition_owned(decomposition, owner, room, list, count, intervals) &
            bind(c, name="windrow_fortran_decomposition_owned") result(code)
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: decomposition
            character(kind=c_char), intent(in) :: owner(*)
            integer(c_int64_t), intent(in), value :: room
            integer(c_int64_t), intent(inout) :: list(*), count, intervals
            integer(c_int) :: code
        end function c_decomposition_owned

        function c_decomposition_holes(decomposition, holes) bind(c, name="windrow_decomposition_holes") result(code)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: decomposition
            integer(c_int64_t), intent(inout) :: holes
            integer(c_int) :: code
        end function c_decomposition_holes

        function c_decomposition_memory(decomposition, ndims, shape, elements) &
            bind(c, name="windrow_decomposition_memory") result(code)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: decomposition
            integer(c_int), intent(in), value :: ndims
            integer(c_int64_t), intent(in) :: shape(*)
            integer(c_int64_t), intent(inout) :: elements
            integer(c_int) :: code
        end function c_decomposition_memory

        function c_mesh_neighbours(nodes, cell, length, connectivity, across_cells, room, offsets, neighbours) &
            bind(c, name="windrow_fortran_mesh_neighbours") result(code)
            import :: c_int, c_int64_t
            integer(c_int64_t), intent(in), value :: nodes, length, room
            integer(c_int), intent(in), value :: cell, across_cells
            integer(c_int64_t), intent(in) :: connectivity(*)
            integer(c_int64_t), intent(inout) :: offsets(*), neighbours(*)
            integer(c_int) :: code
        end function c_mesh_neighbours

        function c_classify_nodes(nodes, offsets, neighbours, partition, room, part_offsets, parts) &
            bind(c, name="windrow_fortran_classify_nodes") result(code)
            import :: c_int, c_int64_t
            integer(c_int64_t), intent(in), value :: nodes, room
            integer(c_int64_t), intent(in) :: offsets(*), neighbours(*)
            integer(c_int), intent(in) :: partition(*)
            integer(c_int64_t), intent(inout) :: part_offsets(*)
            integer(c_int), intent(inout) :: parts(*)
            integer(c_int) :: code
        end function c_classify_nodes

        function c_same(comm, ndims, shape, start, count, decomposition) &
            bind(c, name="windrow_fortran_same") result(code)
            import :: c_int, c_int64_t, c_ptr
            integer, intent(in), value :: comm
            integer(c_int), intent(in), value :: ndims
            integer(c_int64_t), intent(in) :: shape(*)
            integer(c_int64_t), intent(in), optional :: start(*), count(*)
            type(c_ptr), intent(out) :: decomposition
            integer(c_int) :: code
        end function c_same

        subroutine c_decomposition_free(decomposition) bind(c, name="windrow_decomposition_free")
            import :: c_ptr
            type(c_ptr), intent(in), value :: decomposition
        end subroutine c_decomposition_free

        function c_put(file, variable, part, data) bind(c, name="windrow_fortran_put") result(code)
            import :: c_held, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_held), intent(in) :: part
            type(*), intent(in) :: data(..)
            integer(c_int) :: code
        end function c_put

        function c_get(file, variable, part, data) bind(c, name="windrow_fortran_get") result(code)
            import :: c_held, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_held), intent(in) :: part
            type(*), intent(inout) :: data(..)
            integer(c_int) :: code
        end function c_get

        function c_put_record(file, variable, record, part, data) bind(c, name="windrow_fortran_put_record") &
            result(code)
            import :: c_held, c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            integer(c_int64_t), intent(in), value :: record
            type(c_held), intent(in) :: part
            type(*), intent(in) :: data(..)
            integer(c_int) :: code
        end function c_put_record

        function c_get_record(file, variable, record, part, data) bind(c, name="windrow_fortran_get_record") &
            result(code)
            import :: c_held, c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            integer(c_int64_t), intent(in), value :: record
            type(c_held), intent(in) :: part
            type(*), intent(inout) :: data(..)
            integer(c_int) :: code
        end function c_get_record

        function c_put_as(file, variable, part, data, type) bind(c, name="windrow_fortran_put_as") result(code)
            import :: c_held, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_held), intent(in) :: part
            type(*), intent(in) :: data(..)
            integer(c_int), intent(in), value :: type
            integer(c_int) :: code
        end function c_put_as

        function c_get_as(file, variable, part, data, type) bind(c, name="windrow_fortran_get_as") result(code)
            import :: c_held, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_held), intent(in) :: part
            type(*), intent(inout) :: data(..)
            integer(c_int), intent(in), value :: type
            integer(c_int) :: code
        end function c_get_as

        function c_put_record_as(file, variable, record, part, data, type) &
            bind(c, name="windrow_fortran_put_record_as") result(code)
            import :: c_held, c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            integer(c_int64_t), intent(in), value :: record
            type(c_held), intent(in) :: part
            type(*), intent(in) :: data(..)
            integer(c_int), intent(in), value :: type
            integer(c_int) :: code
        end function c_put_record_as

        function c_get_record_as(file, variable, record, part, data, type) &
            bind(c, name="windrow_fortran_get_record_as") result(code)
            import :: c_held, c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            integer(c_int64_t), intent(in), value :: record
            type(c_held), intent(in) :: part
            type(*), intent(inout) :: data(..)
            integer(c_int), intent(in), value :: type
            integer(c_int) :: code
        end function c_get_record_as

        function c_write(file, variable, part, data) bind(c, name="windrow_fortran_write") result(code)
            import :: c_held, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_held), intent(in) :: part
            type(*), intent(in) :: data(..)
            integer(c_int) :: code
        end function c_write

        function c_read(file, variable, part, data) bind(c, name="windrow_fortran_read") result(code)
            import :: c_held, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_held), intent(in) :: part
            type(*), intent(inout) :: data(..)
            integer(c_int) :: code
        end function c_read

        function c_write_block(file, variable, start, count, data) &
            bind(c, name="windrow_fortran_write_block") result(code)
            import :: c_int, c_ptr, c_sizes
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_sizes), intent(in) :: start, count
            type(*), intent(in) :: data(..)
            integer(c_int) :: code
        end function c_write_block

        function c_read_block(file, variable, start, count, data) &
            bind(c, name="windrow_fortran_read_block") result(code)
            import :: c_int, c_ptr, c_sizes
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: variable
            type(c_sizes), intent(in) :: start, count
            type(*), intent(inout) :: data(..)
            integer(c_int) :: code
        end function c_read_block

        function c_refuse(file, message) bind(c, name="windrow_refuse") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: message(*)
            integer(c_int) :: code
        end function c_refuse

        function c_flush(file) bind(c, name="windrow_fortran_flush") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: code
        end function c_flush

        function c_flush_begin(file) bind(c, name="windrow_fortran_flush_begin") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: code
        end function c_flush_begin

        function c_flush_end(file) bind(c, name="windrow_fortran_flush_end") result(code)
            import :: c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int) :: code
        end function c_flush_end

        function c_explain(file, format, text) bind(c, name="windrow_fortran_explain") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: format(*)
            type(c_ptr), intent(inout) :: text
            integer(c_int) :: code
        end function c_explain

        function c_report(file, format, text) bind(c, name="windrow_report") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: format(*)
            type(c_ptr), intent(inout) :: text
            integer(c_int) :: code
        end function c_report

        function c_uniform_grid(file, name, time, ndims, nodes, origin, spacing, grid) &
            bind(c, name="windrow_fortran_xdmf_uniform_grid") result(code)
            import :: c_char, c_double, c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), intent(in), value :: time
            integer(c_int), intent(in), value :: ndims
            integer(c_int64_t), intent(in) :: nodes(*)
            real(c_double), intent(in), optional :: origin(*), spacing(*)
            integer(c_int), intent(inout) :: grid
            integer(c_int) :: code
        end function c_uniform_grid

        function c_rectilinear_grid(file, name, time, ndims, coordinates, grid) &
            bind(c, name="windrow_fortran_xdmf_rectilinear_grid") result(code)
            import :: c_char, c_double, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), intent(in), value :: time
            integer(c_int), intent(in), value :: ndims
            integer(c_int), intent(in) :: coordinates(*)
            integer(c_int), intent(inout) :: grid
            integer(c_int) :: code
        end function c_rectilinear_grid

        function c_curvilinear_grid(file, name, time, coordinates, grid) &
            bind(c, name="windrow_fortran_xdmf_curvilinear_grid") result(code)
            import :: c_char, c_double, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), intent(in), value :: time
            integer(c_int), intent(in), value :: coordinates
            integer(c_int), intent(inout) :: grid
            integer(c_int) :: code
        end function c_curvilinear_grid

        function c_mesh(file, name, time, cell, connectivity, cells, coordinates, grid) &
            bind(c, name="windrow_fortran_xdmf_mesh") result(code)
            import :: c_char, c_double, c_int, c_int64_t, c_ptr
            type(c_ptr), intent(in), value :: file
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), intent(in), value :: time
            integer(c_int), intent(in), value :: cell, connectivity, coordinates
            integer(c_int64_t), intent(in), value :: cells
            integer(c_int), intent(inout) :: grid
            integer(c_int) :: code
        end function c_mesh

        function c_field(file, grid, name, center, variable) bind(c, name="windrow_fortran_xdmf_field") result(code)
            import :: c_char, c_int, c_ptr
            type(c_ptr), intent(in), value :: file
            integer(c_int), intent(in), value :: grid, center, variable
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int) :: code
        end function c_field

        !> The bits of an integer in decimal, signed or not.
        function c_number(text, end, base) bind(c, name="strtoull") result(number)
            import :: c_char, c_int, c_int64_t, c_ptr
            character(kind=c_char), intent(in) :: text(*)
            type(c_ptr), intent(in), value :: end
            integer(c_int), intent(in), value :: base
            integer(c_int64_t) :: number
        end function c_number

        function c_length(text) bind(c, name="strlen") result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), intent(in), value :: text
            integer(c_size_t) :: length
        end function c_length
    end interface
end module windrow_c
