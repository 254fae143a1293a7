// The dispatch of an operator, as in dispatch.py, which is the reference and runs everything that is not handled here.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "records.h"
#include "shells.h"

namespace devfix {

enum Argument : char { PLAIN, TENSOR, LISTED };  // as in plans.py
constexpr long NONE = -3, MIXED = -2;            // devices of a call's tensors: none seen, several

// What plans.py derived from an operator's schema.
struct Plan {
  PyObject* plan = nullptr;     // a strong reference, as are the others
  PyObject* special = nullptr;  // null if there is none
  PyObject* op = nullptr;
  PyObject* refused = nullptr;         // null if nothing is
  PyObject* refused_dtypes = nullptr;  // null if a function checks them
  std::vector<char> kinds;
  bool fresh = false, view = false, reshapes = false, several = false;
  long source = -1, returned = -1;

  Plan() = default;
  Plan(const Plan&) = delete;
  ~Plan() {
    for (PyObject* object : {plan, special, op, refused, refused_dtypes}) Py_XDECREF(object);
  }
};

// A running operator keeps its plan, since it may forget all. Operators themselves are kept alive by plans.py.
using Plans = std::unordered_map<PyObject*, std::shared_ptr<const Plan>>;
inline Plans& plans() {
  static Plans* all = new Plans;  // never destroyed: at the end of the process Python's objects may be gone
  return *all;
}

inline void forget_plans() { Plans before = std::exchange(plans(), Plans()); }

inline bool flag(PyObject* plan, PyObject* name) {
  Ref value(PyObject_GetAttr(plan, name));
  return value && PyObject_IsTrue(value.get()) == 1;
}

inline long number(PyObject* plan, PyObject* name) {
  Ref value(PyObject_GetAttr(plan, name));
  return value ? PyLong_AsLong(value.get()) : -1;
}

inline PyObject* given(PyObject* plan, PyObject* name) {  // null for None
  Ref value(PyObject_GetAttr(plan, name));
  return value.get() == Py_None ? nullptr : value.release();
}

inline std::shared_ptr<const Plan> plan_of(PyObject* func) {  // null with an error
  const auto known = plans().find(func);
  if (known != plans().end()) return known->second;
  Ref derived(PyObject_CallOneArg(ours.plan_of, func));
  if (!derived) return nullptr;
  PyObject* plan = derived.get();
  auto shared = std::make_shared<Plan>();
  Plan& made = *shared;
  made.special = given(plan, names.special);
  if (made.special == nullptr && !PyErr_Occurred()) {
    Ref kinds(PyObject_GetAttr(plan, names.kinds));
    for (Py_ssize_t at = 0; kinds && at < PyTuple_GET_SIZE(kinds.get()); ++at)
      made.kinds.push_back(static_cast<char>(PyLong_AsLong(PyTuple_GET_ITEM(kinds.get(), at))));
    made.op = given(plan, names.op);
    made.refused = given(plan, names.refused);
    if (made.refused != nullptr && PyObject_IsInstance(made.refused, ours.Refusal) == 1)
      made.refused_dtypes = given(made.refused, names.dtypes);
    made.fresh = flag(plan, names.fresh);
    made.view = flag(plan, names.view);
    made.reshapes = flag(plan, names.reshapes);
    made.several = flag(plan, names.several);
    made.source = number(plan, names.source);
    made.returned = number(plan, names.returned);
  }
  if (PyErr_Occurred()) return nullptr;
  made.plan = derived.release();
  plans()[func] = shared;
  return shared;
}

// The values of an operator's tensors, and their device.
struct Unwrapped {
  std::vector<PyObject*> cells;  // strong references
  long gpu = NONE;
  bool regular = false;  // Python has to run the call
  PyObject* first = nullptr;  // the values of the first tensor, borrowed

  ~Unwrapped() {
    for (PyObject* cell : cells) Py_DECREF(cell);
  }
  PyObject* held(PyObject* tensor) {
    const long here = gpu_of(tensor);
    if (here == ERROR) return nullptr;
    if (here != gpu) gpu = gpu == NONE ? here : MIXED;
    return here < 0 ? devfix::fresh(tensor) : PyObject_GetAttr(tensor, names._devfix_held);
  }
  bool take(PyObject* argument, char kind) {
    PyObject* cell;
    if (kind == TENSOR && is_tensor(argument)) {
      cell = held(argument);
      if (first == nullptr) first = cell;
    } else if (kind == LISTED && (PyList_CheckExact(argument) || PyTuple_CheckExact(argument))) {
      cell = listed(argument);
    } else {
      regular = regular || (kind == LISTED && argument != Py_None);
      cell = devfix::fresh(argument);
    }
    if (cell != nullptr) cells.push_back(cell);
    return cell != nullptr;
  }
  PyObject* listed(PyObject* argument) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(argument);
    Ref made(PyList_New(count));
    for (Py_ssize_t at = 0; made && at < count; ++at) {
      PyObject* item = PySequence_Fast_GET_ITEM(argument, at);
      PyObject* value = is_tensor(item) ? held(item) : devfix::fresh(item);
      if (value == nullptr) return nullptr;
      PyList_SET_ITEM(made.get(), at, value);
    }
    return made.release();
  }
};

inline PyObject* as_list(const std::vector<PyObject*>& cells) {
  PyObject* made = PyList_New(static_cast<Py_ssize_t>(cells.size()));
  for (size_t at = 0; made != nullptr && at < cells.size(); ++at)
    PyList_SET_ITEM(made, static_cast<Py_ssize_t>(at), fresh(cells[at]));
  return made;
}

inline PyObject* gpu_object(long gpu) { return gpu == NONE ? fresh(Py_None) : PyLong_FromLong(gpu); }

struct Operator {
  const Plan& plan;
  PyObject* func;
  PyObject* args;
  PyObject* kwargs;  // null or not empty
  PyObject* given;   // as PyTorch passes them
};

// Whether the operator's own check for dtypes has to run: it looks at the first tensor alone.
inline bool may_refuse(const Operator& call, const Unwrapped& values) {
  if (call.plan.refused == nullptr || values.gpu < 0) return false;
  if (call.plan.refused_dtypes == nullptr || values.first == nullptr) return true;
  Ref dtype(PyObject_GetAttr(values.first, names.dtype));
  return !dtype || PySet_Contains(call.plan.refused_dtypes, dtype.get()) != 0;
}

inline bool is_among(PyObject* item, const std::vector<PyObject*>& cells) {
  for (PyObject* cell : cells) {
    if (cell == item) return true;
    for (Py_ssize_t at = 0; PyList_CheckExact(cell) && at < PyList_GET_SIZE(cell); ++at)
      if (PyList_GET_ITEM(cell, at) == item) return true;
  }
  return false;
}

// unwrapping.rewrap, for a tuple or a list of new tensors and views; null without an error where it holds anything else.
inline PyObject* wrap_each(PyObject* results, const std::vector<PyObject*>& cells, long gpu) {
  const bool as_tuple = PyTuple_CheckExact(results);
  if (!as_tuple && !PyList_CheckExact(results)) return nullptr;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(results);
  Ref made(as_tuple ? PyTuple_New(count) : PyList_New(count));
  for (Py_ssize_t at = 0; made && at < count; ++at) {
    PyObject* item = PySequence_Fast_GET_ITEM(results, at);
    if (item != Py_None && (!is_plain(item) || implementation(item)->device_type() != c10::kCPU || is_among(item, cells)))
      return nullptr;
    PyObject* shell = item == Py_None ? fresh(item) : wrap(item, gpu);
    if (shell == nullptr) return nullptr;
    if (as_tuple) PyTuple_SET_ITEM(made.get(), at, shell);
    else PyList_SET_ITEM(made.get(), at, shell);
  }
  return made.release();
}

// The result as the program gets it, recorded.
inline PyObject* finished(const Operator& call, Ref result, const Unwrapped& values) {
  const long gpu = values.gpu;
  const Plan& plan = call.plan;
  if (gpu < 0)
    return tell_created(result.get(), call.func, call.args, call.given) ? result.release() : nullptr;
  if (plan.fresh || plan.view) {
    Ref made(plan.fresh ? wrap_new(result.get(), gpu) : wrap(result.get(), gpu));
    if (!made) return nullptr;
    PyObject* source =
        plan.source >= 0 && plan.source < PyTuple_GET_SIZE(call.args) ? PyTuple_GET_ITEM(call.args, plan.source) : nullptr;
    if (source != nullptr && type_of(source) == ours.Tensor) {
      if (tell_derived(made.get(), call.func, source, false, 0)) return made.release();
      if (PyErr_Occurred()) return nullptr;
    }
    return tell_created(made.get(), call.func, call.args, call.given) ? made.release() : nullptr;
  }
  if (plan.several) {
    Ref made(wrap_each(result.get(), values.cells, gpu));
    if (made) return tell_created(made.get(), call.func, call.args, call.given) ? made.release() : nullptr;
    if (PyErr_Occurred()) return nullptr;
  }
  if (plan.returned >= 0 && !plan.reshapes) {
    PyObject* written = PyTuple_GET_ITEM(call.args, plan.returned);
    Ref whole(PyObject_GetAttr(written, names._devfix_whole));
    if (!whole) return nullptr;
    if (whole.get() == Py_None)
      return tell_created(written, call.func, call.args, call.given) ? fresh(written) : nullptr;
  }
  Ref number(gpu_object(gpu));
  return PyObject_CallFunctionObjArgs(
      ours.finish, plan.plan, result.get(), call.func, call.args, call.given, number.get(), nullptr);
}

// Run the operator on its values; null with an error, or with `regular` set.
inline PyObject* run(const Operator& call, bool& regular) {
  const Plan& plan = call.plan;
  if (plan.special != nullptr) {
    Ref none(call.kwargs ? nullptr : PyDict_New());
    PyObject* keywords = call.kwargs ? call.kwargs : none.get();
    return PyObject_CallFunctionObjArgs(plan.special, plan.plan, call.func, call.args, keywords, nullptr);
  }
  Unwrapped values;
  const Py_ssize_t count = PyTuple_GET_SIZE(call.args);
  if (count > static_cast<Py_ssize_t>(plan.kinds.size())) return regular = true, nullptr;
  values.cells.reserve(count + 4);
  for (Py_ssize_t at = 0; at < count; ++at)
    if (!values.take(PyTuple_GET_ITEM(call.args, at), plan.kinds[at])) return nullptr;
  if (call.kwargs != nullptr) {
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (PyDict_Next(call.kwargs, &at, &name, &value))
      if (is_tensor(value) || PyList_Check(value) || PyTuple_Check(value)) return regular = true, nullptr;
  }
  if (values.regular || values.gpu == MIXED || may_refuse(call, values)) return regular = true, nullptr;
  Ref result(PyObject_VectorcallDict(plan.op, values.cells.data(), count, call.kwargs));
  if (!result) {
    if (!PyErr_ExceptionMatches(PyExc_NotImplementedError) && !PyErr_ExceptionMatches(PyExc_RuntimeError)) return nullptr;
    Ref error(caught()), cells(as_list(values.cells)), gpu(gpu_object(values.gpu));
    return PyObject_CallFunctionObjArgs(
        ours.otherwise, error.get(), plan.plan, call.func, call.args, call.given, cells.get(), gpu.get(), nullptr);
  }
  return finished(call, std::move(result), values);
}

// dispatch.dispatch(mode, func, types, args, kwargs)
inline PyObject* dispatch(PyObject*, PyObject* const* given, Py_ssize_t count) {
  if (count < 4) {
    PyErr_SetString(PyExc_TypeError, "dispatch takes a mode, an operator, types and arguments");
    return nullptr;
  }
  PyObject *func = given[1], *types = given[2], *args = given[3], *kwargs = count > 4 ? given[4] : Py_None;
  bool regular = !PyTuple_CheckExact(args) || !(PyTuple_Check(types) || PyList_Check(types));
  for (Py_ssize_t at = 0; !regular && at < PySequence_Fast_GET_SIZE(types); ++at) {
    PyObject* type = PySequence_Fast_GET_ITEM(types, at);
    regular = type != ours.Tensor && type != ours.Parameter;
  }
  if (regular) return PyObject_Vectorcall(ours.reference, given, count, nullptr);
  const std::shared_ptr<const Plan> plan = plan_of(func);
  if (plan == nullptr) {  // Python reports why
    PyErr_Clear();
    return PyObject_Vectorcall(ours.reference, given, count, nullptr);
  }
  const bool named = PyDict_Check(kwargs) && PyDict_GET_SIZE(kwargs) > 0;
  const Operator call{*plan, func, args, named ? kwargs : nullptr, kwargs};
  PyObject* result = run(call, regular);
  if (regular) return PyObject_Vectorcall(ours.reference, given, count, nullptr);
  if (result != nullptr || !PyErr_ExceptionMatches(PyExc_Exception)) return result;
  Ref error(caught());
  return PyObject_CallFunctionObjArgs(ours.recover, error.get(), func, args, kwargs, nullptr);
}

}  // namespace devfix
