// SPDX-License-Identifier: BSD-3-Clause
// A folder of one test, removed with its contents at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace windrow::test {

class TemporaryFolder {
 public:
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  explicit TemporaryFolder(const std::filesystem::path& within) {
    std::string name = (within / "windrow test XXXXXX").string();
    path_ = ::mkdtemp(name.data()) ? name : "";
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty())
      std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace windrow::test
