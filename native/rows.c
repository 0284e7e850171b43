/* Makes rows, objects of one class, from structs and the elements of an array in each, and sorts them. A row has all
 * its fields from these two; what it is made of has been read by this engine, or is refused. */
#include "engine.h"

#include <stdlib.h>

enum { MOST_FIELDS = 16, KEY_OCTETS = 7 };

typedef struct {
    Py_ssize_t to, from;   /* slots of a row, and of the struct or the element */
    int of_element;
    PyObject *members;     /* a number is replaced by what this dictionary has for it; NULL for a text */
} source;

typedef struct {
    PyObject_HEAD
    PyTypeObject *row, *outer, *inner;
    Py_ssize_t row_size, elements; /* the slot of the array */
    int count;
    source sources[MOST_FIELDS]; /* in the order in which rows are compared: a number below 256, a text, and others */
} Rows;

/* A row, with what orders most rows: the number, and the text after what begins all texts. */
typedef struct {
    uint64_t key;
    PyObject *row;
    const Rows *form;
} place;

typedef struct {
    output octets; /* of the places */
    Py_ssize_t count;
} table;

static inline place *places_of(const table *of) { return (place *)of->octets.octets; }

static int add_place(table *to, const Rows *form, PyObject *row) {
    uint8_t *p = room_for(&to->octets, sizeof(place));
    if (!p) return -1;
    memcpy(p, &(place){0, row, form}, sizeof(place));
    to->octets.length += sizeof(place);
    to->count++;
    return 0;
}

/* Equal texts of elements become one object. Borrowed; NULL if the value is none that this engine reads. */
static PyObject *value_of(const source *of, PyObject *value, PyObject *texts) {
    if (!value || (of->members ? !PyLong_CheckExact(value) : !PyUnicode_CheckExact(value))) return NULL;
    if (of->members) return PyDict_GetItemWithError(of->members, value);
    if (!of->of_element) return value;
    PyObject *found = PyDict_GetItemWithError(texts, value);
    if (found || PyErr_Occurred()) return found;
    return PyDict_SetItem(texts, value, value) ? NULL : value;
}

static PyObject *make_row(const Rows *form, PyObject *outer, PyObject *inner, PyObject *texts) {
    PyObject *row = Py_TYPE(inner) == form->inner ? new_object(form->row, form->row_size) : NULL;
    for (int index = 0; row && index < form->count; index++) {
        const source *of = form->sources + index;
        PyObject *value = value_of(of, SLOT(of->of_element ? inner : outer, of->from), texts);
        if (value)
            SLOT(row, of->to) = Py_NewRef(value);
        else
            Py_CLEAR(row);
    }
    return row;
}

static int make_rows(const Rows *form, PyObject *structs, PyObject *texts, table *to) {
    for (Py_ssize_t at = 0; at < PyTuple_Size(structs); at++) {
        PyObject *outer = PyTuple_GetItem(structs, at);
        PyObject *elements = Py_TYPE(outer) == form->outer ? SLOT(outer, form->elements) : NULL;
        if (!elements || !PyTuple_CheckExact(elements)) return -1;
        for (Py_ssize_t index = 0; index < PyTuple_Size(elements); index++) {
            PyObject *row = make_row(form, outer, PyTuple_GetItem(elements, index), texts);
            if (!row) return -1;
            if (add_place(to, form, row)) {
                Py_DECREF(row);
                return -1;
            }
        }
    }
    return 0;
}

static const char *text_of(const place *of, Py_ssize_t *length) {
    return PyUnicode_AsUTF8AndSize(SLOT(of->row, of->form->sources[1].to), length);
}

/* The octets that begin the texts of all rows; UTF-8 is ordered as its characters are. */
static int common_prefix(const table *of, Py_ssize_t *prefix) {
    Py_ssize_t length;
    const char *first = text_of(places_of(of), prefix);
    if (!first) return -1;
    for (Py_ssize_t at = 1; at < of->count; at++) {
        const char *text = text_of(places_of(of) + at, &length);
        if (!text) return -1;
        if (length < *prefix) *prefix = length;
        if (memcmp(first, text, (size_t)*prefix))
            for (Py_ssize_t same = 0; same < *prefix; same++)
                if (first[same] != text[same]) *prefix = same;
    }
    return 0;
}

static int set_keys(table *of) {
    Py_ssize_t prefix, length;
    if (!of->count) return 0;
    if (common_prefix(of, &prefix)) return -1;
    for (place *at = places_of(of); at < places_of(of) + of->count; at++) {
        long number = PyLong_AsLong(SLOT(at->row, at->form->sources[0].to));
        const char *text = text_of(at, &length);
        if (number < 0 || number > 255 || !text) return -1;
        at->key = (uint64_t)number;
        for (Py_ssize_t index = prefix; index < prefix + KEY_OCTETS; index++)
            at->key = at->key << 8 | (index < length ? (uint8_t)text[index] : 0);
    }
    return 0;
}

static int compare(const void *left_place, const void *right_place) {
    const place *left = left_place, *right = right_place;
    if (left->key != right->key) return left->key < right->key ? -1 : 1;
    for (int index = 1; index < left->form->count; index++) {
        const source *of = left->form->sources + index;
        PyObject *mine = SLOT(left->row, of->to), *other = SLOT(right->row, of->to);
        if (mine == other) continue;
        long difference = of->members ? PyLong_AsLong(mine) - PyLong_AsLong(other) : PyUnicode_Compare(mine, other);
        if (difference) return difference < 0 ? -1 : 1;
    }
    return 0;
}

static PyObject *rows_of(PyObject *self, PyObject *structs) {
    table of = {0};
    PyObject *texts = NULL, *rows = NULL;
    if (!PyTuple_CheckExact(structs)) {
        PyErr_SetString(PyExc_TypeError, "of(structs: tuple)");
        return NULL;
    }
    if ((texts = PyDict_New()) && !make_rows((Rows *)self, structs, texts, &of) && !set_keys(&of)) {
        if (of.count) qsort(places_of(&of), (size_t)of.count, sizeof(place), compare);
        rows = PyErr_Occurred() ? NULL : PyList_New(of.count);
    }
    for (Py_ssize_t at = 0; at < of.count; at++)
        if (rows)
            PyList_SetItem(rows, at, places_of(&of)[at].row);
        else
            Py_DECREF(places_of(&of)[at].row);
    PyMem_Free(of.octets.octets);
    Py_XDECREF(texts);
    return rows ? rows : refuse();
}

/* The fields of a class, and their slots, which the caller frees. NULL with an exception. */
static Py_ssize_t *slots_of(PyTypeObject *cls, PyObject **names, Py_ssize_t *size) {
    *names = PyObject_GetAttrString((PyObject *)cls, "__struct_fields__");
    if (*names ? !PyTuple_Check(*names) : PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_SetString(PyExc_ValueError, "class: it has no fields");
    if (PyErr_Occurred()) return NULL;
    Py_ssize_t *slots = PyMem_Calloc((size_t)PyTuple_Size(*names) + 1, sizeof *slots);
    if (!slots) return (Py_ssize_t *)PyErr_NoMemory();
    if (!find_slots(cls, *names, slots, size)) return slots;
    PyMem_Free(slots);
    return NULL;
}

static int slot_among(PyObject *names, const Py_ssize_t *slots, PyObject *name, Py_ssize_t *slot) {
    for (Py_ssize_t index = 0; index < PyTuple_Size(names); index++)
        if (!PyUnicode_Compare(PyTuple_GetItem(names, index), name)) {
            *slot = slots[index];
            return 0;
        }
    PyErr_SetString(PyExc_ValueError, "rows: there is no such field");
    return -1;
}

/* The classes in the order of their sources: the rows, the structs, the elements. */
typedef struct {
    PyObject *names[3];
    Py_ssize_t *slots[3], size;
} forms;

static int set_source(Rows *form, const forms *of, PyObject *given) {
    PyObject *to, *from, *members;
    source *made = form->sources + form->count;
    if (!PyArg_ParseTuple(given, "UpUO", &to, &made->of_element, &from, &members)) return -1;
    int side = made->of_element ? 2 : 1;
    if (slot_among(of->names[0], of->slots[0], to, &made->to)) return -1;
    if (slot_among(of->names[side], of->slots[side], from, &made->from)) return -1;
    if (members != Py_None && !PyDict_Check(members)) return PyErr_SetString(PyExc_ValueError, "rows: no members"), -1;
    made->members = members == Py_None ? NULL : Py_NewRef(members);
    form->count++;
    return 0;
}

static int set_sources(Rows *form, const forms *of, PyObject *elements, PyObject *sources) {
    if (slot_among(of->names[1], of->slots[1], elements, &form->elements)) return -1;
    Py_ssize_t count = PyTuple_Size(sources);
    if (count < 2 || count > MOST_FIELDS || count != PyTuple_Size(of->names[0]))
        return PyErr_SetString(PyExc_ValueError, "rows: each field has one source"), -1;
    for (Py_ssize_t index = 0; index < count; index++)
        if (!PyTuple_Check(PyTuple_GetItem(sources, index)) || set_source(form, of, PyTuple_GetItem(sources, index)))
            return PyErr_Occurred() ? -1 : (PyErr_SetString(PyExc_ValueError, "rows: a source is a tuple"), -1);
    for (int index = 0; index < form->count; index++)
        for (int other = 0; other < index; other++)
            if (form->sources[index].to == form->sources[other].to)
                return PyErr_SetString(PyExc_ValueError, "rows: each field has one source"), -1;
    if (form->sources[0].members && !form->sources[1].members) return 0;
    return PyErr_SetString(PyExc_ValueError, "rows: they are ordered by a number and a text"), -1;
}

static PyObject *rows_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    PyObject *classes[3], *elements, *sources;
    if (named && PyDict_Size(named)) return PyErr_SetString(PyExc_TypeError, "Rows takes no keyword"), NULL;
    if (!PyArg_ParseTuple(arguments, "O!O!UO!O!:Rows", &PyType_Type, &classes[0], &PyType_Type, &classes[1], &elements,
                          &PyType_Type, &classes[2], &PyTuple_Type, &sources))
        return NULL;
    Rows *form = (Rows *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!form) return NULL;
    form->row = (PyTypeObject *)Py_NewRef(classes[0]);
    form->outer = (PyTypeObject *)Py_NewRef(classes[1]);
    form->inner = (PyTypeObject *)Py_NewRef(classes[2]);
    forms of = {0};
    int found = 1;
    for (int side = 0; found && side < 3; side++)
        found = (of.slots[side] = slots_of((PyTypeObject *)classes[side], &of.names[side], side ? &of.size : &form->row_size)) != NULL;
    if (!found || set_sources(form, &of, elements, sources)) Py_CLEAR(form);
    for (int side = 0; side < 3; side++) {
        Py_XDECREF(of.names[side]);
        PyMem_Free(of.slots[side]);
    }
    return (PyObject *)form;
}

static int rows_traverse(PyObject *self, visitproc visit, void *arg) {
    Rows *form = (Rows *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(form->row);
    Py_VISIT(form->outer);
    Py_VISIT(form->inner);
    for (int index = 0; index < form->count; index++) Py_VISIT(form->sources[index].members);
    return 0;
}

static void rows_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Rows *form = (Rows *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF((PyObject *)form->row);
    Py_XDECREF((PyObject *)form->outer);
    Py_XDECREF((PyObject *)form->inner);
    for (int index = 0; index < form->count; index++) Py_XDECREF(form->sources[index].members);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef rows_methods[] = {
    {"of", rows_of, METH_O, "The rows of structs, sorted."},
    {0},
};

static PyType_Slot rows_slots[] = {
    {Py_tp_doc, "Makes sorted rows of structs and the elements of an array in each."},
    {Py_tp_new, rows_new},
    {Py_tp_dealloc, rows_dealloc},
    {Py_tp_traverse, rows_traverse},
    {Py_tp_methods, rows_methods},
    {0},
};

PyType_Spec rows_spec = {
    "kafkawire._native.Rows", sizeof(Rows), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC, rows_slots,
};
