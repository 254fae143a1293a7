// Functions that bypass the dispatcher, as in fast_path.py and cpu_fast_path.py, which are the reference.
#pragma once
#include "records.h"
#include "shells.h"

#include <ATen/SavedTensorHooks.h>

namespace devfix {

enum Kind { ONE, SIGN, VIEW, LIST, NUMBER, MANY, DETACH, FACTORY, ITEM };

struct Path {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject* original;
  PyObject* func;
  PyObject* taken;  // CUDA's dtypes, None for all
  PyObject* rest;   // what runs all other calls: the original or, for a constructor, a function in Python
  bool is_composite;  // then it runs as a whole only where nobody observes its parts
  long number;      // how many arguments ONE takes, -1 for any; which one a result of MANY derives from; what a FACTORY makes
};

// composite_path.alone: no mode, transform or autocast besides the world.
inline bool is_alone() {
  using Modes = c10::impl::TorchDispatchModeTLS;
  // The only one may be a mode of PyTorch's own, which runs parts of an operator: then the world is inside its own mode.
  if (Modes::stack_len() != 1 || !Modes::any_modes_set(/*skip_infra_modes=*/true)) return false;
  if (at::impl::PythonTorchFunctionTLS::stack_len() != 0) return false;
  if (PyList_GET_SIZE(ours.listening) != 0) {
    Ref answer(PyObject_CallNoArgs(ours.alone));
    if (!answer) PyErr_Clear();
    return answer.get() == Py_True;
  }
  // A transform includes the first of these keys (pushDynamicLayer in functorch/DynamicLayer.cpp), a trace the second
  // (setTracingState in jit/frontend/tracer.cpp).
  constexpr c10::DispatchKeySet observers({c10::DispatchKey::FuncTorchDynamicLayerFrontMode, c10::DispatchKey::Tracer});
  if (c10::impl::tls_local_dispatch_key_set().included_.has_any(observers)) return false;
  PyObject* level = attribute(ours.forward_ad, names._current_level);
  return level != nullptr && PyLong_AsLong(level) < 0;
}

// composite_path.unobserved: the same, for this function.
inline bool is_unobserved(const Path* path) {
  if (path->is_composite) {
    PyObject* hook = attribute(ours.hooks, names.on_created);
    if (!is_own(hook) && PyDict_Contains(attribute(ours.hooks, names.fast_on_created), hook) != 1) return false;
  }
  return is_alone();
}

inline bool is_simple(PyObject* value) { return PySet_Contains(ours.simple, type_of(value)) == 1; }

inline bool are_simple(PyObject* const* values, Py_ssize_t count) {
  for (Py_ssize_t at = 0; at < count; ++at)
    if (!is_simple(values[at])) return false;
  return true;
}

// Run the function below the world's mode. Null without an error if it fails: the regular path reports the failure.
// Null with an error for what is no `Exception` (an interrupt).
inline PyObject* below(PyObject* original, PyObject* const* args, size_t count, PyObject* names_of_keywords) {
  PyObject* result;
  {
    torch::DisableTorchDispatch guard;
    result = PyObject_Vectorcall(original, args, count, names_of_keywords);
  }
  if (result == nullptr && PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
  return result;
}

struct Call {
  Path* path;
  PyObject* const* args;
  size_t flags;
  PyObject* keywords;  // names, or null

  Py_ssize_t count() const { return PyVectorcall_NARGS(flags); }
  Py_ssize_t all() const { return count() + (keywords ? PyTuple_GET_SIZE(keywords) : 0); }
  PyObject* regular() const { return PyObject_Vectorcall(path->rest, args, flags, keywords); }
  PyObject* positional() const {
    PyObject* made = PyTuple_New(count());
    for (Py_ssize_t at = 0; made != nullptr && at < count(); ++at) PyTuple_SET_ITEM(made, at, fresh(args[at]));
    return made;
  }
  PyObject* named() const {
    PyObject* made = PyDict_New();
    for (Py_ssize_t at = count(); made != nullptr && at < all(); ++at)
      PyDict_SetItem(made, PyTuple_GET_ITEM(keywords, at - count()), args[at]);
    return made;
  }
};

inline bool record(const Call& call, PyObject* made, PyObject* source, bool on_host) {
  if (tell_derived(made, call.path->func, source, on_host, 1)) return true;
  if (PyErr_Occurred()) return false;
  Ref args(call.positional()), kwargs(call.named());
  return args && kwargs && tell_created(made, call.path->func, args.get(), kwargs.get());
}

// composite_path.packs: whether hooks, which are the program's, pack what operators save for the backward pass.
inline bool packs() {
  return c10::GradMode::is_enabled() && !at::SavedTensorDefaultHooks::get_tls_state().stack.empty();
}

// cpu_fast_path.hosted: what a function of host tensors returns; the regular path if that fails.
inline PyObject* hosted(const Call& call, PyObject* first, PyObject* source) {
  if (packs()) return call.regular();
  Ref result(below(call.path->original, call.args, call.flags, call.keywords));
  if (!result && PyErr_Occurred()) return nullptr;
  if (!result || type_of(result.get()) != ours.Tensor) return call.regular();
  if (result.get() != first && !record(call, result.get(), source, true)) return nullptr;
  return result.release();
}

// fast_path.placed: a new result on a simulated GPU, and its record.
inline PyObject* placed(const Call& call, PyObject* held, long gpu, PyObject* source) {
  Ref made(wrap_new(held, gpu));
  if (!made) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {  // the kind of device lacks the dtype
      Ref error(caught()), args(call.positional()), kwargs(call.named());
      Ref told(PyObject_CallFunctionObjArgs(
          attribute(ours.hooks, names.failed), error.get(), call.path->func, args.get(), kwargs.get(), nullptr));
      if (told) raise(error.release());
    }
    return nullptr;
  }
  return record(call, made.get(), source, false) ? made.release() : nullptr;
}

// Call the original with other first arguments, in a copy of the vector.
constexpr Py_ssize_t MOST = 12;
inline PyObject* with_held(const Call& call, PyObject* one, PyObject* two = nullptr) {
  PyObject* values[MOST];
  for (Py_ssize_t at = 0; at < call.all(); ++at) values[at] = call.args[at];
  values[0] = one;
  if (two != nullptr) values[1] = two;
  return below(call.path->original, values, call.count(), call.keywords);
}

inline PyObject* held_by(PyObject* tensor) { return PyObject_GetAttr(tensor, names._devfix_held); }

inline bool asks_gradient(PyObject* tensor) { return c10::GradMode::is_enabled() && requires_grad(tensor); }

inline PyObject* of_one(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Call call{reinterpret_cast<Path*>(self), args, flags, keywords};
  const Py_ssize_t all = call.all();
  const bool fits = call.path->number < 0 || all == call.path->number;
  if (call.count() == 0 || all > MOST || !fits || !is_plain(args[0]) || !are_simple(args + 1, all - 1) ||
      !is_unobserved(call.path))
    return call.regular();
  const long gpu = gpu_of(args[0]);
  if (gpu == ERROR) return nullptr;
  if (gpu < 0) return hosted(call, args[0], args[0]);
  if (asks_gradient(args[0])) return call.regular();
  Ref held(held_by(args[0]));
  if (!held) return nullptr;
  Ref result(with_held(call, held.get()));
  if (!result && PyErr_Occurred()) return nullptr;
  if (!result || type_of(result.get()) != ours.Tensor) return call.regular();
  return placed(call, result.get(), gpu, args[0]);
}

inline PyObject* of_sign(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Call call{reinterpret_cast<Path*>(self), args, flags, keywords};
  if (call.count() != 2 || call.all() != 2 || !is_plain(args[0])) return call.regular();
  const long gpu = gpu_of(args[0]);
  if (gpu == ERROR) return nullptr;
  if (gpu >= 0 && asks_gradient(args[0])) return call.regular();
  Ref other;
  if (is_plain(args[1])) {
    const long there = gpu_of(args[1]);
    if (there == ERROR) return nullptr;
    if (there != gpu || (gpu >= 0 && asks_gradient(args[1]))) return call.regular();
    if (gpu >= 0) other = Ref(held_by(args[1]));
  } else if (PyFloat_CheckExact(args[1]) || PyLong_CheckExact(args[1])) {
    other = Ref(fresh(args[1]));
  } else {
    return call.regular();
  }
  if (!is_unobserved(call.path)) return call.regular();
  if (gpu < 0) return hosted(call, args[0], args[0]);
  Ref held(held_by(args[0]));
  if (!held || !other) return nullptr;
  if (call.path->taken != Py_None && !(is_dense(held.get()) && (!is_plain(args[1]) || is_dense(other.get()))))
    return call.regular();
  Ref result(with_held(call, held.get(), other.get()));
  if (!result && PyErr_Occurred()) return nullptr;
  if (!result || type_of(result.get()) != ours.Tensor) return call.regular();
  if (call.path->taken != Py_None) {
    Ref dtype(PyObject_GetAttr(result.get(), names.dtype));
    if (!dtype || PySet_Contains(call.path->taken, dtype.get()) != 1) return PyErr_Occurred() ? nullptr : call.regular();
  }
  return placed(call, result.get(), gpu, args[0]);
}

// cpu_fast_path.of_number: a method that returns the number in a tensor.
inline PyObject* of_number(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Call call{reinterpret_cast<Path*>(self), args, flags, keywords};
  if (call.count() != 1 || call.all() != 1 || !is_plain(args[0])) return call.regular();
  PyObject* hook = attribute(ours.hooks, names.on_created);
  if (PyDict_Contains(attribute(ours.hooks, names.fast_on_created_cpu), hook) != 1 || !is_alone())
    return call.regular();
  const long gpu = gpu_of(args[0]);
  if (gpu == ERROR) return nullptr;
  if (gpu >= 0 && (requires_grad(args[0]) || PyList_GET_SIZE(ours.listening) != 0)) return call.regular();
  Ref held(gpu < 0 ? fresh(args[0]) : held_by(args[0]));
  if (!held) return nullptr;
  Ref number(with_held(call, held.get()));
  if (!number) return PyErr_Occurred() ? nullptr : call.regular();
  if (gpu >= 0) {
    Ref told(PyObject_CallFunctionObjArgs(attribute(ours.hooks, names.read), args[0], call.path->func, nullptr));
    if (!told) return nullptr;
  }
  return number.release();
}

inline int traverse_path(PyObject* self, visitproc visit, void* arg) {
  Path* path = reinterpret_cast<Path*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(path->original);
  Py_VISIT(path->func);
  Py_VISIT(path->taken);
  Py_VISIT(path->rest);
  return 0;
}

inline int clear_path(PyObject* self) {
  Path* path = reinterpret_cast<Path*>(self);
  Py_CLEAR(path->original);
  Py_CLEAR(path->func);
  Py_CLEAR(path->taken);
  Py_CLEAR(path->rest);
  return 0;
}

inline void free_path(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_path(self);
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace devfix
