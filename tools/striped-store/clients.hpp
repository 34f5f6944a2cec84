// SPDX-License-Identifier: BSD-3-Clause
// The mounts of a store, each a client of its own with threads of its own.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <thread>

#include "operations.hpp"

struct fuse_session;

namespace striped_store {

class Clients {
 public:
  Clients(Store& store, Nodes& nodes) : store_(store), nodes_(nodes) {}
  ~Clients() { unmount(); }

  // Mounts all; empty, or why not, and then none is mounted.
  std::string mount();
  void serve();    // until all mounts have ended
  void unmount();  // also where programs have files open; their next call fails

 private:
  struct Session {
    Client client;
    std::string mount;
    fuse_session* fuse = nullptr;
  };
  std::string mount_one(int number);

  Store& store_;
  Nodes& nodes_;
  std::list<Session> sessions_;
};

}  // namespace striped_store
