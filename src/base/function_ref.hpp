// SPDX-License-Identifier: BSD-3-Clause
// FunctionRef: refers to a function object that lives as long as the call that takes it. A copy of one, as
// std::function makes, would need memory, which a rank may not have on its way into a collective call.
#pragma once

#include <utility>

namespace windrow {

template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  FunctionRef() = default;
  template <class Function>
  FunctionRef(const Function& function) noexcept  // NOLINT(google-explicit-constructor): given as an argument
      : function_(&function), call_([](const void* object, Arguments... arguments) -> Result {
          return (*static_cast<const Function*>(object))(std::forward<Arguments>(arguments)...);
        }) {}
  explicit operator bool() const noexcept { return function_ != nullptr; }
  Result operator()(Arguments... arguments) const { return call_(function_, std::forward<Arguments>(arguments)...); }

 private:
  const void* function_ = nullptr;
  Result (*call_)(const void*, Arguments...) = nullptr;
};

}  // namespace windrow
