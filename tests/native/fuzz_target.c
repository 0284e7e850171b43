/* Gives what libFuzzer makes up to tests/native/fuzzing.py, in an interpreter that has the native engine built in. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyMODINIT_FUNC PyInit__native(void);

static PyObject *run;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    PyImport_AppendInittab("_native", PyInit__native);
    Py_Initialize();
    PyObject *module = PyImport_ImportModule("tests.native.fuzzing");
    run = module ? PyObject_GetAttrString(module, "run") : NULL;
    if (!run) {
        PyErr_Print();
        abort();
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size) {
    PyObject *input = PyBytes_FromStringAndSize((const char *)octets, (Py_ssize_t)size);
    PyObject *result = input ? PyObject_CallFunctionObjArgs(run, input, NULL) : NULL;
    if (!result) {
        PyErr_Print();
        abort();
    }
    Py_DECREF(result);
    Py_DECREF(input);
    return 0;
}
