// Configurable and Customizable: base classes of objects that a program supplies or chooses, such
// as Comparator, MergeOperator, TableFactory, Env and SystemClock. They describe an object by its
// names and by its options as text.
//
// I1: GetOptionString returns text from which CreateFromString, if the class has it, creates an
//     equal object.
// I2: CheckedCast<T> returns this object, or one that it wraps, only if it is an instance of
//     T::kClassName(). Only one class has this name.
//
// The engine calls GetId, Name and GetOptions. It calls neither PrepareOptions nor ValidateOptions,
// because the program is responsible for the options of its objects. RocksDB's tables of options
// (RegisterOptions, ConfigureFromMap, ObjectRegistry) are not provided. A program creates its own
// objects.
//
// Thread safety: const methods may be called from any thread.
#pragma once

#include <string>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

struct ColumnFamilyOptions;
struct ConfigOptions;
struct DBOptions;

class ASHLAR_API Configurable {
 public:
  virtual ~Configurable() = default;

  // The options struct of this name (first form: T::kName()) in this object or in one that it
  // wraps. Null if there is none. The struct lives as long as the object. Change it only before the
  // object is passed to a database.
  template <typename T>
  const T* GetOptions() const {
    return GetOptions<T>(T::kName());
  }
  template <typename T>
  T* GetOptions() {
    return GetOptions<T>(T::kName());
  }
  template <typename T>
  const T* GetOptions(const std::string& name) const {
    return static_cast<const T*>(GetOptionsPtr(name));
  }
  template <typename T>
  T* GetOptions(const std::string& name) {
    return static_cast<T*>(const_cast<void*>(GetOptionsPtr(name)));
  }

  // I1: "name=value;name=value", or a name alone. ToString encloses the text in braces if it has
  //     values, as in the value of an option.
  Status GetOptionString(const ConfigOptions& config_options, std::string* result) const;
  std::string ToString(const ConfigOptions& config_options) const {
    return ToString(config_options, "");
  }
  std::string ToString(const ConfigOptions& config_options, const std::string& prefix) const;
  // Text for people. Default: empty.
  virtual std::string GetPrintableOptions() const { return ""; }

  // For programs and their own classes. Default: Ok; a wrapper calls the object that it wraps.
  virtual Status PrepareOptions(const ConfigOptions& config_options);
  virtual Status ValidateOptions(const DBOptions& db_options,
                                 const ColumnFamilyOptions& family_options) const;

 protected:
  virtual const void* GetOptionsPtr(const std::string& name) const;
  // The text of I1. prefix: for classes of the program that write it before each name. Default:
  // empty.
  virtual std::string SerializeOptions(const ConfigOptions& config_options,
                                       const std::string& prefix) const;
};

class ASHLAR_API Customizable : public Configurable {
 public:
  // The name of the class, or of the object if objects of the class have different names.
  virtual const char* Name() const = 0;
  // Text that names the object with its parameters. Default: Name().
  virtual std::string GetId() const { return Name(); }
  // Whether the name is Name() or NickName() of this object. Names of Inner() do not count.
  virtual bool IsInstanceOf(const std::string& name) const;

  // I2; null if there is none.
  template <typename T>
  const T* CheckedCast() const {
    for (const Customizable* object = this; object != nullptr; object = object->Inner()) {
      if (object->IsInstanceOf(T::kClassName())) return static_cast<const T*>(object);
    }
    return nullptr;
  }
  template <typename T>
  T* CheckedCast() {
    return const_cast<T*>(static_cast<const Customizable*>(this)->CheckedCast<T>());
  }

  // The object that this one wraps. Default: null, for none.
  virtual const Customizable* Inner() const { return nullptr; }

  Status PrepareOptions(const ConfigOptions& config_options) override;
  Status ValidateOptions(const DBOptions& db_options,
                         const ColumnFamilyOptions& family_options) const override;

 protected:
  // A second name. Default: none.
  virtual const char* NickName() const { return ""; }
  // Default: calls Inner().
  const void* GetOptionsPtr(const std::string& name) const override;
  // Default: GetId(), without braces.
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& prefix) const override;
};

}  // namespace ashlar
