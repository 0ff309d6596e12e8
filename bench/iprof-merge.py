#!/usr/bin/env python3
"""Merge iprof files, the straightforward way: what bench/irpgo compares profuse with.

    iprof-merge.py OUTPUT INPUT...

Types are identified by name, methods by name and signature, entries by section
and context. Conditionals are added by target, index and rank.
"""
import json
import sys

WIDTH = {"callCountProfiles": 1, "samplingProfiles": 1, "conditionalProfiles": 3,
         "virtualInvokeProfiles": 2, "monitorProfiles": 2, "instanceOfProfiles": 2}


def main(output, inputs):
    types, methods, sections = {}, {}, {name: {} for name in WIDTH}
    for path in inputs:
        with open(path) as f:
            doc = json.load(f)
        type_ids = {t["id"]: types.setdefault(t["name"], len(types)) for t in doc["types"]}
        method_ids = {}
        for m in doc["methods"]:
            key = m["name"], tuple(type_ids[t] for t in m["signature"])
            method_ids[m["id"]] = methods.setdefault(key, len(methods) + 1)
        for name, width in WIDTH.items():
            merged = sections[name]
            for entry in doc.get(name, []):
                ctx = entry["ctx"]
                if name != "monitorProfiles":
                    frames = (frame.split(":") for frame in ctx.split("<"))
                    ctx = "<".join("%d:%s" % (method_ids[int(m)], bci) for m, bci in frames)
                into = merged.setdefault(ctx, {})
                records, ranks = entry["records"], {}
                for i in range(0, len(records), width):
                    about = tuple(records[i:i + width - 1])
                    if width == 2:
                        about = type_ids[about[0]]
                    elif width == 3:
                        rank = ranks[about] = ranks.get(about, 0) + 1
                        about += rank,
                    into[about] = into.get(about, 0) + records[i + width - 1]
    doc = {"version": "1.1.0",
           "types": [{"id": i, "name": n} for n, i in types.items()],
           "methods": [{"id": i, "name": n, "signature": s} for (n, s), i in methods.items()]}
    for name, width in WIDTH.items():
        doc[name] = []
        for ctx, records in sections[name].items():
            flat = []
            for about, count in records.items():
                flat += [*about[:2], count] if width == 3 else [about, count] if width == 2 else [count]
            doc[name].append({"ctx": ctx, "records": flat})
    with open(output, "w") as f:
        json.dump(doc, f, separators=(",", ":"))


main(sys.argv[1], sys.argv[2:])
