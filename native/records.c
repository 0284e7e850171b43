/* Records of batches of magic 2: runs of them to objects, and objects to their bytes. Like messages they are refused
 * without a reason. */
#include "records.h"

#include <limits.h>

enum record_slot { OFFSET, TIMESTAMP, KEY, VALUE, HEADERS, RECORD_SLOTS };
enum header_slot { HEADER_KEY, HEADER_VALUE, HEADER_SLOTS };

typedef struct {
    PyObject_HEAD
    PyTypeObject *record, *header;
    Py_ssize_t record_size, header_size;
    Py_ssize_t record_slots[RECORD_SLOTS], header_slots[HEADER_SLOTS];
    batch_form batch;
    PyObject *nothing;
} RecordCodec;

/* Reading */

typedef struct {
    cursor in;
    long long base_offset, base_timestamp;
    PyObject *append_time; /* the timestamp of all records, or NULL */
    int keep_headers;
} run;

/* The sum of two numbers of 64 bits, which may need more. */
static PyObject *sum_of(int64_t base, int64_t delta) {
    if (!(delta > 0 ? base > INT64_MAX - delta : base < INT64_MIN - delta)) return PyLong_FromLongLong(base + delta);
    PyObject *left = PyLong_FromLongLong(base), *right = PyLong_FromLongLong(delta);
    PyObject *sum = left && right ? PyNumber_Add(left, right) : NULL;
    Py_XDECREF(left);
    Py_XDECREF(right);
    return sum;
}

static PyObject *nullable_bytes(const piece *of) {
    return of->length < 0 ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize((const char *)of->start, (Py_ssize_t)of->length);
}

static PyObject *read_header(const RecordCodec *codec, cursor *from) {
    piece key, value;
    if (read_piece(from, &key) || key.length < 0 || read_piece(from, &value)) return NULL;
    PyObject *text = PyUnicode_DecodeUTF8((const char *)key.start, (Py_ssize_t)key.length, NULL);
    PyObject *header = text ? new_object(codec->header, codec->header_size) : NULL;
    if (!header) {
        Py_XDECREF(text);
        return NULL;
    }
    SLOT(header, codec->header_slots[HEADER_KEY]) = text;
    if (!(SLOT(header, codec->header_slots[HEADER_VALUE]) = nullable_bytes(&value))) Py_CLEAR(header);
    return header;
}

static PyObject *read_headers(const RecordCodec *codec, cursor *from, Py_ssize_t end) {
    Py_ssize_t count;
    if (count_headers(from, end, &count)) return NULL;
    PyObject *headers = count ? PyTuple_New(count) : Py_NewRef(codec->nothing);
    for (Py_ssize_t index = 0; headers && index < count; index++) {
        PyObject *header = read_header(codec, from);
        if (header)
            PyTuple_SetItem(headers, index, header);
        else
            Py_CLEAR(headers);
    }
    if (headers && count) PyObject_GC_UnTrack(headers);
    return headers;
}

static int read_fields(const RecordCodec *codec, run *from, PyObject *record) {
    const Py_ssize_t *slots = codec->record_slots;
    parts parts;
    if (read_parts(&from->in, &parts)) return -1;
    if (!(SLOT(record, slots[OFFSET]) = sum_of(from->base_offset, parts.offset_delta))) return -1;
    SLOT(record, slots[TIMESTAMP]) =
        from->append_time ? Py_NewRef(from->append_time) : sum_of(from->base_timestamp, parts.timestamp_delta);
    if (!SLOT(record, slots[TIMESTAMP])) return -1;
    if (!(SLOT(record, slots[KEY]) = nullable_bytes(&parts.key))) return -1;
    if (!(SLOT(record, slots[VALUE]) = nullable_bytes(&parts.value))) return -1;
    if (from->keep_headers)
        SLOT(record, slots[HEADERS]) = read_headers(codec, &from->in, parts.end);
    else if (!check_headers(&from->in, parts.end))
        SLOT(record, slots[HEADERS]) = Py_NewRef(codec->nothing);
    return SLOT(record, slots[HEADERS]) && from->in.at == parts.end ? 0 : -1;
}

static PyObject *read_run(const RecordCodec *codec, run *from, Py_ssize_t count) {
    PyObject *records = PyTuple_New(count);
    for (Py_ssize_t index = 0; records && index < count; index++) {
        PyObject *record = new_object(codec->record, codec->record_size);
        if (record && read_fields(codec, from, record)) Py_CLEAR(record);
        if (record)
            PyTuple_SetItem(records, index, record);
        else
            Py_CLEAR(records);
    }
    if (records) PyObject_GC_UnTrack(records); /* records are not followed either */
    return records;
}

static PyObject *codec_read(PyObject *self, PyObject *arguments) {
    PyObject *data, *append_time;
    Py_ssize_t count;
    run from = {0};
    if (!PyArg_ParseTuple(arguments, "SnnLLOp:read", &data, &from.in.at, &count, &from.base_offset, &from.base_timestamp,
                          &append_time, &from.keep_headers))
        return NULL;
    from.in.end = PyBytes_Size(data);
    from.in.octets = (const uint8_t *)PyBytes_AsString(data);
    from.append_time = append_time == Py_None ? NULL : append_time;
    if (count < 0 || from.in.at < 0 || from.in.at > from.in.end || count > from.in.end - from.in.at) return refuse();
    PyObject *records = read_run((RecordCodec *)self, &from, count);
    return records ? with_end(records, from.in.at) : refuse();
}

static PyObject *codec_read_batches(PyObject *self, PyObject *arguments) {
    PyObject *data;
    Py_ssize_t most;
    long long largest, position;
    cursor from;
    if (!PyArg_ParseTuple(arguments, "SnnLL:read_batches", &data, &from.at, &most, &largest, &position)) return NULL;
    from.end = PyBytes_Size(data);
    from.octets = (const uint8_t *)PyBytes_AsString(data);
    if (from.at < 0 || from.at > from.end) return refuse();
    return read_batches(&((RecordCodec *)self)->batch, &from, most, largest, position);
}

static PyObject *codec_columns(PyObject *self, PyObject *arguments) {
    PyObject *batches, *payloads;
    if (!PyArg_ParseTuple(arguments, "O!O!:columns", &PyTuple_Type, &batches, &PyTuple_Type, &payloads)) return NULL;
    PyObject *columns = columns_of_batches(&((RecordCodec *)self)->batch, batches, payloads);
    return columns ? columns : refuse();
}

static PyObject *codec_some_columns(PyObject *self, PyObject *arguments) {
    PyObject *batch, *payload;
    Py_ssize_t most_records, most_octets;
    cursor from;
    if (!PyArg_ParseTuple(arguments, "OSnnn:some_columns", &batch, &payload, &from.at, &most_records, &most_octets))
        return NULL;
    from.end = PyBytes_Size(payload);
    from.octets = (const uint8_t *)PyBytes_AsString(payload);
    if (from.at < 0 || from.at > from.end) return refuse();
    PyObject *columns = columns_of_some(&((RecordCodec *)self)->batch, batch, &from, most_records, most_octets);
    return columns ? with_end(columns, from.at) : refuse();
}

/* Writing */

static int write_zigzag(output *to, int64_t number) {
    uint8_t *p = room_for(to, 10);
    if (!p) return -1;
    uint64_t rest = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
    for (; rest >= 0x80; rest >>= 7) *p++ = (uint8_t)(rest | 0x80);
    *p++ = (uint8_t)rest;
    to->length = (size_t)(p - to->octets);
    return 0;
}

static int write_octets(output *to, const char *octets, Py_ssize_t length) {
    if (length > INT_MAX || write_zigzag(to, length)) return -1;
    uint8_t *p = room_for(to, (size_t)length);
    if (!p) return -1;
    memcpy(p, octets, (size_t)length);
    to->length += (size_t)length;
    return 0;
}

/* Only exact bytes and None: others are left to Python. */
static int write_nullable(output *to, PyObject *value) {
    if (value == Py_None) return write_zigzag(to, -1);
    return value && PyBytes_CheckExact(value) ? write_octets(to, PyBytes_AsString(value), PyBytes_Size(value)) : -1;
}

static int write_header(const RecordCodec *codec, output *to, PyObject *header) {
    if (Py_TYPE(header) != codec->header) return -1;
    PyObject *key = SLOT(header, codec->header_slots[HEADER_KEY]);
    Py_ssize_t length;
    const char *octets = key && PyUnicode_CheckExact(key) ? PyUnicode_AsUTF8AndSize(key, &length) : NULL;
    if (!octets || write_octets(to, octets, length)) return -1;
    return write_nullable(to, SLOT(header, codec->header_slots[HEADER_VALUE]));
}

static int write_headers(const RecordCodec *codec, output *to, PyObject *headers) {
    if (!headers || (!PyTuple_CheckExact(headers) && !PyList_CheckExact(headers))) return -1;
    PyObject *parts = PySequence_Tuple(headers);
    if (!parts) return -1;
    Py_ssize_t count = PyTuple_Size(parts);
    int status = count > INT_MAX ? -1 : write_zigzag(to, count);
    for (Py_ssize_t index = 0; !status && index < count; index++)
        status = write_header(codec, to, PyTuple_GetItem(parts, index));
    Py_DECREF(parts);
    return status;
}

/* What a number is more than its base, if both and the difference fit 64 bits. */
static int delta_of(PyObject *number, int64_t base, int64_t *delta) {
    int overflow;
    if (!PyLong_CheckExact(number)) return -1;
    int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow || (base > 0 ? value < INT64_MIN + base : value > INT64_MAX + base)) return -1;
    *delta = value - base;
    return 0;
}

/* The body goes to a buffer of its own, because its length comes first. */
static int write_record(const RecordCodec *codec, output *to, output *body, PyObject *record, int64_t timestamp,
                        int64_t offset) {
    if (Py_TYPE(record) != codec->record || offset < INT_MIN || offset > INT_MAX) return -1;
    body->length = 0;
    if (write_zigzag(body, 0) /* attributes */ || write_zigzag(body, timestamp) || write_zigzag(body, offset)) return -1;
    if (write_nullable(body, SLOT(record, codec->record_slots[KEY]))) return -1;
    if (write_nullable(body, SLOT(record, codec->record_slots[VALUE]))) return -1;
    if (write_headers(codec, body, SLOT(record, codec->record_slots[HEADERS]))) return -1;
    return body->length > INT_MAX ? -1 : write_octets(to, (const char *)body->octets, (Py_ssize_t)body->length);
}

static int write_run(const RecordCodec *codec, output *to, PyObject *records, PyObject *offsets, PyObject *timestamps,
                     int64_t base_offset, int64_t base_timestamp) {
    Py_ssize_t count = PyTuple_Size(records);
    if (PyTuple_Size(offsets) != count || PyTuple_Size(timestamps) != count) return -1;
    output body = {0};
    int status = 0;
    for (Py_ssize_t index = 0; !status && index < count; index++) {
        int64_t offset, timestamp;
        status = delta_of(PyTuple_GetItem(offsets, index), base_offset, &offset) ||
                 delta_of(PyTuple_GetItem(timestamps, index), base_timestamp, &timestamp) ||
                 write_record(codec, to, &body, PyTuple_GetItem(records, index), timestamp, offset);
    }
    PyMem_Free(body.octets);
    return status ? -1 : 0;
}

static PyObject *codec_write(PyObject *self, PyObject *arguments) {
    PyObject *given[3], *held[3] = {NULL, NULL, NULL}, *octets = NULL;
    long long base_offset, base_timestamp;
    if (!PyArg_ParseTuple(arguments, "OOOLL:write", &given[0], &given[1], &given[2], &base_offset, &base_timestamp))
        return NULL;
    output to = {0};
    int is_held = 1;
    for (int index = 0; is_held && index < 3; index++) is_held = (held[index] = PySequence_Tuple(given[index])) != NULL;
    if (is_held && room_for(&to, 512) &&
        !write_run((RecordCodec *)self, &to, held[0], held[1], held[2], base_offset, base_timestamp))
        octets = PyBytes_FromStringAndSize((const char *)to.octets, (Py_ssize_t)to.length);
    PyMem_Free(to.octets);
    for (int index = 0; index < 3; index++) Py_XDECREF(held[index]);
    return octets ? octets : refuse();
}

/* The class */

static PyObject *codec_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    PyObject *record, *header, *batch;
    static char *keywords[] = {"record", "header", "batch", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!O!O!:RecordCodec", keywords, &PyType_Type, &record,
                                     &PyType_Type, &header, &PyType_Type, &batch))
        return NULL;
    RecordCodec *codec = (RecordCodec *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!codec) return NULL;
    codec->record = (PyTypeObject *)Py_NewRef(record);
    codec->header = (PyTypeObject *)Py_NewRef(header);
    PyObject *of_record = Py_BuildValue("(sssss)", "offset", "timestamp", "key", "value", "headers");
    PyObject *of_header = Py_BuildValue("(ss)", "key", "value");
    int failed = !of_record || !of_header || !(codec->nothing = PyTuple_New(0)) ||
                 find_slots(codec->record, of_record, codec->record_slots, &codec->record_size) ||
                 find_slots(codec->header, of_header, codec->header_slots, &codec->header_size) ||
                 find_batch_form(&codec->batch, (PyTypeObject *)batch);
    Py_XDECREF(of_record);
    Py_XDECREF(of_header);
    if (failed) Py_CLEAR(codec);
    return (PyObject *)codec;
}

static int codec_traverse(PyObject *self, visitproc visit, void *arg) {
    RecordCodec *codec = (RecordCodec *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(codec->record);
    Py_VISIT(codec->header);
    Py_VISIT(codec->batch.cls);
    return 0;
}

static void codec_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    RecordCodec *codec = (RecordCodec *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF((PyObject *)codec->record);
    Py_XDECREF((PyObject *)codec->header);
    Py_XDECREF((PyObject *)codec->batch.cls);
    Py_XDECREF(codec->nothing);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef codec_methods[] = {
    {"read", codec_read, METH_VARARGS, "A run of records, and the position after it."},
    {"write", codec_write, METH_VARARGS, "The bytes of records."},
    {"read_batches", codec_read_batches, METH_VARARGS, "The batches that follow each other."},
    {"columns", codec_columns, METH_VARARGS, "The columns of the records of batches."},
    {"some_columns", codec_some_columns, METH_VARARGS, "The columns of some records, and the position after them."},
    {0},
};

static PyType_Slot codec_slots[] = {
    {Py_tp_doc, "Reads batches of magic 2, and reads and writes their records."},
    {Py_tp_new, codec_new},
    {Py_tp_dealloc, codec_dealloc},
    {Py_tp_traverse, codec_traverse},
    {Py_tp_methods, codec_methods},
    {0},
};

PyType_Spec record_codec_spec = {
    "kafkawire._native.RecordCodec", sizeof(RecordCodec), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC, codec_slots,
};
