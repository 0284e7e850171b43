/* Reads messages. All functions return -1 or NULL if the bytes are refused; an exception is set only for another failure.
 * None of them runs Python code. */
#include "engine.h"

typedef struct {
    const uint8_t *octets;
    Py_ssize_t at, end;
    PyObject *buffer;
    PyObject *view;    /* of the buffer; made for the first records */
    PyObject *numbers; /* the last array of numbers, borrowed from the message, where it is, its size and type */
    Py_ssize_t numbers_at, numbers_size;
    char numbers_code;
    const shared *state;
} reader;

static PyObject *read_struct(reader *from, const program *with);

static inline uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }

static inline uint32_t get32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t get64(const uint8_t *p) { return (uint64_t)get32(p) << 32 | get32(p + 4); }

/* An unsigned varint below 2^31 (wire-uvarint). */
static int read_uvarint(reader *from, uint32_t *number) {
    uint64_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        if (from->at >= from->end) return -1;
        uint8_t octet = from->octets[from->at++];
        value |= (uint64_t)(octet & 0x7F) << shift;
        if (octet < 0x80) {
            if (value > LARGEST_LENGTH) return -1;
            *number = (uint32_t)value;
            return 0;
        }
    }
    return -1;
}

/* A length or count; -1 is null. */
static int read_length(reader *from, int compact, char code, int64_t *length) {
    if (compact) {
        uint32_t number;
        if (read_uvarint(from, &number)) return -1;
        *length = (int64_t)number - 1;
        return 0;
    }
    int width = code == 'h' ? 2 : 4;
    if (from->end - from->at < width) return -1;
    const uint8_t *p = from->octets + from->at;
    *length = width == 2 ? (int16_t)get16(p) : (int32_t)get32(p);
    if (*length < 0) *length = -1;
    from->at += width;
    return 0;
}

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
    if (from->end - from->at < of->width) return NULL;
    const uint8_t *p = from->octets + from->at;
    from->at += of->width;
    return number_at(from, of->code, p);
}

static PyObject *read_octets(reader *from, const field *of, int nullable) {
    int64_t length;
    if (read_length(from, of->compact, of->length_code, &length)) return NULL;
    if (length < 0) return nullable ? Py_NewRef(Py_None) : NULL;
    if (length > of->longest || length > from->end - from->at) return NULL;
    Py_ssize_t start = from->at;
    from->at += (Py_ssize_t)length;
    const char *p = (const char *)from->octets + start;
    if (of->code == 's') return PyUnicode_DecodeUTF8(p, (Py_ssize_t)length, NULL);
    if (of->code == 'o') return PyBytes_FromStringAndSize(p, (Py_ssize_t)length);
    return read_view(from, start, from->at);
}

/* An array of numbers. One that has the bytes of the last one becomes the same tuple: replicas and replicas in sync are
 * mostly equal. */
static PyObject *read_numbers(reader *from, const field *of, Py_ssize_t count) {
    Py_ssize_t size = count * of->width;
    const uint8_t *p = from->octets + from->at;
    if (from->numbers && size == from->numbers_size && of->code == from->numbers_code &&
        !memcmp(p, from->octets + from->numbers_at, (size_t)size)) {
        from->at += size;
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
    from->numbers_at = from->at;
    from->numbers_size = size;
    from->numbers_code = of->code;
    from->at += size;
    return numbers;
}

static PyObject *read_elements(reader *from, const field *of, Py_ssize_t count) {
    PyObject *elements = PyTuple_New(count);
    if (!elements) return NULL;
    PyObject **items = &SLOT(elements, from->state->items);
    for (Py_ssize_t index = 0; index < count; index++) {
        items[index] = of->child ? read_struct(from, of->child) : read_octets(from, of, 0);
        if (items[index]) continue;
        Py_DECREF(elements);
        return NULL;
    }
    return elements;
}

static PyObject *read_array(reader *from, const field *of) {
    int64_t count;
    if (read_length(from, of->compact, 'i', &count)) return NULL;
    if (count < 0) return of->nullable ? Py_NewRef(Py_None) : NULL;
    if (count == 0) return Py_NewRef(from->state->nothing);
    if (count > (from->end - from->at) / (of->least ? of->least : 1)) return NULL;
    PyObject *array =
        of->width ? read_numbers(from, of, (Py_ssize_t)count) : read_elements(from, of, (Py_ssize_t)count);
    if (array) PyObject_GC_UnTrack(array); /* no element refers to others, so the collector has nothing to look for */
    return array;
}

static PyObject *read_value(reader *from, const field *of) {
    if (of->marker == INLINE_MARKER) {
        if (from->at >= from->end) return NULL;
        if (from->octets[from->at++] >= 0x80) return Py_NewRef(Py_None);
    } else if (of->marker == TAGGED_MARKER) {
        uint32_t present;
        if (read_uvarint(from, &present)) return NULL;
        if (!present) return Py_NewRef(Py_None);
    }
    if (of->array) return read_array(from, of);
    if (of->child) return read_struct(from, of->child);
    return of->width ? read_number(from, of) : read_octets(from, of, of->nullable);
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
    if (read_uvarint(from, &count)) return -1;
    if (count > from->end - from->at) return -1;
    PyObject *unknown = NULL;
    int64_t previous = -1;
    const field *known = with->fields + with->inline_count, *last = known + with->tagged_count;
    for (uint32_t index = 0; index < count; index++) {
        uint32_t tag, size;
        if (read_uvarint(from, &tag) || read_uvarint(from, &size)) goto refused;
        if (tag <= previous || tag > LARGEST_TAG || size > from->end - from->at) goto refused;
        previous = tag;
        while (known < last && known->tag < tag) known++;
        if (known < last && known->tag == tag) {
            Py_ssize_t end = from->end;
            from->end = from->at + size;
            PyObject *value = read_value(from, known);
            int used_up = from->at == from->end;
            from->end = end;
            if (!value) goto refused;
            SLOT(object, known->slot) = value; /* tags ascend, so this is the first one */
            if (!used_up) goto refused;
        } else {
            if (append_unknown(&unknown, tag, from->octets + from->at, size)) goto refused;
            from->at += size;
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
    if (from->end - from->at < with->least) return NULL;
    PyObject *object = new_object(with->cls, with->size);
    if (!object) return NULL;
    const field *of = with->fields, *last = of + with->inline_count;
    for (; of < last; of++) {
        PyObject *value = of->width && !of->array ? read_number(from, of) : read_value(from, of);
        if (!value) goto refused;
        SLOT(object, of->slot) = value;
    }
    if (with->flexible) {
        if (from->at < from->end && from->octets[from->at] == 0)
            from->at++;
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
    reader from = {.at = *at, .end = PyBytes_Size(bytes), .buffer = bytes, .state = state};
    from.octets = (const uint8_t *)PyBytes_AsString(bytes);
    PyObject *message = read_struct(&from, with);
    Py_XDECREF(from.view);
    *at = from.at;
    return message;
}
