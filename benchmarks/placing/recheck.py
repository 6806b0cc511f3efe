"""Is a sum right? Reads one certificate, plain JSON data, and counts again; it knows nothing of placewright. Exits with 1 if not."""

import json
import sys

with open(sys.argv[1]) as file:
    data = json.load(file)
row, nodes = data["row"], data["nodes"]
who = [component for component in data["components"] if component["name"] in row["components"]]
if row["size"]:  # pieces of accelerators, each in one node, or in one rack and there in units that one node holds
    need, places = sum(component["amount"] // row["size"] for component in who), {}
    for node in nodes:
        if any(each["group"] in node["groups"] and each["memory"] <= node["memory"] for each in who):
            place = node["rack"] if row["level"] else node["name"]
            places[place] = places.get(place, 0) + node["free"] // row["unit"]
    have = sum(units // (row["size"] // row["unit"]) for units in places.values())
else:  # memory of one accelerator
    need = sum(component["memory"] for component in who)
    have = max((node["memory"] for node in nodes if all(each["group"] in node["groups"] for each in who)), default=0)
sys.exit(0 if (need, have) == (row["need"], row["have"]) and need > have else 1)
