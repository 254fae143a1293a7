// What the other files share: references, names of attributes, and the probe's own objects.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#endif

#include <ATen/PythonTorchFunctionTLS.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/utils/disable_torch_function.h>

#include <utility>

namespace devfix {

// A strong reference, dropped at the end of its scope.
class Ref {
 public:
  Ref(PyObject* object = nullptr) : object_(object) {}
  Ref(const Ref&) = delete;
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    PyObject* before = std::exchange(object_, std::exchange(other.object_, nullptr));
    Py_XDECREF(before);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

inline PyObject* fresh(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// The objects of the probe that `configure` is given, by the names below. All are strong references, and stay.
#define DEVFIX_OBJECTS(X)                                                                                          \
  X(Tensor) X(Parameter) X(absent) X(keys) X(simple) X(hooks) X(forward_ad) X(listening) X(alone) X(wrap)          \
  X(wrap_new) X(reference) X(plan_of) X(otherwise) X(finish) X(recover) X(Refusal) X(places) X(kinds) X(hops)      \
  X(learn) X(getframe) X(created) X(table) X(roles) X(Record) X(history_of) X(moments) X(CPU)               \
  X(spoken) X(owner) X(Generator) X(generators)

struct Objects {
#define DEVFIX_FIELD(name) PyObject* name = nullptr;
  DEVFIX_OBJECTS(DEVFIX_FIELD)
#undef DEVFIX_FIELD
};
inline Objects ours;

#define DEVFIX_NAMES(X)                                                                                            \
  X(_devfix_gpu) X(_devfix_held) X(_devfix_record) X(_devfix_whole) X(dtype) X(on_created) X(fast_on_created)      \
  X(fast_on_created_cpu) X(failed) X(read) X(_current_level) X(_owned) X(history) X(key) X(special) X(op)          \
  X(kinds) X(refused) X(fresh) X(view) X(source) X(returned) X(reshapes) X(several) X(dtypes) X(raw_repr)    \
  X(device) X(generator) X(pin_memory) X(requires_grad) X(_devfix_draws) X(ndim)

struct Names {
#define DEVFIX_FIELD(name) PyObject* name = nullptr;
  DEVFIX_NAMES(DEVFIX_FIELD)
#undef DEVFIX_FIELD
};
inline Names names;

inline PyObject* type_of(PyObject* object) { return reinterpret_cast<PyObject*>(Py_TYPE(object)); }

inline bool is_plain(PyObject* object) {
  PyObject* type = type_of(object);
  return type == ours.Tensor || type == ours.Parameter;
}

inline bool is_tensor(PyObject* object) {
  return is_plain(object) || PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(ours.Tensor));
}

// The simulated GPU of a tensor, -1 for the host. `ERROR` if an error is set.
constexpr long ERROR = -1000;
inline long gpu_of(PyObject* tensor) {
  Ref value(PyObject_GetAttr(tensor, names._devfix_gpu));
  if (!value) return ERROR;
  const long gpu = PyLong_AsLong(value.get());
  return gpu == -1 && PyErr_Occurred() ? ERROR : gpu;
}

// What an attribute of a module is now: a borrowed reference, never an error.
inline PyObject* attribute(PyObject* dictionary, PyObject* name) { return PyDict_GetItemWithError(dictionary, name); }

// Take the exception that is set, with its traceback, as one object.
inline PyObject* caught() {
#if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#else
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
#endif
}

inline void raise(PyObject* error) {  // takes the reference
#if PY_VERSION_HEX >= 0x030C0000
  PyErr_SetRaisedException(error);
#else
  PyErr_Restore(fresh(type_of(error)), error, PyException_GetTraceback(error));
#endif
}

}  // namespace devfix
