/* Reads messages of one version into columns, without an object for each. What is refused is what reader.c refuses. */
#include "columns.h"
#include "cursor.h"

static int read_fields(cursor *from, const program *with, column *columns);

/* The octets of a number in a column: unsigned ones have the next larger signed type. */
static uint8_t width_in_column(char code) {
    switch (code) {
    case '?': case 'b': return 1;
    case 'B': case 'h': return 2;
    case 'H': case 'i': return 4;
    default: return 8;
    }
}

static int make_columns(const program *with, column **made);

/* A column of a field, or of the elements of its arrays. */
static int make_column(const field *of, int array, column *made) {
    if (of->presence == ABSENT) return 0;
    if (array) {
        made->kind = LISTS;
        if (!(made->child = PyMem_Calloc(1, sizeof *made->child))) return PyErr_NoMemory(), -1;
        made->children = 1;
        return make_column(of, 0, made->child);
    }
    if (of->child) {
        made->kind = STRUCTS;
        made->children = of->child->count;
        return make_columns(of->child, &made->child);
    }
    made->kind = of->code == '?' ? BITS : of->width && of->code != 'u' ? NUMBERS : OCTETS;
    made->width = width_in_column(of->code);
    return 0;
}

static int make_columns(const program *with, column **made) {
    column *columns = PyMem_Calloc((size_t)with->count + 1, sizeof *columns);
    if (!columns) return PyErr_NoMemory(), -1;
    *made = columns; /* the caller frees them, also half made ones */
    for (Py_ssize_t index = 0; index < with->count; index++)
        if (make_column(with->fields + index, with->fields[index].array, columns + index)) return -1;
    return 0;
}

/* The text of an id: base64 for URLs, without padding (wire-uuid). */
static int add_uuid(column *to, const uint8_t *p) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t text[22], *at = text;
    for (const uint8_t *end = p + 15; p < end; p += 3) {
        uint32_t three = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        *at++ = (uint8_t)digits[three >> 18];
        *at++ = (uint8_t)digits[three >> 12 & 63];
        *at++ = (uint8_t)digits[three >> 6 & 63];
        *at++ = (uint8_t)digits[three & 63];
    }
    *at++ = (uint8_t)digits[*p >> 2];
    *at = (uint8_t)digits[*p << 4 & 63];
    return add_octets(to, text, sizeof text);
}

static int add_number_at(column *to, char code, const uint8_t *p) {
    switch (code) {
    case '?': return add_number(to, *p != 0);
    case 'b': case 'B': return add_number(to, *p);
    case 'h': case 'H': return add_number(to, get16(p));
    case 'i': case 'I': return add_number(to, get32(p));
    case 'u': return add_uuid(to, p);
    default: return add_number(to, get64(p));
    }
}

static int read_text(cursor *from, const field *of, int nullable, column *to) {
    int64_t length;
    const uint8_t *p;
    if (read_octets(from, of, nullable, &length, &p)) return -1;
    if (length < 0) return add_null(to);
    if (of->code == 's' && !is_text(p, (Py_ssize_t)length)) return -1;
    return add_octets(to, p, (Py_ssize_t)length);
}

static int read_one(cursor *from, const field *of, int nullable, column *to) {
    if (of->child) return read_fields(from, of->child, to->child) ? -1 : add_struct(to);
    if (!of->width) return read_text(from, of, nullable, to);
    if (from->end - from->at < of->width) return -1;
    from->at += of->width;
    return add_number_at(to, of->code, from->octets + from->at - of->width);
}

static int read_value(cursor *from, const field *of, column *to) {
    int is_null = 0;
    int64_t count;
    if (of->marker != NO_MARKER && read_marker(from, of->marker, &is_null)) return -1;
    if (is_null) return add_null(to);
    if (!of->array) return read_one(from, of, of->nullable, to);
    if (read_count(from, of, &count)) return -1;
    if (count < 0) return add_null(to);
    for (; count; count--)
        if (read_one(from, of, 0, to->child)) return -1;
    return add_list(to);
}

/* The value of a tagged field that is not there. */
static int add_initial(const field *of, column *to) {
    PyObject *value = of->initial;
    Py_ssize_t length;
    const char *octets;
    uint64_t bits = 0;
    double number;
    if (value == Py_None) return add_null(to);
    if (of->array) return add_list(to); /* it has no elements */
    if (of->child) {
        for (Py_ssize_t index = 0; index < of->child->count; index++)
            if (of->child->fields[index].presence != ABSENT && add_initial(of->child->fields + index, to->child + index))
                return -1;
        return add_struct(to);
    }
    switch (of->code) {
    case 's':
        if (!(octets = PyUnicode_AsUTF8AndSize(value, &length))) return -1;
        return add_octets(to, (const uint8_t *)octets, length);
    case 'd':
        number = PyFloat_AsDouble(value);
        memcpy(&bits, &number, sizeof bits);
        break;
    case 'o': case 'r': case 'u':
        if (PyBytes_AsStringAndSize(value, (char **)&octets, &length)) return -1;
        if (of->code != 'u') return add_octets(to, (const uint8_t *)octets, length);
        return length == of->width ? add_uuid(to, (const uint8_t *)octets) : -1;
    default: bits = (uint64_t)PyLong_AsLongLong(value);
    }
    return PyErr_Occurred() ? -1 : add_number(to, bits);
}

/* The tagged fields, those that are there and the others; unknown ones are passed over. */
static int read_tagged(cursor *from, const program *with, column *columns) {
    uint32_t count, tag, size;
    Py_ssize_t known = with->inline_count, last = known + with->tagged_count;
    int64_t previous = -1;
    if (read_uvarint(from, &count) || count > from->end - from->at) return -1;
    for (; count; count--, previous = tag) {
        if (read_tag(from, previous, &tag, &size)) return -1;
        Py_ssize_t end = from->end, end_of_field = from->at + size;
        for (; known < last && with->fields[known].tag < tag; known++)
            if (add_initial(with->fields + known, columns + known)) return -1;
        if (known < last && with->fields[known].tag == tag) {
            from->end = end_of_field;
            int refused = read_value(from, with->fields + known, columns + known) || from->at != end_of_field;
            from->end = end;
            if (refused) return -1;
            known++;
        }
        from->at = end_of_field;
    }
    for (; known < last; known++)
        if (add_initial(with->fields + known, columns + known)) return -1;
    return 0;
}

static int read_fields(cursor *from, const program *with, column *columns) {
    if (from->end - from->at < with->least) return -1;
    for (Py_ssize_t index = 0; index < with->inline_count; index++)
        if (read_value(from, with->fields + index, columns + index)) return -1;
    return with->flexible ? read_tagged(from, with, columns) : 0;
}

/* A row of nulls in place of what was added for this row. */
static int add_nulls(const program *with, column *columns, Py_ssize_t row) {
    for (Py_ssize_t index = 0; index < with->count; index++) {
        keep_first(columns + index, row);
        if (add_null(columns + index)) return -1;
    }
    return 0;
}

/* A row of a message, or of nulls for octets that are no message. Returns whether the octets are exactly a message. */
static int read_row(cursor *from, const program *with, column *columns, Py_ssize_t row) {
    if (from->at <= from->end && !read_fields(from, with, columns)) return from->at == from->end;
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
        PyErr_Clear();
    }
    return add_nulls(with, columns, row);
}

static int is_valid(const octet_rows *rows, Py_ssize_t row) {
    Py_ssize_t at = rows->first + row;
    return !rows->valid.buf || ((const uint8_t *)rows->valid.buf)[at / 8] >> at % 8 & 1;
}

static int append_number(PyObject *list, Py_ssize_t number) {
    PyObject *object = PyLong_FromSsize_t(number);
    int status = object ? PyList_Append(list, object) : -1;
    Py_XDECREF(object);
    return status;
}

static int read_rows(const program *with, const octet_rows *rows, column *columns, PyObject *inexact) {
    const uint8_t *ends = (const uint8_t *)rows->offsets.buf + 4 * rows->first;
    int32_t begin, end;
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        memcpy(&begin, ends + 4 * row, sizeof begin);
        memcpy(&end, ends + 4 * row + 4, sizeof end);
        if (begin < 0 || end < begin || end > rows->octets.len) return -1;
        cursor from = {rows->octets.buf, begin + rows->start, end};
        if (!is_valid(rows, row)) {
            if (add_nulls(with, columns, row)) return -1;
            continue;
        }
        int exact = read_row(&from, with, columns, row);
        if (exact < 0 || (!exact && append_number(inexact, row))) return -1;
    }
    return 0;
}

PyObject *read_columns(const program *with, const octet_rows *rows) {
    PyObject *inexact = PyList_New(0), *made = NULL, *found = NULL;
    column *columns = NULL;
    if (inexact && !make_columns(with, &columns) && !read_rows(with, rows, columns, inexact))
        made = columns_to_python(columns, with->count);
    if (made) found = PyTuple_Pack(2, made, inexact);
    free_columns(columns, with->count);
    Py_XDECREF(made);
    Py_XDECREF(inexact);
    return found;
}
