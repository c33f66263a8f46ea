#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""buttons.py GRAY WIDTH <WINDOWS: finds the buttons in a picture of the screen.

GRAY has a byte for each pixel, WIDTH of them in a row. A line "ID X Y W H" for each bubble comes in, and "ID X Y X Y ..." goes out:
the middle of each of its buttons, from left to right. The lowest row of dark pixels that is some pixels high is the row of
the buttons; words less than GAP apart are of one.
"""
import sys

GAP = 12
EDGE = 16  # the frame, and the round corners
DARK = 110
LETTERS = 5  # at least so high


def runs(flags, gap):
    found = []
    for i, flag in enumerate(flags):
        if flag and found and i - found[-1][1] <= gap:
            found[-1][1] = i
        elif flag:
            found.append([i, i])
    return found


def buttons(rows):
    width = len(rows[0])
    inside = range(EDGE, width - EDGE)
    lines = runs([any(row[x] < DARK for x in inside) for row in rows[: len(rows) - EDGE]], 3)
    lines = [line for line in lines if line[1] - line[0] >= LETTERS]
    if not lines:
        return []
    top, bottom = lines[-1]
    words = runs([any(rows[y][x] < DARK for y in range(top, bottom + 1)) for x in inside], GAP)
    return [(EDGE + (left + right) // 2, (top + bottom) // 2) for left, right in words]


def main(gray, screen_width):
    data = open(gray, "rb").read()
    for line in sys.stdin:
        window, *numbers = line.split()
        if len(numbers) != 4:
            continue  # it has gone
        x, y, width, height = map(int, numbers)
        rows = [data[r * screen_width + x : r * screen_width + x + width] for r in range(y, y + height)]
        if len(rows) > 2 * EDGE and all(len(r) == width for r in rows):
            print(window, *(n for bx, by in buttons(rows) for n in (x + bx, y + by)))


main(sys.argv[1], int(sys.argv[2]))
