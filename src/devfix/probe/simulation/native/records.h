// The histories of tensors, as in provenance/creations.py, which is the reference.
#pragma once
#include "places.h"

namespace devfix {

constexpr long CREATED = -1, RECREATED = -2, REDRAWN = -3, CHOSEN = -4;
constexpr long LONGEST = 12, KEEP = 4;

inline PyObject* history_in_table(PyObject* thing) {  // a new reference; null without an error if there is none
  Ref key(PyLong_FromVoidPtr(thing));
  PyObject* known = PyDict_GetItemWithError(ours.table, key.get());
  if (known == nullptr) return nullptr;
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* living = nullptr;
  if (PyWeakref_GetRef(known, &living) < 0) {
    PyErr_Clear();
    return nullptr;
  }
  const bool same = living == thing;
  Py_XDECREF(living);
#else
  const bool same = PyWeakref_GetObject(known) == thing;
#endif
  return same ? PyObject_GetAttr(known, names.history) : nullptr;
}

// records.of, for a tensor: a new reference; null without an error if it has no history.
inline PyObject* history(PyObject* tensor) {
  Ref own(PyObject_GetAttr(tensor, names._devfix_record));
  if (!own) return nullptr;
  if (own.get() != Py_None) return own.release();
  return history_in_table(tensor);
}

inline bool is_history(const Ref& history) { return PyTuple_CheckExact(history.get()) && PyTuple_GET_SIZE(history.get()) == 4; }

// A tuple of objects whose references it takes; null, with all dropped, if one of them is missing.
template <typename... Items>
inline PyObject* tuple_of(Items... items) {
  PyObject* all[] = {items...};
  bool whole = true;
  for (PyObject* item : all) whole = whole && item != nullptr;
  PyObject* made = whole ? PyTuple_New(sizeof...(items)) : nullptr;
  Py_ssize_t at = 0;
  for (PyObject* item : all) {
    if (made != nullptr) PyTuple_SET_ITEM(made, at++, item);
    else Py_XDECREF(item);
  }
  return made;
}

inline PyObject* next_moment() { return Py_TYPE(ours.moments)->tp_iternext(ours.moments); }

// records.shortened: a copy of the newest steps. A new reference, null with an error.
inline PyObject* shortened(PyObject* last) {
  PyObject* events[KEEP];
  long count = 0;
  PyObject* event = last;
  for (; event != Py_None && count < KEEP; event = PyTuple_GET_ITEM(event, 4)) events[count++] = event;
  if (event == Py_None) return fresh(last);
  Ref shorter(fresh(Py_None));
  for (long depth = 0; shorter && depth < count; ++depth) {
    event = events[count - 1 - depth];
    const auto part = [event](Py_ssize_t at) { return fresh(PyTuple_GET_ITEM(event, at)); };
    shorter = Ref(tuple_of(part(0), part(1), part(2), part(3), fresh(shorter.get()), PyLong_FromLong(depth), part(6)));
  }
  return shorter.release();
}

// The history of what `func` made of something with the history `origin`.
inline PyObject* derived_history(PyObject* origin, PyObject* func, long depth_of_caller) {
  PyObject* last = PyTuple_GET_ITEM(origin, 0);
  long depth = PyLong_AsLong(PyTuple_GET_ITEM(last, 5)) + 1;
  Ref shorter;
  if (depth > LONGEST) {
    shorter = Ref(shortened(last));
    if (!shorter) return nullptr;
    last = shorter.get();
    depth = KEEP;
  }
  PyObject* event = tuple_of(
      fresh(func), nearest(depth_of_caller), fresh(Py_None), fresh(Py_None), fresh(last), PyLong_FromLong(depth), next_moment());
  return tuple_of(
      event, fresh(PyTuple_GET_ITEM(origin, 1)), fresh(PyTuple_GET_ITEM(origin, 2)), fresh(PyTuple_GET_ITEM(origin, 3)));
}

// records.drop: forget a destroyed tensor; called by its weak reference.
inline PyObject* drop(PyObject*, PyObject* record) {
  Ref key(PyObject_GetAttr(record, names.key));
  if (!key) return nullptr;
  if (PyDict_GetItemWithError(ours.table, key.get()) == record) PyDict_DelItem(ours.table, key.get());
  return PyErr_Occurred() ? nullptr : fresh(Py_None);
}
inline PyObject* drop_function = nullptr;  // `drop` for Python

// A Record with its fields. Its class is not called: `__init__` of a weak reference does nothing.
inline bool keep_on_host(PyObject* tensor, PyObject* history) {
  PyTypeObject* type = reinterpret_cast<PyTypeObject*>(ours.Record);
  Ref key(PyLong_FromVoidPtr(tensor)), arguments(PyTuple_Pack(2, tensor, drop_function));
  Ref record(key && arguments ? type->tp_new(type, arguments.get(), nullptr) : nullptr);
  return record && PyObject_SetAttr(record.get(), names.key, key.get()) == 0 &&
      PyObject_SetAttr(record.get(), names.history, history) == 0 &&
      PyDict_SetItem(ours.table, key.get(), record.get()) == 0;
}

// creations.derived and derived_on_host: the new tensor `result` was created from `source`.
inline bool derived(PyObject* result, PyObject* func, PyObject* source, bool on_host, long depth) {
  Ref origin(on_host ? history_in_table(source) : nullptr);
  if (!origin) origin = Ref(history(source));
  if (!origin && PyErr_Occurred()) return false;
  if (!origin) origin = Ref(PyObject_CallOneArg(ours.history_of, source));
  if (!origin) return false;
  if (!is_history(origin)) {
    PyErr_SetString(PyExc_TypeError, "no history");
    return false;
  }
  Ref history(derived_history(origin.get(), func, depth));
  if (!history) return false;
  return on_host ? keep_on_host(result, history.get())
                 : PyObject_SetAttr(result, names._devfix_record, history.get()) == 0;
}

inline bool call_created(PyObject* result, PyObject* func, PyObject* args, PyObject* kwargs, PyObject* hook) {
  Ref done(PyObject_CallFunctionObjArgs(hook, result, func, args, kwargs, nullptr));
  return static_cast<bool>(done);
}

// creations.created for tensors; everything else is left to Python.
inline bool created(PyObject* result, PyObject* func, PyObject* args, PyObject* kwargs) {
  if (PyTuple_CheckExact(result) || PyList_CheckExact(result)) {
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(result); ++at) {
      PyObject* item = PySequence_Fast_GET_ITEM(result, at);
      if (item != Py_None && !created(item, func, args, kwargs)) return false;
    }
    return true;
  }
  Ref key(PyLong_FromVoidPtr(func));
  PyObject* learned = is_tensor(result) ? PyDict_GetItemWithError(ours.roles, key.get()) : nullptr;
  if (learned == nullptr) return call_created(result, func, args, kwargs, ours.created);
  const long role = PyLong_AsLong(learned);
  if (role == CHOSEN) return call_created(result, func, args, kwargs, ours.created);
  if (role != RECREATED) {
    Ref known(history(result));
    if (known) return role == REDRAWN ? call_created(result, func, args, kwargs, ours.created) : true;
    if (PyErr_Occurred()) return false;
  }
  PyObject* source = role >= 0 && role < PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, role) : Py_None;
  if (PyList_CheckExact(source)) source = PyList_GET_SIZE(source) ? PyList_GET_ITEM(source, 0) : Py_None;
  else if (PyTuple_CheckExact(source)) source = PyTuple_GET_SIZE(source) ? PyTuple_GET_ITEM(source, 0) : Py_None;
  if (source == result) return true;
  Ref origin;
  if (source != Py_None) {
    if (!is_tensor(source)) return call_created(result, func, args, kwargs, ours.created);
    origin = Ref(history(source));
    if (!origin && PyErr_Occurred()) return false;
    if (!origin) origin = Ref(PyObject_CallOneArg(ours.history_of, source));
    if (!origin) return false;
  }
  Ref made;
  if (origin && origin.get() != Py_None) {
    if (!is_history(origin)) return call_created(result, func, args, kwargs, ours.created);
    made = Ref(derived_history(origin.get(), func, 0));
  } else {
    Ref event(tuple_of(
        fresh(func), outward(), fresh(Py_None), fresh(Py_None), fresh(Py_None), PyLong_FromLong(0), next_moment()));
    if (!event) return false;
    made = Ref(tuple_of(fresh(event.get()), fresh(event.get()), fresh(Py_None), fresh(Py_None)));
  }
  if (!made) return false;
  const long gpu = gpu_of(result);
  if (gpu == ERROR) return false;
  return gpu >= 0 ? PyObject_SetAttr(result, names._devfix_record, made.get()) == 0 : keep_on_host(result, made.get());
}

// `created` for Python: created(result, func, args, kwargs).
inline PyObject* created_hook(PyObject*, PyObject* const* given, Py_ssize_t count) {
  if (count != 4) {
    PyErr_SetString(PyExc_TypeError, "created takes a result, an operator and arguments");
    return nullptr;
  }
  const bool done = PyTuple_CheckExact(given[2]) ? created(given[0], given[1], given[2], given[3])
                                                 : call_created(given[0], given[1], given[2], given[3], ours.created);
  return done ? fresh(Py_None) : nullptr;
}
inline PyObject* created_function = nullptr;

inline bool is_own(PyObject* hook) { return hook == created_function || hook == ours.created; }

// hooks.on_created: the provenance's own function here, any other in Python.
inline bool tell_created(PyObject* result, PyObject* func, PyObject* args, PyObject* kwargs) {
  PyObject* hook = attribute(ours.hooks, names.on_created);
  if (is_own(hook)) return created(result, func, args, kwargs);
  return call_created(result, func, args, kwargs, hook);
}

// hooks.fast_on_created (or the host's): false without an error if there is none.
// `depth` is how many of the innermost frames are the probe's.
inline bool tell_derived(PyObject* result, PyObject* func, PyObject* source, bool on_host, long depth) {
  PyObject* hook = attribute(ours.hooks, names.on_created);
  if (is_own(hook)) return derived(result, func, source, on_host, depth);
  PyObject* shorter = PyDict_GetItemWithError(
      attribute(ours.hooks, on_host ? names.fast_on_created_cpu : names.fast_on_created), hook);
  if (shorter == nullptr) return false;
  Ref done(PyObject_CallFunctionObjArgs(shorter, result, func, source, nullptr));
  return static_cast<bool>(done);
}

}  // namespace devfix
