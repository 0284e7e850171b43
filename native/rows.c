/* Reads an array of structs, with an array in each, as sorted rows: objects of one class, with the values of a struct
 * and of an element. No object is made for a struct or an element. */
#include "cursor.h"

enum { MOST_FIELDS = 16, CODES = 256, KEY_OCTETS = 7, MOST_PROBES = 8 };

/* Where the value of a field goes. */
typedef struct {
    Py_ssize_t slot;
    PyObject *constant;  /* of a field that is absent; NULL for others */
    PyObject **members;  /* by the octet of a number; NULL for a text */
} target;

typedef struct {
    Py_ssize_t slot;
    const target *from;
} compared;

struct rows {
    PyTypeObject *cls;
    Py_ssize_t size, elements; /* the index of the array among the fields of a struct */
    int count;
    compared order[MOST_FIELDS];     /* a number below 256, a text, and others */
    uint8_t numbers[CODES];          /* the first number by the octet that is read */
    target outer[MOST_FIELDS + 1], inner[MOST_FIELDS]; /* by the index of a field */
};

/* A text that elements had before, borrowed from a row. */
typedef struct {
    uint32_t hash, length;
    const uint8_t *octets;
    PyObject *text;
} known_text;

/* What orders most rows, as it is read. */
typedef struct {
    uint32_t at; /* of the text */
    uint16_t length;
    uint8_t number;
} start;

/* A row, with what orders most rows: when all are read, the number and the text after what begins all texts. */
typedef struct {
    union {
        start start;
        uint64_t key;
    } by;
    PyObject *row;
} place;

typedef struct {
    cursor *in;
    const rows *form;
    start start; /* of the next row */
    output places, texts;
    size_t count, text_count;
} table;

static inline place *places_of(const table *of) { return (place *)of->places.octets; }

/* Where a text is, or may be put. The search is short even if all hashes are equal; then equal texts become several
 * objects. */
static known_text *find_text(const output *texts, uint32_t hash, const uint8_t *octets, uint32_t length, int *found) {
    size_t mask = texts->room / sizeof(known_text) - 1;
    known_text *of = NULL;
    *found = 0;
    for (size_t step = 0; step < MOST_PROBES && !*found; step++) {
        of = (known_text *)texts->octets + ((hash + step) & mask);
        if (!of->text) break;
        *found = of->hash == hash && of->length == length && !memcmp(of->octets, octets, length);
    }
    return of;
}

static int double_texts(output *texts) {
    size_t size = texts->room ? 2 * texts->room : 64 * sizeof(known_text);
    output larger = {PyMem_Calloc(size, 1), 0, size};
    if (!larger.octets) return PyErr_NoMemory(), -1;
    const known_text *each = (const known_text *)texts->octets, *last = each + texts->room / sizeof *each;
    int found;
    for (; each < last; each++)
        if (each->text) *find_text(&larger, each->hash, each->octets, each->length, &found) = *each;
    PyMem_Free(texts->octets);
    *texts = larger;
    return 0;
}

/* Equal texts become one object. */
static PyObject *shared_text(table *to, const uint8_t *octets, uint32_t length) {
    if (2 * sizeof(known_text) * to->text_count >= to->texts.room && double_texts(&to->texts)) return NULL;
    uint32_t hash = 2166136261u;
    for (uint32_t at = 0; at < length; at++) hash = (hash ^ octets[at]) * 16777619u;
    int found;
    known_text *of = find_text(&to->texts, hash, octets, length, &found);
    if (found) return Py_NewRef(of->text);
    PyObject *text = PyUnicode_DecodeUTF8((const char *)octets, (Py_ssize_t)length, NULL);
    to->text_count += text && !of->text;
    if (text) *of = (known_text){hash, length, octets, text};
    return text;
}

/* The value of a field; NULL if the octets are refused, or a number has no member. */
static PyObject *read_source(table *to, const field *of, const target *goes, int is_shared) {
    int64_t length;
    const uint8_t *octets;
    if (goes->constant) return Py_NewRef(goes->constant);
    if (goes->members) {
        if (to->in->at >= to->in->end) return NULL;
        uint8_t octet = to->in->octets[to->in->at++];
        if (goes->slot == to->form->order[0].slot) to->start.number = to->form->numbers[octet];
        return Py_XNewRef(goes->members[octet]);
    }
    if (read_octets(to->in, of, 0, &length, &octets)) return NULL;
    if (goes->slot == to->form->order[1].slot) {
        to->start.at = (uint32_t)(octets - to->in->octets);
        to->start.length = (uint16_t)length;
    }
    if (is_shared) return shared_text(to, octets, (uint32_t)length);
    return PyUnicode_DecodeUTF8((const char *)octets, (Py_ssize_t)length, NULL);
}

static int skip_tagged(cursor *in) {
    uint32_t count, tag, size;
    int64_t previous = -1;
    if (read_uvarint(in, &count)) return -1;
    for (; count; count--, previous = tag, in->at += size)
        if (read_tag(in, previous, &tag, &size)) return -1;
    return 0;
}

static int add_row(table *to, PyObject **row) {
    uint8_t *p = room_for(&to->places, sizeof(place));
    if (!p || !(*row = new_object(to->form->cls, to->form->size))) return -1;
    memcpy(p, &(place){.row = *row}, sizeof(place));
    to->places.length += sizeof(place);
    to->count++;
    return 0;
}

static int read_row(table *to, const program *outer, PyObject *const *values, const program *inner) {
    PyObject *row;
    if (add_row(to, &row)) return -1;
    for (Py_ssize_t index = 0; index < outer->count; index++)
        if (values[index]) SLOT(row, to->form->outer[index].slot) = Py_NewRef(values[index]);
    for (Py_ssize_t index = 0; index < inner->count; index++) {
        const target *goes = to->form->inner + index;
        if (!(SLOT(row, goes->slot) = read_source(to, inner->fields + index, goes, 1))) return -1;
    }
    places_of(to)[to->count - 1].by.start = to->start;
    return inner->flexible ? skip_tagged(to->in) : 0;
}

/* The array is the last field of a struct that is in line. */
static int read_rows_of_struct(table *to, const program *outer, PyObject **values) {
    const field *array = outer->fields + to->form->elements;
    int64_t count;
    for (Py_ssize_t index = 0; index < outer->count; index++)
        if (index != to->form->elements &&
            !(values[index] = read_source(to, outer->fields + index, to->form->outer + index, 0)))
            return -1;
    if (read_count(to->in, array, &count) || count < 0) return -1;
    for (; count; count--)
        if (read_row(to, outer, values, array->child)) return -1;
    return outer->flexible ? skip_tagged(to->in) : 0;
}

static int read_structs(table *to, const program *outer, int64_t count) {
    for (; count; count--) {
        PyObject *values[MOST_FIELDS + 1] = {NULL};
        int status = read_rows_of_struct(to, outer, values);
        for (Py_ssize_t index = 0; index < outer->count; index++) Py_XDECREF(values[index]);
        if (status) return -1;
    }
    return 0;
}

/* How many octets begin the texts of all rows. UTF-8 is ordered as its characters are. */
static uint16_t common_prefix(const table *of) {
    const place *first = places_of(of), *last = first + of->count;
    uint16_t prefix = first->by.start.length;
    const uint8_t *octets = of->in->octets, *text = octets + first->by.start.at;
    for (const place *at = first + 1; at < last; at++) {
        if (at->by.start.length < prefix) prefix = at->by.start.length;
        if (memcmp(text, octets + at->by.start.at, prefix))
            for (uint16_t same = 0; same < prefix; same++)
                if (text[same] != octets[at->by.start.at + same]) prefix = same;
    }
    return prefix;
}

static void set_keys(table *of) {
    uint16_t prefix = common_prefix(of);
    for (place *at = places_of(of); at < places_of(of) + of->count; at++) {
        start by = at->by.start;
        const uint8_t *text = of->in->octets + by.at;
        at->by.key = by.number;
        for (int index = prefix; index < prefix + KEY_OCTETS; index++)
            at->by.key = at->by.key << 8 | (index < by.length ? text[index] : 0);
    }
}

/* Rows with equal keys. */
static int is_after(const rows *form, const place *left, const place *right) {
    for (const compared *of = form->order + 1; of < form->order + form->count; of++) {
        PyObject *mine = SLOT(left->row, of->slot), *other = SLOT(right->row, of->slot);
        if (mine == other) continue;
        long difference = of->from->members ? PyLong_AsLong(mine) - PyLong_AsLong(other) : PyUnicode_Compare(mine, other);
        if (difference) return difference > 0;
    }
    return 0;
}

/* Sorts places by an octet of their keys, from one array to another; rows that have the same octet keep their order.
 * 0 if all have the same, and nothing is done. */
static int sort_by_octet(const place *from, place *to, size_t count, int shift) {
    size_t starts[257] = {0};
    for (size_t at = 0; at < count; at++) starts[(from[at].by.key >> shift & 255) + 1]++;
    if (starts[(from[0].by.key >> shift & 255) + 1] == count) return 0;
    for (int octet = 0; octet < 256; octet++) starts[octet + 1] += starts[octet];
    for (size_t at = 0; at < count; at++) to[starts[from[at].by.key >> shift & 255]++] = from[at];
    return 1;
}

/* Sorts places with equal keys; the second array is room for as many. */
static void merge_sort(const rows *form, place *places, place *room, size_t count) {
    size_t half = count / 2, left = 0, right = half;
    if (count < 2) return;
    merge_sort(form, places, room, half);
    merge_sort(form, places + half, room, count - half);
    memcpy(room, places, count * sizeof(place));
    for (size_t at = 0; at < count; at++) {
        int takes_right = left == half || (right < count && is_after(form, room + left, room + right));
        places[at] = room[takes_right ? right++ : left++];
    }
}

static int sort_rows(table *of) {
    output room = {0};
    if (of->count < 2) return 0;
    if (grow(&room, of->places.length)) return -1;
    set_keys(of);
    for (int shift = 0; shift < 64; shift += 8)
        if (sort_by_octet(places_of(of), (place *)room.octets, of->count, shift)) {
            output sorted = {room.octets, of->places.length, room.room};
            room = of->places;
            of->places = sorted;
        }
    for (size_t first = 0, next; first < of->count; first = next) {
        const place *places = places_of(of);
        for (next = first + 1; next < of->count && places[next].by.key == places[first].by.key;) next++;
        merge_sort(of->form, places_of(of) + first, (place *)room.octets, next - first);
    }
    PyMem_Free(room.octets);
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *read_sorted_rows(cursor *in, const field *of, const shared *state) {
    table to = {.in = in, .form = of->rows};
    int64_t count;
    PyObject *made = NULL;
    if (in->end > UINT32_MAX || read_count(in, of, &count)) return NULL;
    if (count < 0) return Py_NewRef(Py_None);
    if (!read_structs(&to, of->child, count) && !sort_rows(&to)) made = PyTuple_New((Py_ssize_t)to.count);
    PyObject **items = made ? &SLOT(made, state->items) : NULL;
    for (size_t at = 0; at < to.count; at++)
        if (items)
            items[at] = places_of(&to)[at].row;
        else
            Py_DECREF(places_of(&to)[at].row);
    if (made) PyObject_GC_UnTrack(made); /* no row refers to others */
    PyMem_Free(to.places.octets);
    PyMem_Free(to.texts.octets);
    return made;
}

static int broken(const char *why) {
    PyErr_Format(PyExc_ValueError, "rows: %s", why);
    return -1;
}

static int set_members(target *to, PyObject *members) {
    Py_ssize_t at = 0;
    PyObject *number, *member;
    if (!PyDict_Check(members)) return broken("no members");
    if (!(to->members = PyMem_Calloc(CODES, sizeof(PyObject *)))) return PyErr_NoMemory(), -1;
    while (PyDict_Next(members, &at, &number, &member)) {
        long code = PyLong_AsLong(number);
        if (PyErr_Occurred()) return -1;
        if (code < INT8_MIN || code > INT8_MAX || to->members[(uint8_t)code]) return broken("a number of a member");
        to->members[(uint8_t)code] = Py_NewRef(member);
    }
    return 0;
}

/* The class of rows: the names of its fields and their slots. */
typedef struct {
    PyObject *names;
    Py_ssize_t *slots;
} fields_of_rows;

/* Gives a target the slot of an attribute that no other one has. */
static int take_slot(rows *form, const fields_of_rows *of, PyObject *name, target *to) {
    for (Py_ssize_t index = 0; index < PyTuple_Size(of->names); index++) {
        if (PyUnicode_Compare(PyTuple_GetItem(of->names, index), name)) continue;
        if (form->order[index].from) break;
        form->order[index] = (compared){to->slot = of->slots[index], to};
        form->count++;
        return 0;
    }
    return broken("each field has one source");
}

static int set_target(rows *form, const fields_of_rows *rows_fields, const field *of, PyObject *source, target *to) {
    PyObject *name, *members, *constant;
    if (!PyTuple_Check(source)) return broken("a source is a tuple");
    if (!PyArg_ParseTuple(source, "UOO:source", &name, &members, &constant)) return -1;
    if (of->presence == TAGGED || of->array || of->nullable) return broken("a source of another form");
    if (of->code != (members == Py_None ? 's' : 'b') || of->longest > UINT16_MAX)
        return broken("a source of another type");
    if (of->presence == ABSENT) to->constant = Py_NewRef(constant);
    return (members != Py_None && set_members(to, members)) || take_slot(form, rows_fields, name, to) ? -1 : 0;
}

/* The numbers and texts that order most rows are read, not constant. */
static int set_numbers(rows *form) {
    const target *number = form->order[0].from, *text = form->order[1].from;
    if (form->count < 2 || !number->members || number->constant || text->members || text->constant)
        return broken("they are ordered by a number and a text");
    for (int code = 0; code < CODES; code++) {
        if (!number->members[code]) continue;
        long value = PyLong_AsLong(number->members[code]);
        if (value < 0 || value > UINT8_MAX) return PyErr_Occurred() ? -1 : broken("a number that does not order them");
        form->numbers[code] = (uint8_t)value;
    }
    return 0;
}

/* The elements are the last field in line. */
static int set_targets(rows *form, const fields_of_rows *of, const program *outer, PyObject *sources[2]) {
    form->elements = outer->inline_count - 1;
    const field *array = form->elements < 0 ? NULL : outer->fields + form->elements;
    const program *inner = array && array->array ? array->child : NULL;
    if (!inner || array->rows || outer->tagged_count || inner->tagged_count) return broken("structs of another form");
    if (outer->count != PyTuple_Size(sources[0]) || inner->count != PyTuple_Size(sources[1]) ||
        outer->count > MOST_FIELDS + 1 || inner->count > MOST_FIELDS)
        return broken("each field has one source");
    for (Py_ssize_t index = 0; index < outer->count; index++)
        if (index != form->elements &&
            set_target(form, of, outer->fields + index, PyTuple_GetItem(sources[0], index), form->outer + index))
            return -1;
    for (Py_ssize_t index = 0; index < inner->count; index++)
        if (set_target(form, of, inner->fields + index, PyTuple_GetItem(sources[1], index), form->inner + index))
            return -1;
    if (form->count != PyTuple_Size(of->names)) return broken("each field has one source");
    return set_numbers(form);
}

/* The fields of a class, and their slots, which the caller frees. NULL with an exception. */
static Py_ssize_t *slots_of(PyTypeObject *cls, PyObject **names, Py_ssize_t *size) {
    *names = PyObject_GetAttrString((PyObject *)cls, "__struct_fields__");
    if (*names ? !PyTuple_Check(*names) : PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_SetString(PyExc_ValueError, "class: it has no fields");
    if (PyErr_Occurred()) return NULL;
    if (PyTuple_Size(*names) > MOST_FIELDS) return PyErr_SetString(PyExc_ValueError, "class: too many fields"), NULL;
    Py_ssize_t *slots = PyMem_Calloc((size_t)PyTuple_Size(*names) + 1, sizeof *slots);
    if (!slots) return (Py_ssize_t *)PyErr_NoMemory();
    if (!find_slots(cls, *names, slots, size)) return slots;
    PyMem_Free(slots);
    return NULL;
}

rows *compile_rows(PyObject *source, const program *outer) {
    PyObject *cls, *sources[2];
    if (!PyTuple_Check(source) || !outer) return broken("they are made of an array of structs"), NULL;
    if (!PyArg_ParseTuple(source, "O!O!O!:rows", &PyType_Type, &cls, &PyTuple_Type, &sources[0], &PyTuple_Type, &sources[1]))
        return NULL;
    rows *form = PyMem_Calloc(1, sizeof *form);
    if (!form) return (rows *)PyErr_NoMemory();
    form->cls = (PyTypeObject *)Py_NewRef(cls);
    fields_of_rows of = {NULL, NULL};
    if (!(of.slots = slots_of(form->cls, &of.names, &form->size)) || set_targets(form, &of, outer, sources)) {
        free_rows(form);
        form = NULL;
    }
    Py_XDECREF(of.names);
    PyMem_Free(of.slots);
    return form;
}

/* Calls a function with each object of a target until it returns something else than 0. */
static int visit_target(const target *of, visitproc visit, void *arg) {
    Py_VISIT(of->constant);
    for (int code = 0; of->members && code < CODES; code++) Py_VISIT(of->members[code]);
    return 0;
}

int visit_rows(const rows *form, visitproc visit, void *arg) {
    int status = 0;
    Py_VISIT(form->cls);
    for (int index = 0; !status && index <= MOST_FIELDS; index++) status = visit_target(form->outer + index, visit, arg);
    for (int index = 0; !status && index < MOST_FIELDS; index++) status = visit_target(form->inner + index, visit, arg);
    return status;
}

static int release(PyObject *object, void *arg) {
    (void)arg;
    Py_DECREF(object);
    return 0;
}

void free_rows(rows *form) {
    if (!form) return;
    visit_rows(form, release, NULL);
    for (int index = 0; index <= MOST_FIELDS; index++) PyMem_Free(form->outer[index].members);
    for (int index = 0; index < MOST_FIELDS; index++) PyMem_Free(form->inner[index].members);
    PyMem_Free(form);
}
