// SPDX-License-Identifier: BSD-3-Clause
// Owns an MPI handle with a *local* free function (datatype, op, info). Move-only, empty after a move. Communicators,
// windows and files are freed collectively and not owned this way (see Comm).
#pragma once

#include <mpi.h>

#include <utility>

namespace windrow {

// MPI is initialized and not finalized. False from the point in MPI_Finalize at which shared memory is freed; callbacks
// of the program may run after that.
bool mpi_is_running() noexcept;

template <class Traits>
class Handle {
 public:
  using Raw = typename Traits::Raw;
  explicit Handle(Raw raw = Traits::null()) noexcept : raw_(raw) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, Traits::null())) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() {
    if (raw_ != Traits::null() && mpi_is_running())
      Traits::free(raw_);
  }
  Raw get() const noexcept { return raw_; }

 private:
  Raw raw_;
};

struct DatatypeTraits {
  using Raw = MPI_Datatype;
  static Raw null() noexcept { return MPI_DATATYPE_NULL; }
  static void free(Raw& raw) noexcept { MPI_Type_free(&raw); }
};
struct OpTraits {
  using Raw = MPI_Op;
  static Raw null() noexcept { return MPI_OP_NULL; }
  static void free(Raw& raw) noexcept { MPI_Op_free(&raw); }
};
using Datatype = Handle<DatatypeTraits>;
using Op = Handle<OpTraits>;

}  // namespace windrow
