// SPDX-License-Identifier: BSD-3-Clause
#include "publication/file_references.hpp"

#include <vector>

#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "comm/share_text.hpp"

namespace windrow {

bool FileReferences::are_wanted() const {
  const std::string wish = parts_.settings.text("references");
  return wish == "kerchunk" || (wish == "auto" && parts_.set.map() && parts_.traits.grows_as_one);
}

Status FileReferences::collect(PartChunks& chunks) {
  if (!parts_.set.map())
    return {};
  std::vector<int> variables;
  Status local = guard([&] {
    variables = referable_parts(parts_.catalog, *parts_.set.map());
    return Status{};
  });
  return agree(parts_.comm, parts_.set.collect_chunks(std::move(local), variables, chunks));
}

Status FileReferences::renew() {
  if (!are_wanted())
    return {};
  PartChunks chunks;
  if (Status verdict = collect(chunks); !verdict.ok())
    return verdict;
  const Status local = parts_.comm.rank() != 0 ? Status{} : guard([&] {
    Status status = make(chunks);
    return status.ok() ? publish() : status;
  });
  return agree(parts_.comm, local);
}

Result<std::string> FileReferences::write(const std::string& file, const std::string& path, const std::string& prefix,
                                          Status local) {
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&] {
      arguments = hash_of({path, prefix});
      return Status{};
    });
  if (Status verdict = agree_same(parts_.comm, std::move(local), arguments, "path or prefix of the references",
                                  [&] {
                                    return quoted({path, prefix});
                                  });
      !verdict.ok())
    return verdict;
  PartChunks chunks;
  if (Status verdict = collect(chunks); !verdict.ok())
    return verdict;
  std::string lines;
  local = parts_.comm.rank() != 0 ? Status{} : guard([&] {
    auto found = write_reference_file(sources(chunks), file, path, prefix, parts_.settings.boolean("durable"));
    if (found.ok())
      lines = std::move(found).value();
    return found.status();
  });
  local = share_text_from_root(parts_.comm, std::move(local), lines);
  if (Status verdict = agree(parts_.comm, std::move(local)); !verdict.ok())
    return verdict;
  return lines;
}

}  // namespace windrow
