"""For each rule of lint.py, trees that violate it once. CLEAN violates none."""

ROWS = "| row | world |\n|---|---|\n| U1 | `--nodes 2` |\n| S1/U2 | `--nodes 3` |\n"
SUITE = "BOOST_AUTO_TEST_SUITE(halts)\nBOOST_FIXTURE_TEST_CASE(a_halt_of_a_peer, Alone) {\n"
SHORT = "A node says a few short words.\n\n" * 40

# For each rule: a file that violates it, and files that do not.
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
    "columns": [
        {"core/src/a.cpp": "x" * 101 + "\n"},
        {"dev": "#" * 101 + "\n"},
        {"docs/a.md": "word " * 21 + "\n"},
        {"docs/a.md": "word " * 20 + "[with](a.md) a link\n"},
        {"docs/a.md": "```\n" + "x" * 101 + "\n```\n" + "word " * 21 + "\n"},
    ],
    "lengths": [
        {"core/src/a.cpp": "\n" * 451},
        {"docs/a.md": "\n" * 301},
        {"README.md": "\n" * 151},
    ],
    "headers": [
        {"core/src/a.hpp": "int x;\n"},
        {"core/include/muster/a.hpp": "#pragma once\n", "core/CMakeLists.txt": "b.hpp\n"},
    ],
    "built": [{"tests/core/a_test.cpp": "\n", "tests/core/CMakeLists.txt": "b_test.cpp\n"}],
    "links": [
        {"README.md": "see [this](docs/none.md)\n"},
        {"README.md": "# Title\nsee [this](#titel)\n"},
        {"README.md": "see [what is on\nthis page](docs/none.md)\n"},
        {"README.md": "```sh\n# Title\n```\nsee [this](#title)\n"},
        {"core/src/a.cpp": "// see docs/none.md\n"},
        {"core/src/a.cpp": "// see docs/a.md#second\n", "docs/a.md": "# First\n"},
        {"core/src/a.cpp": "// see core/src/none.cpp\n"},
        {"README.md": "see core/src/none.cpp\n"},
        {"dev": "# see tests/none.py\n"},
    ],
    "citations": [
        {"core/src/a.cpp": "// Halts go out in this order (docs/findings.md, I4).\n"},
        {"core/src/a.cpp": "// See docs/findings.md,\n// U1 and I4.\n", "docs/findings.md": ROWS},
        {"core/src/a.cpp": "// Row I4: a counter that is lost\n", "docs/findings.md": ROWS},
        {"docs/a.md": "see rows U1, U2 and I4\n", "docs/findings.md": ROWS},
        {"docs/findings.md": ROWS + "\nThe story of (U1, I4)\n"},
        {
            "docs/protocols/a.md": "- P4 holds, and P5 too\n",
            "docs/architecture.md": "- **P4** Up\n",
        },
        {
            "core/src/a.cpp": '// (docs/a.md, "Late\n// letters")\n',
            "docs/a.md": "## Late calls\n",
        },
        {"core/src/a.cpp": "// Letters of an earlier life are ignored (6.9).\n"},
        {"core/src/a.cpp": "// as section 3.4 says\n"},
        {"core/src/a.cpp": "// as Section VIII says\n"},
        {"core/src/a.cpp": "// This is the remedy St/7.\n"},
        {"tests/core/a_test.cpp": "BOOST_AUTO_TEST_SUITE(section_3_1)\n"},
        {"tests/core/section_3_1_test.cpp": "\n"},
        {"docs/a.md": "the races of 6.15 to 6.18\n"},
    ],
    "cited_tests": [
        {"docs/paper.md": "| Halt | `halts/a_halt_is_obeyed` |\n", "tests/core/a_test.cpp": SUITE},
        {"docs/explanation/a.md": "`core_a/halts/*`\n", "tests/core/a_test.cpp": SUITE},
    ],
    "house_words": [
        {"core/src/a.cpp": "// The process stood still for a second.\n"},
        {"core/src/a.cpp": "// A certificate that was taken\n// back is refused.\n"},
        {"core/src/a.cpp": 'log("the node begins "\n    "anew");\n'},
        {"core/src/a.cpp": "/// Mended nodes\n"},
        {"docs/a.md": "| tries | he can |\n"},
        {"docs/a.md": "A node is let in.\n"},
        {"docs/a.md": "Whoever asks is told.\n"},
        {"tests/a.py": '"""A backup that was put back."""\n'},
        {"docs/watching/alerts.yml": 'summary: "n1 stands still"\n'},
    ],
    "house_names": [
        {"core/src/a.cpp": "bool is_taken_back();\n"},
        {"core/src/a.cpp": "struct BegunAnew {};\n"},
        {"core/src/a.cpp": "void Host::happened(Event event) {\n"},
        {"tests/core/a_test.cpp": "BOOST_AUTO_TEST_CASE(a_stranger_is_refused) {\n"},
        {"apps/postgres/errand.hpp": "#pragma once\n"},
        {"tests/apps/errand_test.cpp": "\n"},
    ],
    "spelling": [
        {"docs/a.md": "A node is initialised.\n"},
        {"core/src/a.cpp": "// Unrecognised keys\n"},
        {"core/src/a.cpp": 'fail("the call was canceled by its node");\n'},
        {"dev": "# Its behavior differs\n"},
        {"docs/a.md": "the color of a node\n"},
        {"docs/a.md": "to analyze a journal\n"},
    ],
    "beginnings": [
        {"docs/a.md": "What it cannot have it says in a sentence.\n"},
        {"core/src/a.cpp": "// Who is outvoted takes no part in this.\n"},
        {"core/src/a.cpp": "int a;  // Whoever is outvoted takes no part\n"},
        {"tests/a.sh": "# Where the disk is full nothing is read.\n"},
        {"core/src/a.cpp": 'fail("Of which nodes "\n "each seed draws its faults");\n'},
        {"docs/a.md": "A node that is outvoted is out. " * 98 + "Of that no node is told here.\n"},
    ],
    "sentence_lengths": [
        {"docs/a.md": "It is one word of many. It is one word of all.\n\n" * 10
                      + f"So {'word ' * 39}ends.\n" + SHORT},
        {"docs/a.md": f"It has {'word ' * 20}ends.\n"},
        {"docs/a.md": f"So {'word ' * 34}ends.\n" + SHORT[: len(SHORT) // 4]},
    ],
    "who_and_what": [
        {"core/src/a.cpp": "// A node knows what it has said to it.\n"},
        {"tests/a.sh": "# The node knows who has called it.\n"},
    ],
    "benches": [
        {"docs/a.md": "`./dev bench new`\n", "tests/bench/short.py": '    "old": [1],\n'},
        {"docs/a.md": "`muster-bench old`, `muster-bench new`\n",
         "tests/bench/short.py": '    "old": [1],\n'},
        {"docs/a.md": "`./dev bench --short`, `./dev bench old`\n"},
        {"tests/bench/new.cpp": "\n", "tests/bench/short.py": '    "old": [1],\n'},
    ],
    "blocks": [
        {"docs/a.md": "```sh\nmuster check\n```\n"},
        {"docs/a.md": "1. Then\n\n   ```console\n   muster check\n   ```\n"},
        {"docs/a.md": "```bash\n# not run here:\nmuster check\n```\n"},
        {"docs/a.md": "```sh\nmuster check\n# not run here: too late\n```\n"},
        {"docs/a.md": "```sh\nmuster check\n```\n",
         "tests/product/CMakeLists.txt": "page(docs/b.md)\n", "docs/b.md": "\n"},
        {"README.md": "```sh\n./dev test\n```\n"},
        {"docs/b.md": "\n", "tests/product/CMakeLists.txt": "page(docs/a.md LONG)\n"},
    ],
    "top_level": [{"scratch.txt": "\n"}, {"tools/a.py": "\n"}],
}

CLEAN = {
    "core/CMakeLists.txt": "include/muster/a.hpp src/a.cpp src/b.cpp\n",
    "core/include/muster/a.hpp": "#pragma once\n#include <boost/json.hpp>\n#include <stop_token>\n",
    "core/src/a.cpp": "// no std::thread here; in terms of the paper; SIGTERM; /tmp/XXXXXX\n",
    "core/src/b.cpp": """// The paper orders Halts in Section III, see row S1 and
// docs/findings.md, U1 and U2, and docs/b.md, "Late letters of a life".
// We recommend an amended HEAD. The key `initialise` is set by --initialise.
// Let inner calls put backslashes.
const char* key = "mended";
const char* code = "peer.stranger = is_stranger(peer)";
static_assert(true);  // of a literal
""",
    "storage/CMakeLists.txt": "src/a.cpp\n",
    "storage/src/a.cpp": "#include <sqlite3.h>\n#include <muster/values/types.hpp>\n",
    "net/CMakeLists.txt": "src/a.cpp\n",
    "net/src/a.cpp": "#include <boost/asio/post.hpp>\nstd::thread worker; getenv(\"TERM\");\n",
    "docs/b.md": f"""# Late letters of a life
Which rule forbids it? RFC 5280, section 4.2.1, does. Version 6.9 is later, and it took (6.9 ms).
`stood still` was written, and {'`word` ' * 8}[a link](b.md#late-letters-of-a-life)
| {'wide ' * 30}|
```sh
# Late letters: {'wide ' * 30}
[no link](none.md)
```
What is a question?
[This](#late-letters-of-a-life) [and this](#late-letters-of-a-life-1)
## Late letters of a life
The color: "red", the `behavior` and the promise of a precise exercise are not misspelled.
""",
    "docs/d.md": "```sh\n# not run here: it takes hours\nmuster check\n```\n```text\n2\n```\n",
    "docs/tutorials/lessons/01-a.md": "```sh\nmuster check\n```\n",
    "tests/product/CMakeLists.txt": "page(docs/b.md\n  LONG)\npage(${lesson} LABELS lessons)\n",
    "docs/findings.md": ROWS,
    "docs/protocols/c.md": "Two nodes are Normal (U1, U2, S1). Promise P4 holds.\n",
    "docs/architecture.md": "- **P4** Every member has stopped.\n",
    "docs/reference/metrics.md": "\n" * 301,
    "docs/paper.md": "# Glossary: of terms\n*leader*: coordinator (`core_a/halts/a_halt_*`)\n",
    "tests/core/a_test.cpp": SUITE,
    "tests/core/CMakeLists.txt": "muster_test(core_a a_test.cpp)\n",
    "tests/net/frames/memory_test.cpp": "bool is_mended;\n",
    "tests/net/frames/CMakeLists.txt": "muster_test(net_frames memory_test.cpp)\n",
    "docs/figures.md": "the leader of an etcd cluster\n",
    "README.md": "[glossary](docs/paper.md#glossary-of-terms), [web](https://example.org)\n",
}
