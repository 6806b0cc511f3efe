"""Pictures of a plan: cluster, time and memory as SVG, or as one HTML page.

`report/rows.py` reads the plan: who holds which accelerator. `svg` and `charts` draw it, `page` adds tables
around the drawing. Every text goes through a library that escapes it: ElementTree or jinja2.
"""
