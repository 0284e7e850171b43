/* A place in octets that are being read, and the numbers and lengths there. Functions return -1 for octets that are
 * refused, and set no exception. */
#ifndef KAFKAWIRE_CURSOR_H
#define KAFKAWIRE_CURSOR_H

#include "engine.h"

typedef struct {
    const uint8_t *octets;
    Py_ssize_t at, end;
} cursor;

static inline uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }

static inline uint32_t get32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t get64(const uint8_t *p) { return (uint64_t)get32(p) << 32 | get32(p + 4); }

/* A varint of at most a number of octets; bits beyond 64 are dropped. */
static inline int read_groups(cursor *from, int most, uint64_t *number) {
    uint64_t value = 0;
    for (int shift = 0; shift < 7 * most; shift += 7) {
        if (from->at >= from->end) return -1;
        uint8_t octet = from->octets[from->at++];
        if (shift < 64) value |= (uint64_t)(octet & 0x7F) << shift;
        if (octet < 0x80) {
            *number = value;
            return 0;
        }
    }
    return -1;
}

/* An unsigned varint below 2^31 (wire-uvarint). */
static inline int read_uvarint(cursor *from, uint32_t *number) {
    uint64_t value;
    if (read_groups(from, 5, &value) || value > LARGEST_LENGTH) return -1;
    *number = (uint32_t)value;
    return 0;
}

/* A length or count; -1 is null. */
static inline int read_length(cursor *from, int compact, char code, int64_t *length) {
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

/* The marker of null in front of a struct. */
static inline int read_marker(cursor *from, uint8_t marker, int *is_null) {
    uint32_t present = 1;
    if (marker == INLINE_MARKER) {
        if (from->at >= from->end) return -1;
        present = from->octets[from->at++] < 0x80;
    } else if (marker == TAGGED_MARKER && read_uvarint(from, &present))
        return -1;
    *is_null = !present;
    return 0;
}

/* The number of elements of an array that the octets can have; -1 is null. */
static inline int read_count(cursor *from, const field *of, int64_t *count) {
    if (read_length(from, of->compact, 'i', count)) return -1;
    if (*count < 0) return of->nullable ? 0 : -1;
    return *count > (from->end - from->at) / (of->least ? of->least : 1) ? -1 : 0;
}

/* The start and the length of a string or of octets, which are then passed; a length of -1 is null. */
static inline int read_octets(cursor *from, const field *of, int nullable, int64_t *length, const uint8_t **start) {
    if (read_length(from, of->compact, of->length_code, length)) return -1;
    *start = from->octets + from->at;
    if (*length < 0) return nullable ? 0 : -1;
    if (*length > of->longest || *length > from->end - from->at) return -1;
    from->at += (Py_ssize_t)*length;
    return 0;
}

/* The next tagged field: its tag, more than the one before, and its size, which the octets have (tagged-order). */
static inline int read_tag(cursor *from, int64_t previous, uint32_t *tag, uint32_t *size) {
    if (read_uvarint(from, tag) || read_uvarint(from, size)) return -1;
    return *tag <= previous || *tag > LARGEST_TAG || *size > from->end - from->at ? -1 : 0;
}

/* The sorted rows of an array of structs (rows.c). */
PyObject *read_sorted_rows(cursor *from, const field *of, const shared *state);

#endif
