/* The native engine: reads and writes messages by the same layouts as the reference codec.
 *
 * A program is one struct at one version, compiled from its layout. The engine refuses without a reason: it raises a
 * ValueError without a text, and the reference codec repeats the work and reports what is wrong and where. What the
 * engine accepts and refuses is what the generated Python code accepts and refuses.
 */
#ifndef KAFKAWIRE_ENGINE_H
#define KAFKAWIRE_ENGINE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define LARGEST_TAG 0x7FFFFFFEu
#define LARGEST_LENGTH 0x7FFFFFFFu
#define MOST_TAGGED 64 /* fields of a struct; the writer marks them in the bits of a number */

enum presence { INLINE, TAGGED, ABSENT };
enum marker { NO_MARKER, INLINE_MARKER, TAGGED_MARKER }; /* of null, in front of a struct */

typedef struct program program;
typedef struct rows rows;

typedef struct {
    Py_ssize_t slot;     /* offset of the attribute in an object */
    PyObject *name;      /* of the attribute */
    PyObject *initial;   /* the value where the field is absent */
    program *child;      /* of a struct, or of the elements of an array of structs */
    rows *rows;          /* what an array of structs is read as; NULL for a tuple of these */
    uint32_t tag;
    uint32_t longest;    /* bytes of a string, or of octets */
    Py_ssize_t least;    /* fewest bytes of the value, or of each element of an array */
    uint8_t width;       /* bytes of a number or an id; 0 for other types */
    char code;           /* of the type: a struct code, or s (string), o (octets), r (records), u (uuid), S (struct) */
    char length_code;    /* of the length of a string, or of octets: h or i */
    uint8_t presence, marker, array, nullable, compact, ignorable;
} field;

struct program {
    PyTypeObject *cls;
    Py_ssize_t size;     /* of an object */
    Py_ssize_t unknown;  /* slot of the unknown tagged fields */
    Py_ssize_t least;    /* fewest bytes of a struct */
    Py_ssize_t count, inline_count, tagged_count;
    uint8_t flexible;
    field *fields;       /* first the fields in line, then tagged ones by their tags, then absent ones */
};

/* The state of the module. */
typedef struct {
    PyObject *uuid;       /* the class of ids */
    PyObject *differs;    /* functions of kafkawire.wire.structs */
    PyObject *sequence;
    PyObject *plain_tags;
    PyObject *unknown;    /* the name of the attribute of unknown tagged fields */
    PyObject *nothing;    /* an empty tuple */
    newfunc new_bytes;
    Py_ssize_t items;    /* offset of the items in a tuple */
} shared;

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* An object with empty slots; NULL with an exception. */
static inline PyObject *new_object(PyTypeObject *cls, Py_ssize_t size) {
    PyObject *object = _PyObject_New(cls);
    if (object) memset((char *)object + sizeof(PyObject), 0, (size_t)size - sizeof(PyObject));
    return object;
}

/* Finds the slots of the attributes of a class, and the size of its objects, and proves that an object is a head and
 * these slots. -1 with a ValueError for a class of another form. */
int find_slots(PyTypeObject *cls, PyObject *names, Py_ssize_t *slots, Py_ssize_t *size);

/* Octets that are being written; all zero at first. The owner frees them with PyMem_Free. */
typedef struct {
    uint8_t *octets;
    size_t length, room;
} output;

/* Makes room for a number of octets; -1 with an exception. */
int grow(output *to, size_t size);

/* Where a number of octets can be written after the last one; NULL with an exception. The length stays. */
static inline uint8_t *room_for(output *to, size_t size) {
    if (to->room - to->length < size && grow(to, size)) return NULL;
    return to->octets + to->length;
}

/* NULL, with the exception that is set or with a ValueError without a text. */
static inline PyObject *refuse(void) {
    if (!PyErr_Occurred()) PyErr_SetNone(PyExc_ValueError);
    return NULL;
}

/* Compiles what kafkawire.wire.programs makes of a layout; NULL with a ValueError for any other source. */
program *compile_program(PyObject *source);
void free_program(program *with);
int visit_program(const program *with, visitproc visit, void *arg); /* for the collector */

/* Compiles what kafkawire.wire.programs makes of rows, for an array of structs of a program; NULL with a ValueError for
 * any other source. */
rows *compile_rows(PyObject *source, const program *outer);
void free_rows(rows *form);
int visit_rows(const rows *form, visitproc visit, void *arg); /* for the collector */

/* A message at a position, and sets the position after it. NULL if the bytes are refused; an exception is set only for
 * another failure, such as no memory. */
PyObject *read_message(const program *with, const shared *state, PyObject *bytes, Py_ssize_t *at);

/* The bytes of a message. NULL as above. */
PyObject *write_message(const program *with, const shared *state, PyObject *message);

/* Octets of many messages, as a binary array of Arrow has them. */
typedef struct {
    Py_buffer valid; /* a bit for each row; without a buffer all are valid */
    Py_buffer offsets, octets;
    Py_ssize_t first, count; /* the rows */
    Py_ssize_t start;        /* where the message begins in each */
} octet_rows;

/* The columns of messages, and the numbers of valid rows that are not exactly a message. NULL as above. */
PyObject *read_columns(const program *with, const octet_rows *rows);

/* A value, whose reference this takes, and the position after it; NULL with an exception. */
static inline PyObject *with_end(PyObject *value, Py_ssize_t at) {
    PyObject *end = PyLong_FromSsize_t(at), *pair = end ? PyTuple_Pack(2, value, end) : NULL;
    Py_DECREF(value);
    Py_XDECREF(end);
    return pair;
}

extern PyType_Spec record_codec_spec; /* of the class RecordCodec */

#endif
