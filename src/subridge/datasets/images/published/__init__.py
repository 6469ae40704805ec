"""Published collections of images, a file each: a new one is a file beside these and a line in `COLLECTIONS`."""

from subridge.datasets.images.published.cifar10 import CIFAR10
from subridge.datasets.images.published.fashion import FASHION

COLLECTIONS = {"cifar10": CIFAR10, "fashion": FASHION}
