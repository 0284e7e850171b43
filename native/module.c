/* The module: its state, and the codec of a message at a version. */
#include "engine.h"

/* What a program has, as kafkawire.wire.programs writes it and program.c reads it, and what else that module names. */
static const char FORM[] =
    "cls flexible fields "
    "attribute presence marker code length_code array nullable compact ignorable tag longest initial child rows "
    "Codec.columns RecordCodec.columns";

typedef struct {
    PyObject_HEAD
    program *with;
    PyObject *module;
} Codec;

static PyObject *codec_read(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    Codec *codec = (Codec *)self;
    if (count != 2 || !PyBytes_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "read(buffer: bytes, at: int)");
        return NULL;
    }
    Py_ssize_t at = PyLong_AsSsize_t(arguments[1]);
    if (at < 0 || at > PyBytes_Size(arguments[0])) return refuse();
    PyObject *message = read_message(codec->with, PyModule_GetState(codec->module), arguments[0], &at);
    return message ? with_end(message, at) : refuse();
}

static PyObject *codec_decode(PyObject *self, PyObject *buffer) {
    Codec *codec = (Codec *)self;
    Py_ssize_t at = 0;
    if (!PyBytes_CheckExact(buffer)) {
        PyErr_SetString(PyExc_TypeError, "decode(buffer: bytes)");
        return NULL;
    }
    PyObject *message = read_message(codec->with, PyModule_GetState(codec->module), buffer, &at);
    if (message && at == PyBytes_Size(buffer)) return message;
    Py_XDECREF(message);
    return refuse();
}

static PyObject *codec_write(PyObject *self, PyObject *message) {
    Codec *codec = (Codec *)self;
    PyObject *octets = write_message(codec->with, PyModule_GetState(codec->module), message);
    return octets ? octets : refuse();
}

static PyObject *codec_columns(PyObject *self, PyObject *arguments) {
    octet_rows rows;
    PyObject *columns = NULL;
    if (!PyArg_ParseTuple(arguments, "z*y*y*nnn:columns", &rows.valid, &rows.offsets, &rows.octets, &rows.first,
                          &rows.count, &rows.start))
        return NULL;
    if (rows.first >= 0 && rows.count >= 0 && rows.start >= 0 && rows.offsets.len / 4 - 1 - rows.first >= rows.count &&
        (!rows.valid.buf || rows.valid.len >= (rows.first + rows.count + 7) / 8))
        columns = read_columns(((Codec *)self)->with, &rows);
    PyBuffer_Release(&rows.valid);
    PyBuffer_Release(&rows.offsets);
    PyBuffer_Release(&rows.octets);
    return columns ? columns : refuse();
}

static PyObject *codec_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    PyObject *source;
    if (named && PyDict_Size(named)) {
        PyErr_SetString(PyExc_TypeError, "Codec takes no keyword");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "O:Codec", &source)) return NULL;
    PyObject *module = PyType_GetModule(type);
    program *with = module ? compile_program(source) : NULL;
    if (!with) return NULL;
    Codec *codec = (Codec *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!codec) {
        free_program(with);
        return NULL;
    }
    codec->with = with;
    codec->module = Py_NewRef(module);
    return (PyObject *)codec;
}

static int codec_traverse(PyObject *self, visitproc visit, void *arg) {
    Codec *codec = (Codec *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(codec->module);
    return codec->with ? visit_program(codec->with, visit, arg) : 0;
}

static void codec_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    free_program(((Codec *)self)->with);
    Py_XDECREF(((Codec *)self)->module);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef codec_methods[] = {
    {"read", (PyCFunction)(void (*)(void))codec_read, METH_FASTCALL, "The message at a position, and the position after it."},
    {"decode", codec_decode, METH_O, "The message that fills a buffer."},
    {"write", codec_write, METH_O, "The bytes of a message."},
    {"columns", codec_columns, METH_VARARGS, "The columns of messages, and the rows that are not exactly one."},
    {0},
};

static PyType_Slot codec_slots[] = {
    {Py_tp_doc, "Reads and writes one message at one version."},
    {Py_tp_new, codec_new},
    {Py_tp_dealloc, codec_dealloc},
    {Py_tp_traverse, codec_traverse},
    {Py_tp_methods, codec_methods},
    {0},
};

static PyType_Spec codec_spec = {
    "kafkawire._native.Codec", sizeof(Codec), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC, codec_slots,
};

/* Where a tuple has its items. No header of the stable interface says it, so it is tried. */
static Py_ssize_t items_of_tuples(void) {
    PyObject *size = PyObject_GetAttrString((PyObject *)&PyTuple_Type, "__basicsize__");
    Py_ssize_t offset = size ? PyLong_AsSsize_t(size) : -1;
    Py_XDECREF(size);
    PyObject *tuple = offset < 0 ? NULL : PyTuple_Pack(3, Py_None, Py_True, Py_False);
    if (!tuple) return -1;
    PyObject **items = &SLOT(tuple, offset);
    int found = items[0] == Py_None && items[1] == Py_True && items[2] == Py_False;
    Py_DECREF(tuple);
    if (found) return offset;
    PyErr_SetString(PyExc_ImportError, "tuples of this interpreter have an unknown form");
    return -1;
}

static PyObject *attribute_of(const char *module_name, const char *name) {
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *found = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return found;
}

static int add_type(PyObject *module, PyType_Spec *spec) {
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    int status = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return status;
}

static int module_exec(PyObject *module) {
    shared *state = PyModule_GetState(module);
    if (!(state->uuid = attribute_of("kafkawire.layout.uuid", "Uuid"))) return -1;
    if (!(state->differs = attribute_of("kafkawire.wire.structs", "differs"))) return -1;
    if (!(state->sequence = attribute_of("kafkawire.wire.structs", "sequence"))) return -1;
    if (!(state->plain_tags = attribute_of("kafkawire.wire.structs", "plain_tags"))) return -1;
    if (!(state->unknown = PyUnicode_InternFromString("unknown_tagged_fields"))) return -1;
    if (!(state->nothing = PyTuple_New(0)) || (state->items = items_of_tuples()) < 0) return -1;
    state->new_bytes = (newfunc)PyType_GetSlot(&PyBytes_Type, Py_tp_new);
    if (add_type(module, &codec_spec) || add_type(module, &record_codec_spec)) return -1;
    return PyModule_AddStringConstant(module, "FORM", FORM);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    shared *state = PyModule_GetState(module);
    if (!state) return 0;
    Py_VISIT(state->uuid);
    Py_VISIT(state->differs);
    Py_VISIT(state->sequence);
    Py_VISIT(state->plain_tags);
    Py_VISIT(state->unknown);
    Py_VISIT(state->nothing);
    return 0;
}

static int module_clear(PyObject *module) {
    shared *state = PyModule_GetState(module);
    if (!state) return 0;
    Py_CLEAR(state->uuid);
    Py_CLEAR(state->differs);
    Py_CLEAR(state->sequence);
    Py_CLEAR(state->plain_tags);
    Py_CLEAR(state->unknown);
    Py_CLEAR(state->nothing);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Reads and writes messages by their layouts.", sizeof(shared), NULL, module_slots,
    module_traverse, module_clear, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
