// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/creation_format.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked.hpp"
#include "base/kept.hpp"
#include "format/hdf5/sizes.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

// What was asked for, in all words that the file's bytes depend on.
struct GroupCall {
  std::string path;
  friend bool operator==(const GroupCall&, const GroupCall&) = default;
};
struct SplitCall {
  VariableDefinition definition;
  std::vector<Part> parts;
  friend bool operator==(const SplitCall&, const SplitCall&) = default;
};
struct AttributesCall {
  std::string object;
  std::vector<Attribute> attributes;
  friend bool operator==(const AttributesCall&, const AttributesCall&) = default;
};
struct NamesCall {
  std::string variable;
  std::vector<std::string> dimensions;
  friend bool operator==(const NamesCall&, const NamesCall&) = default;
};
using Call = std::variant<GroupCall, VariableDefinition, SplitCall, AttributesCall, SoftLink, Dimension, NamesCall>;

struct Step {
  Call call;
  Placement placement = {};  // of a variable
};

// A file that was made whole, by calls that went well.
struct Script {
  FormatOptions options;
  std::vector<Step> steps;
  Image image;
};

LastUsed<Script>& scripts() {
  static auto& kept = *new LastUsed<Script>;
  return kept;
}

// In the image it lies once more, but there is none before the file is closed.
int64_t memory_of_step(const Call& call) noexcept {
  struct Bytes {
    int64_t operator()(const GroupCall& each) const noexcept { return memory_of(each.path); }
    int64_t operator()(const VariableDefinition& each) const noexcept { return memory_of(each); }
    int64_t operator()(const SplitCall& each) const noexcept {
      int64_t bytes = memory_of(each.definition);
      for (const Part& part : each.parts) bytes += static_cast<int64_t>(sizeof part + (part.box.start.size() + part.box.count.size()) * sizeof(int64_t)) + memory_of(part.file);
      return bytes;
    }
    int64_t operator()(const AttributesCall& each) const noexcept { return memory_of(each.object) + memory_of(each.attributes); }
    int64_t operator()(const SoftLink& each) const noexcept { return memory_of(each.path) + memory_of(each.target); }
    int64_t operator()(const Dimension& each) const noexcept { return memory_of(each.path); }
    int64_t operator()(const NamesCall& each) const noexcept { return memory_of(each.variable) + memory_of(each.dimensions); }
  };
  return static_cast<int64_t>(sizeof(Step)) + std::visit(Bytes{}, call);
}

// Either there are candidates, each of which begins with the `done_` calls that were made, and HDF5 knows nothing of the file, or not all where memory ran out; or there
// is a real one.
class CreationFormat final : public LateFormat {
 public:
  CreationFormat(std::string path, const FormatOptions& options, std::unique_ptr<Store> store, MakeByHdf5 make)
      : path_(std::move(path)), options_(options), store_(std::move(store)), make_(std::move(make)), candidates_(scripts().with([&](const Script& each) { return each.options == options; })) {}

  // Where nothing can be foretold HDF5 makes the file at once, as its creation can fail.
  Status begin() { return candidates_.empty() ? make_real() : Status(); }

  Status define_group(const std::string& path) override {
    return repeat([&] { return GroupCall{path}; }, [&](Format& real, Placement&) { return real.define_group(path); }).status();
  }
  Result<Placement> define_variable(const VariableDefinition& definition) override {
    return repeat([&] { return definition; }, [&](Format& real, Placement& placement) {
      auto made = real.define_variable(definition);
      if (made.ok()) placement = made.value();
      return made.status();
    });
  }
  Status define_split(const VariableDefinition& definition, std::span<const Part> parts) override {
    return repeat([&] { return SplitCall{definition, {parts.begin(), parts.end()}}; }, [&](Format& real, Placement&) { return real.define_split(definition, parts); }).status();
  }
  Status put_attributes(const std::string& object, std::span<const Attribute> attributes) override {
    return repeat([&] { return AttributesCall{object, {attributes.begin(), attributes.end()}}; }, [&](Format& real, Placement&) { return real.put_attributes(object, attributes); })
        .status();
  }
  Status define_link(const SoftLink& link) override {
    return repeat([&] { return link; }, [&](Format& real, Placement&) { return real.define_link(link); }).status();
  }
  Status define_dimension(const Dimension& dimension) override {
    return repeat([&] { return dimension; }, [&](Format& real, Placement&) { return real.define_dimension(dimension); }).status();
  }
  Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) override {
    return repeat([&] { return NamesCall{variable, dimensions}; }, [&](Format& real, Placement&) { return real.name_dimensions(variable, dimensions); }).status();
  }
  Status close() override;

 private:
  template <class Make, class Work>
  Result<Placement> repeat(Make&& call, Work&& work);
  Result<Format*> by_hdf5() override;
  Format* if_by_hdf5() noexcept override { return real_.get(); }
  bool is_real() const noexcept { return real_ != nullptr && done_ == 0; }
  Status make_real();
  Status replay(const Step& step);
  void remember(Call call, const Placement& placement) noexcept;
  void forget() noexcept;
  void keep() noexcept;

  std::string path_;
  FormatOptions options_;
  std::unique_ptr<Store> store_;  // until HDF5 gets it
  MakeByHdf5 make_;
  std::vector<std::shared_ptr<const Script>> candidates_;
  size_t done_ = 0, replayed_ = 0;
  std::unique_ptr<Format> real_;  // which has had `replayed_` of the calls
  bool is_closed_ = false;
  std::vector<Step> steps_;       // of the real one, to be kept
  int64_t step_bytes_ = 0;
  std::shared_ptr<ImageRecord> record_;  // nullptr: the file is not to be kept
};

// Calls that were made when nobody asked HDF5 go well now, as they did then, with the same places: others have written there.
Status CreationFormat::replay(const Step& step) {
  Placement placement;
  const auto variable = [&](const VariableDefinition& definition) {
    auto made = real_->define_variable(definition);
    if (made.ok()) placement = made.value();
    return made.status();
  };
  struct Again {
    Format& real;
    const decltype(variable)& define;
    Status operator()(const GroupCall& call) const { return real.define_group(call.path); }
    Status operator()(const VariableDefinition& call) const { return define(call); }
    Status operator()(const SplitCall& call) const { return real.define_split(call.definition, call.parts); }
    Status operator()(const AttributesCall& call) const { return real.put_attributes(call.object, call.attributes); }
    Status operator()(const SoftLink& call) const { return real.define_link(call); }
    Status operator()(const Dimension& call) const { return real.define_dimension(call); }
    Status operator()(const NamesCall& call) const { return real.name_dimensions(call.variable, call.dimensions); }
  };
  if (Status status = std::visit(Again{*real_, variable}, step.call); !status.ok()) return status;
  return placement == step.placement ? Status() : Status(Code::internal, "\"" + path_ + "\": HDF5 gives a variable another place than it gave the same one before");
}

// Where memory runs out it can be tried again.
Status CreationFormat::make_real() {
  if (is_closed_) return {Code::bad_state, "\"" + path_ + "\" is closed"};
  if (real_ == nullptr) {
    if (store_ == nullptr) {
      auto opened = open_store(path_, StoreMode::update, {});
      if (!opened.ok()) return opened.status();
      store_ = std::move(opened).value();
    }
    record_ = std::make_shared<ImageRecord>(ImageRecord::Of::writes);
    auto made = make_(path_, std::move(store_), record_);
    if (!made.ok()) return made.status();
    real_ = std::move(made).value();
  }
  for (; replayed_ < done_; ++replayed_) {
    const Step& step = candidates_.front()->steps[replayed_];
    Call call = step.call;  // before there is anything that would be done twice
    if (Status status = replay(step); !status.ok()) return status;
    remember(std::move(call), step.placement);
  }
  candidates_.clear();
  done_ = replayed_ = 0;
  return {};
}

void CreationFormat::forget() noexcept {
  if (record_ != nullptr) record_->spoil();
  record_ = nullptr;
  steps_ = {};
}

void CreationFormat::remember(Call call, const Placement& placement) noexcept {
  constexpr int64_t k_most_bytes = int64_t{256} << 10;
  if (record_ == nullptr) return;
  step_bytes_ += memory_of_step(call);
  const bool kept = step_bytes_ <= k_most_bytes && !record_->is_spoiled() && guard([&] {
                                                     steps_.push_back({std::move(call), placement});
                                                     return Status();
                                                   }).ok();
  if (!kept) forget();
}

// A variable that leaves the room that files have now is HDF5's to refuse, in its words.
template <class Make, class Work>
Result<Placement> CreationFormat::repeat(Make&& make, Work&& work) {
  Placement placement;
  Status status = guard([&]() -> Status {
    Call call = make();
    if (real_ == nullptr && !candidates_.empty()) {
      std::vector<std::shared_ptr<const Script>> still;
      for (const auto& each : candidates_)
        if (each->steps.size() > done_ && each->steps[done_].call == call) still.push_back(each);
      if (!still.empty()) placement = still.front()->steps[done_].placement;
      const auto end = checked_add(placement.offset, placement.bytes), aligned = end ? checked_add(*end, options_.alignment) : std::nullopt;
      if (!still.empty() && aligned && !beyond_file_size_limit(*aligned)) {
        candidates_ = std::move(still);
        ++done_;
        return {};
      }
    }
    if (!is_real())
      if (Status made = make_real(); !made.ok()) return made;
    placement = {};
    if (Status done = work(*real_, placement); !done.ok()) {
      forget();
      return done;
    }
    remember(std::move(call), placement);
    return {};
  });
  if (!status.ok()) return status;
  return placement;
}

// What cannot be foretold: the file is not kept either.
Result<Format*> CreationFormat::by_hdf5() {
  if (!is_real())
    if (Status status = make_real(); !status.ok()) return status;
  forget();
  return real_.get();
}

void CreationFormat::keep() noexcept {
  if (record_ == nullptr) return;
  (void)guard([&] {
    if (auto image = record_->image()) scripts().keep(std::make_shared<const Script>(Script{options_, std::move(steps_), std::move(*image)}));
    return Status();
  });
}

Status CreationFormat::close() {
  const auto whole = std::find_if(candidates_.begin(), candidates_.end(), [this](const auto& each) { return each->steps.size() == done_; });
  if (real_ == nullptr && store_ != nullptr && whole != candidates_.end()) {
    Status status = guard([&] { return write_image(*store_, (*whole)->image); });
    status.update(store_->close());
    store_ = nullptr;
    is_closed_ = true;
    if (status.ok()) scripts().used(*whole);
    candidates_.clear();
    return status;
  }
  if (!is_real())
    if (Status status = guard([&] { return make_real(); }); !status.ok()) return status;
  Status status = real_->close();
  if (status.ok()) keep();
  record_ = nullptr;
  return status;
}

}  // namespace

Result<std::unique_ptr<Format>> create_hdf5_format(const std::string& path, const FormatOptions& options, std::unique_ptr<Store> store, MakeByHdf5 make) {
  auto format = std::make_unique<CreationFormat>(path, options, std::move(store), std::move(make));
  if (Status status = format->begin(); !status.ok()) return status;
  return std::unique_ptr<Format>(std::move(format));
}

}  // namespace windrow
