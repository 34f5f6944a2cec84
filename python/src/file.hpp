// SPDX-License-Identifier: BSD-3-Clause
// An open file and a decomposition for the Python package. Arguments are numbers and addresses that it has checked.
#pragma once

#include <windrow/windrow.h>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agreement.hpp"
#include "communicator.hpp"
#include "failure.hpp"

namespace windrow_python {

using Settings = std::map<std::string, std::string>;
using Numbers = std::vector<int64_t>;

class Options {
 public:
  explicit Options(const Settings& settings) {
    windrow_options* made = nullptr;
    check(windrow_options_create(&made));
    options_.reset(made);
    for (const auto& [key, value] : settings)
      check(windrow_options_set(made, key.c_str(), value.c_str()));
  }
  const windrow_options* get() const { return options_.get(); }

 private:
  struct Free {
    void operator()(windrow_options* options) const { windrow_options_free(options); }
  };
  std::unique_ptr<windrow_options, Free> options_;
};

struct FreeDecomposition {
  void operator()(windrow_decomposition* decomposition) const { windrow_decomposition_free(decomposition); }
};
using Decomposition = std::unique_ptr<windrow_decomposition, FreeDecomposition>;

// The pieces of a rank in the file and in memory: [blocks][dimensions], offsets [blocks]. Without offsets they are
// consecutive.
struct Pieces {
  int64_t blocks = 0;
  const int64_t* starts = nullptr;
  const int64_t* counts = nullptr;
  const int64_t* memory_offsets = nullptr;
  const int64_t* memory_strides = nullptr;
};

// Elements in this rank's memory.
struct Memory {
  int type = 0;
  void* data = nullptr;
};

// An open file of any kind. Each collective call has an argument `problem`: the error in this rank's arguments, or "".
// All ranks make the call, and all throw the error of the lowest rank that has one.
class OpenFile {
 public:
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  virtual ~OpenFile();

  bool is_open() const { return number_ != 0; }
  AgreementComm& agreements() const { return *agreements_; }
  void agree(const std::string& call, const std::string& problem);  // Collective.
  void close(const std::string& problem);                           // Collective.
  // Collective; the other ranks may be in any call on any file of the communicator. All ranks discard this file.
  void abandon(const std::string& reason);
  // The same with a time limit. Returns whether the other ranks have called in time; otherwise the file stays open.
  bool abandon_within(double seconds, const std::string& reason);

 protected:
  OpenFile(const Communicator& comm, const std::string& problem);  // Collective. The derived class opens the file.
  void opened(const std::string& path);
  void check_open() const;           // throws when the file is closed
  virtual int close_handle() = 0;    // Collective.
  virtual int discard_handle() = 0;  // Collective.

  std::shared_ptr<AgreementComm> agreements_;

 private:
  void closed();

  int64_t number_ = 0;  // of AgreementComm::add(); 0: closed
};

// A file of variables.
class File : public OpenFile {
 public:
  static constexpr int k_create = -1;  // in addition to enum windrow_mode
  File(const Communicator& comm, const std::string& path, int mode, const Settings& settings,
       const std::string& problem);

  windrow_file* get() const;  // throws when the file is closed
  // Collective: agree(), then `action`, whose code is checked.
  template <class Action>
  void together(const std::string& call, const std::string& problem, Action&& action) {
    agree(call, problem);
    check(action(get()));
  }
  void move(bool put, int variable, const Pieces& pieces, Memory memory, const std::string& problem);  // Collective.

 private:
  int close_handle() override { return windrow_close(std::exchange(file_, nullptr)); }
  int discard_handle() override { return windrow_discard(std::exchange(file_, nullptr)); }

  // The program's communicator, to which the library has attached its caches. It may be freed before the file is
  // closed.
  Communicator given_;
  std::shared_ptr<const bool> given_is_there_;
  windrow_file* file_ = nullptr;
};

}  // namespace windrow_python
