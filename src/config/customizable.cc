#include "ashlar/customizable.h"

#include "base/format.h"

namespace ashlar {

Status Configurable::GetOptionString(const ConfigOptions& config_options,
                                     std::string* result) const {
  *result = SerializeOptions(config_options, "");
  return Status::OK();
}

std::string Configurable::ToString(const ConfigOptions& config_options,
                                   const std::string& prefix) const {
  const std::string text = SerializeOptions(config_options, prefix);
  return text.find('=') == std::string::npos ? text : StrCat("{", text, "}");
}

Status Configurable::PrepareOptions(const ConfigOptions&) { return Status::OK(); }

Status Configurable::ValidateOptions(const DBOptions&, const ColumnFamilyOptions&) const {
  return Status::OK();
}

const void* Configurable::GetOptionsPtr(const std::string&) const { return nullptr; }

std::string Configurable::SerializeOptions(const ConfigOptions&, const std::string&) const {
  return {};
}

bool Customizable::IsInstanceOf(const std::string& name) const {
  const char* const nick_name = NickName();
  return !name.empty() && (name == Name() || (nick_name != nullptr && name == nick_name));
}

Status Customizable::PrepareOptions(const ConfigOptions& config_options) {
  // An object that wraps another may change it.
  auto* const inner = const_cast<Customizable*>(Inner());
  return inner == nullptr ? Status::OK() : inner->PrepareOptions(config_options);
}

Status Customizable::ValidateOptions(const DBOptions& db_options,
                                     const ColumnFamilyOptions& family_options) const {
  const Customizable* const inner = Inner();
  return inner == nullptr ? Status::OK() : inner->ValidateOptions(db_options, family_options);
}

const void* Customizable::GetOptionsPtr(const std::string& name) const {
  const Customizable* const inner = Inner();
  return inner == nullptr ? nullptr : inner->GetOptionsPtr(name);
}

std::string Customizable::SerializeOptions(const ConfigOptions&, const std::string&) const {
  const std::string id = GetId();
  const bool has_braces = id.size() >= 2 && id.front() == '{' && id.back() == '}';
  return has_braces ? id.substr(1, id.size() - 2) : id;
}

}  // namespace ashlar
