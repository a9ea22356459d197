#!/usr/bin/env python3
"""Each rule of lint.py finds what it should, and only that, in a small tree made for it."""

import tempfile
import unittest
from pathlib import Path

import lint
import programs

# rule: a file that breaks it, and files that do not
CASES = {
    "layering": [
        {"core/src/a.cpp": "#include <boost/asio/post.hpp>\n"},
        {"core/src/a.cpp": "#include <sys/socket.h>\n"},
        {"storage/src/a.cpp": "#include <boost/asio.hpp>\n"},
        {"storage/include/muster/storage/a.hpp": "#include <sqlite3.h>\n"},
        {"storage/src/a.cpp": '#include "muster/net/node.hpp"\n'},
        {"net/src/a.cpp": "#include <sqlite3.h>\n"},
        {"net/src/a.cpp": "#include <muster/storage/sqlite.hpp>\n"},
        {"apps/muster/a.cpp": "#  include <sqlite3.h>\n"},
        {"apps/postgres/decide/a.cpp": '#include "apps/postgres/server/a.hpp"\n'},
    ],
    "floors": [
        {"core/src/values/a.cpp": "#include <muster/protocol/step.hpp>\n"},
        {"core/include/muster/services.hpp": "#include <muster/host/inbox.hpp>\n"},
        {"core/src/protocol/bully/a.cpp": "#include <muster/application.hpp>\n"},
        {"core/src/claims/a.cpp": "#include <muster/lab/world.hpp>\n"},
        {"core/internal/muster/values/a.hpp": "#include <muster/protocol/step.hpp>\n"},
        {"core/include/muster/detail/values/a.hpp": "#include <muster/detail/protocol/b.hpp>\n"},
    ],
    "sorted_sources": [{"core/CMakeLists.txt": "  src/b.cpp\n  src/a.cpp)\n"}],
    "installed": [
        {
            "net/include/muster/net/a.hpp": "#include <muster/host/b.hpp>\n",
            "core/internal/muster/host/b.hpp": "#pragma once\n",
        },
    ],
    "circles": [
        {
            "apps/a/a.cpp": '#include "apps/b/b.hpp"\n',
            "apps/b/b.cpp": '#include "apps/b/c/c.hpp"\n',
            "apps/b/c/c.hpp": '#include "apps/a/a.hpp"\n',
        },
        {
            "net/src/a/a.cpp": '#include "b/b.hpp"\n',
            "net/src/b/b.hpp": '#include "a/a.hpp"\n',
        },
    ],
    "file_names": [
        {"apps/postgres/decide/seal.cpp": "\n", "apps/postgres/perform/seal.cpp": "\n"},
    ],
    "drivers": [
        {"net/src/a.cpp": "host::Session session;\n"},
        {"net/src/a.cpp": "if (hello.peer_instance != 0) return;\n"},
        {"core/lab/src/simulator/a.cpp": "for (auto& [node, peer] : sessions_.peers) {\n"},
    ],
    "options_apart": [
        {"core/src/protocol/bully/bully_turn.cpp": "if (config_.options.quorum) return;\n"},
        {"core/src/protocol/bully/returns.cpp": "if (runs<Settling>()) return;\n"},
    ],
    "struck_lines": [
        {"core/src/host/sessions/a.cpp": "if (stands(SessionLine::clone_test)) return;\n"},
        {"core/src/protocol/bully/a.cpp": "if (stands(Line::h_test)) return;\n"},
    ],
    "checker": [
        {"core/lab/src/checker/a.cpp": "if (std::get_if<bully::State>(&state)) return;\n"},
    ],
    "purity": [
        {"core/src/a.cpp": "auto now = std::chrono::steady_clock::now();\n"},
        {"core/src/a.cpp": "std::unordered_map<int, int> map;\n"},
        {"core/include/muster/a.hpp": "#include <thread>\n"},
        {"apps/postgres/decide/a.cpp": "#include <mutex>\n"},
    ],
    "words": [
        {"net/src/a.cpp": "int leader_id = 1;\n"},
        {"net/src/a.cpp": "bool isLeader();\n"},
        {"docs/a.md": "The Heartbeat of a node\n"},
        {"apps/a.cpp": "int term = 3;\n"},
    ],
    "marks": [{"core/src/a.cpp": "// TODO: later\n"}, {"docs/a.md": "FIXME\n"}],
    "sleeps": [
        {"tests/net/a.cpp": "std::this_thread::sleep_for(1s);\n"},
        {"tests/apps/a.py": "time.sleep(1)\n"},
        {"tests/apps/a.sh": "sleep 1\n"},
        {"tests/bench/a.cpp": "::usleep(20);\n"},
    ],
    "conditional_statements": [
        {"net/src/a.cpp": "{\n  is_new ? begin(a ? b : c) : end();\n}\n"},
        {"net/src/a.cpp": "  if (!inside)\n    all ? inside.clear() : put(node);\n"},
    ],
    "columns": [{"core/src/a.cpp": "x" * 101 + "\n"}, {"dev": "#" * 101 + "\n"}],
    "lengths": [{"core/src/a.cpp": "\n" * 451}],
    "headers": [
        {"core/src/a.hpp": "int x;\n"},
        {"core/include/muster/a.hpp": "#pragma once\n", "core/CMakeLists.txt": "b.hpp\n"},
    ],
    "built": [{"tests/core/a_test.cpp": "\n", "tests/core/CMakeLists.txt": "b_test.cpp\n"}],
    "links": [
        {"README.md": "see [this](docs/none.md)\n"},
        {"README.md": "# Title\nsee [this](#titel)\n"},
        {"core/src/a.cpp": "// see docs/none.md\n"},
    ],
    "benches": [
        {"docs/a.md": "`./dev bench new`\n", "tests/bench/short.py": '    "old": [1],\n'},
        {"docs/a.md": "`muster-bench old`, `muster-bench new`\n",
         "tests/bench/short.py": '    "old": [1],\n'},
        {"docs/a.md": "`./dev bench --short`, `./dev bench old`\n"},
        {"tests/bench/new.cpp": "\n", "tests/bench/short.py": '    "old": [1],\n'},
    ],
    "top_level": [{"scratch.txt": "\n"}, {"tools/a.py": "\n"}],
}

CLEAN = {
    "core/CMakeLists.txt": "include/muster/a.hpp src/a.cpp\n",
    "core/include/muster/a.hpp": "#pragma once\n#include <boost/json.hpp>\n#include <stop_token>\n",
    "core/src/a.cpp": "// no std::thread here; in terms of the paper; SIGTERM; /tmp/XXXXXX\n",
    "storage/CMakeLists.txt": "src/a.cpp\n",
    "storage/src/a.cpp": "#include <sqlite3.h>\n#include <muster/values/types.hpp>\n",
    "net/CMakeLists.txt": "src/a.cpp\n",
    "net/src/a.cpp": "#include <boost/asio/post.hpp>\nstd::thread worker; getenv(\"TERM\");\n",
    "docs/paper.md": "# Glossary: of terms\n*leader*: coordinator\n",
    "docs/figures.md": "the leader of an etcd cluster\n",
    "README.md": "[glossary](docs/paper.md#glossary-of-terms), [web](https://example.org)\n",
}


def found(files, rule):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [what for *_, what in lint.RULES[rule](lint.Tree(root))]


class Rules(unittest.TestCase):
    def test_every_rule_has_a_case(self):
        self.assertEqual(set(CASES), set(lint.RULES))

    def test_every_rule_is_run(self):
        listed = (Path(__file__).parent / "CMakeLists.txt").read_text().split("foreach(rule ")[1]
        self.assertEqual(set(listed.split(")")[0].split()), set(lint.RULES))

    def test_each_finds_what_breaks_it(self):
        for rule, trees in CASES.items():
            for files in trees:
                with self.subTest(rule=rule, files=files):
                    self.assertEqual(len(found(files, rule)), 1)

    def test_none_finds_anything_in_a_clean_tree(self):
        for rule in lint.RULES:
            with self.subTest(rule=rule):
                self.assertEqual(found(CLEAN, rule), [])

    def test_a_program_links_what_it_needs(self):
        needed = " ".join(f"apps/lib{library}.a" for library in programs.NODE)
        self.assertEqual(programs.faults("muster-postgres", needed + " libmuster_postgres.a"), [])
        [fault] = programs.faults("muster-postgres", needed + " core/lab/libmuster_lab.a")
        self.assertIn("muster_lab", fault)
        self.assertEqual(len(programs.faults("muster", "-o bin/muster apps/libmuster_demo.a")), 1)


if __name__ == "__main__":
    unittest.main()
