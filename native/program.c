/* Compiles layouts to programs. */
#include "engine.h"

enum { DEEPEST = 32 };

static program *compile_struct(PyObject *source, int depth);

void free_program(program *with) {
    if (!with) return;
    for (Py_ssize_t index = 0; index < with->count; index++) {
        Py_XDECREF(with->fields[index].name);
        Py_XDECREF(with->fields[index].initial);
        free_program(with->fields[index].child);
        free_rows(with->fields[index].rows);
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
        if (!status && of->rows) status = visit_rows(of->rows, visit, arg);
        if (status) return status;
    }
    return 0;
}

static int broken(const char *why) {
    PyErr_Format(PyExc_ValueError, "layout: %s", why);
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

static int compile_field(field *of, PyObject *source, int depth) {
    PyObject *name, *initial, *child, *rows;
    int code, length_code, array, nullable, compact, ignorable;
    if (!PyTuple_Check(source)) return broken("a field is a tuple");
    if (!PyArg_ParseTuple(source, "UbbCCppppIIOOO:field", &name, &of->presence, &of->marker, &code, &length_code, &array,
                          &nullable, &compact, &ignorable, &of->tag, &of->longest, &initial, &child, &rows))
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
    if (child != Py_None && !(of->child = compile_struct(child, depth + 1))) return -1;
    of->width = width_of(of->code);
    of->least = least_of(of);
    if (check_field(of)) return -1;
    return rows != Py_None && !(of->rows = compile_rows(rows, of->array ? of->child : NULL)) ? -1 : 0;
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
        if (compile_field(of, PyTuple_GetItem(fields, index), depth)) return -1;
        if (count_field(with, of, index ? of - 1 : NULL)) return -1;
    }
    with->least += with->flexible;
    return 0;
}

static int find_slots_of_fields(program *with) {
    Py_ssize_t *slots = PyMem_Calloc((size_t)with->count + 1, sizeof *slots);
    PyObject *names = PyTuple_New(with->count + 1), *unknown = PyUnicode_FromString("unknown_tagged_fields");
    int status = -1;
    if (!slots) PyErr_NoMemory();
    if (!slots || !names || !unknown) goto done;
    for (Py_ssize_t index = 0; index < with->count; index++)
        if (PyTuple_SetItem(names, index, Py_NewRef(with->fields[index].name))) goto done;
    if (PyTuple_SetItem(names, with->count, Py_NewRef(unknown))) goto done;
    status = find_slots(with->cls, names, slots, &with->size);
    for (Py_ssize_t index = 0; !status && index < with->count; index++) with->fields[index].slot = slots[index];
    with->unknown = slots[with->count];
done:
    PyMem_Free(slots);
    Py_XDECREF(names);
    Py_XDECREF(unknown);
    return status;
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
    if (compile_fields(with, fields, depth) || find_slots_of_fields(with)) {
        free_program(with);
        return NULL;
    }
    return with;
}

program *compile_program(PyObject *source) { return compile_struct(source, 0); }
