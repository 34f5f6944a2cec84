// SPDX-License-Identifier: BSD-3-Clause
// How a storage spreads a file over its targets: which stripe holds a byte, and which target holds a stripe. Pure; what
// asks a file system is storage/layout_probe.
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

// Who was asked. blocks: nobody who spreads files; all there is to know is the size of a block.
enum class LayoutKind : int {
  blocks = 0,
  lustre,
  cephfs,
  beegfs,
  mock
};
inline constexpr int k_layout_kinds = 5;
std::string_view name_of(LayoutKind kind) noexcept;

inline constexpr int64_t k_no_end = INT64_MAX;    // of a component that goes as far as the file does
inline constexpr int64_t k_no_target = -1;        // not known, or gone
inline constexpr int64_t k_most_stripes = 65535;  // of a component: Lustre counts them in 16 bits

// A part of a file with one way of spreading. Stripes are counted from the file's first byte, not from the component's,
// as Lustre does.
struct LayoutComponent {
  Extent bytes{0, k_no_end};
  int64_t stripe_bytes = 0;
  int64_t stripe_count = 0;  // stripes beside each other, each on a target; 0: not known yet
  int64_t object_bytes =
      0;  // CephFS goes on with other objects after so many bytes of each; 0: never, a stripe of the row is one
  bool on_metadata_server = false;  // Lustre's data on MDT
  bool overstriped = false;         // a target may have several of the stripes
  // Of the objects from the file's first byte on, in rows of stripe_count, k_no_target among them; empty: none of them
  // is known. Where objects are never changed it is one row; else as many as somebody has asked for: behind them nobody
  // knows.
  std::vector<int64_t> targets;
  int64_t file =
      0;  // which of a line of files it is of (layout/line.hpp); their locks are apart, whatever targets they share
  friend bool operator==(const LayoutComponent&, const LayoutComponent&) = default;
};

struct StorageLayout {
  LayoutKind kind = LayoutKind::blocks;
  std::vector<LayoutComponent> components;  // in order of the file; none: nothing is known
  int64_t storage_targets = 0;              // that the storage has, used by the file or not; 0: not known
  int64_t numbered_targets =
      0;  // not 0: targets are numbers below this, in the order in which they are dealt (a list of chunks)
  friend bool operator==(const StorageLayout&, const StorageLayout&) = default;

  bool known() const noexcept { return !components.empty(); }
  bool is_striped() const noexcept { return kind != LayoutKind::blocks && known(); }
};

// What is wrong with a layout. bad_file: no component; a stripe of no bytes, or too many stripes; a component without
// bytes, one that overlaps another or leaves a gap; targets that are not as many as stripes, or no whole rows of
// objects; objects that do not end where stripes do.
Status check_layout(const StorageLayout& layout);

struct Stripe {
  Extent bytes;        // cut off where the component ends
  int64_t index = 0;   // among all of the file: stripes of these bytes before it
  int64_t column = 0;  // which of stripe_count; k_no_target: not known
  int64_t target = k_no_target;
};

// The stripe that holds a byte, of a layout that check_layout() passes. Behind the last component its stripes go on, on
// no known target: no byte can lie there.
Stripe stripe_at(const StorageLayout& layout, int64_t offset) noexcept;
int64_t target_of(const StorageLayout& layout, int64_t offset) noexcept;
int64_t next_stripe(const StorageLayout& layout,
                    int64_t offset) noexcept;  // where the one after that begins; k_no_end: there is none

// Objects, of a component that check_layout() passes and that has stripes beside each other; both count from the file's
// first byte.
int64_t object_of(const LayoutComponent& component, int64_t stripe) noexcept;
int64_t offset_of_object(const LayoutComponent& component,
                         int64_t object) noexcept;  // of its first byte; k_no_end: in no file
// Where the objects end whose targets are listed: no farther than the component does, and nowhere where none is.
int64_t end_of_targets(const LayoutComponent& component) noexcept;

// Targets that the component is spread over: those that are listed, or else as many as stripes beside each other.
int64_t count_targets(const LayoutComponent& component);
bool names_targets(const StorageLayout& layout) noexcept;  // any of them

// Writers that keep to different ones of these never want the same lock, nor the same block: the largest stripe.
int64_t lock_unit(const StorageLayout& layout) noexcept;

// "lustre: stripe size 1 MiB, stripe count 4 on targets 0, 1, 2, 3".
std::string layout_text(const StorageLayout& layout);

// As ranks tell it to each other. Reading is safe on any input; bad_file: malformed, or not a sound layout.
void append_layout(std::vector<std::byte>& out, const StorageLayout& layout);
Result<StorageLayout> read_layout(std::span<const std::byte> bytes, size_t& position);

}  // namespace windrow
