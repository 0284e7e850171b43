/* Records of batches of magic 2 in octets that are being read (record-exact). Functions return -1 for
 * octets that are refused, and set no exception except for UTF-8 that is none. */
#ifndef KAFKAWIRE_RECORDS_H
#define KAFKAWIRE_RECORDS_H

#include "columns.h"
#include "cursor.h"

/* Octets after their length, which is negative for null. */
typedef struct {
    const uint8_t *start;
    int64_t length;
} piece;

/* A record except its headers. */
typedef struct {
    int64_t timestamp_delta, offset_delta;
    piece key, value;
    Py_ssize_t end; /* of the record */
} parts;

/* The fields of a batch that the columns of its records need. */
typedef struct {
    int64_t position, leader_epoch, attributes, producer_id, base_offset, base_timestamp, max_timestamp, records_count;
} batch_parts;

enum { BATCH_FIELDS = 13 };

/* The class RecordBatch, and where its objects have their fields. */
typedef struct {
    PyTypeObject *cls;
    Py_ssize_t size, slots[BATCH_FIELDS];
} batch_form;

int find_batch_form(batch_form *of, PyTypeObject *cls);

/* The fields of an object of exactly this class. */
int read_batch(const batch_form *form, PyObject *batch, batch_parts *to);

/* A list of whole batches of magic 2 that follow each other. It ends before one that is larger than a limit, and before
 * anything else. The position is that of the first octet. */
PyObject *read_batches(const batch_form *form, cursor *from, Py_ssize_t most, int64_t largest, int64_t position);

/* The columns of the records of batches, which fill their payloads; both are tuples. NULL for refused octets. */
PyObject *columns_of_batches(const batch_form *form, PyObject *batches, PyObject *payloads);

/* The columns of some records of a batch, which moves the cursor to their end; the last one may exceed the limit. */
PyObject *columns_of_some(const batch_form *form, PyObject *batch, cursor *from, Py_ssize_t most_records,
                          Py_ssize_t most_octets);

static inline int64_t unzigzag(uint64_t number) { return (int64_t)(number >> 1) ^ -(int64_t)(number & 1); }

/* A zig-zag number of 32 bits; readers drop further bits, as Kafka's do (wire-varint). */
static inline int read_varint(cursor *from, int64_t *number) {
    uint64_t value;
    if (read_groups(from, 5, &value)) return -1;
    *number = unzigzag(value & 0xFFFFFFFFu);
    return 0;
}

static inline int read_piece(cursor *from, piece *to) {
    if (read_varint(from, &to->length)) return -1;
    to->start = from->octets + from->at;
    if (to->length < 0) return 0;
    if (to->length > from->end - from->at) return -1;
    from->at += (Py_ssize_t)to->length;
    return 0;
}

static inline int read_parts(cursor *from, parts *to) {
    int64_t size;
    uint64_t timestamp_delta;
    if (read_varint(from, &size) || size < 1 || size > from->end - from->at) return -1;
    to->end = from->at + (Py_ssize_t)size;
    from->at++; /* attributes: unused */
    if (read_groups(from, 10, &timestamp_delta) || read_varint(from, &to->offset_delta)) return -1;
    to->timestamp_delta = unzigzag(timestamp_delta);
    return read_piece(from, &to->key) || read_piece(from, &to->value) ? -1 : 0;
}

/* The number of headers of a record that ends at a position. */
static inline int count_headers(cursor *from, Py_ssize_t end, Py_ssize_t *count) {
    enum { SMALLEST = 2 };
    int64_t number;
    if (read_varint(from, &number) || number < 0 || number > (end - from->at) / SMALLEST) return -1;
    *count = (Py_ssize_t)number;
    return 0;
}

/* Passes headers that are well formed. */
static inline int check_headers(cursor *from, Py_ssize_t end) {
    Py_ssize_t count;
    piece key, value;
    if (count_headers(from, end, &count)) return -1;
    for (; count; count--) {
        if (read_piece(from, &key) || key.length < 0 || read_piece(from, &value)) return -1;
        if (!is_text(key.start, (Py_ssize_t)key.length)) return -1;
    }
    return 0;
}

#endif
