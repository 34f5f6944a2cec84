// SPDX-License-Identifier: BSD-3-Clause
// Machine: what a machine can do, in numbers: hosts, links, storage, compressors. Read from and written to a machine
// file, which is JSON (docs/machine-files.md). Pure: who calls reads and writes the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace windrow {

inline constexpr int64_t k_machine_version = 1;  // of the machine file's format

// Seconds, and bytes a second; what is 0 and may be is nothing that anybody waits for.
struct MachineMemory {
  double copy_bytes_per_s = 5e9;        // of one rank
  double host_copy_bytes_per_s = 20e9;  // of all ranks of a host together
  double piece_s = 1e-8;                // that a rank needs for a piece, however short, apart from its bytes
};

struct MachineNetwork {
  double latency_s = 2e-6;           // from a rank to one of another host
  double bytes_per_s = 5e9;          // of one rank to one of another host
  double host_bytes_per_s = 10e9;    // into a host, or out of it
  double bisection_bytes_per_s = 0;  // through the middle of the switches, one way; 0: they never bound anybody
  double message_s = 1e-6;           // that a rank works on a message that it sends or takes
  double within_host_latency_s = 5e-7;
  double within_host_bytes_per_s = 5e9;  // of one message
  double split_rank_s = 0;               // for each rank of a communicator that is split
  double agree_s = 0;  // a reduction over all ranks; 0: a latency for each level of a tree, up and down
};

struct MachineStorage {
  std::string kind = "lustre";  // a name for people
  int64_t targets = 8;
  int64_t targets_per_server = 1;
  double target_write_bytes_per_s = 500e6;
  double target_read_bytes_per_s = 500e6;
  double server_bytes_per_s = 0;             // of all targets of a server together; 0: their sum
  double client_bytes_per_s = 2e9;           // of all ranks of a host together
  int64_t request_bytes = int64_t{4} << 20;  // a client cuts longer requests up
  double request_s = 2e-4;                   // from a client to a target and back, apart from the bytes
  double target_request_s = 5e-5;            // that a target works on a request, apart from the bytes
  double turn_s =
      0;  // that each request costs a target for every other client of the same file that it serves meanwhile
  double lock_s = 1e-3;                     // that a stripe's lock takes to go from one writer to another
  int64_t stripe_bytes = int64_t{1} << 20;  // of a file that nobody chose stripes for
  int64_t stripe_count = 1;
  double cache_bytes_per_s = 2e9;  // of one rank into its system's memory
  int64_t cache_bytes = 0;  // that a host's writers may be ahead of the targets; when the file is closed all is on them
};

struct MachineMetadata {
  double open_s = 1e-3;         // of one client, when no other wants anything
  double opens_per_s = 20e3;    // of all clients together: opens, closes
  double creates_per_s = 10e3;  // of files
  double flush_s = 0;  // of a flush that moves next to nothing by a new plan; 0: as long as what is agreed on in it
  double direct_flush_s = 0;  // the same where no rank sends another anything; 0: as flush_s
};

// Nobody knows how far data shrinks before it is there: what is usual for fields.
inline constexpr double k_usual_ratio = 0.5;

struct MachineCodec {
  std::string name;                   // "lz4", "lzo", "zstd", "deflate": as the axis codec has it
  double encode_bytes_per_s = 500e6;  // of bytes that are not compressed yet
  double decode_bytes_per_s = 1e9;
};

// How the ranks that move bytes at the same time lie beside each other in the file.
enum class Sharing : int {
  apart = 0,    // each has a part of it
  interleaved,  // in turn, request by request
  targets,      // each has the stripes of targets that are its own
  mapped,       // in turn, and they copy out of the file's bytes in their host's memory
  sieved,       // each has a part that nobody has written yet, reads it, and writes it back: bytes are counted once
};
inline constexpr size_t k_sharing_count = 5;
std::string_view name_of(Sharing sharing) noexcept;

// What a number of ranks moved to or from the storage at once, all together; on different hosts as far as there were
// hosts.
struct MeasuredRate {
  int64_t request_bytes = 0;
  int64_t ranks = 1;
  double bytes_per_s = 0;
  Sharing sharing = Sharing::apart;
};

struct Machine {
  std::string name = "a machine";
  std::string about;  // where its numbers are from
  int64_t hosts = 1;
  int64_t ranks_per_host = 1;
  int64_t cores_per_host = 0;  // 0: as many as ranks
  MachineMemory memory;
  MachineNetwork network;
  MachineStorage storage;
  MachineMetadata metadata;
  std::vector<MachineCodec> codecs;
  std::vector<MeasuredRate> writes, reads;  // none: storage's numbers say it all
};

// What each number is called in a machine file, and between which bounds it is believed: `visit(name, number, least,
// most)`.
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

// What a machine file says; what it does not is as above. `file` is named in messages. bad_file: not JSON, or no
// machine file; another version; a name that there is not; a number that is no number, or beyond its bounds; numbers
// that contradict each other. Sizes and rates may be texts: "1 MiB", "2.5 GB". Safe on any input.
Result<Machine> parse_machine(std::string_view text, std::string_view file);

// A machine file that says all, which parse_machine() reads back as it was.
std::string machine_text(const Machine& machine);

// What so many ranks move a second in requests of so many bytes, all together: between what was measured by its
// logarithms, above as where it was measured last. Shorter requests than any of so many ranks lose as much as one
// rank's do; shorter ones than those cost what the smallest did. 0: nothing was measured of that sharing.
double rate_at(std::span<const MeasuredRate> rates, int64_t request_bytes, int64_t ranks,
               Sharing sharing = Sharing::apart);

}  // namespace windrow
