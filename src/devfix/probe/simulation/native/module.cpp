// The simulation's hot paths in C++, built at first use (native.py); Python is the fallback and the reference.
#include "dispatch.h"
#include "factories.h"
#include "many.h"
#include "views.h"

#include <structmember.h>

namespace devfix {
namespace {

PyTypeObject* path_type = nullptr;

PyObject* configure(PyObject*, PyObject* given) {
#define DEVFIX_SET(name)                                              \
  if (PyObject* object = PyDict_GetItemString(given, #name)) {        \
    PyObject* before = std::exchange(ours.name, fresh(object));       \
    Py_XDECREF(before);                                               \
  }
  DEVFIX_OBJECTS(DEVFIX_SET)
#undef DEVFIX_SET
  Py_RETURN_NONE;
}

PyObject* missing(PyObject*, PyObject*) {  // the names of objects that `configure` was not given
  Ref names(PyList_New(0));
#define DEVFIX_ASK(name)                                                            \
  if (names && ours.name == nullptr) {                                              \
    Ref text(PyUnicode_FromString(#name));                                          \
    if (!text || PyList_Append(names.get(), text.get()) < 0) return nullptr;        \
  }
  DEVFIX_OBJECTS(DEVFIX_ASK)
#undef DEVFIX_ASK
  return names.release();
}

// By `Kind`.
const vectorcallfunc CALLS[] = {of_one, of_sign, of_view, of_list, of_number, of_many, of_detach, of_factory, of_item};

PyObject* path(PyObject*, PyObject* given) {
  int kind;
  int is_composite = 0;
  long number = -1;
  PyObject *original, *func, *taken = Py_None, *rest = Py_None;
  if (!PyArg_ParseTuple(given, "iOO|OlOp", &kind, &original, &func, &taken, &number, &rest, &is_composite)) return nullptr;
  if (kind < 0 || kind > ITEM) return PyErr_Format(PyExc_ValueError, "no path has the number %d", kind);
  Path* made = PyObject_GC_New(Path, path_type);
  if (made == nullptr) return nullptr;
  made->call = CALLS[kind];
  made->original = fresh(original);
  made->func = fresh(func);
  made->taken = fresh(taken);
  made->rest = fresh(rest == Py_None ? original : rest);
  made->is_composite = is_composite != 0;
  made->number = number;
  PyObject_GC_Track(made);
  return reinterpret_cast<PyObject*>(made);
}

PyObject* forget(PyObject*, PyObject*) {
  forget_plans();
  Py_RETURN_NONE;
}

PyObject* locations(PyObject*, PyObject*) { return outward(); }

PyMethodDef methods[] = {
    {"configure", configure, METH_O, "Set the probe's objects, by name."},
    {"missing", missing, METH_NOARGS, "Return the names of the objects that are not set."},
    {"path", path, METH_VARARGS, "Return a fast version of a function: kind, original, operator, dtypes, number, function for the rest, composite."},
    {"outward", locations, METH_NOARGS, "Return the locations of an event, as places.outward."},
    {"created", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(created_hook)), METH_FASTCALL,
     "Record a creation, as creations.created."},
    {"drop", drop, METH_O, "Forget the history of a destroyed tensor, as records.drop."},
    {"forget", forget, METH_NOARGS, "Forget all plans."},
    {"wrap", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(wrapped<wrap>)), METH_FASTCALL,
     "Return a simulated tensor around the values of one, as tensor.wrap."},
    {"wrap_new", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(wrapped<wrap_new>)), METH_FASTCALL,
     "Do the same for a new tensor, as tensor.wrap_new."},
    {"dispatch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(dispatch)), METH_FASTCALL,
     "Run one operator."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "devfix_native", nullptr, -1, methods};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Path, call), READONLY, nullptr}, {nullptr, 0, 0, 0, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(free_path)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse_path)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_path)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_members, members},
    {0, nullptr}};

PyType_Spec specification = {
    "devfix_native.Path", sizeof(Path), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace
}  // namespace devfix

PyMODINIT_FUNC PyInit_devfix_native() {
  using namespace devfix;
  if (!learn_place()) return nullptr;
#define DEVFIX_INTERN(name)                                                 \
  names.name = PyUnicode_InternFromString(#name);                           \
  if (names.name == nullptr) return nullptr;
  DEVFIX_NAMES(DEVFIX_INTERN)
#undef DEVFIX_INTERN
  path_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&specification));
  Ref module(path_type == nullptr ? nullptr : PyModule_Create(&definition));
  Ref function(module ? PyObject_GetAttrString(module.get(), "dispatch") : nullptr);
  Ref method(function ? PyInstanceMethod_New(function.get()) : nullptr);  // what a class binds to its objects
  if (!method || PyObject_SetAttrString(module.get(), "method", method.get()) < 0) return nullptr;
  drop_function = PyObject_GetAttrString(module.get(), "drop");
  created_function = PyObject_GetAttrString(module.get(), "created");
  return drop_function == nullptr || created_function == nullptr ? nullptr : module.release();
}
