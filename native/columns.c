/* Grows columns in Arrow's form: validity, offsets of 32 bits, and values. */
#include "columns.h"

int begin_validity(column *of) {
    uint8_t *p = room_for(&of->valid, (size_t)of->count + 1);
    if (!p) return -1;
    memset(p, 1, (size_t)of->count);
    of->valid.length = (size_t)of->count;
    of->has_nulls = 1;
    return 0;
}

/* The end of the value before. */
static Py_ssize_t end_of(const column *of, Py_ssize_t count) {
    int32_t end = 0;
    if (of->offsets.length) memcpy(&end, of->offsets.octets + 4 * count, sizeof end);
    return end;
}

int begin_offsets(column *of) { return append(&of->offsets, &(int32_t){0}, 4); }

int too_large(void) {
    PyErr_SetString(PyExc_OverflowError, "a column of more than 2 GiB");
    return -1;
}

int add_null(column *to) {
    switch (to->kind) {
    case NO_COLUMN: return 0;
    case BITS:
    case NUMBERS:
        if (append(&to->values, &(uint64_t){0}, to->width)) return -1;
        break;
    case OCTETS:
    case LISTS:
        if (append_end(to, end_of(to, to->count))) return -1;
        break;
    case STRUCTS:
        for (Py_ssize_t index = 0; index < to->children; index++)
            if (add_null(to->child + index)) return -1;
    }
    return count_value(to, 0);
}

void keep_first(column *of, Py_ssize_t count) {
    switch (of->kind) {
    case NO_COLUMN: return;
    case BITS:
    case NUMBERS: of->values.length = (size_t)count * of->width; break;
    case OCTETS: of->values.length = (size_t)end_of(of, count); break;
    case LISTS: keep_first(of->child, end_of(of, count)); break;
    case STRUCTS:
        for (Py_ssize_t index = 0; index < of->children; index++) keep_first(of->child + index, count);
    }
    if (of->offsets.length) of->offsets.length = 4 * ((size_t)count + 1);
    if (of->has_nulls) of->valid.length = (size_t)count;
    of->count = count;
}

void free_columns(column *first, Py_ssize_t count) {
    for (Py_ssize_t index = 0; first && index < count; index++) {
        PyMem_Free(first[index].valid.octets);
        PyMem_Free(first[index].offsets.octets);
        PyMem_Free(first[index].values.octets);
        free_columns(first[index].child, first[index].children);
    }
    PyMem_Free(first);
}

/* A bit for each octet. */
static PyObject *packed(const output *from) {
    PyObject *bits = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(from->length + 7) / 8);
    if (!bits) return NULL;
    uint8_t *p = (uint8_t *)PyBytes_AsString(bits);
    memset(p, 0, (from->length + 7) / 8);
    for (size_t at = 0; at < from->length; at++) p[at / 8] |= (uint8_t)((from->octets[at] & 1) << at % 8);
    return bits;
}

static PyObject *as_bytes(const output *from) {
    return PyBytes_FromStringAndSize((const char *)from->octets, (Py_ssize_t)from->length);
}

static PyObject *offsets_of(const column *of) {
    return of->offsets.length ? as_bytes(&of->offsets) : PyBytes_FromStringAndSize("\0\0\0", 4);
}

static PyObject *buffers_of(const column *of) {
    PyObject *valid = of->has_nulls ? packed(&of->valid) : Py_NewRef(Py_None);
    if (!valid) return NULL;
    switch (of->kind) { /* N takes the reference, and fails for NULL */
    case BITS: return Py_BuildValue("(NN)", valid, packed(&of->values));
    case NUMBERS: return Py_BuildValue("(NN)", valid, as_bytes(&of->values));
    case OCTETS: return Py_BuildValue("(NNN)", valid, offsets_of(of), as_bytes(&of->values));
    case LISTS: return Py_BuildValue("(NN)", valid, offsets_of(of));
    default: return Py_BuildValue("(N)", valid);
    }
}

PyObject *columns_to_python(const column *first, Py_ssize_t count) {
    PyObject *columns = PyTuple_New(count);
    for (Py_ssize_t index = 0; columns && index < count; index++) {
        const column *of = first + index;
        PyObject *buffers = of->kind == NO_COLUMN ? Py_NewRef(Py_None) : buffers_of(of);
        PyObject *children = buffers ? columns_to_python(of->child, of->children) : NULL;
        PyObject *made = children ? Py_BuildValue("(nOO)", of->count, buffers, children) : NULL;
        Py_XDECREF(buffers);
        Py_XDECREF(children);
        if (!made || PyTuple_SetItem(columns, index, made)) Py_CLEAR(columns);
    }
    return columns;
}

int is_text(const uint8_t *octets, Py_ssize_t length) {
    Py_ssize_t at = 0;
    for (uint64_t eight; at + 8 <= length; at += 8) {
        memcpy(&eight, octets + at, 8);
        if (eight & 0x8080808080808080u) break;
    }
    while (at < length && octets[at] < 0x80) at++;
    if (at == length) return 1;
    PyObject *text = PyUnicode_DecodeUTF8((const char *)octets, length, NULL);
    Py_XDECREF(text);
    return text != NULL;
}
