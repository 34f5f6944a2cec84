// SPDX-License-Identifier: BSD-3-Clause
// File: definitions. They forward to DefineProtocol, VariableDefinitions and WholeVariables. File adds the check that
// it may be written, and decides how variables are split over subfiles.
#include <algorithm>
#include <utility>

#include "definitions/variable_definitions.hpp"
#include "definitions/whole_variables.hpp"
#include "publication/viewer_grids.hpp"
#include "session/file.hpp"
#include "subfiling/part_definitions.hpp"

namespace windrow {

DefineProtocol::Parts File::definition_parts() noexcept {
  return {.comm = *comm_, .metadata = metadata_, .allocator = allocator_, .format = format_.get(), .set = set_};
}

// Collective. Calls work(local), the collective definition. `what`: what the call does, for the message of the error
// that the file is open for reading.
template <class Work>
auto File::define(Call call, std::string_view what, Status local, Work&& work) -> decltype(work(Status{})) {
  const CallScope scope(*comm_, call, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  if (local.ok())
    local = guard([&] { return check_writable(what); });
  return work(std::move(local));
}

Status File::define_group(const std::string& path, Status local) {
  return define(Call::define_group, "define a group", std::move(local), [&](Status checked) {
    return DefineProtocol(definition_parts()).define_group(path, std::move(checked));
  });
}

Status File::put_attribute(const std::string& object, Attribute attribute, Status local) {
  return define(Call::put_attribute, "write an attribute", std::move(local), [&](Status checked) {
    return DefineProtocol(definition_parts()).put_attribute(object, std::move(attribute), std::move(checked));
  });
}

Status File::delete_attribute(const std::string& object, const std::string& name, Status local) {
  return define(Call::delete_attribute, "delete an attribute", std::move(local), [&](Status checked) {
    return DefineProtocol(definition_parts()).delete_attribute(object, name, std::move(checked));
  });
}

Status File::define_link(const std::string& path, const std::string& target, Status local) {
  return define(Call::define_link, "define a link", std::move(local), [&](Status checked) {
    return DefineProtocol(definition_parts()).define_link(path, target, std::move(checked));
  });
}

Status File::define_dimension(const std::string& path, int64_t length, Status local) {
  return define(Call::define_dimension, "define a dimension", std::move(local), [&](Status checked) {
    return DefineProtocol(definition_parts()).define_dimension(path, length, std::move(checked));
  });
}

Status File::name_dimensions(int variable, const std::vector<std::string>& names, Status local) {
  return define(Call::name_dimensions, "name dimensions", std::move(local), [&](Status checked) {
    return DefineProtocol(definition_parts()).name_dimensions(variable, names, std::move(checked));
  });
}

Result<int> File::define_grid(ViewerGrid grid, Status local) {
  return define(Call::define_grid, "describe a grid", std::move(local), [&](Status checked) {
    return windrow::define_grid(*comm_, metadata_.catalog(), grids_, std::move(grid), std::move(checked));
  });
}

Status File::define_field(int grid, GridField field, Status local) {
  return define(Call::define_field, "describe a field", std::move(local), [&](Status checked) {
    return windrow::define_field(*comm_, metadata_.catalog(), grids_, grid, std::move(field), std::move(checked));
  });
}

Status File::put_texts(int variable, std::vector<std::string> texts, Status local) {
  return define(Call::put_texts, "put texts", std::move(local), [&](Status checked) {
    return WholeVariables(definition_parts()).put_texts(variable, texts, std::move(checked));
  });
}

Status File::get_texts(int variable, const std::function<void(std::span<const std::string>)>& take, Status local) {
  const CallScope call(*comm_, Call::get_texts, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  return WholeVariables(definition_parts()).get_texts(variable, take, std::move(local));
}

Result<BoxList> File::written_boxes(int variable, Status local) {
  const CallScope call(*comm_, Call::inquire_written, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  return WholeVariables(definition_parts()).written_boxes(variable, std::move(local));
}

// Local. Checks definitions of variables, allocates memory for them, and sets `splits` to how they are split. Sets
// `request` if the file must become a set first.
Status File::check_variables(VariableDefinitions& made, std::span<const VariableDefinition> definitions,
                             SubfileRequest& request, std::map<int, SplitVariable>& splits) {
  if (Status status = definitions.empty() ? Status{} : check_writable("define a variable"); !status.ok())
    return status;
  if (Status status = made.check(); !status.ok())
    return status;
  const Catalog& catalog = metadata_.catalog();
  const auto first = static_cast<int>(catalog.variables.size());
  const SplitPolicy policy = split_policy();
  auto wanted = policy.request_for(definitions);
  if (!wanted.ok())
    return wanted.status();
  request = wanted.value();
  if (set_.map()) {
    auto found = policy.split(definitions, first);
    if (!found.ok())
      return found.status();
    splits = std::move(found).value();
    if (Status status = policy.check_room(definitions, splits, first); !status.ok())
      return status;
  }
  if (request.count > 0)
    return {};
  const auto is_elsewhere = [&](size_t variable) {
    const auto number = static_cast<int>(variable);
    return splits.contains(number) || find_split(set_.map().get(), number) != nullptr;
  };
  if (comm_->rank() == 0)
    if (Status status = allocator_.check_size(definitions, is_elsewhere); !status.ok())
      return status;
  made.reserve();
  return grow_reduction(catalog.variables.size() + definitions.size());
}

// Collective, agreed.
Status File::make_parts(std::span<const VariableDefinition> definitions, std::map<int, SplitVariable>& splits,
                        int first) {
  if (splits.empty())
    return {};
  if (Status verdict = define_parts(definitions, splits, first); !verdict.ok())
    return verdict;
  for (const auto& [variable, split] : splits)
    write_state_[static_cast<size_t>(variable)].changed = true;
  set_.map()->variables().merge(splits);
  return {};
}

Result<int> File::define_variables(std::span<VariableDefinition> definitions, Status local) {
  const CallScope call(*comm_, Call::define_variables, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  VariableDefinitions made(definition_parts(), write_state_, definitions);
  SubfileRequest request;
  std::map<int, SplitVariable> splits;
  if (local.ok())
    local = guard([&] { return check_variables(made, definitions, request, splits); });
  if (Status verdict = made.compare(std::move(local), request.count == 0 && splits.empty()); !verdict.ok())
    return verdict;
  if (request.count > 0) {
    if (Status verdict = become_set(request); !verdict.ok())
      return verdict;
    return define_variables(definitions, {});
  }
  // Also if the definition fails: a subfile that was closed to open another one may have been rewritten.
  allocator_.mark_unplaced();
  const auto first = static_cast<int>(metadata_.catalog().variables.size());
  if (Status verdict = make_parts(definitions, splits, first); !verdict.ok())
    return verdict;
  Status verdict = made.make();
  if (set_.map())
    PartDefinitions(set_).end(static_cast<int>(metadata_.catalog().variables.size()), verdict.ok());
  if (std::ranges::any_of(definitions, &VariableDefinition::extendible))
    allocator_.grow_as_one(static_cast<size_t>(first));
  update_set();
  if (!verdict.ok())
    return verdict;
  return first;
}

}  // namespace windrow
