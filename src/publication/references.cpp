// SPDX-License-Identifier: BSD-3-Clause
#include "publication/references.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "base/units.hpp"
#include "kerchunk/kerchunk.hpp"
#include "publication/text_file.hpp"
#include "storage/publish.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_ending = ".kerchunk.json";

// The chunks of a variable, or the reason why it has no references.
using Found = Result<std::string>;

class ReferenceFinder {
 public:
  ReferenceFinder(const ReferenceSources& sources, std::string name, std::string prefix)
      : catalog_(sources.catalog),
        subfiles_(sources.subfiles),
        chunks_(sources.chunks),
        format_(sources.format),
        prefix_(std::move(prefix)) {
    files_.push_back(prefix_ + std::move(name));
    for (int64_t number = 0; subfiles_ != nullptr && number < subfiles_->count(); ++number)
      files_.push_back(prefix_ + subfiles_->relative_name(number));
  }

  Status run() {
    for (const Group& group : catalog_.groups)
      check_attributes(group.path, group.attributes);
    for (size_t i = 0; i < catalog_.variables.size(); ++i) {
      const Variable& variable = catalog_.variables[i];
      ReferencedArray array;
      array.variable = static_cast<int>(i);
      std::string why = why_no_array(variable);
      if (why.empty()) {
        auto found = find(variable, array);
        if (found.status().code() == Code::out_of_memory)
          return found.status();
        why = found.ok() ? std::move(found).value() : found.status().message();
      }
      if (!why.empty()) {
        left_out_.push_back(fmt::format("variable \"{}\": {}", variable.path, why));
        continue;
      }
      check_attributes(variable.path, variable.attributes);
      references_ += static_cast<int64_t>(array.references.size());
      arrays_.push_back(std::move(array));
    }
    left_out_.insert(left_out_.end(), catalog_.unsupported.begin(), catalog_.unsupported.end());
    return {};
  }
  std::string text() const { return references_text(catalog_, arrays_, files_, left_out_); }
  const std::vector<std::string>& left_out() const noexcept { return left_out_; }

 private:
  void check_attributes(const std::string& object, const std::vector<Attribute>& attributes) {
    for (const Attribute& each : attributes)
      if (const std::string why = why_no_attribute(each); !why.empty())
        left_out_.push_back(fmt::format("attribute \"{}\" of \"{}\": {}", each.name, object, why));
  }

  Found find(const Variable& variable, ReferencedArray& array) {
    if (const SplitVariable* split = find_split(subfiles_, array.variable))
      return find_parts(variable, *split, array);
    if (variable.is_chunked())
      return find_chunks(variable, array);
    if (variable.placement.stride > 0)
      return find_records(variable, array);
    if (variable.placement.is_known()) {
      std::vector<std::vector<int64_t>> whole;
      for (const int64_t extent : variable.shape)
        whole.push_back({0, extent});
      const int64_t offset = variable.placement.offset;
      return find_rows(
          variable, whole, false,
          [&](int64_t, int64_t) {
            return ChunkReference{0, offset, 0};
          },
          array);
    }
    for (const int64_t extent : variable.shape)
      array.chunk.push_back(std::max<int64_t>(1, extent));
    array.references.resize(static_cast<size_t>(count_of_chunks(variable.shape, array.chunk).value_or(0)));
    return why_no_fill(variable, static_cast<int64_t>(array.references.size()), elements_of(array.chunk));
  }

  Found find_parts(const Variable& variable, const SplitVariable& split, ReferencedArray& array) {
    if (split.is_chunked())
      return find_chunks_of_parts(variable, split, array);
    for (int64_t part = 0; part < split.split.parts(); ++part)
      if (!split.has_place(part)) {
        const Status fault = subfiles_->fault_of(part);
        return fault.ok() ? std::string("the places of its parts are unknown") : fault.message();
      }
    const auto begin_of = [&](int64_t part, int64_t record) {
      const auto at = static_cast<size_t>(part);
      return ChunkReference{1 + part, split.offsets[at] + record * split.strides[at], 0};
    };
    return find_rows(variable, split.split.bounds(), split.grows, begin_of, array);
  }

  // The chunks of parts whose elements are in C order from offset begin_of(part, record) on. `grows`: the elements of
  // each record are in C order, and the bounds are those of one record.
  template <class BeginOf>
  Found find_rows(const Variable& variable, std::span<const std::vector<int64_t>> bounds, bool grows,
                  BeginOf&& begin_of, ReferencedArray& array) {
    const int64_t element = element_bytes(variable.type, variable.details);
    array.chunk = regular_chunk(bounds, element);
    const auto count = room_for(variable.shape, array.chunk);
    if (!count)
      return too_many(array.chunk, "the common divisor of all part boundaries");
    const int64_t bytes = elements_of(array.chunk) * element;
    walk(variable.shape, array.chunk, *count, [&](std::span<const int64_t> first) {
      int64_t part = 0, within = 0;
      const int64_t record = grows ? first.front() : 0;
      for (size_t i = grows ? 1 : 0; i < first.size(); ++i) {  // the extendible dimension is not cut
        const auto& ranges = bounds[i];
        const auto range = std::upper_bound(ranges.begin(), ranges.end(), first[i]) - ranges.begin() - 1;
        const auto begin = ranges[static_cast<size_t>(range)], end = ranges[static_cast<size_t>(range) + 1];
        part = part * (static_cast<int64_t>(ranges.size()) - 1) + range;
        within = within * (end - begin) + first[i] - begin;
      }
      ChunkReference reference = begin_of(part, record);
      reference.offset += within * element;
      reference.bytes = bytes;
      array.references.push_back(reference);
    });
    return std::string();
  }

  Found find_records(const Variable& variable, ReferencedArray& array) {
    for (const int64_t extent : variable.shape)
      array.chunk.push_back(std::max<int64_t>(1, extent));
    array.chunk.front() = 1;
    const auto count = room_for(variable.shape, array.chunk);
    if (!count)
      return too_many(array.chunk, "a record");
    for (int64_t record = 0; record < *count; ++record)
      array.references.push_back(
          {0, variable.placement.offset + record * variable.placement.stride, variable.placement.bytes / *count});
    return std::string();
  }

  Found find_chunks(const Variable& variable, ReferencedArray& array) {
    array.chunk = variable.chunking.shape;
    const auto count = room_for(variable.shape, array.chunk);
    if (!count)
      return too_many(array.chunk, "its own");
    ChunkCollector collector(variable, array);
    Status status;
    walk(variable.shape, array.chunk, *count, [&](std::span<const int64_t> first) {
      if (!status.ok())
        return;
      const auto place = format_.find_chunk(variable.path, first);
      if (place.ok())
        collector.take(0, place.value());
      else
        status = place.status();
    });
    if (!status.ok())
      return status;
    return collector.why();
  }

  // The chunks of a split variable. Zarr's grid is regular, so all parts must have one chunk shape and begin with a
  // chunk.
  Found find_chunks_of_parts(const Variable& variable, const SplitVariable& split, ReferencedArray& array) {
    array.chunk = split.common_chunk();
    if (array.chunk.empty())
      return std::string("its parts do not end at chunk boundaries");
    const auto count = room_for(variable.shape, array.chunk);
    if (!count)
      return too_many(array.chunk, "its own");
    for (int64_t part = 0; part < split.split.parts(); ++part)
      if (const Status fault = subfiles_->fault_of(part); !fault.ok())
        return fault.message();
    for (int64_t part = 0; part < split.split.parts(); ++part) {
      const auto found = chunks_.find({array.variable, part});
      if (found == chunks_.end())
        return too_many(array.chunk, "its own");
      if (!found->second.ok())
        return found->second.status();
    }
    ChunkCollector collector(variable, array);
    walk(variable.shape, array.chunk, *count, [&](std::span<const int64_t> first) {
      int64_t part = 0, chunk = 0;
      for (size_t i = 0; i < first.size(); ++i) {
        const auto& ranges = split.split.bounds()[i];
        const bool is_cut = !split.grows || i > 0;
        const auto range = is_cut ? std::upper_bound(ranges.begin(), ranges.end(), first[i]) - ranges.begin() - 1 : 0;
        const int64_t begin = ranges[static_cast<size_t>(range)],
                      end = is_cut ? ranges[static_cast<size_t>(range) + 1] : variable.shape[i];
        part = part * (static_cast<int64_t>(ranges.size()) - 1) + range;
        chunk = chunk * ((end - begin - 1) / array.chunk[i] + 1) + (first[i] - begin) / array.chunk[i];
      }
      collector.take(1 + part, chunks_.at({array.variable, part}).value()[static_cast<size_t>(chunk)]);
    });
    return collector.why();
  }

  // Turns stored chunks into references, unless Zarr cannot read one of them.
  class ChunkCollector {
   public:
    ChunkCollector(const Variable& variable, ReferencedArray& array)
        : variable_(variable), array_(array), tail_(unread_tail(variable.chunking)) {}
    void take(int64_t file, const ChunkPlace& place) {
      any_skipped_ = any_skipped_ || place.skipped != 0;
      missing_ += place.offset < 0 ? 1 : 0;
      array_.references.push_back({file, place.offset, place.bytes - tail_});
    }
    std::string why() const {
      if (any_skipped_)
        return "a filter was skipped for some of its chunks, but Zarr has one filter pipeline for all chunks";
      return why_no_fill(variable_, missing_, elements_of(array_.chunk));
    }

   private:
    const Variable& variable_;
    ReferencedArray& array_;
    int64_t tail_, missing_ = 0;
    bool any_skipped_ = false;
  };

  std::optional<int64_t> room_for(std::span<const int64_t> shape, std::span<const int64_t> chunk) const {
    const auto count = count_of_chunks(shape, chunk);
    return count && *count <= k_most_references - references_ ? count : std::nullopt;
  }

  static std::string too_many(std::span<const int64_t> chunk, std::string_view of) {
    return fmt::format("in chunks of {}, {}, the file would have more than {} references",
                       counted(elements_of(chunk), "element"), of, k_most_references);
  }

  static int64_t elements_of(std::span<const int64_t> chunk) {
    int64_t elements = 1;
    for (const int64_t extent : chunk)
      elements *= extent;
    return elements;
  }

  // Calls visit() with the first element of each chunk, in C order of their grid.
  template <class Visit>
  static void walk(std::span<const int64_t> shape, std::span<const int64_t> chunk, int64_t count, Visit&& visit) {
    std::vector<int64_t> first(shape.size());
    for (int64_t number = 0; number < count; ++number) {
      visit(std::span<const int64_t>(first));
      for (size_t i = first.size(); i-- > 0;) {
        first[i] += chunk[i];
        if (first[i] < shape[i])
          break;
        first[i] = 0;
      }
    }
  }

  const Catalog& catalog_;
  const Subfiles* subfiles_;
  const PartChunks& chunks_;
  Format& format_;
  std::string prefix_;
  std::vector<std::string> files_;
  std::vector<ReferencedArray> arrays_;
  std::vector<std::string> left_out_;
  int64_t references_ = 0;
};

}  // namespace

Result<ReferenceText> find_references(const ReferenceSources& sources, std::string name, std::string prefix) {
  ReferenceFinder finder(sources, std::move(name), std::move(prefix));
  if (Status status = finder.run(); !status.ok())
    return status;
  return ReferenceText{finder.text(), finder.left_out()};
}

std::vector<int> referable_parts(const Catalog& catalog, const Subfiles& subfiles) {
  std::vector<int> found;
  int64_t references = 0;
  for (const auto& [number, split] : subfiles.variables()) {
    const Variable& variable = catalog.variables[static_cast<size_t>(number)];
    const std::vector<int64_t> chunk = split.common_chunk();
    if (chunk.empty() || !why_no_array(variable).empty())
      continue;
    bool has_faults = false;
    for (int64_t part = 0; !has_faults && part < split.split.parts(); ++part)
      has_faults = !subfiles.fault_of(part).ok();
    const auto count = count_of_chunks(variable.shape, chunk);
    if (has_faults || !count || *count > k_most_references - references)
      continue;
    references += *count;
    found.push_back(number);
  }
  return found;
}

std::string references_path(const std::string& file) {
  return file + std::string(k_ending);
}

Result<std::string> write_reference_file(const ReferenceSources& sources, const std::string& base,
                                         const std::string& path, const std::string& prefix, bool durable) {
  namespace fs = std::filesystem;
  const fs::path file = fs::canonical(base);
  const fs::path wanted = path.empty() ? fs::path(references_path(file.string())) : fs::absolute(path);
  auto temporary = start_temporary_file(wanted.string());
  if (!temporary.ok())
    return temporary.status();
  std::error_code ignored;
  const bool beside = fs::equivalent(wanted.parent_path(), file.parent_path(), ignored);
  std::string lines;
  Status status = guard([&] {
    auto found = find_references(sources, file.filename().string(),
                                 !prefix.empty() || beside ? prefix : (file.parent_path() / "").string());
    if (!found.ok())
      return found.status();
    for (const std::string& line : found.value().left_out)
      lines += line + '\n';
    return write_text_file(temporary.value().temporary_path, found.value().text);
  });
  const Rename rename{temporary.value().temporary_path, temporary.value().final_path, &temporary.value().held};
  if (status.ok())
    status = windrow::publish(std::span(&rename, 1), durable);
  if (!status.ok())
    remove_temporary_file(temporary.value());
  if (!status.ok())
    return status;
  return lines;
}

}  // namespace windrow
