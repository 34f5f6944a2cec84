// SPDX-License-Identifier: BSD-3-Clause
// TurnReader: ranks of one host that read domains together, where their bytes are in the host's memory and as many are wanted as there are. Who has to wait for a
// window fetches the next that nobody has begun; all copy their pieces out of slots that they share. No rank describes anything, and no core waits for one reader.
#pragma once

#include <span>
#include <vector>

#include "exchange/role.hpp"
#include "exchange/sender.hpp"
#include "exchange/shared_slots.hpp"

namespace windrow {

struct SharedDomain {
  Channel channel;  // with whom the slots lie, and this rank's next window
  SharedSlots slots;
  Pieces covered;  // of the domain: what is fetched
};

// Windows are numbered here as they are fetched: those in which nothing is covered have no number, however many lie between variables far apart.
class TurnReader final : public Role {
 public:
  TurnReader(const Comm& comm, Trace& trace, std::span<const Item> items, std::vector<SharedDomain> domains);
  void set_fetcher(Fetcher* fetcher) noexcept { fetcher_ = fetcher; }  // one that has moved a window when start() returns
  Status prepare() override;
  int64_t buffer_bytes() const override { return 0; }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override { return open_ == 0; }
  std::span<const SharedDomain> domains() const noexcept { return domains_; }

 private:
  // A window that is fetched.
  struct Place {
    int64_t number = 0, step = 0;
  };
  // Of one run.
  struct Run {
    Place copied, fetched;      // next: by this rank, by anybody
    int64_t passed_by_all = 0;  // as was seen last: no rank will come back to a window before this one
    int slowest = 0;            // the rank that was the last then
    bool entered = false;       // this rank's word is there
    bool open = true;           // a window is still to be copied, or to be fetched by somebody
  };
  Status check_own(SharedDomain& domain, Place place) const;  // `place`: the first window
  void walk_to(const SharedDomain& domain, Place& place, int64_t step) const;
  bool enter(size_t index);
  bool copy_next(size_t index);
  bool fetch_next(size_t index);
  bool is_passed_by_all(const SharedDomain& domain, Run& run, int64_t number) const noexcept;
  bool is_over(size_t index) const noexcept;
  TurnWord& word_of(const SharedDomain& domain, int rank) const noexcept { return domain.slots.turns().ranks[static_cast<size_t>(rank)]; }

  std::span<const Item> items_;
  std::vector<SharedDomain> domains_;
  std::vector<int64_t> windows_;  // [domains] that are fetched
  std::vector<Place> first_;      // [domains] of them
  std::vector<Run> runs_;         // [domains]
  size_t open_ = 0;               // domains that are
  Fetcher* fetcher_ = nullptr;
};

}  // namespace windrow
