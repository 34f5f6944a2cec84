/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of windrow.h whose arguments need no conversion, but whose messages may have numbers, which count from 1 in
 * Fortran. */
#include "shim.h"

#define COUNTED(name, parameters, arguments)     \
  int windrow_fortran_##name parameters {        \
    return AS_FORTRAN(windrow_##name arguments); \
  }

COUNTED(define_variables,
        (windrow_file * file, int count, const windrow_variable_definition *definitions, int *variables),
        (file, count, definitions, variables))
COUNTED(get_texts, (windrow_file * file, int variable, const char **texts), (file, variable, texts))
COUNTED(flush, (windrow_file * file), (file))
COUNTED(flush_begin, (windrow_file * file), (file))
COUNTED(flush_end, (windrow_file * file), (file))
COUNTED(sync, (windrow_file * file), (file))
COUNTED(close, (windrow_file * file), (file))
COUNTED(explain, (windrow_file * file, const char *format, const char **text), (file, format, text))
COUNTED(decomposition_owned,
        (const windrow_decomposition *decomposition, const char *owner, int64_t room, int64_t *list, int64_t *count,
         int64_t *intervals),
        (decomposition, owner, room, list, count, intervals))
COUNTED(xdmf_uniform_grid,
        (windrow_file * file, const char *name, double time, int ndims, const int64_t *nodes, const double *origin,
         const double *spacing, int *grid),
        (file, name, time, ndims, nodes, origin, spacing, grid))
COUNTED(xdmf_rectilinear_grid,
        (windrow_file * file, const char *name, double time, int ndims, const int *coordinates, int *grid),
        (file, name, time, ndims, coordinates, grid))
COUNTED(xdmf_curvilinear_grid, (windrow_file * file, const char *name, double time, int coordinates, int *grid),
        (file, name, time, coordinates, grid))
COUNTED(xdmf_mesh,
        (windrow_file * file, const char *name, double time, int cell, int connectivity, int64_t cells, int coordinates,
         int *grid),
        (file, name, time, cell, connectivity, cells, coordinates, grid))
COUNTED(xdmf_field, (windrow_file * file, int grid, const char *name, int center, int variable),
        (file, grid, name, center, variable))
COUNTED(mesh_neighbours,
        (int64_t nodes, int cell, int64_t length, const int64_t *connectivity, int across_cells, int64_t room,
         int64_t *offsets, int64_t *neighbours),
        (nodes, cell, length, connectivity, across_cells, room, offsets, neighbours))
COUNTED(classify_nodes,
        (int64_t nodes, const int64_t *offsets, const int64_t *neighbours, const int *partition, int64_t room,
         int64_t *part_offsets, int *parts),
        (nodes, offsets, neighbours, partition, room, part_offsets, parts))
