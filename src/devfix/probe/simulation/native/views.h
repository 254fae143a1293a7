// Fast paths of functions that return a view, as in fast_path.py and indexing.py, which are the reference.
#pragma once
#include "paths.h"

namespace devfix {

// The result of a function that may return a view of its first argument, which is a plain tensor; it is observed by nobody.
inline PyObject* viewed(const Call& call) {
  PyObject* tensor = call.args[0];
  const long gpu = gpu_of(tensor);
  if (gpu == ERROR) return nullptr;
  if (gpu < 0) return hosted(call, tensor, tensor);
  if (c10::GradMode::is_enabled() || requires_grad(tensor)) return call.regular();
  Ref held(held_by(tensor));
  if (!held) return nullptr;
  Ref result(with_held(call, held.get()));
  if (!result && PyErr_Occurred()) return nullptr;
  if (!result || type_of(result.get()) != ours.Tensor) return call.regular();
  if (result.get() == held.get()) return fresh(tensor);
  Ref made(wrap(result.get(), gpu)), whole(PyObject_GetAttr(tensor, names._devfix_whole));
  if (!made || !whole ||
      PyObject_SetAttr(made.get(), names._devfix_whole, whole.get() == Py_None ? tensor : whole.get()) < 0 ||
      !record(call, made.get(), tensor, false))
    return nullptr;
  return made.release();
}

inline PyObject* of_view(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Call call{reinterpret_cast<Path*>(self), args, flags, keywords};
  const Py_ssize_t all = call.all();
  if (call.count() == 0 || all > MOST || type_of(args[0]) != ours.Tensor || !are_simple(args + 1, all - 1) || !is_alone())
    return call.regular();
  return viewed(call);
}

// indexing._is_fixed: an index without tensors, lists, and what C++ would make a tensor of.
inline bool is_fixed(PyObject* index, bool inner = false) {
  if (PyLong_CheckExact(index) || index == Py_None || index == Py_Ellipsis) return true;
  if (PySlice_Check(index)) {
    const PySliceObject* part = reinterpret_cast<PySliceObject*>(index);
    const auto is_number = [](PyObject* end) { return end == Py_None || PyLong_CheckExact(end); };
    return part->step == Py_None && is_number(part->start) && is_number(part->stop);
  }
  if (inner || !PyTuple_CheckExact(index)) return false;
  for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(index); ++at)
    if (!is_fixed(PyTuple_GET_ITEM(index, at), true)) return false;
  return true;
}

// indexing._getitem
inline PyObject* of_item(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Call call{reinterpret_cast<Path*>(self), args, flags, keywords};
  if (call.count() != 2 || call.all() != 2 || type_of(args[0]) != ours.Tensor || !is_fixed(args[1]) || !is_alone())
    return call.regular();
  return viewed(call);
}

// `detach` of a tensor on a GPU, which needs no graph: the new shell counts writes together with the other one, as the
// view of `make_variable_non_differentiable_view` in torch/csrc/autograd/variable.cpp does.
inline PyObject* of_detach(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Call call{reinterpret_cast<Path*>(self), args, flags, keywords};
  if (call.count() != 1 || call.all() != 1 || !is_plain(args[0]) || c10::InferenceMode::is_enabled() || !is_alone())
    return call.regular();
  const long gpu = gpu_of(args[0]);
  if (gpu == ERROR) return nullptr;
  if (gpu < 0) return hosted(call, nullptr, args[0]);
  c10::TensorImpl* whole = implementation(args[0]);
  if (whole->is_inference()) return call.regular();
  Ref held(held_by(args[0]));
  if (!held) return nullptr;
  Ref result(with_held(call, held.get()));
  if (!result && PyErr_Occurred()) return nullptr;
  if (!result || is_unusual(result.get())) return call.regular();
  Ref made(wrap(result.get(), gpu));
  if (!made) return nullptr;
  implementation(made.get())->set_version_counter(whole->version_counter());
  return record(call, made.get(), args[0], false) ? made.release() : nullptr;
}

}  // namespace devfix
