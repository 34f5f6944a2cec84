// SPDX-License-Identifier: BSD-3-Clause
// The contents of a file: variables, groups, dimensions, links, texts.
#include "bindings.hpp"

namespace windrow_python {
namespace {

nb::list numbers(const int64_t* first, int count) {
  nb::list list;
  for (int i = 0; i < count; ++i)
    list.append(first[i]);
  return list;
}

nb::dict variable(const File& file, int number) {
  windrow_variable_info info{};
  info.size = sizeof info;
  check(windrow_inquire_variable(file.get(), number, &info));
  nb::dict result;
  result["path"] = std::string(info.path);
  result["type"] = info.type;
  result["shape"] = nb::tuple(numbers(info.shape, info.ndims));
  result["chunks"] = info.chunked != 0 ? nb::object(nb::tuple(numbers(info.chunk, info.ndims))) : nb::none();
  result["big_endian"] = info.big_endian != 0;
  result["unsupported"] = std::string(info.unsupported);
  result["extendible"] = info.extendible != 0;
  result["filters"] = std::string(info.filters);
  result["elements"] = info.elements;
  result["element_bytes"] = info.element_bytes;
  result["is_null"] = info.is_null != 0;
  result["text_characters"] = std::string(info.text_characters);
  result["text_padding"] = std::string(info.text_padding);
  result["opaque_tag"] = std::string(info.opaque_tag);
  result["enumeration"] = std::string(info.enumeration);
  result["fill_value"] = std::string(info.fill_value);
  result["split"] = std::string(info.split);
  nb::list dimensions;
  for (int d = 0; d < info.ndims; ++d)
    dimensions.append(std::string(info.dimension_names[d]));
  result["dimensions"] = nb::tuple(dimensions);
  return result;
}

// The name of a call on texts. It has the variable, because all ranks must name the same one. For numbers they need
// not.
std::string texts_of(const File& file, const char* call, int number) {
  windrow_variable_info info{};
  info.size = sizeof info;
  check(windrow_inquire_variable(file.get(), number, &info));
  return std::string(call) + " texts of " + info.path;
}

int define_variable(File& file, const std::string& call, const std::string& path, int type, const Numbers& shape,
                    const Settings& settings, const std::string& problem) {
  return without_gil([&] {
    int number = -1;
    file.together(call, problem, [&](windrow_file* handle) {
      return windrow_define_variable_with(handle, path.c_str(), type, static_cast<int>(shape.size()), shape.data(),
                                          Options(settings).get(), &number);
    });
    return number;
  });
}

std::vector<int> define_variables(File& file, const std::string& call, const std::vector<std::string>& paths,
                                  const std::vector<int>& types, const std::vector<Numbers>& shapes,
                                  const std::vector<Settings>& settings, const std::string& problem) {
  return without_gil([&] {
    std::vector<int> numbers(paths.size(), -1);
    file.together(call, problem, [&](windrow_file* handle) {
      std::vector<Options> options;
      std::vector<windrow_variable_definition> definitions;
      for (size_t i = 0; i < paths.size(); ++i) {
        options.emplace_back(settings[i]);
        definitions.push_back(
            {paths[i].c_str(), types[i], static_cast<int>(shapes[i].size()), shapes[i].data(), options.back().get()});
      }
      return windrow_define_variables(handle, static_cast<int>(paths.size()), definitions.data(), numbers.data());
    });
    return numbers;
  });
}

void name_dimensions(File& file, int number, const std::vector<std::string>& names, const std::string& problem) {
  std::vector<const char*> texts;
  for (const std::string& name : names)
    texts.push_back(name.c_str());
  without_gil([&] {
    file.together("name_dimensions", problem,
                  [&](windrow_file* handle) { return windrow_name_dimensions(handle, number, texts.data()); });
  });
}

int find_variable(const File& file, const std::string& path) {
  int number = -1;
  return windrow_find_variable(file.get(), path.c_str(), &number) == WINDROW_OK ? number : -1;
}

int kind_of(const File& file, const std::string& path) {
  int kind = WINDROW_NOTHING;
  check(windrow_inquire_object(file.get(), path.c_str(), &kind));
  return kind;
}

nb::list groups(const File& file) {
  nb::list result;
  for (int i = 0; i < windrow_group_count(file.get()); ++i)
    result.append(std::string(windrow_group_path(file.get(), i)));
  return result;
}

nb::dict dimensions(const File& file) {
  nb::dict result;
  for (int i = 0; i < windrow_dimension_count(file.get()); ++i) {
    const char* path = "";
    int64_t length = 0;
    check(windrow_inquire_dimension(file.get(), i, &path, &length));
    result[nb::cast(std::string(path))] = length;
  }
  return result;
}

nb::dict links(const File& file) {
  nb::dict result;
  for (int i = 0; i < windrow_link_count(file.get()); ++i) {
    const char* path = "";
    const char* target = "";
    check(windrow_inquire_link(file.get(), i, &path, &target));
    result[nb::cast(std::string(path))] = std::string(target);
  }
  return result;
}

nb::list subfiles(const File& file) {
  nb::list result;
  for (int i = 0; i < windrow_subfile_count(file.get()); ++i)
    result.append(std::string(windrow_subfile_name(file.get(), i)));
  return result;
}

void put_texts(File& file, int number, const std::vector<std::string>& texts, const std::string& problem) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts)
    pointers.push_back(text.c_str());
  without_gil([&] {
    file.together(texts_of(file, "write", number), problem,
                  [&](windrow_file* handle) { return windrow_put_texts(handle, number, pointers.data()); });
  });
}

std::vector<std::string> get_texts(File& file, int number, int64_t elements, const std::string& problem) {
  return without_gil([&] {
    std::vector<const char*> pointers(static_cast<size_t>(elements));
    file.together(texts_of(file, "read", number), problem,
                  [&](windrow_file* handle) { return windrow_get_texts(handle, number, pointers.data()); });
    return std::vector<std::string>(pointers.begin(), pointers.end());
  });
}

}  // namespace

void bind_objects(nb::module_& module, nb::class_<File, OpenFile>& file) {
  module.attr("GROUP") = static_cast<int>(WINDROW_GROUP);
  module.attr("VARIABLE") = static_cast<int>(WINDROW_VARIABLE);
  module.attr("NOTHING") = static_cast<int>(WINDROW_NOTHING);
  file.def("variable_count", [](const File& self) { return windrow_variable_count(self.get()); })
      .def("variable", &variable)
      .def("find_variable", &find_variable)
      .def("kind", &kind_of)
      .def("groups", &groups)
      .def("dimensions", &dimensions)
      .def("links", &links)
      .def("subfiles", &subfiles)
      .def("unsupported_objects", [](const File& self) { return std::string(windrow_unsupported_objects(self.get())); })
      .def("define_variable", &define_variable)
      .def("define_variables", &define_variables)
      .def("name_dimensions", &name_dimensions)
      .def("put_texts", &put_texts)
      .def("get_texts", &get_texts)
      .def("define_group",
           [](File& self, const std::string& path, const std::string& problem) {
             without_gil([&] {
               self.together("create_group", problem,
                             [&](windrow_file* handle) { return windrow_define_group(handle, path.c_str()); });
             });
           })
      .def("define_dimension",
           [](File& self, const std::string& path, int64_t length, const std::string& problem) {
             without_gil([&] {
               self.together("create_dimension", problem, [&](windrow_file* handle) {
                 return windrow_define_dimension(handle, path.c_str(), length);
               });
             });
           })
      .def("define_link",
           [](File& self, const std::string& path, const std::string& target, const std::string& problem) {
             without_gil([&] {
               self.together("create_link", problem, [&](windrow_file* handle) {
                 return windrow_define_link(handle, path.c_str(), target.c_str());
               });
             });
           });
}

}  // namespace windrow_python
