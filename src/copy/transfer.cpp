// SPDX-License-Identifier: BSD-3-Clause
#include "copy/transfer.hpp"

#include <algorithm>
#include <utility>

namespace copying {

namespace {

bool is_a_peak(const std::string& key) {
  return key.starts_with("peak") || key.ends_with("_opens") || key == "writers" || key == "readers" || key == "ranks" ||
         key.ends_with("ratio");
}

void add_up(nlohmann::json& sum, const nlohmann::json& more);

// Keys that identify an entry of a list: a codec, a rank.
bool is_a_name(const std::string& key) {
  return key == "codec" || key == "to";
}

void add_entry(nlohmann::json& list, const nlohmann::json& entry) {
  for (nlohmann::json& there : list)
    for (const auto& [key, value] : entry.items())
      if (is_a_name(key) && there[key] == value)
        return add_up(there, entry);
  list.push_back(entry);
}

void add_up(nlohmann::json& sum, const nlohmann::json& more) {
  for (const auto& [key, value] : more.items()) {
    if (!sum.contains(key) || is_a_name(key)) {
      sum[key] = value;
    } else if (value.is_array()) {
      for (const nlohmann::json& entry : value)
        add_entry(sum[key], entry);
    } else if (value.is_object()) {
      add_up(sum[key], value);
    } else if (value.is_number_integer()) {
      const int64_t a = sum[key].get<int64_t>(), b = value.get<int64_t>();
      sum[key] = is_a_peak(key) ? std::max(a, b) : a + b;
    } else if (value.is_number()) {
      const double a = sum[key].get<double>(), b = value.get<double>();
      sum[key] = is_a_peak(key) ? std::max(a, b) : a + b;
    } else {
      sum[key] = value;
    }
  }
}

constexpr size_t k_kept_decompositions = 64;  // slices of one large variable never recur

}  // namespace

void Totals::add(const windrow::File& file) {
  nlohmann::json report = nlohmann::json::parse(file.report("json"));
  report.erase("plans");  // of one flush, not of the sum; explain has them
  add_up(sum_, report);
}

double Totals::seconds() const {
  return sum_.contains("seconds") ? sum_["seconds"].value("total", 0.0) : 0.0;
}

Transfer::Transfer(const Ranks& ranks, const std::vector<Item>& items, int64_t buffer_bytes, int parts)
    : ranks_(ranks), items_(items), batch_bytes_(std::max<int64_t>(buffer_bytes / parts, 1)) {
  constexpr size_t k_most_batches = 1024;  // to be examined: the amount of data may come from a damaged header
  int64_t needed = 0, most = batch_bytes_;
  for (const Item& item : items_)
    most = std::max(most, item.element_bytes);
  size_t batches = 0;
  Slicer slices = slicer();
  for (Batch batch = slices.next(); !batch.empty() && (needed < most || batches < 2);
       batch = slices.next(), ++batches) {
    int64_t mine = 0;
    for (const Piece& piece : batch)
      mine += share_bytes(items_[piece.item], piece, ranks_.rank, ranks_.size);
    needed = std::max(needed, batches < k_most_batches ? mine : aligned(most));
  }
  bool allocated = true;
  try {
    for (size_t i = 0; i < std::min(static_cast<size_t>(parts), std::max<size_t>(batches, 1)); ++i)
      buffers_.emplace_back(new (std::align_val_t{4096}) std::byte[static_cast<size_t>(needed)]);
  } catch (const std::bad_alloc&) {
    allocated = false;
  }
  if (!all_agree(ranks_, allocated))
    throw windrow::Error(WINDROW_OUT_OF_MEMORY, -1,
                         "out of memory: a rank cannot allocate its buffer; try a smaller buffer");
}

// An error that ends the copy is the same on every rank.
Transfer::~Transfer() {
  if (written_ != nullptr)
    (void)windrow_flush_end(written_->get());
}

// `shape`: the item's, or one that is longer along the first dimension, in which the elements have the same indexes.
const windrow::Decomposition& Transfer::decomposition(const Piece& piece, const std::vector<int64_t>& shape) {
  const Item& item = items_[piece.item];
  const auto boxes_from = item.is_partial ? std::optional(piece.item) : std::nullopt;
  Key key{shape, piece.first, piece.count, boxes_from};
  if (const auto found = decompositions_.find(key); found != decompositions_.end())
    return found->second;
  if (shape.empty())
    return decompositions_.emplace(std::move(key), windrow::Decomposition::same(ranks_.comm, shape)).first->second;
  const Share share = share_of(item, piece, ranks_.rank, ranks_.size);
  const Boxes boxes = boxes_of_range(item, share.first, share.count);
  auto made = windrow::Decomposition::blocks(ranks_.comm, shape, boxes.starts, boxes.counts);
  return decompositions_.emplace(std::move(key), std::move(made)).first->second;
}

// The results of put and get are ignored, because the flush reports their errors on every rank.
template <class Queue>
void Transfer::queue(const Batch& batch, bool writes, Queue&& queue_piece) {
  if (decompositions_.size() > k_kept_decompositions && written_ == nullptr)
    decompositions_.clear();
  int64_t offset = 0;
  for (const Piece& piece : batch) {
    const std::vector<int64_t>& shape = writes && !longer_.empty() ? longer_[piece.item] : items_[piece.item].shape;
    queue_piece(piece, decomposition(piece, shape).get(), buffers_[current_].get() + offset);
    offset += share_bytes(items_[piece.item], piece, ranks_.rank, ranks_.size);
  }
}

void Transfer::read(windrow::File& file, const Batch& batch) {
  queue(batch, false, [&](const Piece& piece, const windrow_decomposition* decomposition, std::byte* place) {
    if (keeps_order(piece))
      (void)windrow_get_as(file.get(), items_[piece.item].variable, decomposition, WINDROW_STORED, place);
    else
      (void)windrow_get(file.get(), items_[piece.item].variable, decomposition, place);
  });
  file.flush();
}

void Transfer::begin_write(windrow::File& file, const Batch& batch, std::span<const int> numbers) {
  queue(batch, true, [&](const Piece& piece, const windrow_decomposition* decomposition, const std::byte* place) {
    if (keeps_order(piece))
      (void)windrow_put_as(file.get(), numbers[piece.item], decomposition, WINDROW_STORED, place);
    else
      (void)windrow_put(file.get(), numbers[piece.item], decomposition, place);
  });
  file.flush_begin();
  written_ = &file;
  current_ = (current_ + 1) % buffers_.size();
}

void Transfer::end_write() {
  if (written_ != nullptr)
    std::exchange(written_, nullptr)->flush_end();
}

int64_t Transfer::bytes(const Batch& batch) const {
  int64_t sum = 0;
  for (const Piece& piece : batch)
    sum += piece.count * items_[piece.item].element_bytes;
  return sum;
}

}  // namespace copying
