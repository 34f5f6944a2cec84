// SPDX-License-Identifier: BSD-3-Clause
#include "comm/arrivals.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace windrow {

namespace {
bool is_too_long(int code) {
  int category = MPI_SUCCESS;
  return code != MPI_SUCCESS && MPI_Error_class(code, &category) == MPI_SUCCESS && category == MPI_ERR_TRUNCATE;
}
}  // namespace

int test_some(std::span<MPI_Request> requests, std::span<int> done, std::span<MPI_Status> statuses, int& count) {
  count = 0;
  for (MPI_Status& status : statuses)
    status.MPI_ERROR = MPI_SUCCESS;  // a successful call leaves it unchanged
  const int rc = MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, done.data(), statuses.data());
  if (count == MPI_UNDEFINED)
    count = 0;
  const auto ended = statuses.first(static_cast<size_t>(count));
  if (rc == MPI_SUCCESS)
    return rc;
  // Open MPI returns the error of the first message, other libraries return MPI_ERR_IN_STATUS. The statuses have the
  // details.
  bool is_explained = false;
  int worse = MPI_SUCCESS;
  for (size_t i = 0; i < ended.size(); ++i) {
    const int code = ended[i].MPI_ERROR;
    is_explained = is_explained || code != MPI_SUCCESS;
    if (code != MPI_SUCCESS && !is_too_long(code) && worse == MPI_SUCCESS)
      worse = code;
    if (MPI_Request& request = requests[static_cast<size_t>(done[i])]; request != MPI_REQUEST_NULL)
      MPI_Request_free(&request);
  }
  return is_explained ? worse : rc;
}

int post_receive(std::byte* place, int64_t room, int from, int tag, MPI_Comm comm, MPI_Request& request,
                 bool& too_long) {
  const int rc = MPI_Irecv(place, static_cast<int>(room), MPI_BYTE, from, tag, comm, &request);
  too_long = is_too_long(rc);
  if (!too_long)
    return rc;
  request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int receive_found(std::span<std::byte> place, const MPI_Status& found, MPI_Comm comm, int64_t& bytes) {
  int count = 0;
  MPI_Get_count(&found, MPI_BYTE, &count);
  const bool fits = static_cast<size_t>(count) <= place.size();
  // Receives the whole message if there is memory: Open MPI 4.1 writes beyond a buffer that is too short for a message
  // from the same host.
  const std::unique_ptr<std::byte[]> other(fits ? nullptr : new (std::nothrow) std::byte[static_cast<size_t>(count)]);
  std::byte* const to = other ? other.get() : place.data();
  const int room = other ? count : static_cast<int>(std::min(place.size(), static_cast<size_t>(count)));
  bytes = fits ? count : k_too_long;
  const int rc = MPI_Recv(to, room, MPI_BYTE, found.MPI_SOURCE, found.MPI_TAG, comm, MPI_STATUS_IGNORE);
  return is_too_long(rc) ? MPI_SUCCESS : rc;
}

int64_t bytes_of(const MPI_Status& status) {
  if (status.MPI_ERROR != MPI_SUCCESS)
    return k_too_long;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  return bytes;
}

}  // namespace windrow
