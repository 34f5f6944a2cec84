// SPDX-License-Identifier: BSD-3-Clause
// The distribution of a file over storage targets: the stripe that holds a byte, and the target that holds a stripe.
// Pure; storage/layout_probe queries file systems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "extent/extent.hpp"

namespace windrow {

// The source of the layout. blocks: a file system without striping; only the block size is known.
enum class LayoutKind : int {
  blocks = 0,
  lustre,
  cephfs,
  beegfs,
  mock
};
inline constexpr int k_layout_kinds = 5;
std::string_view name_of(LayoutKind kind) noexcept;

inline constexpr int64_t k_no_end = INT64_MAX;    // end of a component that extends to the end of the file
inline constexpr int64_t k_no_target = -1;        // unknown, or removed
inline constexpr int64_t k_most_stripes = 65535;  // of a component: Lustre counts stripes in 16 bits

// A part of a file with uniform striping. Stripes are counted from the start of the file, not of the component, as in
// Lustre.
struct LayoutComponent {
  Extent bytes{0, k_no_end};
  int64_t stripe_bytes = 0;
  int64_t stripe_count = 0;  // stripes in a row, each on its own target; 0: unknown
  // bytes of an object on CephFS, after which the next object begins; 0: unlimited, each stripe of the row is one
  // object
  int64_t object_bytes = 0;
  bool on_metadata_server = false;  // Lustre's data on MDT
  bool overstriped = false;         // a target may hold several of the stripes
  // Targets of the objects from the start of the file, in rows of stripe_count; k_no_target for some. Empty: none is
  // known. One row if the objects never change along the file; otherwise as many rows as were queried, and later ones
  // are unknown.
  std::vector<int64_t> targets;
  // index of the file in a line of files (layout/line.hpp); locks of different files are separate even on shared
  // targets
  int64_t file = 0;
  friend bool operator==(const LayoutComponent&, const LayoutComponent&) = default;
};

struct StorageLayout {
  LayoutKind kind = LayoutKind::blocks;
  std::vector<LayoutComponent> components;  // in file order; empty: nothing is known
  int64_t storage_targets = 0;              // targets of the storage, whether or not the file uses them; 0: unknown
  // if not 0: targets are numbers below this, in the order of assignment (a list of chunks)
  int64_t numbered_targets = 0;
  friend bool operator==(const StorageLayout&, const StorageLayout&) = default;

  bool known() const noexcept { return !components.empty(); }
  bool is_striped() const noexcept { return kind != LayoutKind::blocks && known(); }
};

// Validates a layout. bad_file: no component; stripes of no bytes, or too many; an empty component, one that overlaps
// another or leaves a gap; a number of targets that is not the number of stripes or whole rows of objects; objects that
// do not end at stripe boundaries.
Status check_layout(const StorageLayout& layout);

struct Stripe {
  Extent bytes;        // cut at the end of the component
  int64_t index = 0;   // number of stripes of this size before it, in the whole file
  int64_t column = 0;  // index below stripe_count; k_no_target: unknown
  int64_t target = k_no_target;
};

// The stripe that contains a byte, for a layout that check_layout() accepts. After the last component the stripes
// continue on no known target: no byte can be there.
Stripe stripe_at(const StorageLayout& layout, int64_t offset) noexcept;
int64_t target_of(const StorageLayout& layout, int64_t offset) noexcept;
int64_t next_stripe(const StorageLayout& layout,
                    int64_t offset) noexcept;  // start of the stripe after that; k_no_end: none

// Objects of a component that check_layout() accepts and that has a stripe count. Stripes and objects count from the
// start of the file.
int64_t object_of(const LayoutComponent& component, int64_t stripe) noexcept;
int64_t offset_of_object(const LayoutComponent& component,
                         int64_t object) noexcept;  // its first byte; k_no_end: in no file
// End of the objects with listed targets: at most the end of the component; its start if none is listed.
int64_t end_of_targets(const LayoutComponent& component) noexcept;

// Number of targets of the component: those listed, otherwise the stripe count.
int64_t count_targets(const LayoutComponent& component);
bool names_targets(const StorageLayout& layout) noexcept;  // of any component

// The largest stripe. Writers of different units never share a lock or a block.
int64_t lock_unit(const StorageLayout& layout) noexcept;

// "lustre: stripe size 1 MiB, stripe count 4 on targets 0, 1, 2, 3".
std::string layout_text(const StorageLayout& layout);

// The format in messages between ranks. Reading is safe on any input; bad_file: malformed, or not a valid layout.
void append_layout(std::vector<std::byte>& out, const StorageLayout& layout);
Result<StorageLayout> read_layout(std::span<const std::byte> bytes, size_t& position);

}  // namespace windrow
