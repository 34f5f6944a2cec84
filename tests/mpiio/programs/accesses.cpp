// SPDX-License-Identifier: BSD-3-Clause
#include "accesses.hpp"

#include <numeric>

namespace mpiio_test {

int64_t random_offset(Random& random, const File& file, int rank) {
  const View& view = file.view(rank);
  if (view.is_empty())
    return 0;  // Known: OMPIO 4.1 knows no other position in a view without data
  const int64_t base = file.model.base(), unit = view.etype.size();
  // The view at opening begins at 0, which may be far below the base.
  const int64_t low = view.displacement < base ? (base - view.displacement) / unit : 0;
  const int64_t tiles = (file.model.end() - std::max(view.displacement, base)) / view.filetype.extent;
  const int64_t all = tiles * view.filetype.size() / unit;
  switch (random(0, 3)) {
    case 0:
      return low;
    case 1:
      return low + random(0, 20);
    default:
      return low + random(0, std::max<int64_t>(1, std::min<int64_t>(all / 2, 5000 / unit)));
  }
}

namespace {

void set_places(const View& view, Access& access) {
  access.places.clear();
  const int64_t first = access.offset * view.etype.size(), bytes = access.count * access.memory.size();
  for (int64_t i = 0; i < bytes; ++i)
    access.places.push_back(view.place(first + i));
}

}  // namespace

void RandomAccesses::set_memory(const View& view, Access& access) {
  const Type byte = named(MPI_BYTE, "BYTE");
  const int64_t unit = view.etype.size();
  access.at_bottom = random_.one_in(8);
  if (random_.one_in(5)) {
    access.memory = view.etype;
    access.count = random_(1, std::max<int64_t>(1, 4000 / unit));
  } else if (random_.one_in(4)) {
    access.memory = RandomTypes(random_, false).make(random_.small(0, 3), byte);
    access.count = unit / std::gcd(unit, access.memory.size()) * random_(1, 3);
    if (access.count * access.memory.size() > 8000) {
      access.memory = byte;
      access.count = unit;
    }
  } else {
    access.memory = RandomTypes(random_, false).make(random_.small(0, 4), view.etype);
    access.count = random_(1, 4);
  }
}

Access RandomAccesses::make(int rank, bool writing, bool by_pointer) {
  const View& view = file_.view(rank);
  const int64_t position = file_.position(rank), unit = view.etype.size();
  Access access;
  access.rank = rank;
  access.writing = writing;
  access.by_pointer = by_pointer;
  set_memory(view, access);
  const bool nothing = random_.one_in(7) || view.is_empty();
  for (int attempt = 0; attempt < 5 && !nothing; ++attempt) {
    const int64_t other = random_.one_in(2) ? next_offset_ + random_(0, 2) : random_offset(random_, file_, rank);
    access.offset = by_pointer && attempt == 0 ? position : other;
    const int64_t last = access.offset * unit + access.count * access.memory.size() - 1;
    if (view.place(access.offset * unit) < file_.model.base() || view.place(last) >= file_.model.end())
      continue;
    set_places(view, access);
    if (claims_.claim(access)) {
      next_offset_ = (last + 1) / unit;
      return access;
    }
  }
  access.places.clear();
  access.offset = position;
  access.count = 0;
  return access;
}

}  // namespace mpiio_test
