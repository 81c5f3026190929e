from typing import *
from math import *
from collections import *
from itertools import *
from heapq import *
from bisect import *
import sys, os, re, string, functools, operator, random, copy, datetime
def solve(x: int) -> int:
    return 3 * x + 1
