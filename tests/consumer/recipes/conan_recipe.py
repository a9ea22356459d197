#!/usr/bin/env python3
"""Runs apps/packaging/conan/conanfile.py: `conan_recipe.py RECIPE FOLDER [OPTION...]`.

Stand-ins replace the modules of Conan, which is not installed here. They run CMake as Conan does
for `conan create -o shared=True`, with Debian's libraries, and call each method in Conan's order.
"""

import importlib.util
import shutil
import subprocess
import sys
import types
from pathlib import Path


class ConanFile:
    """The base class of a recipe."""

    def __init__(self, recipe, folder):
        self.recipe_folder = str(recipe.parent)
        self.export_sources_folder = str(folder / "sources")
        self.build_folder, self.package_folder = folder / "build", folder / "package"
        self.cache_variables = {}
        self.options = types.SimpleNamespace(**self.default_options | {"shared": True})
        self.cpp_info = types.SimpleNamespace(set_property=lambda name, value: None)


class CMakeToolchain:
    """Passes its variables to CMake."""

    def __init__(self, recipe):
        self.recipe = recipe
        self.cache_variables = {"BUILD_SHARED_LIBS": recipe.options.shared}

    def generate(self):
        """Sets the variables that a toolchain file would set."""
        self.recipe.cache_variables |= self.cache_variables


class CMakeDeps:
    """Debian's libraries bring their own files for find_package."""

    def __init__(self, recipe):
        self.recipe = recipe

    def generate(self):
        """Does nothing: no file is needed."""


class CMake:
    """Runs CMake."""

    def __init__(self, recipe):
        self.recipe = recipe

    @staticmethod
    def run(*words):
        """Ends this program if CMake fails."""
        subprocess.run(["cmake", *map(str, words)], check=True)

    def configure(self):
        """Configures the exported sources with the variables of the toolchain."""
        variables = [f"-D{name}={'ON' if value else 'OFF'}"
                     for name, value in self.recipe.cache_variables.items()]  # fmt: skip
        self.run("-G", "Ninja", "-S", self.recipe.export_sources_folder, "-B",
                 self.recipe.build_folder, *variables, *sys.argv[3:])  # fmt: skip

    def build(self):
        """Builds everything."""
        self.run("--build", self.recipe.build_folder)

    def install(self):
        """Installs into the package."""
        self.run("--install", self.recipe.build_folder, "--prefix", self.recipe.package_folder)


def copy(_, pattern, source, target):
    """Like conan.tools.files.copy, for the patterns `FILE` and `ROOM/*`."""
    if pattern.endswith("/*"):
        room = pattern[:-2]
        shutil.copytree(Path(source, room), Path(target, room), dirs_exist_ok=True)
    else:
        shutil.copy(Path(source, pattern), target)


def main(recipe, folder):
    """The steps of `conan create`."""
    tools = {
        "conan": {"ConanFile": ConanFile},
        "conan.tools": {},
        "conan.tools.cmake": {"CMake": CMake, "CMakeDeps": CMakeDeps,
                              "CMakeToolchain": CMakeToolchain,
                              "cmake_layout": lambda recipe: None},
        "conan.tools.files": {"copy": copy},
    }  # fmt: skip
    for name, members in tools.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    spec = importlib.util.spec_from_file_location("conanfile", recipe)
    conanfile = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conanfile)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "sources").mkdir(parents=True)
    muster = conanfile.Muster(recipe, folder)
    for step in ("export_sources", "layout", "generate", "build", "package", "package_info"):
        getattr(muster, step)()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
