// SPDX-License-Identifier: BSD-3-Clause
#include "plan/experience.hpp"

#include <algorithm>
#include <cmath>

namespace windrow {
namespace {

constexpr double k_most = 16;        // times what was foretold: beyond it something else went on
constexpr double k_part = 0.2;       // of the whole that a stage has to be to say something
constexpr double k_least_s = 2e-4;   // what takes less is mostly words between ranks

// Where there are two parts, of the larger.
const StorageWork& main_part(const Work& work) noexcept { return work.storage_parts > 1 && work.storage[1].bytes > work.storage[0].bytes ? work.storage[1] : work.storage[0]; }

size_t direction_of(const Work& work) noexcept { return main_part(work).reading ? 1 : 0; }

size_t sharing_of(const Work& work) noexcept {
  const StorageWork& part = main_part(work);
  return static_cast<size_t>(part.sieving && !part.reading ? Sharing::sieved : part.sharing);
}

}  // namespace

void Experience::Ratio::add(double measured, double foretold) noexcept {
  const double found = std::clamp(std::log(measured / foretold), -std::log(k_most), std::log(k_most));
  logarithm = count == 0 ? found : (logarithm + found) / 2;
  ++count;
}

double Experience::Ratio::value() const noexcept { return count > 0 ? std::exp(logarithm) : 1; }

void Experience::learn(const Work& work, const Prediction& foretold, double exchange_s, double storage_s) noexcept {
  if (work.storage_parts == 0 || !std::isfinite(exchange_s + storage_s)) return;
  const double all_foretold = foretold.exchange + foretold.storage, all_measured = exchange_s + storage_s;
  if (all_foretold < k_least_s && all_measured < k_least_s) return;
  const auto tells = [&](double seconds, double measured) { return seconds > k_part * all_foretold && measured > k_part * all_measured; };
  const size_t direction = direction_of(work);
  bool learned = false;
  if (tells(foretold.exchange, exchange_s)) exchange_[direction].add(exchange_s, foretold.exchange), learned = true;
  if (tells(foretold.storage, storage_s)) storage_[direction][sharing_of(work)].add(storage_s, foretold.storage), learned = true;
  if (learned) ++flushes_;
}

Corrections Experience::corrections_for(const Work& work) const noexcept {
  if (work.storage_parts == 0) return {};
  const size_t direction = direction_of(work);
  const auto& ways = storage_[direction];
  Corrections corrections{.exchange = exchange_[direction].value(), .storage = ways[sharing_of(work)].value()};
  if (ways[sharing_of(work)].count > 0) return corrections;
  double sum = 0;
  int seen = 0;
  for (const Ratio& each : ways)
    if (each.count > 0) sum += each.logarithm, ++seen;
  if (seen > 0) corrections.storage = std::exp(sum / seen);
  return corrections;
}

}  // namespace windrow
