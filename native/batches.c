/* Reads the headers of batches of magic 2 to objects of the class RecordBatch (batch-header). */
#include "records.h"

enum {
    BASE_OFFSET, LEADER_EPOCH, CRC, ATTRIBUTES, LAST_OFFSET_DELTA, BASE_TIMESTAMP, MAX_TIMESTAMP, PRODUCER_ID,
    PRODUCER_EPOCH, BASE_SEQUENCE, RECORDS_COUNT, PAYLOAD, POSITION
};
enum { LENGTH_OFFSET = 8, LENGTH_COUNTS_FROM = 12, MAGIC_OFFSET = 16, HEADER_SIZE = 61, MAGIC = 2 };

int find_batch_form(batch_form *of, PyTypeObject *cls) {
    PyObject *names = Py_BuildValue("(sssssssssssss)", "base_offset", "partition_leader_epoch", "crc", "attributes",
                                    "last_offset_delta", "base_timestamp", "max_timestamp", "producer_id",
                                    "producer_epoch", "base_sequence", "records_count", "payload", "position");
    of->cls = (PyTypeObject *)Py_NewRef((PyObject *)cls);
    int status = names ? find_slots(cls, names, of->slots, &of->size) : -1;
    Py_XDECREF(names);
    return status;
}

/* An int of a number of bits, and no object of a class of its own. */
static int number_in(PyObject *batch, Py_ssize_t slot, int bits, int64_t *number) {
    int overflow;
    PyObject *object = SLOT(batch, slot);
    if (!object || !PyLong_CheckExact(object)) return -1;
    *number = PyLong_AsLongLongAndOverflow(object, &overflow);
    int64_t largest = INT64_MAX >> (64 - bits);
    return overflow || *number > largest || *number < -largest - 1 ? -1 : 0;
}

int read_batch(const batch_form *form, PyObject *batch, batch_parts *to) {
    const Py_ssize_t *slots = form->slots;
    if (Py_TYPE(batch) != form->cls) return -1;
    const struct { int field, bits; int64_t *number; } parts[] = {
        {POSITION, 64, &to->position},           {LEADER_EPOCH, 32, &to->leader_epoch},
        {ATTRIBUTES, 16, &to->attributes},       {PRODUCER_ID, 64, &to->producer_id},
        {BASE_OFFSET, 64, &to->base_offset},     {BASE_TIMESTAMP, 64, &to->base_timestamp},
        {MAX_TIMESTAMP, 64, &to->max_timestamp}, {RECORDS_COUNT, 32, &to->records_count},
    };
    for (size_t index = 0; index < sizeof parts / sizeof *parts; index++)
        if (number_in(batch, slots[parts[index].field], parts[index].bits, parts[index].number)) return -1;
    return 0;
}

static PyObject *batch_of(const batch_form *form, const uint8_t *p, Py_ssize_t size, int64_t position) {
    const Py_ssize_t *slots = form->slots;
    PyObject *batch = new_object(form->cls, form->size);
    if (!batch) return NULL;
    SLOT(batch, slots[BASE_OFFSET]) = PyLong_FromLongLong((int64_t)get64(p));
    SLOT(batch, slots[LEADER_EPOCH]) = PyLong_FromLong((int32_t)get32(p + 12));
    SLOT(batch, slots[CRC]) = PyLong_FromLongLong(get32(p + 17));
    SLOT(batch, slots[ATTRIBUTES]) = PyLong_FromLong((int16_t)get16(p + 21));
    SLOT(batch, slots[LAST_OFFSET_DELTA]) = PyLong_FromLong((int32_t)get32(p + 23));
    SLOT(batch, slots[BASE_TIMESTAMP]) = PyLong_FromLongLong((int64_t)get64(p + 27));
    SLOT(batch, slots[MAX_TIMESTAMP]) = PyLong_FromLongLong((int64_t)get64(p + 35));
    SLOT(batch, slots[PRODUCER_ID]) = PyLong_FromLongLong((int64_t)get64(p + 43));
    SLOT(batch, slots[PRODUCER_EPOCH]) = PyLong_FromLong((int16_t)get16(p + 51));
    SLOT(batch, slots[BASE_SEQUENCE]) = PyLong_FromLong((int32_t)get32(p + 53));
    SLOT(batch, slots[RECORDS_COUNT]) = PyLong_FromLong((int32_t)get32(p + 57));
    SLOT(batch, slots[PAYLOAD]) = PyBytes_FromStringAndSize((const char *)p + HEADER_SIZE, size - HEADER_SIZE);
    SLOT(batch, slots[POSITION]) = PyLong_FromLongLong(position);
    for (int field = 0; field < BATCH_FIELDS; field++)
        if (!SLOT(batch, slots[field])) {
            Py_DECREF(batch);
            return NULL;
        }
    return batch;
}

PyObject *read_batches(const batch_form *form, cursor *from, Py_ssize_t most, int64_t largest, int64_t position) {
    PyObject *batches = PyList_New(0);
    while (batches && most-- > 0 && from->end - from->at >= HEADER_SIZE) {
        const uint8_t *p = from->octets + from->at;
        int64_t size = (int64_t)(int32_t)get32(p + LENGTH_OFFSET) + LENGTH_COUNTS_FROM;
        if (p[MAGIC_OFFSET] != MAGIC || size < HEADER_SIZE || size > largest || size > from->end - from->at) break;
        PyObject *batch = batch_of(form, p, (Py_ssize_t)size, position + from->at);
        if (!batch || PyList_Append(batches, batch)) Py_CLEAR(batches);
        Py_XDECREF(batch);
        from->at += (Py_ssize_t)size;
    }
    return batches;
}
