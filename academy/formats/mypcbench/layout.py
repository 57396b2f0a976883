"""Which files of an upload hold tasks, which belong together, and why the others are not read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath

SHARD_END = ".rubrics.json"
GRADED = re.compile(r"all_tasks_with_grading(.*)\.json")
UNGRADED = re.compile(r"all_tasks(.*)\.json")
COPIES = ("mypcbench_clean.json", "mypcbench_legacy.json")
SMOKE = ("smoke", "smoke_one")
REFERENCE = {
    "variables.json": "seed values of the simulated apps; the apps themselves are authoritative",
    "task_types.json": "behavioural types of tasks; no score of this suite depends on them",
}


class Role(StrEnum):
    """What a task file is within its suite."""

    GRADED = "graded"
    SHARD = "shard"
    LIST = "list"
    UNGRADED = "ungraded"


@dataclass(slots=True)
class Group:
    """Task files that make one suite together."""

    slug: str
    title: str
    roles: dict[PurePosixPath, Role] = field(default_factory=dict)
    copies: list[PurePosixPath] = field(default_factory=list)
    mode: str = "ranked"

    def with_role(self, role: Role) -> list[PurePosixPath]:
        """The files of one role, sorted."""
        return sorted(path for path, own in self.roles.items() if own is role)


@dataclass(slots=True)
class Layout:
    """The groups of an upload; `reasons` says of every other file why it is not loaded."""

    groups: list[Group]
    reasons: dict[PurePosixPath, str]


def slug_of(name: str) -> str:
    """A name as a suite's slug: lower case, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def stem_of(path: PurePosixPath) -> str:
    """The name of a file without the endings of task files."""
    return path.name.removesuffix(".json").removesuffix(".rubrics")


def role_by_name(path: PurePosixPath) -> Role | None:
    """The role that a file's name gives it, wherever it lies."""
    if path.name.endswith(SHARD_END):
        return Role.SHARD
    if GRADED.fullmatch(path.name):
        return Role.GRADED
    if UNGRADED.fullmatch(path.name):
        return Role.UNGRADED
    if path.parent.name in SMOKE and path.suffix == ".json":
        return Role.LIST
    return None


def is_in_own_folder(path: PurePosixPath) -> bool:
    """Whether a shard lies in the folder of its bucket, `<bucket>/<bucket>.rubrics.json`."""
    return path.parent.name == path.name.removesuffix(SHARD_END)


def lay_out(paths: Iterable[PurePosixPath]) -> tuple[Layout, list[PurePosixPath]]:
    """The groups that names and folders show, and the files that only their content can tell of.

    A checkout gives the suites of its folders (`final`, `smoke`, `smoke_one`). Files outside any
    such folder are suites of their own, named after the file, but only where there is no checkout.
    """
    layout = Layout([], {})
    tree: dict[PurePosixPath, Group] = {}
    alone: list[PurePosixPath] = []
    unknown: list[PurePosixPath] = []
    listed = sorted(paths)
    roots = [path.parent.parent for path in listed if _is_shard_in_place(path)]
    for path in listed:
        role = role_by_name(path)
        if reason := reference_reason(path):
            layout.reasons[path] = reason
        elif group := _tree_group(path, roots, tree):
            if role is None:
                group.copies.append(path)
            else:
                group.roles[path] = role
        elif role or path.name in COPIES:
            alone.append(path)
        elif path.suffix == ".json":
            unknown.append(path)
        else:
            layout.reasons[path] = "not a task file of this format"
    layout.groups = [group for _, group in sorted(tree.items()) if group.roles]
    if not layout.groups:
        layout.groups = stand_alone(alone)
        return layout, unknown
    layout.reasons |= dict.fromkeys(
        alone, "lies outside the suites of this checkout; import it by itself"
    )
    layout.reasons |= dict.fromkeys(
        unknown, "no task file of this checkout; import it by itself if it has tasks"
    )
    return layout, []


def _tree_group(
    path: PurePosixPath, roots: Sequence[PurePosixPath], tree: dict[PurePosixPath, Group]
) -> Group | None:
    """The group of the folder that a task file lies in, if that is one of a checkout's."""
    role = role_by_name(path)
    if role is Role.LIST:
        return _group(tree, path.parent, path.parent.name, "practice")
    root = path.parent.parent if _is_shard_in_place(path) else path.parent
    named = role is not None or path.name in COPIES
    if named and _is_tree(root, path, roots):
        return _group(tree, root, root.name or "final", "ranked")
    return None


def _is_shard_in_place(path: PurePosixPath) -> bool:
    return path.name.endswith(SHARD_END) and is_in_own_folder(path)


def _is_tree(root: PurePosixPath, path: PurePosixPath, roots: Sequence[PurePosixPath]) -> bool:
    """Whether a folder is the `final` folder of a checkout: by its name or by its buckets."""
    if path.name.endswith(SHARD_END) and not is_in_own_folder(path):
        return False
    match = UNGRADED.fullmatch(path.name)
    plain = match is None or match[1] in ("", "_with_grading")
    return plain and (root.name == "final" or roots.count(root) > 1)


def _group(tree: dict[PurePosixPath, Group], root: PurePosixPath, name: str, mode: str) -> Group:
    return tree.setdefault(
        root, Group(slug=slug_of(name) or "final", title=f"MyPCBench {name}", mode=mode)
    )


def reference_reason(path: PurePosixPath) -> str:
    """Why a known file beside the tasks is not loaded, or "" for other files."""
    if path.name.startswith("schema") and path.suffix == ".json":
        return "the JSON Schema of the tasks; the forms in use are built in"
    return REFERENCE.get(path.name, "")


def stand_alone(paths: Iterable[PurePosixPath]) -> list[Group]:
    """One group per file, but a grading-free list joins the graded list of the same name."""
    groups: list[Group] = []
    for path in sorted(paths, key=lambda path: (role_by_name(path) is Role.UNGRADED, path)):
        role = role_by_name(path) or Role.LIST
        twin = _graded_twin(path, groups) if role is Role.UNGRADED else None
        if twin is not None:
            twin.roles[path] = role
            continue
        slug = slug_of(stem_of(path)) or "tasks"
        taken = {group.slug for group in groups}
        if slug in taken:
            slug = slug_of(f"{stem_of(path)}-{'-'.join(path.parent.parts)}")
        groups.append(Group(slug=slug, title=f"MyPCBench {stem_of(path)}", roles={path: role}))
    return groups


def _graded_twin(path: PurePosixPath, groups: Iterable[Group]) -> Group | None:
    wanted = path.with_name(path.name.replace("all_tasks", "all_tasks_with_grading", 1))
    return next((group for group in groups if wanted in group.roles), None)
