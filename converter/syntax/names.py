"""Resolves names of a script to full names: `tf.keras.Sequential`, however the script imports it."""

from __future__ import annotations

import ast

# Prefixes that lead to the same functions, longest first.
_SAME = (
    ("tensorflow.compat.v1.", "tf."),
    ("tensorflow.compat.v2.", "tf."),
    ("tensorflow.python.keras.", "tf.keras."),
    ("tensorflow.contrib.keras.api.keras.", "tf.keras."),
    ("tensorflow.contrib.keras.", "tf.keras."),
    ("tensorflow.", "tf."),
)


class ImportedNames:
    """The imports of a script, those inside functions too."""

    def __init__(self, tree: ast.Module) -> None:
        self._modules: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self._modules[bound] = alias.name if alias.asname else bound
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    self._modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def of(self, node: ast.expr) -> str:
        """The full name of a dotted expression, "tf." in front for TensorFlow; "" for one that no import begins."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._modules:
            return ""
        name = ".".join([self._modules[node.id], *reversed(parts)])
        for prefix, same in _SAME:
            if name.startswith(prefix):
                name = same + name[len(prefix) :]
                break
        for version in ("tf.compat.v1.", "tf.compat.v2."):
            name = name.replace(version, "tf.")
        return name

    def tensorflow(self) -> str:
        """The name under which the script imports TensorFlow, "" if it imports only parts of it."""
        same = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")
        return next((bound for bound, module in self._modules.items() if module in same), "")

    def imports(self, *packages: str) -> bool:
        """Whether the script imports one of these packages, or from it."""
        return any(module.partition(".")[0] in packages for module in self._modules.values())
