// Simulated tensors around the values of new ones, as in tensor.py, which is the reference.
#pragma once
#include "objects.h"

namespace devfix {

inline PyObject* shell(
    PyObject* held, long gpu, PyObject* shape, PyObject* strides, PyObject* offset, PyObject* dtype) {
  PyObject* arguments[] = {
      ours.Shell, shape, strides, offset, Py_None, dtype, ours.strided, PyList_GetItem(ours.lazy, gpu),
      Py_False, Py_False, Py_None, Py_False, Py_False, ours.keys};
  if (arguments[7] == nullptr) return nullptr;
  Ref made(PyObject_Vectorcall(ours.make, arguments, 14, nullptr));
  if (!made) return nullptr;
  Ref number(PyLong_FromLong(gpu));
  if (PyObject_SetAttr(made.get(), names.__class__, ours.Tensor) < 0 ||
      PyObject_SetAttr(made.get(), names._devfix_held, held) < 0 ||
      PyObject_SetAttr(made.get(), names._devfix_gpu, number.get()) < 0)
    return nullptr;
  return made.release();
}

inline PyObject* in_python(PyObject* function, PyObject* held, long gpu) {
  Ref number(PyLong_FromLong(gpu));
  return PyObject_CallFunctionObjArgs(function, held, number.get(), nullptr);
}

// Whether `wrap` would look at a tensor twice: another layout, a dtype that the kind lacks or that may be conjugate.
inline int is_unusual(PyObject* held, PyObject* dtype) {
  Ref layout(Py_TYPE(ours.layout)->tp_descr_get(ours.layout, held, type_of(held)));
  if (!layout) return -1;
  return layout.get() != ours.strided ? 1 : PySet_Contains(ours.special, dtype);
}

// tensor.wrap_new: `held` is a tensor that an operator has just created.
inline PyObject* wrap_new(PyObject* held, long gpu) {
  Ref dtype(PyObject_GetAttr(held, names.dtype));
  if (!dtype) return nullptr;
  const int unusual = is_unusual(held, dtype.get());
  if (unusual < 0) return nullptr;
  Ref shape(unusual ? nullptr : PyObject_GetAttr(held, names.shape));
  if (!shape) {  // also that of a nested tensor, which has none
    PyErr_Clear();
    return in_python(ours.wrap_new, held, gpu);
  }
  Ref strides(PyObject_CallOneArg(ours.stride, held));
  return strides ? shell(held, gpu, shape.get(), strides.get(), Py_None, dtype.get()) : nullptr;
}

// tensor.wrap: `held` may be a view.
inline PyObject* wrap(PyObject* held, long gpu) {
  Ref dtype(PyObject_GetAttr(held, names.dtype)), nested(PyObject_GetAttr(held, names.is_nested));
  if (!dtype || !nested) return nullptr;
  const int unusual = is_unusual(held, dtype.get());
  if (unusual < 0) return nullptr;
  Ref negative(unusual ? nullptr : PyObject_CallOneArg(ours.is_neg, held));
  if (c10::InferenceMode::is_enabled() || nested.get() != Py_False || unusual || negative.get() != Py_False) {
    PyErr_Clear();
    return in_python(ours.wrap, held, gpu);
  }
  Ref shape(PyObject_GetAttr(held, names.shape)), strides(PyObject_CallOneArg(ours.stride, held));
  Ref offset(PyObject_CallMethodNoArgs(held, names.storage_offset));
  if (!shape || !strides || !offset) return nullptr;
  return shell(held, gpu, shape.get(), strides.get(), offset.get(), dtype.get());
}

}  // namespace devfix
