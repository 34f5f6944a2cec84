// SPDX-License-Identifier: BSD-3-Clause
// A small planar bipolar transistor, in micrometres: the emitter lies in the base well, the base in the collector die,
// all three flush with the top face z = 0. Elements are small at the two junctions, where the fields of such a device
// vary, and coarse in the bulk. About 47 000 nodes:   gmsh -3 transistor.geo -o transistor.msh
SetFactory("OpenCASCADE");

DefineConstant[ fine = 0.1066 ];  // size of elements at the junctions
DefineConstant[ coarse = 1.2 ]; // and in the bulk

Box(1) = {0, 0, -6, 12, 10, 6};       // collector die
Box(2) = {2, 2, -2.2, 7, 6, 2.2};     // base well
Box(3) = {3, 3.5, -1.0, 2.5, 3, 1.0}; // emitter
BooleanFragments{ Volume{1}; Delete; }{ Volume{2, 3}; Delete; }

// After the fragments each region is one volume again; it is found by a box that holds it and not its surroundings.
gap = 0.01;
emitter() = Volume In BoundingBox{3 - gap, 3.5 - gap, -1 - gap, 5.5 + gap, 6.5 + gap, gap};
well() = Volume In BoundingBox{2 - gap, 2 - gap, -2.2 - gap, 9 + gap, 8 + gap, gap};
base() = well();
base() -= emitter();
collector() = Volume{:};
collector() -= well();
Physical Volume("emitter", 1) = {emitter()};
Physical Volume("base", 2) = {base()};
Physical Volume("collector", 3) = {collector()};

// The junctions are the faces of emitter and well below the top face.
emitter_faces() = Boundary{ Volume{emitter()}; };
well_faces() = CombinedBoundary{ Volume{well()}; };
top() = Surface In BoundingBox{-gap, -gap, -gap, 12 + gap, 10 + gap, gap};
emitter_faces() -= top();
well_faces() -= top();

Field[1] = Distance;
Field[1].SurfacesList = {emitter_faces(), well_faces()};
Field[2] = Threshold;
Field[2].InField = 1;
Field[2].SizeMin = fine;
Field[2].SizeMax = coarse;
Field[2].DistMin = 0.15;
Field[2].DistMax = 3.5;
Background Field = 2;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeFromCurvature = 0;
Mesh.Algorithm3D = 1; // Delaunay: the same mesh in every run, which the parallel HXT does not promise
General.NumThreads = 1;
