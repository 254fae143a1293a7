// Simulated tensors around the values of new ones, as in tensor.py, which is the reference.
#pragma once
#include "tensors.h"

namespace devfix {

// Keys of a shell beside those of its device, by the kind of device.
inline c10::DispatchKeySet extra_keys() {
  static PyObject* known = nullptr;  // kept, so that no other object gets its address
  static c10::DispatchKeySet keys;
  if (known != ours.keys) {
    Ref raw(PyObject_CallMethodNoArgs(ours.keys, names.raw_repr));
    if (!raw) throw std::runtime_error("no dispatch keys");
    keys = c10::DispatchKeySet(c10::DispatchKeySet::RAW, PyLong_AsUnsignedLongLong(raw.get()));
    Py_XDECREF(std::exchange(known, fresh(ours.keys)));
  }
  return keys;
}

// Bytes up to the last value, as `computeStorageNbytes` in ATen/EmptyTensor.cpp counts them.
inline size_t bytes_of(const c10::TensorImpl& values, int64_t offset) {
  int64_t reach = 1;
  for (size_t at = 0; at < values.sizes().size(); ++at) {
    if (values.sizes()[at] == 0) return 0;
    reach += (values.sizes()[at] - 1) * values.strides()[at];
  }
  return (offset + reach) * values.dtype().itemsize();
}

// What `_make_wrapper_subclass` makes, in torch/csrc/autograd/python_variable.cpp, of the plain class at once.
inline PyObject* empty_shell(const c10::TensorImpl& values, long gpu, int64_t offset) {
  const c10::Device device(c10::DeviceType::Lazy, static_cast<c10::DeviceIndex>(gpu));
  c10::Storage storage(
      c10::Storage::use_byte_size_t{}, bytes_of(values, offset), c10::DataPtr(nullptr, device),
      c10::GetAllocator(c10::DeviceType::Meta), /*resizable=*/true);
  const at::TensorBase made = at::detail::make_tensor_base<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::Lazy) | extra_keys(), values.dtype());
  c10::TensorImpl* shell = made.unsafeGetTensorImpl();
  shell->set_sizes_and_strides(values.sizes(), values.strides(), offset);
  shell->set_python_dispatch(true);  // what a subclass with `__torch_dispatch__` gets
  return THPVariable_Wrap(made);
}

// A shell that holds its values: a new reference, null with an error.
inline PyObject* shell(PyObject* held, long gpu, int64_t offset) {
  Ref made;
  try {
    made = Ref(empty_shell(*implementation(held), gpu, offset));
  } catch (const std::exception& error) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  Ref number(made ? PyLong_FromLong(gpu) : nullptr);
  if (!number || PyObject_SetAttr(made.get(), names._devfix_held, held) < 0 ||
      PyObject_SetAttr(made.get(), names._devfix_gpu, number.get()) < 0)
    return nullptr;
  return made.release();
}

inline PyObject* in_python(PyObject* function, PyObject* held, long gpu) {
  Ref number(PyLong_FromLong(gpu));
  return PyObject_CallFunctionObjArgs(function, held, number.get(), nullptr);
}

// Whether Python has to wrap a tensor: a subclass, another layout, a nested tensor, one that is conjugated or negated
// lazily, a complex dtype, or one that the kind of device lacks.
inline bool is_unusual(PyObject* held) {
  if (!is_plain(held)) return true;
  const c10::TensorImpl& values = *implementation(held);
  constexpr c10::DispatchKeySet unusual(
      {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative, c10::DispatchKey::NestedTensor, c10::DispatchKey::Python});
  if (values.layout() != c10::kStrided || values.key_set().has_any(unusual) || values.has_symbolic_sizes_strides() ||
      c10::isComplexType(c10::typeMetaToScalarType(values.dtype())))
    return true;
  if (PySet_GET_SIZE(ours.absent) == 0) return false;
  Ref dtype(PyObject_GetAttr(held, names.dtype));
  if (dtype && PySet_Contains(ours.absent, dtype.get()) == 0) return false;
  PyErr_Clear();
  return true;
}

// tensor.wrap_new: `held` is a tensor that an operator has just created.
inline PyObject* wrap_new(PyObject* held, long gpu) {
  return is_unusual(held) ? in_python(ours.wrap_new, held, gpu) : shell(held, gpu, 0);
}

// tensor.wrap: `held` may be a view.
inline PyObject* wrap(PyObject* held, long gpu) {
  if (c10::InferenceMode::is_enabled() || is_unusual(held)) return in_python(ours.wrap, held, gpu);
  return shell(held, gpu, implementation(held)->storage_offset());
}

// `wrap` and `wrap_new` for Python: a tensor and the index of its GPU.
template <PyObject* (*function)(PyObject*, long)>
inline PyObject* wrapped(PyObject*, PyObject* const* given, Py_ssize_t count) {
  const long gpu = count == 2 ? PyLong_AsLong(given[1]) : -1;
  if (gpu >= 0 && ours.absent != nullptr) return function(given[0], gpu);
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a tensor and the index of a GPU of the world are expected");
  return nullptr;
}

}  // namespace devfix
