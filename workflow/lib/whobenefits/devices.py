"""Devices that an estimate can be made for. Imports nothing heavy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """What a data sheet says: dense bfloat16 products (10^12 operations a second), memory bandwidth (GB a second), memory
    (GB). The V100 has no bfloat16: its float16 stands in."""

    teraflops: float
    bandwidth: float
    memory: float


DEVICES = {
    "v100": Device(125, 900, 32),
    "a40": Device(150, 696, 48),
    "a100": Device(312, 2039, 80),
    "l40s": Device(362, 864, 48),
    "h100": Device(989, 3350, 80),
    "h200": Device(989, 4800, 141),
}
