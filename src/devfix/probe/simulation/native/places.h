// Locations of events, as in provenance/places.py: a code object and the index of an instruction, innermost first.
#pragma once
#include "objects.h"

namespace devfix {

enum Owner : long { PROBE, TORCH, FOREIGN, OWNED, UNKNOWN };
constexpr int REACH = 64;  // frames searched outward

inline long owner_of(PyObject* filename) {
  PyObject* known = PyDict_GetItemWithError(ours.kinds, filename);
  if (known != nullptr) return PyLong_AsLong(known);
  if (PyErr_Occurred()) return UNKNOWN;
  Ref learned(PyObject_CallOneArg(ours.learn, filename));
  return learned ? PyLong_AsLong(learned.get()) : static_cast<long>(UNKNOWN);
}

// A frame with its code; walks outward.
class Frame {
 public:
  explicit Frame(PyFrameObject* frame) : frame_(frame), code_(frame ? PyFrame_GetCode(frame) : nullptr) {}
  Frame(const Frame&) = delete;
  ~Frame() {
    Py_XDECREF(frame_);
    Py_XDECREF(code_);
  }
  explicit operator bool() const { return frame_ != nullptr; }
  void step() {
    PyFrameObject* outer = PyFrame_GetBack(frame_);
    Py_DECREF(frame_);
    Py_DECREF(code_);
    frame_ = outer;
    code_ = outer ? PyFrame_GetCode(outer) : nullptr;
  }
  long owner() const { return owner_of(code_->co_filename); }
  PyObject* code() const { return reinterpret_cast<PyObject*>(code_); }
  PyObject* instruction() const {
#if PY_VERSION_HEX >= 0x030B0000
    return PyLong_FromLong(PyFrame_GetLasti(frame_));
#else
    return PyLong_FromLong(frame_->f_lasti < 0 ? -1 : 2 * frame_->f_lasti);
#endif
  }

 private:
  PyFrameObject* frame_;
  PyCodeObject* code_;
};

inline PyFrameObject* innermost() { return PyThreadState_GetFrame(PyThreadState_Get()); }

inline PyFrameObject* frame_at(long depth) {  // null without an error if there is none so far out
  Ref wanted(PyLong_FromLong(depth));
  PyObject* found = PyObject_CallOneArg(ours.getframe, wanted.get());
  if (found == nullptr) PyErr_Clear();
  return reinterpret_cast<PyFrameObject*>(found);
}

inline PyObject* stack_of(const Frame& inner, const Frame& outer) {
  PyObject* four = PyTuple_New(4);
  if (four == nullptr) return nullptr;
  PyTuple_SET_ITEM(four, 0, fresh(inner.code()));
  PyTuple_SET_ITEM(four, 1, inner.instruction());
  PyTuple_SET_ITEM(four, 2, fresh(outer.code()));
  PyTuple_SET_ITEM(four, 3, outer.instruction());
  return four;
}

inline PyObject* stack_of(const Frame& one) {
  PyObject* two = PyTuple_New(2);
  if (two == nullptr) return nullptr;
  PyTuple_SET_ITEM(two, 0, fresh(one.code()));
  PyTuple_SET_ITEM(two, 1, one.instruction());
  return two;
}

// The stack of a frame of somebody else's, and of the nearest owned one outside of it, the previous distance first.
inline PyObject* with_owned(const Frame& inner, long depth) {
  PyObject* owned = attribute(ours.places, names._owned);
  if (owned == nullptr || PyObject_IsTrue(owned) != 1) return stack_of(inner);
  Ref key(PyLong_FromVoidPtr(inner.code()));
  PyObject* known = PyDict_GetItemWithError(ours.hops, key.get());
  if (known != nullptr) {
    const long hops = PyLong_AsLong(known);
    Frame outer(frame_at(depth + hops));
    if (outer && outer.owner() == OWNED) {
      Frame before(frame_at(depth + hops - 1));
      if (before && before.owner() != OWNED) return stack_of(inner, outer);
    }
  }
  Frame outer(frame_at(depth + 1));
  for (int hops = 1; outer && hops < REACH; ++hops, outer.step()) {
    const long owner = outer.owner();
    if (owner == UNKNOWN) return nullptr;
    if (owner == OWNED) {
      Ref distance(PyLong_FromLong(hops));
      if (PyDict_SetItem(ours.hops, key.get(), distance.get()) < 0) return nullptr;
      return stack_of(inner, outer);
    }
  }
  return stack_of(inner);
}

// places.nearest: the innermost frame outside of torch, and the innermost owned one where that is another.
// The first `depth` frames are the probe's: Python makes no objects of those that are jumped over.
inline PyObject* nearest(long depth) {
  for (Frame frame(depth ? frame_at(depth) : innermost()); frame; frame.step(), ++depth) {
    const long owner = frame.owner();
    if (owner == UNKNOWN) return nullptr;
    if (owner == OWNED) return stack_of(frame);
    if (owner == FOREIGN) return with_owned(frame, depth);
  }
  return PyTuple_New(0);
}

// places.outward: the innermost frame outside of torch, then the owned ones outward, six in all.
inline PyObject* outward() {
  constexpr int most = 12;
  PyObject* found[most];
  int count = 0;
  bool failed = false;
  for (Frame frame(innermost()); frame && count < most; frame.step()) {
    const long owner = frame.owner();
    if ((failed = owner == UNKNOWN)) break;
    if (owner == OWNED || (owner == FOREIGN && count == 0)) {
      found[count++] = fresh(frame.code());
      found[count++] = frame.instruction();
    }
  }
  PyObject* all = failed ? nullptr : PyTuple_New(count);
  for (int at = 0; at < count; ++at) {
    if (all != nullptr) PyTuple_SET_ITEM(all, at, found[at]);
    else Py_DECREF(found[at]);
  }
  return all;
}

}  // namespace devfix
