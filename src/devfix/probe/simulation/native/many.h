// Fast paths of functions of several tensors, as in fast_path.py and operands.py, which are the reference.
#pragma once
#include "paths.h"

namespace devfix {

// The values of a list of tensors on one device; null without an error if the regular path has to run.
inline PyObject* held_list(PyObject* tensors, long gpu) {
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(tensors);
  Ref held(PyList_New(count));
  for (Py_ssize_t at = 0; held && at < count; ++at) {
    PyObject* tensor = PySequence_Fast_GET_ITEM(tensors, at);
    if (!is_plain(tensor) || gpu_of(tensor) != gpu || (gpu >= 0 && asks_gradient(tensor))) return nullptr;
    PyObject* value = gpu < 0 ? fresh(tensor) : held_by(tensor);
    if (value == nullptr) return nullptr;
    PyList_SET_ITEM(held.get(), at, value);
  }
  return held.release();
}

inline PyObject* of_list(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Call call{reinterpret_cast<Path*>(self), args, flags, keywords};
  const Py_ssize_t all = call.all();
  if (call.count() == 0 || all > MOST || !(PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0])) ||
      PySequence_Fast_GET_SIZE(args[0]) == 0 || !are_simple(args + 1, all - 1) || !is_unobserved(call.path))
    return call.regular();
  Ref first(fresh(PySequence_Fast_GET_ITEM(args[0], 0)));
  if (!is_plain(first.get())) return call.regular();
  const long gpu = gpu_of(first.get());
  if (gpu == ERROR) return nullptr;
  Ref held(held_list(args[0], gpu));
  if (!held) return PyErr_Occurred() ? nullptr : call.regular();
  if (gpu < 0) return hosted(call, nullptr, first.get());
  Ref result(with_held(call, held.get()));
  if (!result && PyErr_Occurred()) return nullptr;
  if (!result || type_of(result.get()) != ours.Tensor) return call.regular();
  return placed(call, result.get(), gpu, first.get());
}

// The tensors of a call on one device, in place of which its values are given.
struct Operands {
  long gpu = NOWHERE;
  bool fits = true;  // else the regular path has to run
  bool dense = true;
  PyObject* first = nullptr;

  // What stands for an argument: a new reference, null with `fits` false or with an error.
  PyObject* take(PyObject* argument) {
    if (is_plain(argument)) return value(argument);
    if (PyList_CheckExact(argument) || PyTuple_CheckExact(argument)) return values(argument);
    return fits = is_simple(argument), fits ? fresh(argument) : nullptr;
  }

 private:
  static constexpr long NOWHERE = -2;

  PyObject* value(PyObject* tensor) {
    const long there = gpu_of(tensor);
    if (there == ERROR) return nullptr;
    if (gpu == NOWHERE) gpu = there, first = tensor;
    fits = there == gpu && (gpu < 0 || !asks_gradient(tensor));
    if (!fits || gpu < 0) return fits ? fresh(tensor) : nullptr;
    PyObject* held = held_by(tensor);
    dense = dense && held != nullptr && is_dense(held);
    return held;
  }
  PyObject* values(PyObject* list) {  // of tensors, or of what is simple
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
    Ref made(PyList_New(count));
    for (Py_ssize_t at = 0; made && at < count; ++at) {
      PyObject* item = PySequence_Fast_GET_ITEM(list, at);
      fits = is_plain(item) || is_simple(item);
      PyObject* taken = !fits ? nullptr : is_plain(item) ? value(item) : fresh(item);
      if (taken == nullptr) return nullptr;
      PyList_SET_ITEM(made.get(), at, taken);
    }
    return first == nullptr ? fresh(list) : made.release();
  }
};

// operators.chosen_source: which argument of `where` a result derives from; ERROR with an exception set.
inline long chosen(PyObject* const* args, Py_ssize_t count) {
  for (const long at : {1, 2, 0}) {
    if (at >= count || !is_plain(args[at])) continue;
    Ref dimensions(PyObject_GetAttr(args[at], names.ndim));
    if (!dimensions) return ERROR;
    if (PyLong_AsLong(dimensions.get()) > 0) return at;
  }
  return 1;
}

// operands.of_many: tensors and lists of them on one device, and plain arguments; the result is new.
inline PyObject* of_many(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Call call{reinterpret_cast<Path*>(self), args, flags, keywords};
  const Py_ssize_t count = call.count(), all = call.all();
  if (count == 0 || all > MOST || !are_simple(args + count, all - count)) return call.regular();
  Operands operands;
  Ref kept[MOST];
  PyObject* values[MOST];
  for (Py_ssize_t at = 0; at < count; ++at) {
    kept[at] = Ref(operands.take(args[at]));
    if (!kept[at]) return PyErr_Occurred() ? nullptr : call.regular();
    values[at] = kept[at].get();
  }
  if (operands.first == nullptr || !is_unobserved(call.path)) return call.regular();
  const long at = call.path->number == CHOSEN ? chosen(args, count) : call.path->number;
  if (at == ERROR) return nullptr;
  Ref source(fresh(at >= 0 && at < count && is_plain(args[at]) ? args[at] : operands.first));
  if (operands.gpu < 0) return hosted(call, nullptr, source.get());
  if (call.path->taken != Py_None && !operands.dense) return call.regular();
  for (Py_ssize_t named = count; named < all; ++named) values[named] = args[named];
  Ref result(below(call.path->original, values, count, keywords));
  if (!result && PyErr_Occurred()) return nullptr;
  if (!result || type_of(result.get()) != ours.Tensor) return call.regular();
  if (call.path->taken != Py_None) {
    Ref dtype(PyObject_GetAttr(result.get(), names.dtype));
    if (!dtype || PySet_Contains(call.path->taken, dtype.get()) != 1) return PyErr_Occurred() ? nullptr : call.regular();
  }
  return placed(call, result.get(), operands.gpu, source.get());
}

}  // namespace devfix
