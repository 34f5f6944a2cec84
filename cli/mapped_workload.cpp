// SPDX-License-Identifier: BSD-3-Clause
// A map is text: "version 2001 npes N ndims D", D lengths, and for each rank its number, its number of elements, and
// the elements: numbers from 1 in the file's order, 0 for none. Text after the last rank is a comment.
#include "cli/mapped_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/checked.hpp"
#include "cli/console.hpp"

namespace cli {

namespace {

constexpr std::string_view k_first_word = "version ";

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), stream_(path, std::ios::binary) {
    if (!stream_)
      throw wrong("cannot be opened");
  }

  Failure wrong(const std::string& what) const { return {k_exit_mistake, fmt::format("\"{}\": {}", path_, what)}; }

  void word(const char* expected) {
    std::string found;
    if (!(stream_ >> found) || found != expected)
      throw wrong(fmt::format("is not a decomposition map: the keyword {} is missing", expected));
  }
  int64_t number(const std::string& of, int64_t least, int64_t most) {
    int64_t found = 0;
    if (!(stream_ >> found))
      throw wrong(fmt::format("{} is missing or not a number", of));
    if (found < least || found > most)
      throw wrong(fmt::format("{} cannot be {}: it must be from {} to {}", of, found, least, most));
    return found;
  }

 private:
  const std::string& path_;
  std::ifstream stream_;
};

// Elements in the file's order, each once.
windrow::Pieces pieces_of(std::vector<int64_t>& elements) {
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  windrow::PiecesBuilder builder;
  int64_t held = 0;
  for (const int64_t element : elements)
    builder.add(windrow::Piece{element, held++, 1});
  return builder.take();
}

}  // namespace

bool is_map(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string begin(k_first_word.size(), '\0');
  return stream.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == k_first_word;
}

windrow::Workload mapped_workload(const std::string& path, windrow::Workload asked) {
  constexpr int64_t k_most_ranks = 10'000'000, k_most_dimensions = 32, k_most_length = int64_t{1} << 31,
                    k_most_elements = int64_t{1} << 36;
  constexpr int64_t k_version = 2001;
  Reader reader(path);
  reader.word("version");
  if (const int64_t version = reader.number("its version", 0, INT64_MAX); version != k_version)
    throw reader.wrong(fmt::format("is a map of version {}; only version {} is supported", version, k_version));
  reader.word("npes");
  windrow::Workload workload = std::move(asked);
  workload.division = windrow::Division::lists;
  workload.ranks = static_cast<int>(reader.number("the number of ranks", 1, k_most_ranks));
  reader.word("ndims");
  workload.shape.resize(static_cast<size_t>(reader.number("the number of dimensions", 1, k_most_dimensions)));
  for (int64_t& length : workload.shape)
    length = reader.number("a dimension's length", 1, k_most_length);
  const auto elements = windrow::checked_product(workload.shape);
  if (!elements || *elements > k_most_elements)
    throw reader.wrong("has a shape with too many elements");
  std::vector<bool> taken(workload.reading ? 0 : static_cast<size_t>(*elements));
  std::vector<int64_t> held;
  for (int rank = 0; rank < workload.ranks; ++rank) {
    const std::string of = fmt::format("rank {}", rank);
    (void)reader.number(fmt::format("the number of {}", of), rank, rank);
    const int64_t count = reader.number(fmt::format("the number of elements of {}", of), 0, k_most_elements);
    held.clear();
    const std::string an_element = fmt::format("an element of {}", of);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t element = reader.number(an_element, 0, *elements) - 1;
      if (element < 0 || (!workload.reading && taken[static_cast<size_t>(element)]))
        continue;
      if (!workload.reading)
        taken[static_cast<size_t>(element)] = true;
      held.push_back(element);
    }
    workload.lists.push_back(pieces_of(held));
  }
  workload.points = *elements;
  workload.load = 1;
  return workload;
}

}  // namespace cli
