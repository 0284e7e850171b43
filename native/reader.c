/* Reads messages. All functions return -1 or NULL if the bytes are refused; an exception is set only for another failure.
 * None of them runs Python code. */
#include "cursor.h"

typedef struct {
    cursor in;
    PyObject *buffer;
    PyObject *view;    /* of the buffer; made for the first records */
    PyObject *numbers; /* the last array of numbers, borrowed from the message, where it is, its size and type */
    Py_ssize_t numbers_at, numbers_size;
    char numbers_code;
    const shared *state;
} reader;

static PyObject *read_struct(reader *from, const program *with);

static PyObject *read_view(reader *from, Py_ssize_t start, Py_ssize_t end) {
    if (!from->view && !(from->view = PyMemoryView_FromObject(from->buffer))) return NULL;
    PyObject *low = PyLong_FromSsize_t(start), *high = PyLong_FromSsize_t(end), *slice = NULL, *part = NULL;
    if (low && high && (slice = PySlice_New(low, high, NULL))) part = PyObject_GetItem(from->view, slice);
    Py_XDECREF(low);
    Py_XDECREF(high);
    Py_XDECREF(slice);
    return part;
}

static PyObject *read_uuid(const reader *from, const uint8_t *p) {
    PyObject *octets = PyBytes_FromStringAndSize((const char *)p, 16);
    PyObject *arguments = octets ? PyTuple_Pack(1, octets) : NULL;
    PyObject *id = arguments ? from->state->new_bytes((PyTypeObject *)from->state->uuid, arguments, NULL) : NULL;
    Py_XDECREF(octets);
    Py_XDECREF(arguments);
    return id;
}

static inline PyObject *number_at(const reader *from, char code, const uint8_t *p) {
    switch (code) {
    case '?': return PyBool_FromLong(*p != 0);
    case 'b': return PyLong_FromLong((int8_t)*p);
    case 'B': return PyLong_FromLong(*p);
    case 'h': return PyLong_FromLong((int16_t)get16(p));
    case 'H': return PyLong_FromLong(get16(p));
    case 'i': return PyLong_FromLong((int32_t)get32(p));
    case 'I': return PyLong_FromLongLong(get32(p));
    case 'q': return PyLong_FromLongLong((int64_t)get64(p));
    case 'd': {
        uint64_t bits = get64(p);
        double number;
        memcpy(&number, &bits, sizeof number);
        return PyFloat_FromDouble(number);
    }
    default: return read_uuid(from, p);
    }
}

static inline PyObject *read_number(reader *from, const field *of) {
    if (from->in.end - from->in.at < of->width) return NULL;
    const uint8_t *p = from->in.octets + from->in.at;
    from->in.at += of->width;
    return number_at(from, of->code, p);
}

static PyObject *read_text_or_octets(reader *from, const field *of, int nullable) {
    int64_t length;
    const uint8_t *p;
    if (read_octets(&from->in, of, nullable, &length, &p)) return NULL;
    if (length < 0) return Py_NewRef(Py_None);
    if (of->code == 's') return PyUnicode_DecodeUTF8((const char *)p, (Py_ssize_t)length, NULL);
    if (of->code == 'o') return PyBytes_FromStringAndSize((const char *)p, (Py_ssize_t)length);
    return read_view(from, from->in.at - (Py_ssize_t)length, from->in.at);
}

/* An array of numbers. One that has the bytes of the last one becomes the same tuple: replicas and replicas in sync are
 * mostly equal. */
static PyObject *read_numbers(reader *from, const field *of, Py_ssize_t count) {
    Py_ssize_t size = count * of->width;
    const uint8_t *p = from->in.octets + from->in.at;
    if (from->numbers && size == from->numbers_size && of->code == from->numbers_code &&
        !memcmp(p, from->in.octets + from->numbers_at, (size_t)size)) {
        from->in.at += size;
        return Py_NewRef(from->numbers);
    }
    PyObject *numbers = PyTuple_New(count);
    if (!numbers) return NULL;
    PyObject **items = &SLOT(numbers, from->state->items);
    for (Py_ssize_t index = 0; index < count; index++, p += of->width)
        if (!(items[index] = number_at(from, of->code, p))) {
            Py_DECREF(numbers);
            return NULL;
        }
    from->numbers = numbers;
    from->numbers_at = from->in.at;
    from->numbers_size = size;
    from->numbers_code = of->code;
    from->in.at += size;
    return numbers;
}

static PyObject *read_elements(reader *from, const field *of, Py_ssize_t count) {
    PyObject *elements = PyTuple_New(count);
    if (!elements) return NULL;
    PyObject **items = &SLOT(elements, from->state->items);
    for (Py_ssize_t index = 0; index < count; index++) {
        items[index] = of->child ? read_struct(from, of->child) : read_text_or_octets(from, of, 0);
        if (items[index]) continue;
        Py_DECREF(elements);
        return NULL;
    }
    return elements;
}

static PyObject *read_array(reader *from, const field *of) {
    int64_t count;
    if (read_count(&from->in, of, &count)) return NULL;
    if (count < 0) return Py_NewRef(Py_None);
    if (count == 0) return Py_NewRef(from->state->nothing);
    PyObject *array =
        of->width ? read_numbers(from, of, (Py_ssize_t)count) : read_elements(from, of, (Py_ssize_t)count);
    if (array) PyObject_GC_UnTrack(array); /* no element refers to others, so the collector has nothing to look for */
    return array;
}

static PyObject *read_value(reader *from, const field *of) {
    int is_null = 0;
    if (of->marker != NO_MARKER && read_marker(&from->in, of->marker, &is_null)) return NULL;
    if (is_null) return Py_NewRef(Py_None);
    if (of->array) return of->rows ? read_sorted_rows(&from->in, of, from->state) : read_array(from, of);
    if (of->child) return read_struct(from, of->child);
    return of->width ? read_number(from, of) : read_text_or_octets(from, of, of->nullable);
}

static int append_unknown(PyObject **unknown, uint32_t tag, const uint8_t *p, Py_ssize_t size) {
    if (!*unknown && !(*unknown = PyList_New(0))) return -1;
    PyObject *entry = Py_BuildValue("(Iy#)", (unsigned)tag, (const char *)p, size);
    if (!entry) return -1;
    int status = PyList_Append(*unknown, entry);
    Py_DECREF(entry);
    return status;
}

static int read_tagged(reader *from, const program *with, PyObject *object) {
    uint32_t count;
    if (read_uvarint(&from->in, &count)) return -1;
    if (count > from->in.end - from->in.at) return -1;
    PyObject *unknown = NULL;
    int64_t previous = -1;
    const field *known = with->fields + with->inline_count, *last = known + with->tagged_count;
    for (uint32_t index = 0; index < count; index++) {
        uint32_t tag, size;
        if (read_tag(&from->in, previous, &tag, &size)) goto refused;
        previous = tag;
        while (known < last && known->tag < tag) known++;
        if (known < last && known->tag == tag) {
            Py_ssize_t end = from->in.end;
            from->in.end = from->in.at + size;
            PyObject *value = read_value(from, known);
            int used_up = from->in.at == from->in.end;
            from->in.end = end;
            if (!value) goto refused;
            SLOT(object, known->slot) = value; /* tags ascend, so this is the first one */
            if (!used_up) goto refused;
        } else {
            if (append_unknown(&unknown, tag, from->in.octets + from->in.at, size)) goto refused;
            from->in.at += size;
        }
    }
    if (unknown) {
        SLOT(object, with->unknown) = PyList_AsTuple(unknown);
        if (!SLOT(object, with->unknown)) goto refused;
        Py_DECREF(unknown);
    }
    return 0;
refused:
    Py_XDECREF(unknown);
    return -1;
}

static PyObject *read_struct(reader *from, const program *with) {
    if (from->in.end - from->in.at < with->least) return NULL;
    PyObject *object = new_object(with->cls, with->size);
    if (!object) return NULL;
    const field *of = with->fields, *last = of + with->inline_count;
    for (; of < last; of++) {
        PyObject *value = of->width && !of->array ? read_number(from, of) : read_value(from, of);
        if (!value) goto refused;
        SLOT(object, of->slot) = value;
    }
    if (with->flexible) {
        if (from->in.at < from->in.end && from->in.octets[from->in.at] == 0)
            from->in.at++;
        else if (read_tagged(from, with, object))
            goto refused;
    }
    for (last = with->fields + with->count; of < last; of++)
        if (!SLOT(object, of->slot)) SLOT(object, of->slot) = Py_NewRef(of->initial);
    if (!SLOT(object, with->unknown)) SLOT(object, with->unknown) = Py_NewRef(from->state->nothing);
    return object;
refused:
    Py_DECREF(object);
    return NULL;
}

PyObject *read_message(const program *with, const shared *state, PyObject *bytes, Py_ssize_t *at) {
    reader from = {.in = {.at = *at, .end = PyBytes_Size(bytes)}, .buffer = bytes, .state = state};
    from.in.octets = (const uint8_t *)PyBytes_AsString(bytes);
    PyObject *message = read_struct(&from, with);
    Py_XDECREF(from.view);
    *at = from.in.at;
    return message;
}
