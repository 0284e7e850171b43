/* Writes messages. All functions return -1 if the value is refused; an exception is set only for another failure.
 *
 * Values may be of users' classes, whose code runs when they are asked for their number or their bytes. So every
 * container is held while its parts are read. */
#include "engine.h"

enum { LARGE = 4096 }; /* octets from this size on are not copied twice */

/* Octets that follow a position of those that are written; their owner is held. */
typedef struct {
    size_t at;
    Py_buffer octets;
} piece;

typedef struct {
    output out;
    piece *pieces;
    size_t piece_count, piece_room, piece_octets;
    const shared *state;
} writer;

static int write_struct(writer *to, const program *with, PyObject *object);

static inline void put(uint8_t *p, uint64_t number, int size) {
    for (int at = size - 1; at >= 0; at--, number >>= 8) p[at] = (uint8_t)number;
}

/* The place of further octets, which are then written; NULL with an exception. */
static uint8_t *reserve(writer *to, size_t size) {
    uint8_t *p = room_for(&to->out, size);
    if (p) to->out.length += size;
    return p;
}

static int put_uvarint(uint8_t *p, uint32_t number) {
    int size = 0;
    for (; number >= 0x80; number >>= 7) p[size++] = (uint8_t)(number | 0x80);
    p[size++] = (uint8_t)number;
    return size;
}

static int write_uvarint(writer *to, uint32_t number) {
    uint8_t *p = reserve(to, 5);
    if (!p) return -1;
    to->out.length -= 5 - (size_t)put_uvarint(p, number);
    return 0;
}

static int write_length(writer *to, int compact, char code, Py_ssize_t length) {
    if (compact) return length >= LARGEST_LENGTH ? -1 : write_uvarint(to, (uint32_t)length + 1);
    int width = code == 'h' ? 2 : 4;
    if (length > (width == 2 ? 0x7FFF : (Py_ssize_t)LARGEST_LENGTH)) return -1;
    uint8_t *p = reserve(to, (size_t)width);
    if (!p) return -1;
    put(p, (uint64_t)length, width);
    return 0;
}

static int write_null(writer *to, const field *of) {
    if (!of->nullable) return -1;
    if (of->marker != NO_MARKER) {
        uint8_t *p = reserve(to, 1);
        if (!p) return -1;
        *p = of->marker == INLINE_MARKER ? 0xFF : 0;
        return 0;
    }
    int width = of->compact ? 1 : of->array || of->length_code == 'i' ? 4 : 2;
    uint8_t *p = reserve(to, (size_t)width);
    if (!p) return -1;
    memset(p, of->compact ? 0 : 0xFF, (size_t)width);
    return 0;
}

/* Numbers and ids */

static int integer_of(PyObject *value, int64_t *number) {
    int overflow;
    if (PyLong_CheckExact(value)) {
        *number = PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow ? -1 : 0;
    }
    PyObject *index = PyNumber_Index(value);
    if (!index) return -1;
    *number = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    return overflow ? -1 : 0;
}

static int put_integer(uint8_t *p, char code, int64_t number) {
    switch (code) {
    case 'b': return put(p, (uint64_t)number, 1), number == (int8_t)number ? 0 : -1;
    case 'B': return put(p, (uint64_t)number, 1), number == (uint8_t)number ? 0 : -1;
    case 'h': return put(p, (uint64_t)number, 2), number == (int16_t)number ? 0 : -1;
    case 'H': return put(p, (uint64_t)number, 2), number == (uint16_t)number ? 0 : -1;
    case 'i': return put(p, (uint64_t)number, 4), number == (int32_t)number ? 0 : -1;
    case 'I': return put(p, (uint64_t)number, 4), number == (uint32_t)number ? 0 : -1;
    default: return put(p, (uint64_t)number, 8), 0;
    }
}

static int put_number(uint8_t *p, char code, PyObject *value) {
    int64_t number;
    if (code == '?') {
        if (!PyBool_Check(value)) return -1;
        *p = value == Py_True;
    } else if (code == 'd') {
        double real = PyFloat_AsDouble(value);
        if (real == -1 && PyErr_Occurred()) return -1;
        memcpy(&number, &real, sizeof number);
        put(p, (uint64_t)number, 8);
    } else if (code == 'u') {
        if (PyBytes_Check(value) && PyBytes_Size(value) == 16)
            memcpy(p, PyBytes_AsString(value), 16);
        else if (PyByteArray_Check(value) && PyByteArray_Size(value) == 16)
            memcpy(p, PyByteArray_AsString(value), 16);
        else
            return -1;
    } else
        return integer_of(value, &number) ? -1 : put_integer(p, code, number);
    return 0;
}

static int write_number(writer *to, const field *of, PyObject *value) {
    uint8_t *p = reserve(to, of->width);
    return p ? put_number(p, of->code, value) : -1;
}

static int write_numbers(writer *to, const field *of, PyObject **items, Py_ssize_t count) {
    if (count > PY_SSIZE_T_MAX / of->width) return -1;
    uint8_t *p = reserve(to, (size_t)(count * of->width));
    if (!p) return -1;
    for (Py_ssize_t index = 0; index < count; index++, p += of->width)
        if (put_number(p, of->code, items[index])) return -1;
    return 0;
}

/* Strings, octets and arrays */

/* Puts large octets aside until the message is whole. */
static int add_piece(writer *to, PyObject *owner) {
    if (to->piece_count == to->piece_room) {
        size_t room = to->piece_room ? to->piece_room * 2 : 8;
        piece *pieces = PyMem_Realloc(to->pieces, room * sizeof(piece));
        if (!pieces) {
            PyErr_NoMemory();
            return -1;
        }
        to->pieces = pieces;
        to->piece_room = room;
    }
    piece *last = to->pieces + to->piece_count;
    if (PyObject_GetBuffer(owner, &last->octets, PyBUF_SIMPLE)) return -1;
    last->at = to->out.length;
    to->piece_count++;
    to->piece_octets += (size_t)last->octets.len;
    return 0;
}

static int write_octets(writer *to, const field *of, const void *octets, Py_ssize_t length) {
    if (length > of->longest || write_length(to, of->compact, of->length_code, length)) return -1;
    uint8_t *p = reserve(to, (size_t)length);
    if (!p) return -1;
    memcpy(p, octets, (size_t)length);
    return 0;
}

static int write_text(writer *to, const field *of, PyObject *value) {
    Py_ssize_t length;
    const char *octets = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, &length) : NULL;
    return octets ? write_octets(to, of, octets, length) : -1;
}

/* Octets of an owner that gives a buffer of them. */
static int write_owned(writer *to, const field *of, PyObject *owner, const void *octets, Py_ssize_t length) {
    if (length < LARGE) return write_octets(to, of, octets, length);
    if (length > of->longest || write_length(to, of->compact, of->length_code, length)) return -1;
    return add_piece(to, owner);
}

static int write_buffer(writer *to, const field *of, PyObject *value) {
    Py_buffer view;
    if (PyBytes_Check(value)) return write_owned(to, of, value, PyBytes_AsString(value), PyBytes_Size(value));
    if (!PyByteArray_Check(value) && !PyMemoryView_Check(value)) return -1;
    if (!PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)) {
        int status = write_owned(to, of, value, view.buf, view.len);
        PyBuffer_Release(&view);
        return status;
    }
    if (of->code == 'r' || !PyErr_ExceptionMatches(PyExc_BufferError)) return -1;
    PyErr_Clear();
    PyObject *octets = PyBytes_FromObject(value); /* of a view with gaps */
    int status = octets ? write_octets(to, of, PyBytes_AsString(octets), PyBytes_Size(octets)) : -1;
    Py_XDECREF(octets);
    return status;
}

static int write_element(writer *to, const field *of, PyObject *value) {
    if (of->child) return write_struct(to, of->child, value);
    if (of->width) return write_number(to, of, value);
    return of->code == 's' ? write_text(to, of, value) : write_buffer(to, of, value);
}

/* The elements of an array as a tuple of its own, so that no code of users can change it. */
static PyObject *elements_of(const writer *to, PyObject *value) {
    if (PyTuple_CheckExact(value)) return Py_NewRef(value);
    if (PyList_CheckExact(value)) return PyList_AsTuple(value);
    return PyObject_CallFunctionObjArgs(to->state->sequence, value, NULL);
}

static int write_array(writer *to, const field *of, PyObject *value) {
    if (of->rows) return -1; /* they are only read */
    PyObject *elements = elements_of(to, value);
    if (!elements) return -1;
    Py_ssize_t count = PyTuple_Size(elements);
    PyObject **items = &SLOT(elements, to->state->items);
    int status = write_length(to, of->compact, 'i', count);
    if (!status && of->width)
        status = write_numbers(to, of, items, count);
    else
        for (Py_ssize_t index = 0; !status && index < count; index++) status = write_element(to, of, items[index]);
    Py_DECREF(elements);
    return status;
}

static int write_value(writer *to, const field *of, PyObject *value) {
    if (value == Py_None) return write_null(to, of);
    if (of->marker != NO_MARKER) {
        uint8_t *p = reserve(to, 1);
        if (!p) return -1;
        *p = 1;
    }
    return of->array ? write_array(to, of, value) : write_element(to, of, value);
}

/* An attribute of a struct, held; NULL if it has none. Objects of other classes have other slots. */
static PyObject *attribute_of(const program *with, PyObject *object, Py_ssize_t slot, PyObject *name) {
    return Py_TYPE(object) == with->cls ? Py_XNewRef(SLOT(object, slot)) : PyObject_GetAttr(object, name);
}

static PyObject *value_of(const program *with, PyObject *object, const field *of) {
    return attribute_of(with, object, of->slot, of->name);
}

/* Tagged fields */

/* Whether a value is not the initial one: 1 or 0, or -1 if it is refused (value-equals-default). */
static int is_given(const writer *to, const field *of, PyObject *value) {
    if (value == of->initial && of->code != 'd') return 0;
    if (value == Py_None || of->initial == Py_None || of->code == '?') return 1;
    PyObject *answer = PyObject_CallFunctionObjArgs(to->state->differs, value, of->initial, NULL);
    int given = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return given;
}

static int write_entry(writer *to, const field *of, PyObject *value) {
    if (write_uvarint(to, of->tag)) return -1;
    size_t start = to->out.length, first = to->piece_count, aside = to->piece_octets;
    if (!reserve(to, 5) || write_value(to, of, value)) return -1;
    size_t written = to->out.length - start - 5, size = written + to->piece_octets - aside;
    if (size > LARGEST_LENGTH) return -1;
    size_t prefix = (size_t)put_uvarint(to->out.octets + start, (uint32_t)size);
    memmove(to->out.octets + start + prefix, to->out.octets + start + 5, written);
    to->out.length = start + prefix + written;
    for (; first < to->piece_count; first++) to->pieces[first].at -= 5 - prefix;
    return 0;
}

/* The unknown tagged fields as a tuple of pairs of int and bytes, held. Generated code does not look at them where they
 * are false and no own field may be given. */
static PyObject *unknown_fields(const writer *to, const program *with, PyObject *object, int may_be_given) {
    PyObject *unknown = attribute_of(with, object, with->unknown, to->state->unknown);
    if (!unknown || (PyTuple_CheckExact(unknown) && !PyTuple_Size(unknown))) return unknown;
    int is_read = may_be_given ? 1 : PyObject_IsTrue(unknown);
    PyObject *plain = NULL;
    if (is_read > 0)
        plain = PyObject_CallFunctionObjArgs(to->state->plain_tags, unknown, NULL);
    else if (!is_read)
        plain = Py_NewRef(to->state->nothing);
    Py_DECREF(unknown);
    return plain;
}

/* The tag of an unknown field, and its octets, borrowed. */
static int unknown_of(PyObject *unknown, Py_ssize_t index, uint32_t *tag, PyObject **octets) {
    PyObject *entry = PyTuple_GetItem(unknown, index);
    int64_t number;
    if (integer_of(PyTuple_GetItem(entry, 0), &number) || number < 0 || number > LARGEST_TAG) return -1;
    *tag = (uint32_t)number;
    *octets = PyTuple_GetItem(entry, 1);
    return PyBytes_Size(*octets) <= LARGEST_LENGTH ? 0 : -1;
}

static int write_unknown(writer *to, uint32_t tag, PyObject *octets) {
    size_t size = (size_t)PyBytes_Size(octets);
    if (write_uvarint(to, tag) || write_uvarint(to, (uint32_t)size)) return -1;
    uint8_t *p = reserve(to, size);
    if (!p) return -1;
    memcpy(p, PyBytes_AsString(octets), size);
    return 0;
}

/* The section of a struct: its own fields that are given, a bit for each, and unknown ones, in the order of their tags
 * (tagged-order, tagged-conflict). */
static int write_section(writer *to, const program *with, PyObject *object, uint64_t given, PyObject *unknown) {
    const field *of = with->fields + with->inline_count, *last = of + with->tagged_count;
    Py_ssize_t others = PyTuple_Size(unknown), index = 0, entries = others;
    for (uint64_t bits = given; bits; bits &= bits - 1) entries++;
    if (entries > LARGEST_LENGTH || write_uvarint(to, (uint32_t)entries)) return -1;
    int64_t previous = -1;
    for (int bit = 0;; of++, bit++) {
        for (; index < others; index++) {
            uint32_t tag;
            PyObject *octets;
            if (unknown_of(unknown, index, &tag, &octets) || tag <= previous || (of < last && tag == of->tag)) return -1;
            if (of < last && tag > of->tag) break;
            if (write_unknown(to, tag, octets)) return -1;
            previous = tag;
        }
        if (of == last) return 0;
        if (given >> bit & 1) {
            PyObject *value = value_of(with, object, of);
            int status = value ? write_entry(to, of, value) : -1;
            Py_XDECREF(value);
            if (status) return -1;
        }
    }
}

static int write_tagged(writer *to, const program *with, PyObject *object) {
    const field *of = with->fields + with->inline_count;
    uint64_t given = 0;
    int may_be_given = 0;
    for (Py_ssize_t bit = 0; bit < with->tagged_count; bit++) {
        PyObject *value = value_of(with, object, of + bit);
        int answer = value ? is_given(to, of + bit, value) : -1;
        may_be_given |= answer || (of[bit].child && value != of[bit].initial);
        Py_XDECREF(value);
        if (answer < 0) return -1;
        given |= (uint64_t)answer << bit;
    }
    PyObject *unknown = unknown_fields(to, with, object, may_be_given);
    if (!unknown) return -1;
    int status = 0;
    if (with->flexible)
        status = write_section(to, with, object, given, unknown);
    else if (PyTuple_Size(unknown)) /* tagged-unknown-needs-flexible */
        status = -1;
    Py_DECREF(unknown);
    return status;
}

/* Structs */

static int write_fields(writer *to, const program *with, PyObject *object) {
    const field *of = with->fields, *last = of + with->inline_count;
    for (; of < last; of++) {
        PyObject *value = value_of(with, object, of);
        int status = value ? write_value(to, of, value) : -1;
        Py_XDECREF(value);
        if (status) return -1;
    }
    last = with->fields + with->count;
    for (of += with->tagged_count; of < last; of++) {
        if (of->ignorable) continue; /* encode-ignorable */
        PyObject *value = value_of(with, object, of);
        int given = value ? is_given(to, of, value) : -1;
        Py_XDECREF(value);
        if (given) return -1;
    }
    return 0;
}

static int write_struct(writer *to, const program *with, PyObject *object) {
    return write_fields(to, with, object) || write_tagged(to, with, object) ? -1 : 0;
}

/* All octets in one object. */
static PyObject *whole(const writer *to) {
    if (to->out.length + to->piece_octets > PY_SSIZE_T_MAX) return PyErr_NoMemory();
    if (!to->piece_count) return PyBytes_FromStringAndSize((const char *)to->out.octets, (Py_ssize_t)to->out.length);
    PyObject *octets = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(to->out.length + to->piece_octets));
    if (!octets) return NULL;
    char *p = PyBytes_AsString(octets);
    size_t at = 0;
    for (const piece *next = to->pieces; next < to->pieces + to->piece_count; next++) {
        memcpy(p, to->out.octets + at, next->at - at);
        p += next->at - at;
        at = next->at;
        memcpy(p, next->octets.buf, (size_t)next->octets.len);
        p += next->octets.len;
    }
    memcpy(p, to->out.octets + at, to->out.length - at);
    return octets;
}

PyObject *write_message(const program *with, const shared *state, PyObject *message) {
    writer to = {.state = state};
    PyObject *octets = !room_for(&to.out, 512) || write_struct(&to, with, message) ? NULL : whole(&to);
    while (to.piece_count) PyBuffer_Release(&to.pieces[--to.piece_count].octets);
    PyMem_Free(to.pieces);
    PyMem_Free(to.out.octets);
    return octets;
}
