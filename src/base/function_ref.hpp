// SPDX-License-Identifier: BSD-3-Clause
// FunctionRef: a reference to a function object that outlives the call that takes it. std::function would copy the
// object, which needs memory; a rank may have none on its way into a collective call.
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
  FunctionRef(const Function& function) noexcept  // NOLINT(google-explicit-constructor): passed as an argument
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
