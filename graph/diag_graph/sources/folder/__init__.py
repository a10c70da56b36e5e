"""The evidence folder (contract section 13): any folder that a person would collect during an incident."""

from diag_graph.sources.folder.open import open_folder

__all__ = ["open_folder"]
