// SPDX-License-Identifier: BSD-3-Clause
#include "sim/machines.hpp"

#include <array>

namespace windrow {
namespace {

constexpr std::string_view k_ranger = R"({
  "windrow machine": 1,
  "name": "Ranger",
  "about": "P. Dickens, J. Logan, Y-Lib, section IV; 2009. Paper: hosts, 50 servers with 6 targets, 128 targets and 1 MB stripes used, 1 GB/s a server. Fitted: target_write_bytes_per_s, turn_s. Assumed: the rest.",
  "hosts": 3936, "ranks_per_host": 16,
  "memory": {"copy_bytes_per_s": "1.5 GB", "host_copy_bytes_per_s": "8 GB"},
  "network": {"latency_s": 3e-6, "bytes_per_s": "900 MB", "host_bytes_per_s": "900 MB", "message_s": 1e-6,
              "within_host_latency_s": 1e-6, "within_host_bytes_per_s": "1.5 GB"},
  "storage": {"kind": "lustre", "targets": 300, "targets_per_server": 6, "server_bytes_per_s": "1 GB",
              "target_write_bytes_per_s": "80 MB", "target_read_bytes_per_s": "80 MB", "client_bytes_per_s": "900 MB",
              "request_bytes": "1 MiB", "request_s": 3e-4, "target_request_s": 1e-4, "turn_s": 2.5e-5, "lock_s": 1e-3,
              "stripe_bytes": "1 MiB", "stripe_count": 128, "cache_bytes": "4 GiB", "cache_bytes_per_s": "1 GB"},
  "metadata": {"open_s": 2e-3, "opens_per_s": 1500, "creates_per_s": 1000}
})";

constexpr std::string_view k_jaguar = R"({
  "windrow machine": 1,
  "name": "Jaguar",
  "about": "S. Sripathi et al., SCORPIO, sections II to V; 2012. Paper: a Cray XT5 with one metadata server, 301 and 407 MB/s read and written at 144 K. Fitted: target rates (to these), opens_per_s, split_rank_s. Assumed: the rest, 4 stripes among it.",
  "hosts": 18688, "ranks_per_host": 12,
  "memory": {"copy_bytes_per_s": "2 GB", "host_copy_bytes_per_s": "12 GB"},
  "network": {"latency_s": 6e-6, "bytes_per_s": "1.5 GB", "host_bytes_per_s": "1.5 GB", "message_s": 2e-6,
              "within_host_latency_s": 1e-6, "within_host_bytes_per_s": "2 GB", "split_rank_s": 1e-4},
  "storage": {"kind": "lustre", "targets": 672, "targets_per_server": 7,
              "target_write_bytes_per_s": "110 MB", "target_read_bytes_per_s": "80 MB", "client_bytes_per_s": "1 GB",
              "request_bytes": "1 MiB", "request_s": 5e-4, "target_request_s": 1e-4, "turn_s": 0, "lock_s": 1e-3,
              "stripe_bytes": "1 MiB", "stripe_count": 4},
  "metadata": {"open_s": 2e-3, "opens_per_s": 1300, "creates_per_s": 1000}
})";

constexpr std::string_view k_franklin = R"({
  "windrow machine": 1,
  "name": "Franklin",
  "about": "K. Gao et al., Using Subfiling, section V; 2009. Paper: 9660 hosts, Lustre with 80 servers. Fitted: turn_s. Assumed: the rest, one target a server and stripes over all of them.",
  "hosts": 9660, "ranks_per_host": 4,
  "memory": {"copy_bytes_per_s": "2 GB", "host_copy_bytes_per_s": "5 GB"},
  "network": {"latency_s": 6e-6, "bytes_per_s": "1.5 GB", "host_bytes_per_s": "1.5 GB", "message_s": 2e-6,
              "within_host_latency_s": 1e-6, "within_host_bytes_per_s": "2 GB"},
  "storage": {"kind": "lustre", "targets": 80, "targets_per_server": 1, "server_bytes_per_s": "400 MB",
              "target_write_bytes_per_s": "150 MB", "target_read_bytes_per_s": "150 MB", "client_bytes_per_s": "1 GB",
              "request_bytes": "1 MiB", "request_s": 5e-4, "target_request_s": 1e-4, "turn_s": 8e-5, "lock_s": 2e-3,
              "stripe_bytes": "1 MiB", "stripe_count": 80},
  "metadata": {"open_s": 2e-3, "opens_per_s": 5000, "creates_per_s": 3000}
})";

constexpr std::string_view k_mercury = R"({
  "windrow machine": 1,
  "name": "Mercury",
  "about": "K. Gao et al., Using Subfiling, section V; 2009. Paper: 887 hosts with 2 processors, Myrinet, GPFS with 54 servers. Fitted: turn_s, creates_per_s. Assumed: the rest.",
  "hosts": 887, "ranks_per_host": 2,
  "memory": {"copy_bytes_per_s": "1 GB", "host_copy_bytes_per_s": "2 GB"},
  "network": {"latency_s": 8e-6, "bytes_per_s": "240 MB", "host_bytes_per_s": "240 MB", "message_s": 3e-6,
              "within_host_latency_s": 2e-6, "within_host_bytes_per_s": "1 GB"},
  "storage": {"kind": "gpfs", "targets": 54, "targets_per_server": 1, "server_bytes_per_s": "120 MB",
              "target_write_bytes_per_s": "100 MB", "target_read_bytes_per_s": "100 MB", "client_bytes_per_s": "120 MB",
              "request_bytes": "1 MiB", "request_s": 1e-3, "target_request_s": 2e-4, "turn_s": 9e-4, "lock_s": 5e-3,
              "stripe_bytes": "1 MiB", "stripe_count": 54},
  "metadata": {"open_s": 5e-3, "opens_per_s": 500, "creates_per_s": 40}
})";

constexpr std::array<NamedMachine, 4> k_machines{{{"franklin", k_franklin}, {"jaguar", k_jaguar}, {"mercury", k_mercury}, {"ranger", k_ranger}}};

}  // namespace

std::span<const NamedMachine> known_machines() noexcept { return k_machines; }

const NamedMachine* find_machine(std::string_view name) noexcept {
  for (const NamedMachine& machine : k_machines)
    if (machine.name == name) return &machine;
  return nullptr;
}

}  // namespace windrow
