// SPDX-License-Identifier: BSD-3-Clause
// TurnReader: ranks of one host that read domains together, where their bytes are in the host's memory and all of them are wanted. Who has to wait for a window
// fetches the next that nobody has begun; all copy their pieces out of slots that they share. No rank describes anything, and no core waits for one reader.
#pragma once

#include <atomic>
#include <limits>
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

class TurnReader final : public Role {
 public:
  TurnReader(const Comm& comm, Trace& trace, std::span<const Item> items, std::vector<SharedDomain> domains);
  void set_fetcher(Fetcher* fetcher) noexcept { fetcher_ = fetcher; }  // one that has moved a window when start() returns
  Status prepare() override { return {}; }
  int64_t buffer_bytes() const override { return 0; }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override { return open_ == 0; }
  std::span<const SharedDomain> domains() const noexcept { return domains_; }

 private:
  // Of one run.
  struct Run {
    int64_t passed_by_all = 0;  // as was seen last: no rank will come back to a step before this one
    bool open = true;           // a window is still to be copied, or to be fetched by somebody
  };
  bool copy_next(SharedDomain& domain);
  bool fetch_next(SharedDomain& domain, Run& run);
  bool is_over(const SharedDomain& domain) const noexcept;
  int64_t passed_by_all(const SharedDomain& domain) const noexcept;
  TurnWord& word_of(const SharedDomain& domain, int rank) const noexcept { return domain.slots.turns()[static_cast<size_t>(rank) + 1]; }

  std::span<const Item> items_;
  std::vector<SharedDomain> domains_;
  std::vector<Run> runs_;  // [domains]
  size_t open_ = 0;        // domains that are
  Fetcher* fetcher_ = nullptr;
};

}  // namespace windrow
