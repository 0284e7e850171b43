"""The hash XXH3 with 64 bits and without a seed, by which Kafka recognizes that topics have changed.

The constants and steps are those of the published specification of XXH3.
"""

from __future__ import annotations

from typing import Final

_SECRET: Final = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_MASK: Final = (1 << 64) - 1
_MASK32: Final = (1 << 32) - 1
_P32: Final = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_P64: Final = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_MX1: Final = 0x165667919E3779F9
_MX2: Final = 0x9FB21C651E98DF25
_STRIPE: Final = 64
_ACCUMULATORS: Final = (_P32[2], _P64[0], _P64[1], _P64[2], _P64[3], _P32[1], _P64[4], _P32[0])
_SHORT: Final = 16
_MEDIUM: Final = 128
_LONG: Final = 240


def xxh3_64(data: bytes) -> int:
    """The hash of bytes, as 64 bits without a sign."""
    if len(data) <= _SHORT:
        return _short(data)
    if len(data) <= _MEDIUM:
        return _medium(data)
    return _longer(data) if len(data) <= _LONG else _long(data)


def _short(data: bytes) -> int:
    size = len(data)
    if size > 8:
        flip1 = _read64(_SECRET, 24) ^ _read64(_SECRET, 32)
        flip2 = _read64(_SECRET, 40) ^ _read64(_SECRET, 48)
        low, high = _read64(data, 0) ^ flip1, _read64(data, size - 8) ^ flip2
        return _avalanche(size + int.from_bytes(low.to_bytes(8, "little")) + high + _folded(low, high))
    if size >= 4:
        combined = _read32(data, size - 4) + (_read32(data, 0) << 32)
        mixed = combined ^ _read64(_SECRET, 8) ^ _read64(_SECRET, 16)
        mixed ^= _rotated(mixed, 49) ^ _rotated(mixed, 24)
        mixed = mixed * _MX2 & _MASK
        mixed ^= (mixed >> 35) + size
        mixed = mixed * _MX2 & _MASK
        return mixed ^ mixed >> 28
    if size:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return _avalanche64(combined ^ _read32(_SECRET, 0) ^ _read32(_SECRET, 4))
    return _avalanche64(_read64(_SECRET, 56) ^ _read64(_SECRET, 64))


def _medium(data: bytes) -> int:
    size = len(data)
    hashed = size * _P64[0]
    for at in range((size - 1) // 32 + 1):
        hashed += _mixed(data, 16 * at, 32 * at) + _mixed(data, size - 16 * (at + 1), 32 * at + 16)
    return _avalanche(hashed)


def _longer(data: bytes) -> int:
    size = len(data)
    hashed = _avalanche(size * _P64[0] + sum(_mixed(data, 16 * at, 16 * at) for at in range(8)))
    hashed += sum(_mixed(data, 16 * at, 16 * (at - 8) + 3) for at in range(8, size // 16))
    return _avalanche(hashed + _mixed(data, size - 16, 136 - 17))


def _long(data: bytes) -> int:
    sums = [*_ACCUMULATORS]
    stripes = (len(_SECRET) - _STRIPE) // 8
    block = _STRIPE * stripes
    for start in range(0, (len(data) - 1) // block * block, block):
        for stripe in range(stripes):
            _accumulate(sums, data, start + _STRIPE * stripe, 8 * stripe)
        _scramble(sums)
    start = (len(data) - 1) // block * block
    for stripe in range((len(data) - 1 - start) // _STRIPE):
        _accumulate(sums, data, start + _STRIPE * stripe, 8 * stripe)
    _accumulate(sums, data, len(data) - _STRIPE, len(_SECRET) - _STRIPE - 7)
    hashed = len(data) * _P64[0]
    for pair in range(4):
        low = sums[2 * pair] ^ _read64(_SECRET, 11 + 16 * pair)
        hashed += _folded(low, sums[2 * pair + 1] ^ _read64(_SECRET, 19 + 16 * pair))
    return _avalanche(hashed)


def _accumulate(sums: list[int], data: bytes, at: int, secret_at: int) -> None:
    for lane in range(8):
        value = _read64(data, at + 8 * lane)
        key = value ^ _read64(_SECRET, secret_at + 8 * lane)
        sums[lane ^ 1] = sums[lane ^ 1] + value & _MASK
        sums[lane] = sums[lane] + (key & _MASK32) * (key >> 32) & _MASK


def _scramble(sums: list[int]) -> None:
    for lane in range(8):
        mixed = sums[lane] ^ sums[lane] >> 47 ^ _read64(_SECRET, len(_SECRET) - _STRIPE + 8 * lane)
        sums[lane] = mixed * _P32[0] & _MASK


def _mixed(data: bytes, at: int, secret_at: int) -> int:
    low = _read64(data, at) ^ _read64(_SECRET, secret_at)
    return _folded(low, _read64(data, at + 8) ^ _read64(_SECRET, secret_at + 8))


def _folded(low: int, high: int) -> int:
    product = low * high
    return product & _MASK ^ product >> 64


def _avalanche(hashed: int) -> int:
    hashed &= _MASK
    hashed ^= hashed >> 37
    hashed = hashed * _MX1 & _MASK
    return hashed ^ hashed >> 32


def _avalanche64(hashed: int) -> int:
    hashed ^= hashed >> 33
    hashed = hashed * _P64[1] & _MASK
    hashed ^= hashed >> 29
    hashed = hashed * _P64[2] & _MASK
    return hashed ^ hashed >> 32


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _read64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _read32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")
