"""The Conan 2 recipe of the libraries. In a working copy: `conan create apps/packaging/conan`."""

from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Muster(ConanFile):
    name = "muster"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Elections and reorganization in fail-stop systems"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    requires = "boost/1.81.0", "openssl/[>=3 <4]", "sqlite3/[>=3.40]"

    def export_sources(self):
        root = Path(self.recipe_folder).parents[2]
        for room in ("core", "storage", "net", "apps/c", "apps/umbrella", "docs"):
            copy(self, f"{room}/*", root, self.export_sources_folder)
        for file in ("CMakeLists.txt", "LICENSE"):
            copy(self, file, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["MUSTER_BUILD_APPS"] = False
        toolchain.cache_variables["MUSTER_BUILD_TESTS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The installed package has its own files for find_package, so Conan need not make any.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/muster"]
