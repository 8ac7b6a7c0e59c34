"""croissant.json of a release: its files and columns in the vocabulary that catalogues of data sets read.

The source is the specification of Croissant 1.0, "Croissant: A Metadata Format for ML-Ready Datasets" (MLCommons).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hits.formats.outputs.data_card import Card
from hits.formats.outputs.licences import LICENCES
from hits.formats.outputs.parquet_facts import TableFacts

FILE = "croissant.json"
# As the specification prints it.
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {
    "bool": "sc:Boolean",
    "int32": "sc:Integer",
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "string": "sc:Text",
}


def written(card: Card, sums: Mapping[str, str]) -> bytes:
    """The file in UTF-8. `sums` has the SHA-256 of each file of the card's tables."""
    licence = LICENCES[card.licence].url if card.licence in LICENCES else ""
    files = [
        {
            "@type": "cr:FileObject",
            "@id": file,
            "name": file,
            "contentUrl": file,
            "encodingFormat": "application/x-parquet",
            "sha256": sums[file],
        }
        for splits in card.tables.values()
        for file in splits.values()
    ]
    found: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": card.title,
        "description": card.about or card.description,
        **({"license": licence} if licence else {}),
        **({"citeAs": card.citation} if card.citation else {}),
        "distribution": files,
        "recordSet": list(_record_sets(card.tables, card.facts)),
    }
    return json.dumps(found, ensure_ascii=False, indent=1).encode() + b"\n"


def _record_sets(tables: Mapping[str, Mapping[str, str]], facts: Mapping[str, TableFacts]) -> Iterator[dict[str, Any]]:
    for table, splits in tables.items():
        for split, file in splits.items():
            name = f"{table}-{split}"
            fields = [_field(f"{name}/{column}", column, kind, file) for column, kind in facts[file].columns.items()]
            yield {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(name: str, column: str, kind: Any, file: str, inside: str = "") -> dict[str, Any]:
    """A column or, `inside` its objects, one of their values. Objects within objects are given as texts."""
    repeated, item = isinstance(kind, list), kind[0] if isinstance(kind, list) else kind
    found: dict[str, Any] = {"@type": "cr:Field", "@id": name, "name": name.rpartition("/")[2]}
    if isinstance(item, dict) and not inside:
        return found | {
            "subField": [_field(f"{name}/{key}", column, _listed(repeated, of), file, key) for key, of in item.items()]
        }
    return {
        **found,
        "dataType": _TYPES.get(item, "sc:Text") if isinstance(item, str) else "sc:Text",
        **({"repeated": True} if repeated else {}),
        "source": {
            "fileObject": {"@id": file},
            "extract": {"column": column},
            **({"transform": {"jsonPath": inside}} if inside else {}),
        },
    }


def _listed(repeated: bool, kind: Any) -> Any:
    return [kind] if repeated and not isinstance(kind, list) else kind
