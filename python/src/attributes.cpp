// SPDX-License-Identifier: BSD-3-Clause
#include "bindings.hpp"

namespace windrow_python {
namespace {

nb::dict attribute(const File& file, const std::string& object, int number) {
  windrow_attribute_info info{};
  info.size = sizeof info;
  check(windrow_inquire_attribute(file.get(), object.c_str(), number, &info));
  nb::dict result;
  result["name"] = std::string(info.name);
  result["type"] = info.type;
  nb::list shape;
  for (int d = 0; d < info.ndims; ++d)
    shape.append(info.shape[d]);
  result["shape"] = nb::tuple(shape);
  result["elements"] = info.elements;
  result["element_bytes"] = info.element_bytes;
  result["is_null"] = info.is_null != 0;
  result["unsupported"] = std::string(info.unsupported);
  result["enumeration"] = std::string(info.enumeration);
  return result;
}

void get_attribute(const File& file, const std::string& object, const std::string& name, int type, uintptr_t data) {
  check(windrow_get_attribute(file.get(), object.c_str(), name.c_str(), type, pointer_of(data)));
}

std::vector<std::string> get_attribute_texts(const File& file, const std::string& object, const std::string& name,
                                             int type, int64_t elements) {
  std::vector<const char*> texts(static_cast<size_t>(elements));
  check(windrow_get_attribute(file.get(), object.c_str(), name.c_str(), type, texts.data()));
  return {texts.begin(), texts.end()};
}

void put_attribute(File& file, const std::string& object, const std::string& name, int type, const Numbers& shape,
                   uintptr_t data, const Settings& settings, const std::string& problem) {
  const Options options(settings);  // checked by the package
  without_gil([&] {
    file.together("attribute", problem, [&](windrow_file* handle) {
      return windrow_put_attribute_with(handle, object.c_str(), name.c_str(), type, static_cast<int>(shape.size()),
                                        shape.data(), pointer_of(data), options.get());
    });
  });
}

void put_attribute_texts(File& file, const std::string& object, const std::string& name, const Numbers& shape,
                         const std::vector<std::string>& texts, const Settings& settings, const std::string& problem) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts)
    pointers.push_back(text.c_str());
  put_attribute(file, object, name, WINDROW_TEXT, shape, reinterpret_cast<uintptr_t>(pointers.data()), settings,
                problem);
}

void copy_attribute(File& file, const std::string& object, const File& from, const std::string& from_object,
                    const std::string& name, const std::string& problem) {
  without_gil([&] {
    file.together("copy attribute", problem, [&](windrow_file* handle) {
      return windrow_copy_attribute(handle, object.c_str(), from.get(), from_object.c_str(), name.c_str());
    });
  });
}

void delete_attribute(File& file, const std::string& object, const std::string& name, const std::string& problem) {
  without_gil([&] {
    file.together("delete attribute", problem,
                  [&](windrow_file* handle) { return windrow_delete_attribute(handle, object.c_str(), name.c_str()); });
  });
}

}  // namespace

void bind_attributes(nb::module_& module, nb::class_<File, OpenFile>& file) {
  module.attr("TEXT") = static_cast<int>(WINDROW_TEXT);
  module.attr("OPAQUE") = static_cast<int>(WINDROW_OPAQUE);
  module.attr("REFERENCE") = static_cast<int>(WINDROW_REFERENCE);
  module.attr("FLOAT16") = static_cast<int>(WINDROW_FLOAT16);
  module.def("type_name", &windrow_type_name);
  file.def("attribute_count",
           [](const File& self, const std::string& object) {
             return windrow_attribute_count(self.get(), object.c_str());
           })
      .def("attribute", &attribute)
      .def("get_attribute", &get_attribute)
      .def("get_attribute_texts", &get_attribute_texts)
      .def("put_attribute", &put_attribute)
      .def("put_attribute_texts", &put_attribute_texts)
      .def("copy_attribute", &copy_attribute)
      .def("delete_attribute", &delete_attribute);
}

}  // namespace windrow_python
