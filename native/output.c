/* Room for octets that are being written. */
#include "engine.h"

int grow(output *to, size_t size) {
    size_t room = to->room * 2 > to->length + size ? to->room * 2 : to->length + size;
    uint8_t *octets = room > PY_SSIZE_T_MAX ? NULL : PyMem_Realloc(to->octets, room);
    if (!octets) {
        PyErr_NoMemory();
        return -1;
    }
    to->octets = octets;
    to->room = room;
    return 0;
}
