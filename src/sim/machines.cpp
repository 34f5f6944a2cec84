// SPDX-License-Identifier: BSD-3-Clause
#include "sim/machines.hpp"

#include <array>

namespace windrow {
namespace {

constexpr std::string_view k_ranger =
    R"({
  "windrow machine": 1,
  "name": "Ranger",
  "about": "P. Dickens, J. Logan, Y-Lib, section IV; 2009. Paper: hosts, 50 servers with 6 targets, 128 targets and )"
    R"(1 MB stripes used, 1 GB/s a server. Fitted: target_write_bytes_per_s, turn_s. Assumed: the rest.",
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

constexpr std::string_view k_jaguar =
    R"({
  "windrow machine": 1,
  "name": "Jaguar",
  "about": "S. Sripathi et al., SCORPIO, sections II to V; 2012. Paper: a Cray XT5 with one metadata server, 301 )"
    R"(and 407 MB/s read and written at 144 K. Fitted: target rates (to these), opens_per_s, split_rank_s. Assumed: )"
    R"(the rest, 4 stripes among it.",
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

constexpr std::string_view k_franklin =
    R"({
  "windrow machine": 1,
  "name": "Franklin",
  "about": "K. Gao et al., Using Subfiling, section V; 2009. Paper: 9660 hosts, Lustre with 80 servers. Fitted: )"
    R"(turn_s. Assumed: the rest, one target a server and stripes over all of them.",
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
  "about": "K. Gao et al., Using Subfiling, section V; 2009. Paper: 887 hosts with 2 processors, Myrinet, GPFS with )"
                                       R"(54 servers. Fitted: turn_s, creates_per_s. Assumed: the rest.",
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

constexpr std::string_view k_bips3d_ethernet =
    R"({
  "windrow machine": 1,
  "name": "BIPS3D's cluster, Fast Ethernet",
  "about": "R. Filgueira et al., Optimization and evaluation of parallel I/O in BIPS3D, section 6. Paper: 16 hosts )"
    R"(with Pentium III of 800 MHz, Fast Ethernet, PVFS with stripes of 64 KiB. Fitted: target_request_s, to the )"
    R"(load of 90 from which lists are better for fewer than 70 000 nodes over Myrinet. Assumed: the rest, 8 )"
    R"(servers among it.",
  "hosts": 16, "ranks_per_host": 1, "cores_per_host": 2,
  "memory": {"copy_bytes_per_s": "250 MB", "host_copy_bytes_per_s": "300 MB"},
  "network": {"latency_s": 7e-5, "bytes_per_s": "11.5 MB", "host_bytes_per_s": "11.5 MB", "message_s": 3e-5,
              "within_host_latency_s": 5e-6, "within_host_bytes_per_s": "100 MB"},
  "storage": {"kind": "pvfs", "targets": 8, "targets_per_server": 1, "server_bytes_per_s": "11.5 MB",
              "target_write_bytes_per_s": "40 MB", "target_read_bytes_per_s": "40 MB", "client_bytes_per_s": "11.5 MB",
              "request_bytes": "64 KiB", "request_s": 3e-4, "target_request_s": 8.5e-5, "turn_s": 0, "lock_s": 0,
              "stripe_bytes": "64 KiB", "stripe_count": 8},
  "metadata": {"open_s": 5e-3, "opens_per_s": 500, "creates_per_s": 200}
})";

constexpr std::string_view k_bips3d_myrinet =
    R"({
  "windrow machine": 1,
  "name": "BIPS3D's cluster, Myrinet",
  "about": "R. Filgueira et al., Optimization and evaluation of parallel I/O in BIPS3D, section 6. Paper: 16 hosts )"
    R"(with Pentium III of 800 MHz, Myrinet, PVFS with stripes of 64 KiB. Fitted: target_request_s, to the load of )"
    R"(90 from which lists are better for fewer than 70 000 nodes over Myrinet. Assumed: the rest, 8 servers among it.",
  "hosts": 16, "ranks_per_host": 1, "cores_per_host": 2,
  "memory": {"copy_bytes_per_s": "250 MB", "host_copy_bytes_per_s": "300 MB"},
  "network": {"latency_s": 1e-5, "bytes_per_s": "200 MB", "host_bytes_per_s": "200 MB", "message_s": 5e-6,
              "within_host_latency_s": 5e-6, "within_host_bytes_per_s": "100 MB"},
  "storage": {"kind": "pvfs", "targets": 8, "targets_per_server": 1, "server_bytes_per_s": "100 MB",
              "target_write_bytes_per_s": "40 MB", "target_read_bytes_per_s": "40 MB", "client_bytes_per_s": "100 MB",
              "request_bytes": "64 KiB", "request_s": 1e-4, "target_request_s": 8.5e-5, "turn_s": 0, "lock_s": 0,
              "stripe_bytes": "64 KiB", "stripe_count": 8},
  "metadata": {"open_s": 5e-3, "opens_per_s": 500, "creates_per_s": 200}
})";

constexpr std::string_view k_tpc =
    R"({
  "windrow machine": 1,
  "name": "TPC's cluster",
  "about": "R. Filgueira et al., Exploiting data compression in collective I/O techniques, section 5. Paper: 40 )"
    R"(hosts with two cores, Fast Ethernet, PVFS with 8 servers and stripes of 64 KiB; LZO, of its table 4: 4 MiB )"
    R"(in 44.1 and 28.7 ms. Fitted: nothing. Assumed: the rest.",
  "hosts": 40, "ranks_per_host": 1, "cores_per_host": 2,
  "memory": {"copy_bytes_per_s": "1 GB", "host_copy_bytes_per_s": "1.5 GB"},
  "network": {"latency_s": 7e-5, "bytes_per_s": "11.5 MB", "host_bytes_per_s": "11.5 MB", "message_s": 3e-5,
              "within_host_latency_s": 2e-6, "within_host_bytes_per_s": "500 MB"},
  "storage": {"kind": "pvfs", "targets": 8, "targets_per_server": 1, "server_bytes_per_s": "11.5 MB",
              "target_write_bytes_per_s": "40 MB", "target_read_bytes_per_s": "40 MB", "client_bytes_per_s": "11.5 MB",
              "request_bytes": "64 KiB", "request_s": 3e-4, "target_request_s": 8.5e-5, "turn_s": 0, "lock_s": 0,
              "stripe_bytes": "64 KiB", "stripe_count": 8},
  "metadata": {"open_s": 5e-3, "opens_per_s": 500, "creates_per_s": 200},
  "codecs": [{"name": "lzo", "encode_bytes_per_s": "95.1 MB", "decode_bytes_per_s": "146.1 MB"}]
})";

constexpr std::array<NamedMachine, 7> k_machines{{{"bips3d-ethernet", k_bips3d_ethernet},
                                                  {"bips3d-myrinet", k_bips3d_myrinet},
                                                  {"franklin", k_franklin},
                                                  {"jaguar", k_jaguar},
                                                  {"mercury", k_mercury},
                                                  {"ranger", k_ranger},
                                                  {"tpc", k_tpc}}};

}  // namespace

std::span<const NamedMachine> known_machines() noexcept {
  return k_machines;
}

std::string machine_names() {
  std::string names;
  for (const NamedMachine& machine : k_machines) {
    if (!names.empty())
      names += &machine == &k_machines.back() ? " and " : ", ";
    names += machine.name;
  }
  return names;
}

const NamedMachine* find_machine(std::string_view name) noexcept {
  for (const NamedMachine& machine : k_machines)
    if (machine.name == name)
      return &machine;
  return nullptr;
}

}  // namespace windrow
