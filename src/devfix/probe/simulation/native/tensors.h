// The C++ side of tensor objects, without PyTorch's header for them, which takes a compiler 8 s.
#pragma once
#include "objects.h"

#include <ATen/core/TensorBase.h>

#include <cstring>
#include <stdexcept>

// torch/csrc/autograd/python_variable.h
C10_IMPORT PyObject* THPVariable_Wrap(const at::TensorBase& tensor);

namespace devfix {

// Where a tensor object has its pointer to the C++ side: first, as in 2.11, or after the flag of a `c10::MaybeOwned`, as
// in 2.6.
inline size_t place_of_pointer = 0;

inline c10::TensorImpl* implementation(PyObject* tensor) {
  c10::TensorImpl* pointer;
  std::memcpy(&pointer, reinterpret_cast<char*>(tensor) + place_of_pointer, sizeof pointer);
  return pointer;
}

// Learn `place_of_pointer` from a tensor; false with an error where it is at none of the places that are known.
inline bool learn_place() {
  const at::TensorBase tensor = at::detail::make_tensor_base<c10::TensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::CPU), caffe2::TypeMeta::Make<float>(), c10::Device(c10::DeviceType::CPU));
  Ref object(THPVariable_Wrap(tensor));
  for (const size_t place : {sizeof(PyObject), sizeof(PyObject) + sizeof(void*)}) {
    place_of_pointer = place;
    if (object && implementation(object.get()) == tensor.unsafeGetTensorImpl()) return true;
  }
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_ImportError, "this torch keeps the C++ side of a tensor elsewhere");
  return false;
}

inline bool is_dense(PyObject* tensor) { return implementation(tensor)->layout() == c10::kStrided; }

inline bool requires_grad(PyObject* tensor) { return implementation(tensor)->requires_grad(); }

}  // namespace devfix
