// Copyright 2026 The ros2_rnea authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

/*
 * KernelCall: a Python callable that passes NumPy arrays to a kernel, which is machine code, or a
 * tape (tape.h) that is run here.
 *
 * ros2_rnea/kernels/call.py has the same class in Python, for installations without a compiler,
 * and documents what both do; _call.pyi has the types.
 *
 * Rules for changes:
 *
 * - A kernel reads and writes memory without any check.  run() is the only function that calls
 *   one.  It is called for arrays that fits() has accepted, and no Python code may run between
 *   fits() and the kernel, because Python code could resize an array.
 * - All members but `targets` are set by the constructor and then stay as they are until the
 *   garbage collector clears the object.  A target is complete before an atomic operation makes
 *   it visible, and is never replaced.  Therefore several threads may make calls at once, also
 *   without a GIL (Py_mod_gil below).  What two threads do to the same *array*, for instance
 *   resize it while another one computes with it, is the responsibility of the caller, as it is
 *   with NumPy's own functions.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* One build runs with all versions of NumPy from 1.21 on (headers before 1.25 ignore the second
   definition; a build with headers of 1.x runs with 1.x only). */
#define NPY_NO_DEPRECATED_API NPY_1_20_API_VERSION
#define NPY_TARGET_VERSION NPY_1_21_API_VERSION
#include <numpy/arrayobject.h>

#include "tape.h"

enum { MAX_ARRAYS = 8, MAX_DIMENSIONS = 4 };

#define CONVENTION 2  /* see ros2_rnea/kernels/call.py, which has the same number */

/* See ros2_rnea/kernels/llvm.py; the context tells a function for several kernels which it is. */
typedef int64_t (*Kernel)(double **arrays, const void *context);

typedef struct {
    int ndim;
    npy_intp sizes[MAX_DIMENSIONS];
} Shape;

/* A kernel and what it needs besides the arguments of a call. */
typedef struct {
    Kernel kernel;
    const void *context;
    PyObject *owner;            /* keeps the kernel in memory */
    PyArrayObject *parameters;  /* read at each call */
    Shape parameters_shape;
} Target;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *attributes;       /* __dict__: __name__, __doc__ and what else Python sets */
    PyObject *weak_references;
    PyObject *names;            /* of the arguments: the inputs, and last the output */
    PyObject *resolve;          /* makes a target: resolve(with_optional_input) */
    PyObject *general;          /* computes what this type does not */
    PyObject *bound;            /* the arrays of a call without arguments; NULL: not bound */
    Py_ssize_t count;           /* of names */
    Py_ssize_t required;        /* inputs; there may be one more, which is optional */
    Shape shapes[MAX_ARRAYS];  /* of all arguments */
    _Atomic(Target *) targets[2];  /* without and with the optional input; NULL until called */
} KernelCall;

/* ---- arrays --------------------------------------------------------------------------------- */

/* Tell whether machine code may access an object's memory as an array of this shape. */
static int
fits(PyObject *object, const Shape *shape, int is_output)
{
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | (is_output ? NPY_ARRAY_WRITEABLE : 0);
    if (PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISNOTSWAPPED(array)
            || !PyArray_CHKFLAGS(array, flags) || PyArray_NDIM(array) != shape->ndim) {
        return 0;
    }
    for (int i = 0; i < shape->ndim; i++) {
        if (PyArray_DIM(array, i) != shape->sizes[i]) {
            return 0;
        }
    }
    return 1;
}

/*
 * Return a list or tuple of Python floats as a vector; a new reference.
 *
 * NULL: these are other objects, or another number of them, or there is no memory (with an
 * exception).  NumPy finds that out for itself too, but takes about ten times as long.
 */
static PyObject *
vector_of_floats(PyObject *sequence, const Shape *shape)
{
#ifdef Py_GIL_DISABLED
    if (!PyTuple_CheckExact(sequence)) {
        return NULL;  /* another thread could change a list here */
    }
#endif
    if (shape->ndim != 1 || PySequence_Fast_GET_SIZE(sequence) != shape->sizes[0]) {
        return NULL;
    }
    PyObject *vector = PyArray_SimpleNew(1, (npy_intp *)shape->sizes, NPY_DOUBLE);
    if (vector == NULL) {
        return NULL;
    }
    /* No Python code runs from here on: the sequence stays as it is. */
    double *values = PyArray_DATA((PyArrayObject *)vector);
    Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence);
    Py_ssize_t copied = 0;
    if (size == shape->sizes[0]) {
        PyObject **items = PySequence_Fast_ITEMS(sequence);
        while (copied < size && PyFloat_CheckExact(items[copied])) {
            values[copied] = PyFloat_AS_DOUBLE(items[copied]);
            copied++;
        }
    }
    if (copied != shape->sizes[0]) {
        Py_CLEAR(vector);
    }
    return vector;
}

/*
 * Return an array, list or tuple of real numbers as an array that fits; a new reference.
 *
 * NULL without an exception: the general function has to look at the object.
 */
static PyObject *
converted(PyObject *object, const Shape *shape)
{
    if (fits(object, shape, 0)) {
        return Py_NewRef(object);
    }
    int is_array = PyArray_CheckExact(object);  /* a subclass may mean more: some have masks */
    if (!(is_array ? PyArray_NDIM((PyArrayObject *)object) == shape->ndim
                   : PyList_CheckExact(object) || PyTuple_CheckExact(object))) {
        return NULL;
    }
    if (!is_array) {
        PyObject *vector = vector_of_floats(object, shape);
        if (vector != NULL || PyErr_Occurred()) {
            return vector;
        }
    }
    /* First with the type that the numbers have: complex numbers, dates, texts and objects could
       be converted to float64 too, but not without loss. */
    PyObject *array = PyArray_FromAny(object, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
    PyObject *result = NULL;
    if (array != NULL) {
        int type = PyArray_TYPE((PyArrayObject *)array);
        if (PyTypeNum_ISBOOL(type) || PyTypeNum_ISINTEGER(type) || PyTypeNum_ISFLOAT(type)) {
            result = PyArray_FromArray(
                (PyArrayObject *)array, PyArray_DescrFromType(NPY_DOUBLE),
                NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST);
        }
        Py_DECREF(array);
    }
    if (result != NULL && !fits(result, shape, 0)) {
        Py_CLEAR(result);
    }
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();  /* the general function has the words for what is wrong */
    }
    return result;
}

/* ---- targets -------------------------------------------------------------------------------- */

static void
free_target(Target *target)
{
    if (target != NULL) {
        Py_XDECREF(target->owner);
        Py_XDECREF(target->parameters);
        PyMem_Free(target);
    }
}

/* Return the target of calls with or without the optional input, made at the first of them. */
static Target *
target_of(KernelCall *self, int with_optional)
{
    Target *known = atomic_load_explicit(&self->targets[with_optional], memory_order_acquire);
    if (known != NULL) {
        return known;
    }
    PyObject *answer = PyObject_CallOneArg(self->resolve, with_optional ? Py_True : Py_False);
    if (answer == NULL) {
        return NULL;
    }
    PyObject *owner, *address, *place, *parameters;
    Target *target = NULL;
    if (!PyTuple_Check(answer)) {
        PyErr_SetString(PyExc_TypeError, "resolve() has to return (owner, address, context, parameters)");
        goto done;
    }
    if (!PyArg_ParseTuple(answer, "OO!O!O!", &owner, &PyLong_Type, &address, &PyLong_Type, &place,
                          &PyArray_Type, &parameters)) {
        goto done;
    }
    void *start = PyLong_AsVoidPtr(address);
    if (start == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "the address of a kernel is 0");
        }
        goto done;
    }
    const void *context = PyLong_AsVoidPtr(place);
    if (context == NULL && PyErr_Occurred()) {
        goto done;
    }
    Shape shape = {1, {PyArray_SIZE((PyArrayObject *)parameters)}};
    if (!fits(parameters, &shape, 0)) {
        PyErr_SetString(PyExc_ValueError,
                        "parameters have to be a contiguous vector of float64");
        goto done;
    }
    target = PyMem_Malloc(sizeof(Target));
    if (target == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    *target = (Target){(Kernel)start, context, Py_NewRef(owner),
                       (PyArrayObject *)Py_NewRef(parameters), shape};
    if (!atomic_compare_exchange_strong(&self->targets[with_optional], &known, target)) {
        free_target(target);  /* another thread, or a call inside of resolve(), was first */
        target = known;
    }
done:
    Py_DECREF(answer);
    return target;
}

/* ---- computing ------------------------------------------------------------------------------ */

/* Tell whether machine code may access all arguments; NULL stands for one that is not given. */
static int
all_fit(KernelCall *self, PyObject *const *given)
{
    Py_ssize_t output = self->count - 1;
    for (Py_ssize_t i = 0; i < output; i++) {
        if (given[i] == NULL ? i < self->required : !fits(given[i], &self->shapes[i], 0)) {
            return 0;
        }
    }
    return given[output] == NULL || fits(given[output], &self->shapes[output], 1);
}

/*
 * Call the kernel for arrays that fit.
 *
 * Return a new reference to the output, which is made where none is given.  NULL without an
 * exception: the kernel leaves this state to the general function.
 */
static PyObject *
run(KernelCall *self, const Target *target, PyObject *const *given)
{
    Py_ssize_t last = self->count - 1;
    if (!fits((PyObject *)target->parameters, &target->parameters_shape, 0)) {
        return NULL;  /* somebody has reshaped them */
    }
    PyObject *output = given[last];
    if (output == NULL) {
        const Shape *shape = &self->shapes[last];
        output = PyArray_SimpleNew(shape->ndim, (npy_intp *)shape->sizes, NPY_DOUBLE);
        if (output == NULL) {
            return NULL;
        }
    } else {
        Py_INCREF(output);
    }
    double *arrays[MAX_ARRAYS + 1];
    Py_ssize_t inputs = 0;
    for (Py_ssize_t i = 0; i < last; i++) {
        if (given[i] != NULL) {
            arrays[inputs++] = PyArray_DATA((PyArrayObject *)given[i]);
        }
    }
    arrays[inputs] = PyArray_DATA(target->parameters);
    arrays[inputs + 1] = PyArray_DATA((PyArrayObject *)output);
    if (target->kernel(arrays, target->context) != 0) {
        Py_CLEAR(output);
    }
    return output;
}

/*
 * Compute from arguments in the order of names; NULL stands for one that is not given.
 *
 * Return as run() does.
 */
static PyObject *
compute(KernelCall *self, PyObject *const *given)
{
    Py_ssize_t last = self->count - 1;
    int with_optional = self->required < last && given[self->required] != NULL;
    Target *target = atomic_load_explicit(&self->targets[with_optional], memory_order_acquire);
    if (target != NULL && all_fit(self, given)) {
        return run(self, target, given);
    }
    /* The first call, or arguments to be converted.  Both may run Python code, after which all
       arrays are checked again. */
    PyObject *result = NULL;
    PyObject *arrays[MAX_ARRAYS] = {NULL};
    if (given[last] != NULL && !fits(given[last], &self->shapes[last], 1)) {
        return NULL;
    }
    arrays[last] = Py_XNewRef(given[last]);
    for (Py_ssize_t i = 0; i < last; i++) {
        if (given[i] != NULL || i < self->required) {
            arrays[i] = given[i] == NULL ? NULL : converted(given[i], &self->shapes[i]);
            if (arrays[i] == NULL) {
                goto done;
            }
        }
    }
    target = target_of(self, with_optional);
    if (target != NULL && all_fit(self, arrays)) {
        result = run(self, target, arrays);
    }
done:
    for (Py_ssize_t i = 0; i <= last; i++) {
        Py_XDECREF(arrays[i]);
    }
    return result;
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* Return the place of an argument by its name; -1 where there is none of that name. */
static Py_ssize_t
place_of(KernelCall *self, PyObject *name)
{
    for (Py_ssize_t i = self->count - 1; i >= 0; i--) {  /* keywords are interned, mostly */
        if (PyTuple_GET_ITEM(self->names, i) == name) {
            return i;
        }
    }
    for (Py_ssize_t i = self->count - 1; i >= 0; i--) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(self->names, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Put arguments in the order of names; 0 where they are not the expected ones. */
static int
ordered(KernelCall *self, PyObject *const *arguments, Py_ssize_t positional, PyObject *keywords,
        PyObject **given)
{
    if (positional >= self->count) {  /* the output is given by its name */
        return 0;
    }
    for (Py_ssize_t i = 0; i < positional; i++) {
        given[i] = arguments[i];
    }
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < named; i++) {
        Py_ssize_t place = place_of(self, PyTuple_GET_ITEM(keywords, i));
        if (place < 0 || given[place] != NULL) {
            return 0;
        }
        given[place] = arguments[positional + i];
    }
    for (Py_ssize_t i = 0; i < self->required; i++) {
        if (given[i] == NULL) {
            return 0;
        }
    }
    for (Py_ssize_t i = self->required; i < self->count; i++) {
        if (given[i] == Py_None) {
            given[i] = NULL;
        }
    }
    return 1;
}

static PyObject *
call_general(KernelCall *self, PyObject *const *arguments, size_t nargsf, PyObject *keywords)
{
    if (Py_EnterRecursiveCall(" in a call of a kernel")) {
        return NULL;
    }
    PyObject *result = PyObject_Vectorcall(self->general, arguments, nargsf, keywords);
    Py_LeaveRecursiveCall();
    return result;
}

static int
is_cleared(KernelCall *self)
{
    if (self->general == NULL) {
        PyErr_SetString(PyExc_ReferenceError, "the garbage collector has cleared this call");
        return 1;
    }
    return 0;
}

/* call(*inputs, out=output) */
static PyObject *
call_with_arguments(
    PyObject *callable, PyObject *const *arguments, size_t nargsf, PyObject *keywords)
{
    KernelCall *self = (KernelCall *)callable;
    PyObject *given[MAX_ARRAYS] = {NULL};
    if (is_cleared(self)) {
        return NULL;
    }
    if (ordered(self, arguments, PyVectorcall_NARGS(nargsf), keywords, given)) {
        PyObject *result = compute(self, given);
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    return call_general(self, arguments, nargsf & ~PY_VECTORCALL_ARGUMENTS_OFFSET, keywords);
}

/* call(), with arrays that were given beforehand */
static PyObject *
call_bound(PyObject *callable, PyObject *const *Py_UNUSED(arguments), size_t nargsf,
           PyObject *keywords)
{
    KernelCall *self = (KernelCall *)callable;
    PyObject *given[MAX_ARRAYS];
    if (is_cleared(self)) {
        return NULL;
    }
    if (PyVectorcall_NARGS(nargsf) != 0 || (keywords != NULL && PyTuple_GET_SIZE(keywords) != 0)) {
        PyErr_SetString(PyExc_TypeError, "a method that is bound to arrays takes no arguments");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < self->count; i++) {
        PyObject *array = PyTuple_GET_ITEM(self->bound, i);
        given[i] = array == Py_None ? NULL : array;
    }
    PyObject *result = compute(self, given);
    return result != NULL || PyErr_Occurred() ? result : call_general(self, NULL, 0, NULL);
}

/* ---- tapes ---------------------------------------------------------------------------------- */

/* How the code of a tape begins, see ros2_rnea/kernels/taped.py; its data follow. */
typedef struct {
    uint32_t sizes[RNEA_INPUTS];  /* of the arrays, 0 where a call has none; they are the bits of */
    rnea_tape tape;               /* tape.inputs, too */
} TapeKernel;

/* A Kernel for many states; it needs no GIL. */
static int64_t
run_rows(int64_t count, double **arrays, const void *context)
{
    const TapeKernel *kernel = context;
    const rnea_tape *tape = &kernel->tape;
    const rnea_model model = {.bytes = context};
    const double *inputs[RNEA_INPUTS] = {NULL};
    for (unsigned i = 0; i < RNEA_INPUTS; i++) {
        if (tape->inputs >> i & 1u) {
            inputs[i] = *arrays++;
        }
    }
    double *output = *arrays;
    double *registers = PyMem_RawMalloc(tape->registers * sizeof(double));
    int64_t status = registers == NULL;  /* without memory the general function says so */
    for (int64_t row = 0; row < count && status == 0; row++) {
        const rnea_inputs given = {
            inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], inputs[5]};
        status = rnea_run(&model, tape, &given, registers, output);
        output += (size_t)tape->rows * tape->columns;
        for (unsigned i = 0; i < RNEA_INPUTS - 1; i++) {  /* all rows have the same parameters */
            if (inputs[i] != NULL) {
                inputs[i] += kernel->sizes[i];
            }
        }
    }
    PyMem_RawFree(registers);
    return status;
}

static int64_t
run_one(double **arrays, const void *context)
{
    return run_rows(1, arrays, context);
}

/* Check the code of a tape, and return its address: the context of its functions. */
static PyObject *
tape_address(PyObject *Py_UNUSED(module), PyObject *code)
{
    if (!PyBytes_CheckExact(code)) {
        PyErr_SetString(PyExc_TypeError, "the code of a tape has to be bytes");
        return NULL;
    }
    const TapeKernel *kernel = (const TapeKernel *)PyBytes_AS_STRING(code);
    size_t size = (size_t)PyBytes_GET_SIZE(code);
    const char *error = size < sizeof(TapeKernel) ? "they are too few" : rnea_check(
        kernel, size, &kernel->tape, sizeof(TapeKernel), kernel->sizes);
    if (error != NULL) {
        PyErr_SetString(PyExc_ValueError, error);
        return NULL;
    }
    return PyLong_FromVoidPtr((void *)kernel);
}

/* ---- the type ------------------------------------------------------------------------------- */

static int
read_shape(PyObject *sizes, Shape *shape)
{
    if (!PyTuple_Check(sizes) || PyTuple_GET_SIZE(sizes) > MAX_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "a shape is a tuple of at most %d sizes", MAX_DIMENSIONS);
        return -1;
    }
    shape->ndim = (int)PyTuple_GET_SIZE(sizes);
    for (int i = 0; i < shape->ndim; i++) {
        shape->sizes[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(sizes, i));
        if (shape->sizes[i] < 0) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "a size is negative");
            }
            return -1;
        }
    }
    return 0;
}

static int
check_names(PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (!PyUnicode_Check(PyTuple_GET_ITEM(names, i))) {
            PyErr_SetString(PyExc_TypeError, "names have to be strings");
            return -1;
        }
    }
    return 0;
}

static PyObject *
kernel_call_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *known[] = {"names", "shapes", "required", "resolve", "general", "bound", NULL};
    PyObject *names, *shapes, *resolve, *general, *bound = Py_None;
    Py_ssize_t required;
    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "O!O!nOO|O", known, &PyTuple_Type, &names, &PyTuple_Type,
            &shapes, &required, &resolve, &general, &bound)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    if (count > MAX_ARRAYS || required < 0 || count - 1 < required || count - 2 > required
            || PyTuple_GET_SIZE(shapes) != count
            || (bound != Py_None
                && !(PyTuple_Check(bound) && PyTuple_GET_SIZE(bound) == count))) {
        PyErr_Format(PyExc_ValueError, "a kernel takes at most %d arrays: the required inputs, "
                     "at most one optional input, and the output", MAX_ARRAYS);
        return NULL;
    }
    if (check_names(names) < 0) {
        return NULL;
    }
    KernelCall *self = (KernelCall *)type->tp_alloc(type, 0);  /* all members are 0 */
    if (self == NULL) {
        return NULL;
    }
    self->vectorcall = bound == Py_None ? call_with_arguments : call_bound;
    self->names = Py_NewRef(names);
    self->resolve = Py_NewRef(resolve);
    self->general = Py_NewRef(general);
    self->bound = bound == Py_None ? NULL : Py_NewRef(bound);
    self->count = count;
    self->required = required;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (read_shape(PyTuple_GET_ITEM(shapes, i), &self->shapes[i]) < 0) {
            Py_DECREF(self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

static int
kernel_call_traverse(PyObject *object, visitproc visit, void *arg)
{
    KernelCall *self = (KernelCall *)object;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->attributes);
    Py_VISIT(self->names);
    Py_VISIT(self->resolve);
    Py_VISIT(self->general);
    Py_VISIT(self->bound);
    for (int i = 0; i < 2; i++) {
        Target *target = atomic_load_explicit(&self->targets[i], memory_order_acquire);
        if (target != NULL) {
            Py_VISIT(target->owner);
            Py_VISIT(target->parameters);
        }
    }
    return 0;
}

/* Nobody else can reach the object now, but finalizers that this runs may: is_cleared(). */
static int
kernel_call_clear(PyObject *object)
{
    KernelCall *self = (KernelCall *)object;
    Py_CLEAR(self->general);
    Py_CLEAR(self->attributes);
    Py_CLEAR(self->resolve);
    Py_CLEAR(self->bound);
    Py_CLEAR(self->names);
    for (int i = 0; i < 2; i++) {
        free_target(atomic_exchange(&self->targets[i], NULL));
    }
    return 0;
}

static void
kernel_call_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (((KernelCall *)object)->weak_references != NULL) {
        PyObject_ClearWeakRefs(object);
    }
    kernel_call_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

/* Pickle and copy as the general function, which finds its robot's method again. */
static PyObject *
kernel_call_reduce(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    KernelCall *self = (KernelCall *)object;
    return is_cleared(self) ? NULL : PyObject_CallMethod(self->general, "__reduce__", NULL);
}

/* Return the call itself: it is bound already.  What has __get__ is a routine to help(), which
   then shows the signature. */
static PyObject *
kernel_call_get(PyObject *self, PyObject *Py_UNUSED(object), PyObject *Py_UNUSED(type))
{
    return Py_NewRef(self);
}

static PyMethodDef kernel_call_methods[] = {
    {"__reduce__", kernel_call_reduce, METH_NOARGS, "Pickle and copy as the general function."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef kernel_call_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef kernel_call_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(KernelCall, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(KernelCall, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(KernelCall, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot kernel_call_slots[] = {
    {Py_tp_doc, "See ros2_rnea.kernels.call.PythonKernelCall, the same class in Python."},
    {Py_tp_new, kernel_call_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, kernel_call_get},
    {Py_tp_traverse, kernel_call_traverse},
    {Py_tp_clear, kernel_call_clear},
    {Py_tp_dealloc, kernel_call_dealloc},
    {Py_tp_methods, kernel_call_methods},
    {Py_tp_getset, kernel_call_getset},
    {Py_tp_members, kernel_call_members},
    {0, NULL},
};

static PyType_Spec kernel_call_spec = {
    .name = "ros2_rnea.kernels._call.KernelCall",
    .basicsize = sizeof(KernelCall),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
        | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = kernel_call_slots,
};

static PyMethodDef module_methods[] = {
    {"tape_address", tape_address, METH_O, "Check the code of a tape, and return its address."},
    {NULL, NULL, 0, NULL},
};

static int
module_exec(PyObject *module)
{
    import_array1(-1);
    if (PyModule_AddIntConstant(module, "CONVENTION", CONVENTION) < 0) {
        return -1;
    }
    PyObject *functions = Py_BuildValue("{s:N,s:N}", "one", PyLong_FromVoidPtr((void *)run_one),
                                        "rows", PyLong_FromVoidPtr((void *)run_rows));
    int is_added = PyModule_AddObjectRef(module, "TAPE_FUNCTIONS", functions);
    Py_XDECREF(functions);
    if (is_added < 0) {
        return -1;
    }
    PyObject *type = PyType_FromModuleAndSpec(module, &kernel_call_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    int status = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return status;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},  /* as NumPy */
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},  /* see the second rule above */
#endif
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "ros2_rnea.kernels._call",
    .m_doc = "Calls of kernels from Python, as machine code.",
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC
PyInit__call(void)
{
    return PyModuleDef_Init(&module_definition);
}
