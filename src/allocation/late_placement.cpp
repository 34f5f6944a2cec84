// SPDX-License-Identifier: BSD-3-Clause
#include "allocation/late_placement.hpp"

#include <array>
#include <utility>
#include <vector>

#include "comm/agree.hpp"
#include "storage/file_system.hpp"
#include "storage/store.hpp"
#include "subfiling/copy.hpp"

namespace windrow {

// Rank 0. The new file gets the stripes of the old file, even if the default of the folder has changed. If those are
// unknown, it gets the default of the folder. A layout that the options specify is kept. The OSDs of the objects are
// not queried again.
Result<Striping> LatePlacement::stripe_as_before() const {
  if (parts_.striping_options.mock) {
    const auto others = without_objects(parts_.striping.layout);
    return Striping{others ? *others : parts_.striping.layout, {}};
  }
  StripingOptions options = parts_.striping_options;
  options.expected_bytes = 0;
  options.osds = OsdsBy::nobody;
  options.stripes = {StripeRequest::Kind::site, {}};
  auto given = stripe_temporary_file(options, new_file_, {});
  if (!given.ok())
    return given;
  const auto before = numbers_of(find_striping(options, parts_.file.path()).layout);
  if (!before || before->count == 0 || before == numbers_of(given.value().layout))
    return given;
  options.stripes = {StripeRequest::Kind::numbers, *before};
  auto striped = stripe_temporary_file(options, new_file_, {});
  return striped.ok() ? striped : given;
}

// Rank 0. Creates a file with the new metadata and space for the variables.
Status LatePlacement::start_new_file_on_root() {
  const bool is_new = parts_.publication.is_temporary();
  auto temporary = start_temporary_file(is_new ? parts_.publication.temporary().final_path : parts_.file.path());
  if (!temporary.ok())
    return temporary.status();
  new_file_ = std::move(temporary).value();
  if (is_new)
    new_file_.final_path = parts_.file.path();
  auto striped = stripe_as_before();
  if (!striped.ok())
    return striped.status();
  layout_.layout = std::move(striped).value().layout;
  if (Status status = new_file_.held.follow(new_file_.temporary_path); !status.ok())
    return status;
  auto store = open_store(new_file_.temporary_path, StoreMode::update, {});
  if (!store.ok())
    return store.status();
  if (Status status = parts_.format->write_anew(std::move(store).value()); !status.ok())
    return status;
  // A file of another program may end before variables that were never written.
  const std::array whole{Extent{0, end_of(parts_.metadata.catalog().variables)}};
  if (Status status = parts_.file.extend(whole); !status.ok())
    return status;
  layout_.path = new_file_.temporary_path;
  layout_.file_number = file_number(new_file_.temporary_path);
  return {};
}

// Rank 0.
Status LatePlacement::lay_out_on_root() {
  auto layout = parts_.format->lay_out();
  if (!layout.ok())
    return layout.status();
  if (layout.value().moves && !predicts_)
    if (Status status = start_new_file_on_root(); !status.ok())
      return status;
  layout_.placements = std::move(layout.value().placements);
  return {};
}

// Local.
Status LatePlacement::receive(std::span<const std::byte> bytes) {
  auto decoded = LayoutBroadcast::decode(bytes);
  if (!decoded.ok())
    return decoded.status();
  layout_ = std::move(decoded).value();
  const auto& variables = parts_.metadata.catalog().variables;
  if (layout_.placements.size() != variables.size())
    return {Code::internal, "internal error: a layout of other variables"};
  for (size_t i = 0; i < layout_.placements.size(); ++i)
    layout_.placements[i].big_endian = variables[i].placement.big_endian;
  if (is_rewritten())
    new_layout_ = std::make_shared<const StorageLayout>(layout_.layout);
  return {};
}

// Collective, agreed.
Status LatePlacement::lay_out(Status local) {
  std::vector<std::byte> message;
  if (parts_.comm.rank() == 0 && local.ok())
    local = guard([&] {
      Status status = lay_out_on_root();
      if (status.ok())
        message = layout_.encode();
      return status;
    });
  local = share_from_root(parts_.comm, std::move(local), message);
  if (local.ok())
    local = guard([&] { return receive(message); });
  return agree(parts_.comm, std::move(local));
}

// Local. Copies this rank's share of the bytes of the variables.
Status LatePlacement::copy(FunctionRef<Status()> complete) {
  const bool in_place = !parts_.publication.is_temporary();
  DataFile to(layout_.path, true, parts_.file.options());
  copy_variables({parts_.metadata.catalog().variables, layout_.placements, parts_.comm.rank(), parts_.comm.size(),
                  parts_.buffer_bytes},
                 parts_.file, to);
  Status status = parts_.file.take_status();
  status.update(to.take_status());
  if (parts_.durable && in_place)
    status.update(to.sync());
  status.update(to.close());
  return in_place && status.ok() ? complete() : status;
}

// Rank 0. Sets `named` to whether the new file has the name, also after an error.
Status LatePlacement::publish_on_root(bool& named) {
  const std::array renames{Rename{new_file_.temporary_path, new_file_.final_path, &new_file_.held}};
  if (Status status = parts_.publication.check_replaceable(parts_.file.path()); !status.ok())
    return status;
  const bool durable = parts_.durable && !parts_.publication.is_temporary();
  Status status = publish(renames, durable, {}, &named);
  if (named) {
    parts_.format->take_layout();
    parts_.publication.take_over(std::move(new_file_.held), new_file_.final_path);
  }
  return status;
}

// Collective, agreed.
Status LatePlacement::rewrite(FunctionRef<Status()> complete) {
  Status local = guard([&] { return copy(complete); });
  Trace of_no_flush;
  parts_.file.take_counters(of_no_flush);
  if (Status verdict = agree(parts_.comm, std::move(local)); !verdict.ok())
    return verdict;
  bool named = false;
  local = parts_.comm.rank() == 0 ? guard([&] { return publish_on_root(named); }) : Status{};
  int64_t any_named = named ? 1 : 0;
  Status verdict =
      agree(parts_.comm, std::move(local), Reduction{.maximum = std::span(&any_named, 1), .sum = {}, .bits = {}});
  in_force_ = any_named == 1;
  return verdict;
}

void LatePlacement::enter() noexcept {
  if (is_rewritten()) {
    (void)parts_.file.close();  // the old file, whose errors do not matter any more
    parts_.file.set_number(0, layout_.file_number);
  }
  for (size_t i = 0; i < layout_.placements.size(); ++i)
    parts_.metadata.place(static_cast<int>(i), layout_.placements[i]);
}

Status LatePlacement::place(Status local, FunctionRef<Status()> complete) {
  Status verdict = lay_out(std::move(local));
  laid_out_ = verdict.ok();
  in_force_ = verdict.ok() && !is_rewritten();
  if (in_force_ && parts_.format != nullptr)
    parts_.format->take_layout();
  if (verdict.ok() && is_rewritten())
    verdict = rewrite(complete);
  if (in_force_)
    enter();
  else if (!new_file_.temporary_path.empty())
    remove_temporary_file(new_file_);
  return verdict;
}

Status LatePlacement::predict(Status local) {
  predicts_ = true;
  Status verdict = lay_out(std::move(local));
  if (verdict.ok())
    enter();
  return verdict;
}

}  // namespace windrow
