// SPDX-License-Identifier: BSD-3-Clause
// The places of the bytes of a file: object and target, in components like Lustre's progressive layouts. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace striped_store {

constexpr int64_t k_end_of_file = std::numeric_limits<int64_t>::max();
constexpr int64_t k_smallest_stripe = 64 * 1024;  // Lustre's LOV_MIN_STRIPE_SIZE; stripes are multiples of it
constexpr int k_any_target = -1;
constexpr int k_all_targets = -1;

// The bytes [begin, end) of a file, dealt in stripes to objects in turn. Stripes are counted from the file's beginning,
// not the component's.
struct Component {
  int64_t begin = 0;
  int64_t end = k_end_of_file;
  int64_t stripe = 1024 * 1024;
  int count = 1;             // of objects; k_all_targets until it is placed
  int first = k_any_target;  // target of the first object
  std::vector<int> targets;  // of each object; empty until it is placed: what a folder gives to its new files
};

struct Layout {
  std::vector<Component> components;  // one after another from 0 to k_end_of_file
  std::string pool;                   // a name that is only kept
};

// A part of a request within one stripe.
struct Piece {
  int component = 0;
  int64_t stripe = 0;  // its number within the file
  int object = 0;      // its number within the file, over all components
  int target = 0;
  int64_t begin = 0;  // in the object
  int64_t bytes = 0;
};

// The pieces of a request in one object. They follow each other there: it is one request to the target.
struct ObjectRequest {
  int object = 0;
  int target = 0;
  int64_t begin = 0;  // in the object
  int64_t bytes = 0;
  int64_t pieces = 0;
};

// Why `layout` cannot be that of a file on so many targets; empty where it can.
std::string mistake_in(const Layout& layout, int targets);

// Chooses targets for each component. If none is named first, they begin at `next`, which is advanced by the number of
// objects.
Layout placed(Layout layout, int targets, uint64_t& next);

int objects_of(const Layout& layout);

// In the order of the file.
std::vector<Piece> cut(const Layout& layout, int64_t offset, int64_t bytes);

// In the order of objects.
std::vector<ObjectRequest> by_object(const std::vector<Piece>& pieces);

// A line a component: "0..1048576 stripe 65536 targets 0,1"; "end" is the end of file; of a folder "count 2 first any".
std::string text_of(const Layout& layout);

}  // namespace striped_store
