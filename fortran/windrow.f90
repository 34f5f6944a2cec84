! SPDX-License-Identifier: BSD-3-Clause
!> Windrow: parallel I/O for MPI programs, from Fortran 2018. docs/fortran.md is the manual.
!>
!>     call windrow_create(MPI_COMM_WORLD, 'out.h5', file)
!>     call windrow_define_variable(file, 'temperature', windrow_float64, [nx, ny, nz], variable)
!>     call windrow_block(MPI_COMM_WORLD, [nx, ny, nz], start, [mx, my, mz], blocks)
!>     call windrow_put(file, variable, blocks, values)       ! local: queues, without a copy
!>     call windrow_flush(file)                               ! collective: moves everything queued, in one plan
!>     call windrow_close(file)                               ! collective: the file gets its name
module windrow
    use windrow_base, only: windrow_max_dimensions, windrow_ok, windrow_bad_argument, windrow_bad_state, &
        windrow_not_found, windrow_exists, windrow_unsupported, windrow_bad_file, windrow_no_permission, &
        windrow_no_space, windrow_io, windrow_out_of_memory, windrow_mpi, windrow_internal, windrow_int8, &
        windrow_uint8, &
        windrow_int16, windrow_uint16, windrow_int32, windrow_uint32, windrow_int64, windrow_uint64, windrow_float32, &
        windrow_float64, windrow_text, windrow_bool, windrow_complex64, windrow_complex128, windrow_opaque, &
        windrow_reference, windrow_float16, windrow_stored, windrow_mode_read, windrow_mode_update, &
        windrow_mode_update_or_create, windrow_file, windrow_bytes, windrow_byte_list, &
        windrow_options, windrow_decomposition, windrow_version, windrow_has, windrow_features, windrow_code_name, &
        windrow_error_message, windrow_error_rank, windrow_type_size, windrow_type_name
    use windrow_files
    use windrow_byte_files
    use windrow_enumerations, only: windrow_options_set_enumeration
    use windrow_objects
    use windrow_names
    use windrow_texts
    use windrow_attributes
    use windrow_put_attributes
    use windrow_decompositions
    use windrow_f08
    use windrow_data
    use windrow_viewers
    use windrow_meshes
    implicit none
    public
end module windrow
