#!/usr/bin/env python3
"""The goldens of text: Pillow draws the same lines with the same font, and pastes their coverage. It needs Pillow and
the font, which a test leaves behind:

    GF_FONT_WRITE=made.ttf build/tests/test_text && python3 tests/filters/goldens/text.py made.ttf

It writes its pictures and its lines of list.txt anew. Sizes are such that the squares of the font are whole pixels,
since Pillow hints."""
import os
import sys

from PIL import Image, ImageDraw, ImageFont

HERE = os.path.dirname(os.path.abspath(__file__))


def made(lines, size, at, colour, opacity=1.0, background=None, padding=0):
    picture = Image.open(os.path.join(HERE, "rgb.ppm")).convert("RGB")
    font = ImageFont.truetype(sys.argv[1], size, layout_engine=ImageFont.Layout.BASIC)
    width = max(round(font.getlength(line)) for line in lines) + 2 * padding
    text = Image.new("RGB", (width, size * len(lines) + 2 * padding), background or colour)
    coverage = Image.new("L", text.size, 255 if background else 0)
    for i, line in enumerate(lines):
        where = (padding, padding + i * size)
        ImageDraw.Draw(text).text(where, line, fill=colour, font=font)
        if not background:
            ImageDraw.Draw(coverage).text(where, line, fill=255, font=font)
    picture.paste(text, at, coverage.point(lambda v: round(v * opacity)))
    return picture


CASES = [
    ("text=Ag 57%:size=10:gravity=northwest:x=3:y=4", made(["Ag 57%"], 10, (3, 4), (255, 255, 255))),
    ("text='{a,b}\\nQ: ~':size=20:gravity=northwest:x=-2:y=1:colour=#ff8000:opacity=0.6",
     made(["{a,b}", "Q: ~"], 20, (-2, 1), (255, 128, 0), 0.6)),
    ("text=up\\\\ndown:size=10:gravity=northwest:x=5:y=9:background=#102040:padding=2",
     made(["up", "down"], 10, (5, 9), (255, 255, 255), 1.0, (16, 32, 64), 2)),
]

with open(os.path.join(HERE, "list.txt"), encoding="utf-8") as file:
    kept = [line for line in file if not line.split("\t")[2].startswith("text")]
for number, (chain, picture) in enumerate(CASES):
    name = f"text{number:02d}.ppm"
    picture.save(os.path.join(HERE, name))
    kept.append(f"{chain}\trgb.ppm\t{name}\t1\t1000\n")
with open(os.path.join(HERE, "list.txt"), "w", encoding="utf-8") as file:
    file.writelines(kept)
