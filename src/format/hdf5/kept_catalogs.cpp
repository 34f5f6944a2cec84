// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/kept_catalogs.hpp"

#include <algorithm>
#include <vector>

#include "base/kept.hpp"
#include "format/hdf5/driver.hpp"
#include "format/hdf5/open_files.hpp"
#include "format/hdf5/sizes.hpp"

namespace windrow {
namespace {

LastUsed<KeptCatalog>& catalogs() {
  static auto& kept = *new LastUsed<KeptCatalog>;
  return kept;
}

bool all_supported(const std::vector<Attribute>& attributes) noexcept {
  return std::all_of(attributes.begin(), attributes.end(), [](const Attribute& each) { return each.unsupported.empty(); });
}

// What is said of the rest names the file, or may depend on other files.
bool all_supported(const Catalog& catalog) noexcept {
  return catalog.unsupported.empty() && std::all_of(catalog.groups.begin(), catalog.groups.end(), [](const Group& each) { return all_supported(each.attributes); }) &&
         std::all_of(catalog.variables.begin(), catalog.variables.end(),
                     [](const Variable& each) { return each.unsupported.empty() && all_supported(each.attributes); });
}

}  // namespace

void keep_catalog(const ImageRecord& record, const Catalog& catalog) noexcept {
  constexpr int64_t k_most_bytes = int64_t{1} << 20;
  if (record.is_spoiled() || !all_supported(catalog) || memory_of(catalog) > k_most_bytes) return;
  (void)guard([&] {
    if (auto image = record.image()) catalogs().keep(std::make_shared<const KeptCatalog>(KeptCatalog{std::move(*image), catalog, record.asks_for_lock()}));
    return Status();
  });
}

std::shared_ptr<const KeptCatalog> find_catalog(Store& file) {
  const Result<int64_t> bytes = file.size();
  if (!bytes.ok() || OpenFile::exists(file.descriptor(), OpenFor::writing)) return nullptr;  // what HDF5 has in memory counts then
  bool locked = false;
  for (const auto& each : catalogs().with([&](const KeptCatalog& each) { return each.read.end == bytes.value(); })) {
    if (each->locked && !locked && !lock_for_reading(file.descriptor())) return nullptr;
    locked = locked || each->locked;
    if (each->locked != locked) continue;  // of a file that HDF5 was not to lock
    const Result<bool> same = matches(file, each->read);
    if (!same.ok() || !same.value()) continue;
    catalogs().used(each);
    return each;
  }
  if (locked) end_lock(file.descriptor());
  return nullptr;
}

}  // namespace windrow
