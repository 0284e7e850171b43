/* Reads the records of batches into columns: some fields of its batch, offset, timestamp, key and value of each. Their
 * headers are checked and dropped. */
#include "records.h"

enum { POSITION, LEADER_EPOCH, ATTRIBUTES, PRODUCER_ID, OFFSET, TIMESTAMP, KEY, VALUE, COLUMNS };
enum { LOG_APPEND_TIME = 8 }; /* the bit of attributes */

static int add_piece(column *to, const piece *of) {
    return of->length < 0 ? add_null(to) : add_octets(to, of->start, (Py_ssize_t)of->length);
}

static int add_sum(column *to, int64_t base, int64_t delta) {
    if (delta > 0 ? base > INT64_MAX - delta : base < INT64_MIN - delta) return -1;
    return add_number(to, (uint64_t)(base + delta));
}

static int read_record(cursor *from, const batch_parts *batch, column *columns) {
    parts parts;
    int appended = (batch->attributes & LOG_APPEND_TIME) != 0;
    if (read_parts(from, &parts) || check_headers(from, parts.end) || from->at != parts.end) return -1;
    if (add_number(columns + POSITION, (uint64_t)batch->position) ||
        add_number(columns + LEADER_EPOCH, (uint64_t)batch->leader_epoch) ||
        add_number(columns + ATTRIBUTES, (uint64_t)batch->attributes) ||
        add_number(columns + PRODUCER_ID, (uint64_t)batch->producer_id))
        return -1;
    if (add_sum(columns + OFFSET, batch->base_offset, parts.offset_delta)) return -1;
    if (add_sum(columns + TIMESTAMP, appended ? batch->max_timestamp : batch->base_timestamp,
                appended ? 0 : parts.timestamp_delta))
        return -1;
    return add_piece(columns + KEY, &parts.key) || add_piece(columns + VALUE, &parts.value) ? -1 : 0;
}

static column *new_columns(void) {
    static const uint8_t widths[COLUMNS] = {8, 4, 2, 8, 8, 8};
    column *columns = PyMem_Calloc(COLUMNS, sizeof *columns);
    if (!columns) return PyErr_NoMemory(), NULL;
    for (int index = 0; index < COLUMNS; index++) {
        columns[index].kind = widths[index] ? NUMBERS : OCTETS;
        columns[index].width = widths[index];
    }
    return columns;
}

/* The records of some batches, which fill their payloads. */
static int read_payloads(const batch_form *form, PyObject *batches, PyObject *payloads, column *columns) {
    for (Py_ssize_t number = 0; number < PyTuple_Size(batches); number++) {
        PyObject *payload = PyTuple_GetItem(payloads, number);
        batch_parts batch;
        if (!PyBytes_Check(payload) || read_batch(form, PyTuple_GetItem(batches, number), &batch)) return -1;
        cursor from = {(const uint8_t *)PyBytes_AsString(payload), 0, PyBytes_Size(payload)};
        for (int64_t left = batch.records_count; left > 0; left--)
            if (read_record(&from, &batch, columns)) return -1;
        if (batch.records_count < 0 || from.at != from.end) return -1;
    }
    return 0;
}

PyObject *columns_of_batches(const batch_form *form, PyObject *batches, PyObject *payloads) {
    column *columns = PyTuple_Size(batches) == PyTuple_Size(payloads) ? new_columns() : NULL;
    PyObject *made = NULL;
    if (columns && !read_payloads(form, batches, payloads, columns)) made = columns_to_python(columns, COLUMNS);
    free_columns(columns, COLUMNS);
    return made;
}

PyObject *columns_of_some(const batch_form *form, PyObject *batch, cursor *from, Py_ssize_t most_records,
                          Py_ssize_t most_octets) {
    batch_parts parts;
    column *columns = read_batch(form, batch, &parts) ? NULL : new_columns();
    PyObject *made = NULL;
    Py_ssize_t begin = from->at;
    int refused = !columns || most_records < 1;
    while (!refused && most_records--) {
        refused = read_record(from, &parts, columns);
        if (from->at == from->end || from->at - begin >= most_octets) break;
    }
    if (!refused) made = columns_to_python(columns, COLUMNS);
    free_columns(columns, COLUMNS);
    return made;
}
