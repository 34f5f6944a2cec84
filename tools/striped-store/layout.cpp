// SPDX-License-Identifier: BSD-3-Clause
#include "layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace striped_store {

std::string mistake_in(const Layout& layout, int targets) {
  int64_t reached = 0;
  for (const Component& component : layout.components) {
    if (component.begin != reached || component.end <= component.begin)
      return "components do not follow each other from 0 on";
    if (component.stripe < k_smallest_stripe || component.stripe % k_smallest_stripe != 0 ||
        component.stripe > UINT32_MAX)
      return fmt::format("a stripe of {} bytes is not a multiple of 64 KiB below 4 GiB", component.stripe);
    if (component.begin % component.stripe != 0)
      return "a component does not begin at a stripe of its own";
    if (component.end != k_end_of_file && component.end % component.stripe != 0)
      return fmt::format("a component ends at {}, inside a stripe of {} bytes", component.end, component.stripe);
    if (component.count != k_all_targets && (component.count < 1 || component.count > targets))
      return fmt::format("{} stripes side by side; there are {} targets", component.count, targets);
    if (component.first < k_any_target || component.first >= targets)
      return fmt::format("target {} of {}", component.first, targets);
    reached = component.end;
  }
  return reached == k_end_of_file ? "" : "the last component does not reach the end of file";
}

Layout placed(Layout layout, int targets, uint64_t& next) {
  for (Component& component : layout.components) {
    if (component.count == k_all_targets)
      component.count = targets;
    if (component.first == k_any_target) {
      component.first = static_cast<int>(next % static_cast<uint64_t>(targets));
      next += static_cast<uint64_t>(component.count);
    }
    component.targets.clear();
    for (int object = 0; object < component.count; ++object)
      component.targets.push_back((component.first + object) % targets);
  }
  return layout;
}

int objects_of(const Layout& layout) {
  int objects = 0;
  for (const Component& component : layout.components)
    objects += component.count;
  return objects;
}

std::vector<Piece> cut(const Layout& layout, int64_t offset, int64_t bytes) {
  std::vector<Piece> pieces;
  const int64_t end = offset + bytes;
  int objects_before = 0;
  for (size_t number = 0; number < layout.components.size(); ++number) {
    const Component& component = layout.components[number];
    const int64_t stop = std::min(end, component.end);
    for (int64_t at = std::max(offset, component.begin); at < stop;) {
      const int64_t stripe = at / component.stripe;
      const int64_t within = at % component.stripe;
      const int64_t length = std::min(stop - at, component.stripe - within);
      const int column = static_cast<int>(stripe % component.count);
      pieces.push_back({.component = static_cast<int>(number),
                        .stripe = stripe,
                        .object = objects_before + column,
                        .target = component.targets[static_cast<size_t>(column)],
                        .begin = stripe / component.count * component.stripe + within,
                        .bytes = length});
      at += length;
    }
    objects_before += component.count;
  }
  return pieces;
}

std::vector<ObjectRequest> by_object(const std::vector<Piece>& pieces) {
  std::vector<ObjectRequest> requests;
  for (const Piece& piece : pieces) {
    auto found = std::find_if(requests.begin(), requests.end(),
                              [&](const ObjectRequest& each) { return each.object == piece.object; });
    if (found == requests.end())
      found = requests.insert(requests.end(), {.object = piece.object, .target = piece.target, .begin = piece.begin});
    found->bytes += piece.bytes;
    ++found->pieces;
  }
  std::sort(requests.begin(), requests.end(),
            [](const ObjectRequest& a, const ObjectRequest& b) { return a.object < b.object; });
  return requests;
}

std::string text_of(const Layout& layout) {
  std::string text;
  for (const Component& component : layout.components) {
    const std::string end = component.end == k_end_of_file ? "end" : fmt::format("{}", component.end);
    text += fmt::format("{}..{} stripe {} ", component.begin, end, component.stripe);
    if (component.targets.empty()) {
      text += component.count == k_all_targets ? "count all" : fmt::format("count {}", component.count);
      text += component.first == k_any_target ? " first any\n" : fmt::format(" first {}\n", component.first);
    } else {
      text += fmt::format("targets {}\n", fmt::join(component.targets, ","));
    }
  }
  return text;
}

}  // namespace striped_store
