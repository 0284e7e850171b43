/* Columns of values in Arrow's form, which grow at their end. */
#ifndef KAFKAWIRE_COLUMNS_H
#define KAFKAWIRE_COLUMNS_H

#include "engine.h"

enum kind { NO_COLUMN, BITS, NUMBERS, OCTETS, LISTS, STRUCTS };

typedef struct column column;
struct column {
    enum kind kind;
    uint8_t width;       /* octets of a number, or one for each bit */
    uint8_t has_nulls;   /* from the first null on there is an octet in valid for each value */
    Py_ssize_t count;    /* of values */
    Py_ssize_t children; /* number of those in child */
    output valid, offsets, values;
    column *child;       /* the elements of lists, or the fields of structs */
};

/* All of these return -1 with an exception. */
int begin_validity(column *of);
int begin_offsets(column *of);
int too_large(void);
int add_null(column *to);

static inline int append(output *to, const void *octets, size_t size) {
    uint8_t *p = room_for(to, size);
    if (!p) return -1;
    memcpy(p, octets, size);
    to->length += size;
    return 0;
}

static inline int count_value(column *to, uint8_t valid) {
    if (!valid && !to->has_nulls && begin_validity(to)) return -1;
    if (to->has_nulls && append(&to->valid, &valid, 1)) return -1;
    to->count++;
    return 0;
}

/* The end of a value of variable length. */
static inline int append_end(column *to, Py_ssize_t end) {
    if (end > INT32_MAX) return too_large();
    if (!to->offsets.length && begin_offsets(to)) return -1;
    return append(&to->offsets, &(int32_t){(int32_t)end}, 4);
}

/* The lowest octets of a number, in the order of this machine. */
static inline int add_number(column *to, uint64_t bits) {
    uint8_t *p = room_for(&to->values, sizeof bits);
    if (!p) return -1;
    switch (to->width) {
    case 1: *p = (uint8_t)bits; break;
    case 2: memcpy(p, &(uint16_t){(uint16_t)bits}, 2); break;
    case 4: memcpy(p, &(uint32_t){(uint32_t)bits}, 4); break;
    default: memcpy(p, &bits, 8);
    }
    to->values.length += to->width;
    return count_value(to, 1);
}

static inline int add_octets(column *to, const uint8_t *octets, Py_ssize_t length) {
    if (length && append(&to->values, octets, (size_t)length)) return -1;
    return append_end(to, (Py_ssize_t)to->values.length) ? -1 : count_value(to, 1);
}

/* A list of the elements that were added to the child after the list before. */
static inline int add_list(column *to) { return append_end(to, to->child->count) ? -1 : count_value(to, 1); }

/* A struct of the last values that were added to the children. */
static inline int add_struct(column *to) { return count_value(to, 1); }

/* Drops the last values, also those that were added to children only. */
void keep_first(column *of, Py_ssize_t count);

void free_columns(column *first, Py_ssize_t count);

/* A tuple with a tuple for each column: the number of its values; its buffers as Arrow has them, or None for no column;
 * its children. NULL with an exception. */
PyObject *columns_to_python(const column *first, Py_ssize_t count);

/* Whether octets are UTF-8 as Python reads it; if not, there is a ValueError, or another exception. */
int is_text(const uint8_t *octets, Py_ssize_t length);

#endif
