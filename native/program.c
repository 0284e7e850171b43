/* Compiles layouts to programs, and proves that objects can be made by writing their slots. */
#include "engine.h"

#include <structmember.h>

enum { DEEPEST = 32 };

static program *compile_struct(PyObject *source, int depth);

void free_program(program *with) {
    if (!with) return;
    for (Py_ssize_t index = 0; index < with->count; index++) {
        Py_XDECREF(with->fields[index].name);
        Py_XDECREF(with->fields[index].initial);
        free_program(with->fields[index].child);
    }
    PyMem_Free(with->fields);
    Py_XDECREF((PyObject *)with->cls);
    PyMem_Free(with);
}

int visit_program(const program *with, visitproc visit, void *arg) {
    Py_VISIT(with->cls);
    for (Py_ssize_t index = 0; index < with->count; index++) {
        const field *of = with->fields + index;
        Py_VISIT(of->initial);
        int status = of->child ? visit_program(of->child, visit, arg) : 0;
        if (status) return status;
    }
    return 0;
}

static int broken(const char *why) {
    PyErr_Format(PyExc_ValueError, "layout: %s", why);
    return -1;
}

/* The offset of an attribute in the objects of a class; -1 if it is not a slot. */
static Py_ssize_t slot_of(PyTypeObject *cls, PyObject *name) {
    const PyMemberDef *member = PyType_GetSlot(cls, Py_tp_members);
    for (; member && member->name; member++)
        if (!PyUnicode_CompareWithASCIIString(name, member->name))
            return member->type == T_OBJECT_EX ? member->offset : -1;
    return -1;
}

static uint8_t width_of(char code) {
    switch (code) {
    case '?': case 'b': case 'B': return 1;
    case 'h': case 'H': return 2;
    case 'i': case 'I': return 4;
    case 'q': case 'd': return 8;
    case 'u': return 16;
    default: return 0;
    }
}

static Py_ssize_t least_of(const field *of) {
    if (of->child) return of->child->least;
    return of->width ? of->width : of->compact ? 1 : of->length_code == 'h' ? 2 : 4;
}

static int check_field(const field *of) {
    if (of->presence > ABSENT || of->marker > TAGGED_MARKER) return broken("a field");
    if (!of->width && !strchr("sorS", of->code)) return broken("a field of an unknown type");
    if (strchr("sor", of->code) && !strchr("hi", of->length_code)) return broken("a length of an unknown type");
    if ((of->child != NULL) != (of->code == 'S' && of->presence != ABSENT)) return broken("a struct without fields");
    if (of->marker != NO_MARKER && (of->code != 'S' || of->array || !of->nullable)) return broken("a marker of null");
    if (of->longest > LARGEST_LENGTH || of->tag > LARGEST_TAG) return broken("a limit");
    return 0;
}

static int compile_field(field *of, PyTypeObject *cls, PyObject *source, int depth) {
    PyObject *name, *initial, *child;
    int code, length_code, array, nullable, compact, ignorable;
    if (!PyTuple_Check(source)) return broken("a field is a tuple");
    if (!PyArg_ParseTuple(source, "UbbCCppppIIOO:field", &name, &of->presence, &of->marker, &code, &length_code, &array,
                          &nullable, &compact, &ignorable, &of->tag, &of->longest, &initial, &child))
        return -1;
    of->name = Py_NewRef(name);
    of->initial = Py_NewRef(initial);
    if (code > 0x7F || length_code > 0x7F) return broken("a field of an unknown type");
    of->code = (char)code;
    of->length_code = (char)length_code;
    of->array = (uint8_t)array;
    of->nullable = (uint8_t)nullable;
    of->compact = (uint8_t)compact;
    of->ignorable = (uint8_t)ignorable;
    of->slot = slot_of(cls, name);
    if (of->slot < (Py_ssize_t)sizeof(PyObject)) return broken("a field has no slot");
    if (child != Py_None && !(of->child = compile_struct(child, depth + 1))) return -1;
    of->width = width_of(of->code);
    of->least = least_of(of);
    return check_field(of);
}

/* Fields come in line, then tagged ones by their tags, then absent ones. */
static int count_field(program *with, const field *of, const field *before) {
    if (before && (of->presence < before->presence)) return broken("fields are in another order");
    if (of->presence == INLINE) {
        with->inline_count++;
        with->least += of->marker ? 1 : of->array ? (of->compact ? 1 : 4) : of->least;
    } else if (of->presence == TAGGED) {
        if (before && before->presence == TAGGED && of->tag <= before->tag) return broken("tags do not ascend");
        if (!with->flexible || ++with->tagged_count > MOST_TAGGED) return broken("tagged fields");
    }
    return 0;
}

static int compile_fields(program *with, PyObject *fields, int depth) {
    Py_ssize_t count = PyTuple_Size(fields);
    if (!(with->fields = PyMem_Calloc((size_t)count, sizeof(field)))) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        field *of = with->fields + with->count++;
        if (compile_field(of, with->cls, PyTuple_GetItem(fields, index), depth)) return -1;
        if (count_field(with, of, index ? of - 1 : NULL)) return -1;
    }
    with->least += with->flexible;
    return 0;
}

/* Whether an object has these values in its slots, and nothing else. */
static int holds(const program *with, PyObject *object, PyObject *values) {
    char rest[512];
    size_t head = sizeof(PyObject), size = (size_t)with->size - head;
    if (size > sizeof rest) return 0;
    memcpy(rest, (char *)object + head, size);
    for (Py_ssize_t index = 0; index <= with->count; index++) {
        Py_ssize_t slot = index < with->count ? with->fields[index].slot : with->unknown;
        if (SLOT(object, slot) != PyTuple_GetItem(values, index)) return 0;
        memset(rest + (size_t)slot - head, 0, sizeof(PyObject *));
    }
    for (size_t at = 0; at < size; at++)
        if (rest[at]) return 0;
    return 1;
}

/* Makes an object of values of its own both ways: by its class, whose slots must then hold these values and nothing
 * else, and by its slots, whose attributes must then be these values. */
static int prove_slots(const program *with) {
    PyObject *values = PyTuple_New(with->count + 1), *names = PyDict_New(), *nothing = PyTuple_New(0);
    PyObject *by_class = NULL, *by_slots = NULL;
    int status = -1;
    if (!values || !names || !nothing) goto done;
    for (Py_ssize_t index = 0; index <= with->count; index++) {
        PyObject *value = PyBytes_FromStringAndSize(NULL, 2 + index % 7); /* never one that Python shares */
        if (!value || PyTuple_SetItem(values, index, value)) goto done;
        PyObject *name = index < with->count ? Py_NewRef(with->fields[index].name)
                                             : PyUnicode_FromString("unknown_tagged_fields");
        int failed = name ? PyDict_SetItem(names, name, value) : -1;
        Py_XDECREF(name);
        if (failed) goto done;
    }
    if (PyDict_Size(names) != with->count + 1) goto unproven;
    if (!(by_class = PyObject_Call((PyObject *)with->cls, nothing, names))) goto done;
    if (Py_TYPE(by_class) != with->cls || !holds(with, by_class, values)) goto unproven;
    if (!(by_slots = new_object(with))) goto done;
    for (Py_ssize_t index = 0; index <= with->count; index++) {
        Py_ssize_t slot = index < with->count ? with->fields[index].slot : with->unknown;
        SLOT(by_slots, slot) = Py_NewRef(PyTuple_GetItem(values, index));
    }
    for (Py_ssize_t index = 0; index < with->count; index++) {
        PyObject *value = PyObject_GetAttr(by_slots, with->fields[index].name);
        Py_XDECREF(value);
        if (!value) goto done;
        if (value != PyTuple_GetItem(values, index)) goto unproven;
    }
    status = 0;
    goto done;
unproven:
    broken("objects of the class have another form");
done:
    Py_XDECREF(by_slots);
    Py_XDECREF(by_class);
    Py_XDECREF(values);
    Py_XDECREF(names);
    Py_XDECREF(nothing);
    return status;
}

static int find_slots(program *with) {
    if (PyType_GetFlags(with->cls) & Py_TPFLAGS_HAVE_GC) return broken("the collector follows objects of the class");
    PyObject *size = PyObject_GetAttrString((PyObject *)with->cls, "__basicsize__");
    with->size = size ? PyLong_AsSsize_t(size) : -1;
    Py_XDECREF(size);
    if (with->size < 0) return -1;
    PyObject *name = PyUnicode_FromString("unknown_tagged_fields");
    if (!name) return -1;
    with->unknown = slot_of(with->cls, name);
    Py_DECREF(name);
    return with->unknown < (Py_ssize_t)sizeof(PyObject) ? broken("a class without unknown tagged fields") : 0;
}

static program *compile_struct(PyObject *source, int depth) {
    PyObject *cls, *fields;
    int flexible;
    if (depth > DEEPEST) return broken("too deep"), NULL;
    if (!PyTuple_Check(source)) return broken("a struct is a tuple"), NULL;
    if (!PyArg_ParseTuple(source, "O!pO!:struct", &PyType_Type, &cls, &flexible, &PyTuple_Type, &fields)) return NULL;
    program *with = PyMem_Calloc(1, sizeof *with);
    if (!with) return (program *)PyErr_NoMemory();
    with->cls = (PyTypeObject *)Py_NewRef(cls);
    with->flexible = (uint8_t)flexible;
    if (find_slots(with) || compile_fields(with, fields, depth) || prove_slots(with)) {
        free_program(with);
        return NULL;
    }
    return with;
}

program *compile_program(PyObject *source) { return compile_struct(source, 0); }
