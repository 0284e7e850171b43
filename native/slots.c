/* Finds where the objects of a class have their attributes, and proves that they can be made by writing there. */
#include "engine.h"

#include <structmember.h>

static int broken(const char *why) {
    PyErr_Format(PyExc_ValueError, "class: %s", why);
    return -1;
}

/* The offset of an attribute; -1 if it is no slot. */
static Py_ssize_t slot_of(PyTypeObject *cls, PyObject *name) {
    const PyMemberDef *member = PyType_GetSlot(cls, Py_tp_members);
    for (; member && member->name; member++)
        if (!PyUnicode_CompareWithASCIIString(name, member->name))
            return member->type == T_OBJECT_EX ? member->offset : -1;
    return -1;
}

/* Whether an object has these values in its slots, and nothing else. */
static int holds(PyObject *object, PyObject *values, const Py_ssize_t *slots, Py_ssize_t size) {
    char rest[1024];
    size_t head = sizeof(PyObject), length = (size_t)size - head;
    if (length > sizeof rest) return 0;
    memcpy(rest, (char *)object + head, length);
    for (Py_ssize_t index = 0; index < PyTuple_Size(values); index++) {
        if (SLOT(object, slots[index]) != PyTuple_GetItem(values, index)) return 0;
        memset(rest + (size_t)slots[index] - head, 0, sizeof(PyObject *));
    }
    for (size_t at = 0; at < length; at++)
        if (rest[at]) return 0;
    return 1;
}

/* Values that no other object has, by name. */
static int make_values(PyObject *names, PyObject *values, PyObject *by_name) {
    for (Py_ssize_t index = 0; index < PyTuple_Size(names); index++) {
        PyObject *value = PyBytes_FromStringAndSize(NULL, 2 + index % 7);
        if (!value || PyTuple_SetItem(values, index, value)) return -1;
        memset(PyBytes_AsString(value), 0, (size_t)PyBytes_Size(value));
        if (PyDict_SetItem(by_name, PyTuple_GetItem(names, index), value)) return -1;
    }
    return PyDict_Size(by_name) == PyTuple_Size(names) ? 0 : broken("a field comes twice");
}

/* Makes an object both ways: by its class, whose slots must then hold these values and nothing else, and by its slots,
 * whose attributes must then be these values. */
static int prove(PyTypeObject *cls, PyObject *names, const Py_ssize_t *slots, Py_ssize_t size) {
    Py_ssize_t count = PyTuple_Size(names);
    PyObject *values = PyTuple_New(count), *by_name = PyDict_New(), *nothing = PyTuple_New(0);
    PyObject *by_class = NULL, *by_slots = NULL;
    int status = -1;
    if (!values || !by_name || !nothing || make_values(names, values, by_name)) goto done;
    if (!(by_class = PyObject_Call((PyObject *)cls, nothing, by_name))) goto done;
    if (Py_TYPE(by_class) != cls || !holds(by_class, values, slots, size)) goto unproven;
    if (!(by_slots = new_object(cls, size))) goto done;
    for (Py_ssize_t index = 0; index < count; index++)
        SLOT(by_slots, slots[index]) = Py_NewRef(PyTuple_GetItem(values, index));
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *value = PyObject_GetAttr(by_slots, PyTuple_GetItem(names, index));
        Py_XDECREF(value);
        if (!value) goto done;
        if (value != PyTuple_GetItem(values, index)) goto unproven;
    }
    status = 0;
    goto done;
unproven:
    broken("its objects have another form");
done:
    Py_XDECREF(by_slots);
    Py_XDECREF(by_class);
    Py_XDECREF(values);
    Py_XDECREF(by_name);
    Py_XDECREF(nothing);
    return status;
}

int find_slots(PyTypeObject *cls, PyObject *names, Py_ssize_t *slots, Py_ssize_t *size) {
    if (PyType_GetFlags(cls) & Py_TPFLAGS_HAVE_GC) return broken("the collector follows its objects");
    PyObject *basic = PyObject_GetAttrString((PyObject *)cls, "__basicsize__");
    *size = basic ? PyLong_AsSsize_t(basic) : -1;
    Py_XDECREF(basic);
    if (*size < 0) return -1;
    for (Py_ssize_t index = 0; index < PyTuple_Size(names); index++) {
        slots[index] = slot_of(cls, PyTuple_GetItem(names, index));
        if (slots[index] < (Py_ssize_t)sizeof(PyObject) || slots[index] > *size - (Py_ssize_t)sizeof(PyObject *))
            return broken("a field has no slot");
    }
    return prove(cls, names, slots, *size);
}
