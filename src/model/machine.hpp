// SPDX-License-Identifier: BSD-3-Clause
// Machine: the performance of a machine as numbers: hosts, links, storage, compressors. It is read from and written to
// a machine file, which is JSON (docs/machine-files.md). Pure: the caller reads and writes the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace windrow {

inline constexpr int64_t k_machine_version = 1;  // version of the machine file format

// Times are in seconds, rates in bytes a second. A 0, where it is allowed, means that the resource is never a limit.
struct MachineMemory {
  double copy_bytes_per_s = 5e9;        // one rank
  double host_copy_bytes_per_s = 20e9;  // all ranks of a host together
  double piece_s = 1e-8;                // CPU time of a rank for each piece of any length, without the bytes
};

struct MachineNetwork {
  double latency_s = 2e-6;           // between ranks of two hosts
  double bytes_per_s = 5e9;          // between two ranks of two hosts
  double host_bytes_per_s = 10e9;    // into or out of one host
  double bisection_bytes_per_s = 0;  // through the middle of the network, one way; 0: not a limit
  double message_s = 1e-6;           // CPU time of a rank for each message that it sends or receives
  double within_host_latency_s = 5e-7;
  double within_host_bytes_per_s = 5e9;  // one message
  double split_rank_s = 0;               // for each rank of a communicator that is split
  double agree_s = 0;  // an allreduce over all ranks; 0: one latency for each level of a tree, up and down
};

struct MachineStorage {
  std::string kind = "lustre";  // a description for users
  int64_t targets = 8;
  int64_t targets_per_server = 1;
  double target_write_bytes_per_s = 500e6;
  double target_read_bytes_per_s = 500e6;
  double server_bytes_per_s = 0;             // all targets of a server together; 0: their sum
  double client_bytes_per_s = 2e9;           // all ranks of a host together
  int64_t request_bytes = int64_t{4} << 20;  // clients split longer requests
  double request_s = 2e-4;                   // round trip from a client to a target, without the bytes
  double target_request_s = 5e-5;            // time of a target for a request, without the bytes
  // additional time of a target for a request, for each other client of the same file that it serves at that time
  double turn_s = 0;
  double lock_s = 1e-3;                     // time to move the lock of a stripe from one writer to another
  int64_t stripe_bytes = int64_t{1} << 20;  // of a file without chosen striping
  int64_t stripe_count = 1;
  double cache_bytes_per_s = 2e9;  // one rank, into the page cache
  int64_t cache_bytes = 0;         // dirty data that a host may cache; it is on the targets when the file is closed
};

struct MachineMetadata {
  double open_s = 1e-3;         // one client alone
  double opens_per_s = 20e3;    // opens and closes of all clients together
  double creates_per_s = 10e3;  // file creations
  double flush_s = 0;           // a flush of almost no data with a new plan; 0: the time of its agreements
  double direct_flush_s = 0;    // the same without messages between ranks; 0: as flush_s
};

// The usual ratio for fields. The real ratio is unknown before there is data.
inline constexpr double k_usual_ratio = 0.5;

struct MachineCodec {
  std::string name;                   // "lz4", "lzo", "zstd", "deflate": names of the axis codec
  double encode_bytes_per_s = 500e6;  // of uncompressed bytes
  double decode_bytes_per_s = 1e9;
};

// How concurrent ranks divide the file among them.
enum class Sharing : int {
  apart = 0,    // each rank has a contiguous part
  interleaved,  // requests of the ranks alternate
  targets,      // each rank has the stripes of its own targets
  mapped,       // requests alternate and copy from the mapped page cache of the host
  sieved,       // each rank has a part without data, reads it and writes it back; bytes are counted once
};
inline constexpr size_t k_sharing_count = 5;
std::string_view name_of(Sharing sharing) noexcept;

// The total rate of a number of ranks that move data concurrently, on as many hosts as were available.
struct MeasuredRate {
  int64_t request_bytes = 0;
  int64_t ranks = 1;
  double bytes_per_s = 0;
  Sharing sharing = Sharing::apart;
};

struct Machine {
  std::string name = "a machine";
  std::string about;  // source of the numbers
  int64_t hosts = 1;
  int64_t ranks_per_host = 1;
  int64_t cores_per_host = 0;  // 0: one for each rank
  MachineMemory memory;
  MachineNetwork network;
  MachineStorage storage;
  MachineMetadata metadata;
  std::vector<MachineCodec> codecs;
  std::vector<MeasuredRate> writes, reads;  // empty: only the numbers of `storage` are used
};

// Calls `visit(name, number, least, most)` for each number: its name in a machine file, and the accepted range.
template <class AnyMachine, class Visit>
void for_each_number(AnyMachine& machine, Visit&& visit) {
  constexpr double k_least_rate = 1000, k_most_rate = 1e18, k_most_seconds = 3600;
  constexpr int64_t k_most_count = 100'000'000, k_most_bytes = int64_t{1} << 60;
  visit("hosts", machine.hosts, int64_t{1}, k_most_count);
  visit("ranks_per_host", machine.ranks_per_host, int64_t{1}, int64_t{100'000});
  visit("cores_per_host", machine.cores_per_host, int64_t{0}, int64_t{100'000});
  auto& memory = machine.memory;
  visit("memory.copy_bytes_per_s", memory.copy_bytes_per_s, k_least_rate, k_most_rate);
  visit("memory.host_copy_bytes_per_s", memory.host_copy_bytes_per_s, k_least_rate, k_most_rate);
  visit("memory.piece_s", memory.piece_s, 0.0, k_most_seconds);
  auto& network = machine.network;
  visit("network.latency_s", network.latency_s, 0.0, k_most_seconds);
  visit("network.bytes_per_s", network.bytes_per_s, k_least_rate, k_most_rate);
  visit("network.host_bytes_per_s", network.host_bytes_per_s, k_least_rate, k_most_rate);
  visit("network.bisection_bytes_per_s", network.bisection_bytes_per_s, 0.0, k_most_rate);
  visit("network.message_s", network.message_s, 0.0, k_most_seconds);
  visit("network.within_host_latency_s", network.within_host_latency_s, 0.0, k_most_seconds);
  visit("network.within_host_bytes_per_s", network.within_host_bytes_per_s, k_least_rate, k_most_rate);
  visit("network.split_rank_s", network.split_rank_s, 0.0, k_most_seconds);
  visit("network.agree_s", network.agree_s, 0.0, k_most_seconds);
  auto& storage = machine.storage;
  visit("storage.targets", storage.targets, int64_t{1}, int64_t{65535});
  visit("storage.targets_per_server", storage.targets_per_server, int64_t{1}, int64_t{65535});
  visit("storage.target_write_bytes_per_s", storage.target_write_bytes_per_s, k_least_rate, k_most_rate);
  visit("storage.target_read_bytes_per_s", storage.target_read_bytes_per_s, k_least_rate, k_most_rate);
  visit("storage.server_bytes_per_s", storage.server_bytes_per_s, 0.0, k_most_rate);
  visit("storage.client_bytes_per_s", storage.client_bytes_per_s, k_least_rate, k_most_rate);
  visit("storage.request_bytes", storage.request_bytes, int64_t{512}, k_most_bytes);
  visit("storage.request_s", storage.request_s, 0.0, k_most_seconds);
  visit("storage.target_request_s", storage.target_request_s, 0.0, k_most_seconds);
  visit("storage.turn_s", storage.turn_s, 0.0, k_most_seconds);
  visit("storage.lock_s", storage.lock_s, 0.0, k_most_seconds);
  visit("storage.stripe_bytes", storage.stripe_bytes, int64_t{1}, k_most_bytes);
  visit("storage.stripe_count", storage.stripe_count, int64_t{1}, int64_t{65535});
  visit("storage.cache_bytes_per_s", storage.cache_bytes_per_s, k_least_rate, k_most_rate);
  visit("storage.cache_bytes", storage.cache_bytes, int64_t{0}, k_most_bytes);
  auto& metadata = machine.metadata;
  visit("metadata.open_s", metadata.open_s, 0.0, k_most_seconds);
  visit("metadata.opens_per_s", metadata.opens_per_s, 1e-3, k_most_rate);
  visit("metadata.creates_per_s", metadata.creates_per_s, 1e-3, k_most_rate);
  visit("metadata.flush_s", metadata.flush_s, 0.0, k_most_seconds);
  visit("metadata.direct_flush_s", metadata.direct_flush_s, 0.0, k_most_seconds);
}

// Parses a machine file. Missing numbers keep the defaults above. `file` is the name for messages. bad_file: not JSON
// or not a machine file; another version; an unknown name; a value that is not a number or out of range; numbers that
// contradict each other. Sizes and rates may be texts: "1 MiB", "2.5 GB". Safe on any input.
Result<Machine> parse_machine(std::string_view text, std::string_view file);

// A complete machine file, which parse_machine() reads back without loss.
std::string machine_text(const Machine& machine);

// Total rate of `ranks` ranks in requests of `request_bytes`. Interpolates on logarithmic scales; constant above the
// measured range. Requests shorter than any measured for this number of ranks lose as much as those of one rank. Below
// those, a request costs the same time as the smallest. 0: that sharing was not measured.
double rate_at(std::span<const MeasuredRate> rates, int64_t request_bytes, int64_t ranks,
               Sharing sharing = Sharing::apart);

}  // namespace windrow
