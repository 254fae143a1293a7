// Constructors that bypass the dispatcher, as in factory_path.py and cpu_fast_path.py, which are the reference.
#pragma once
#include "paths.h"

namespace devfix {

// What a constructor makes, as in factory_path.py.
enum Making : long { ON_HOST = 1, OF_NUMBERS = 2, DRAWING = 4, LIKE_A_TENSOR = 8 };

// A call of a constructor, read once.
struct Request {
  PyObject* device = nullptr;  // null where none is given, or None
  PyObject* generator = nullptr;
  Py_ssize_t device_at = -1, generator_at = -1;  // in the vector of arguments
  bool is_plain = true;                          // nothing else than numbers, names and dtypes
  bool is_pinned = false, asks = false;          // `pin_memory` is given; it, or `requires_grad`, is true
};

inline bool is_named(PyObject* name, PyObject* known) { return name == known || PyUnicode_Compare(name, known) == 0; }

inline Request read_request(const Call& call) {
  Request request;
  for (Py_ssize_t at = call.count(); request.is_plain && at < call.all(); ++at) {
    PyObject *name = PyTuple_GET_ITEM(call.keywords, at - call.count()), *value = call.args[at];
    if (is_named(name, names.device)) {
      request.device_at = at;
      request.device = value == Py_None ? nullptr : value;
    } else if (is_named(name, names.generator)) {
      request.generator_at = at;
      request.generator = value == Py_None ? nullptr : value;
    } else {
      const bool pins = is_named(name, names.pin_memory);
      request.is_plain = is_simple(value);
      request.is_pinned = request.is_pinned || pins;
      request.asks = request.asks || ((pins || is_named(name, names.requires_grad)) && value != Py_False && value != Py_None);
    }
  }
  return request;
}

inline bool is_host(PyObject* device) {
  return device == nullptr || device == ours.CPU || PyObject_RichCompareBool(device, ours.CPU, Py_EQ) == 1 ||
      (PyUnicode_Check(device) && PyUnicode_CompareWithASCIIString(device, "cpu") == 0);
}

// Report a creation; `result` is what the constructor returned.
inline PyObject* told(const Call& call, Ref result) {
  Ref args(call.positional()), kwargs(call.named());
  if (!args || !kwargs || !tell_created(result.get(), call.path->func, args.get(), kwargs.get())) return nullptr;
  return result.release();
}

inline PyObject* told_on(const Call& call, PyObject* held, long gpu) {
  Ref made(wrap_new(held, gpu));
  if (!made && PyErr_ExceptionMatches(PyExc_TypeError)) {  // the kind of device lacks the dtype: Python reports it
    PyErr_Clear();
    return call.regular();
  }
  return made ? told(call, std::move(made)) : nullptr;
}

// cpu_fast_path.makes and made.
inline PyObject* made_on_host(const Call& call, const Request& request) {
  if (request.is_pinned) return call.regular();
  for (Py_ssize_t at = 0; at < call.count(); ++at)
    if (!is_simple(call.args[at]) && !(is_plain(call.args[at]) && gpu_of(call.args[at]) < 0)) return call.regular();
  if (request.generator != nullptr) {
    Ref owner(PyObject_CallOneArg(ours.owner, request.generator));  // C++ returns a GPU's as the host's class
    if (!owner || PyLong_AsLong(owner.get()) >= 0) return PyErr_Clear(), call.regular();
  }
  Ref result(below(call.path->original, call.args, call.flags, call.keywords));
  if (!result) return PyErr_Occurred() ? nullptr : call.regular();
  return told(call, std::move(result));
}

// factory_path.made_like
inline PyObject* made_like(const Call& call, const Request& request, long gpu) {
  if (request.asks || request.device != nullptr || request.generator != nullptr ||
      !are_simple(call.args + 1, call.count() - 1))
    return call.regular();
  Ref held(held_by(call.args[0]));
  if (!held) return nullptr;
  Ref result(with_held(call, held.get()));
  if (!result && PyErr_Occurred()) return nullptr;
  if (!result || type_of(result.get()) != ours.Tensor) return call.regular();
  return told_on(call, result.get(), gpu);
}

inline bool count_draw(PyObject* generator) {
  Ref draws(PyObject_GetAttr(generator, names._devfix_draws));
  Ref more(draws ? PyLong_FromLongLong(PyLong_AsLongLong(draws.get()) + 1) : nullptr);
  return more && PyObject_SetAttr(generator, names._devfix_draws, more.get()) == 0;
}

// factory_path.made_on
inline PyObject* made_on(const Call& call, const Request& request) {
  const bool draws = call.path->number & DRAWING;
  if (!(call.path->number & OF_NUMBERS) || request.asks || (request.generator != nullptr && !draws) ||
      !are_simple(call.args, call.count()))
    return call.regular();
  // A GPU's generator is of the class in generators.py; C++ may have returned it as another object.
  if (request.generator != nullptr && type_of(request.generator) != ours.Generator) return call.regular();
  Ref index(PyObject_CallOneArg(ours.spoken, request.device));
  if (!index) return PyErr_ExceptionMatches(PyExc_Exception) ? (PyErr_Clear(), call.regular()) : nullptr;
  if (index.get() == Py_None) return call.regular();
  const long gpu = PyLong_AsLong(index.get());
  PyObject* generator = request.generator;
  if (draws && generator == nullptr) {
    generator = PyList_GetItem(ours.generators, gpu);
    if (generator == nullptr) return PyErr_Clear(), call.regular();
  }
  if (draws && !count_draw(generator)) return nullptr;
  PyObject* values[MOST + 1];
  for (Py_ssize_t at = 0; at < call.all(); ++at) values[at] = call.args[at];
  values[request.device_at] = ours.CPU;
  Ref more;
  if (draws && request.generator_at >= 0) {
    values[request.generator_at] = generator;
  } else if (draws) {
    values[call.all()] = generator;
    Ref one(PyTuple_Pack(1, names.generator));
    more = Ref(one ? PySequence_Concat(call.keywords, one.get()) : nullptr);
    if (!more) return nullptr;
  }
  Ref result(below(call.path->original, values, call.count(), more ? more.get() : call.keywords));
  if (!result) return PyErr_Occurred() ? nullptr : call.regular();
  return told_on(call, result.get(), gpu);
}

inline PyObject* of_factory(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const Call call{reinterpret_cast<Path*>(self), args, flags, keywords};
  if (call.all() > MOST) return call.regular();
  const Request request = read_request(call);
  if (!request.is_plain || !is_alone()) return call.regular();
  const bool is_watched = PyList_GET_SIZE(ours.listening) != 0;
  if ((call.path->number & LIKE_A_TENSOR) && call.count() > 0 && is_plain(args[0])) {
    const long gpu = gpu_of(args[0]);
    if (gpu == ERROR) return nullptr;
    if (gpu >= 0) return is_watched ? call.regular() : made_like(call, request, gpu);
  }
  if (is_host(request.device)) return call.path->number & ON_HOST ? made_on_host(call, request) : call.regular();
  return is_watched ? call.regular() : made_on(call, request);
}

}  // namespace devfix
