"""Edits of safe storage: which data is durable, and whose store it is."""

from kinds import Edit

POWER = "storage_power_cuts"

EDITS = (
    Edit("commits-not-synced",
         "a commit is acknowledged before it is on the disk", "P8; assumption 4",
         "storage/src/opening.cpp",
         """      {"PRAGMA journal_mode = WAL", "wal"},
      {"PRAGMA synchronous = EXTRA", ""},
      {"PRAGMA synchronous", "3"},
""",
         """      {"PRAGMA journal_mode = WAL", "wal"},
      {"PRAGMA synchronous = OFF", ""},
      {"PRAGMA synchronous", "0"},
""",
         (POWER,)),
    Edit("store-without-a-durable-name",
         "the directory is not synced after a new store got its name", "assumption 4",
         "storage/src/opening.cpp",
         """  if (auto done = files_.rename(paths_.fresh, paths_.file); !done)
    return step_failure("rename", paths_.fresh, done.error());
  if (auto done = files_.sync_directory(paths_.directory); !done)
    return step_failure("sync", paths_.directory, done.error());
  return {};
""",
         """  if (auto done = files_.rename(paths_.fresh, paths_.file); !done)
    return step_failure("rename", paths_.fresh, done.error());
  return {};
""",
         (POWER,)),
    Edit("new-store-not-synced",
         "a new store gets its name before its bytes are on the disk", "assumption 4",
         "storage/src/opening.cpp",
         """  if (auto done = files_.sync_file(paths_.fresh); !done)
    return step_failure("sync", paths_.fresh, done.error());
""",
         "",
         (POWER,)),
    Edit("poison-forgotten",
         "the store is used again after a failed write",
         "assumption 5: a failed write ends the life",
         "storage/src/sqlite_storage.cpp",
         """    poison_ = Failure{ExitCode::io_error, failure.what};
    return *poison_;
""",
         """    return Failure{ExitCode::io_error, failure.what};
""",
         ("storage_sqlite a_store_stops_when",)),
    Edit("record-not-compared-with-its-checksum",
         "a damaged record is read", "assumption 4",
         "storage/src/format.cpp",
         "if (select.number(1) != checksum_of(select.blob(0)))",
         "if (false)",
         ("storage_sqlite refused",)),
    Edit("fence-not-compared",
         "a fenced store accepts writes with a smaller group number", "numbers fence off the past",
         "storage/src/fenced_store.cpp",
         "if (*seen && group < **seen)",
         "if (false && *seen && group < **seen)",
         ("storage_fenced fenced",)),
    Edit("fence-not-raised",
         "a fenced store forgets a greater group number", "numbers fence off the past",
         "storage/src/fenced_store.cpp",
         "    return finish(raise_);\n",
         "    return {};\n",
         ("storage_fenced fenced",)),
    Edit("fence-outside-the-transaction",
         "a fenced store compares the group number before it locks the file",
         "numbers fence off the past",
         "storage/src/fenced_store.cpp",
         """    if (auto begun = begin_in_turn(); !begun) return begun.error();
    try {
      auto done = admit(group);
""",
         """    if (auto admitted = admit(group); !admitted) return admitted;
    if (auto begun = begin_in_turn(); !begun) return begun.error();
    try {
      Expected<> done;
""",
         ("storage_fenced fenced_among_several",)),
    Edit("lost-commits-taken-for-a-power-cut",
         "a log that has lost commits is accepted without them", "assumption 4",
         "storage/src/lineage.cpp",
         "latest->second > whole.commits + 1)",
         "latest->second > whole.commits + 1000)",
         ("storage_damage", "storage_sqlite a_file_and_a_log")),
    Edit("older-log-taken",
         "an older log undoes commits that are in the file", "assumption 4",
         "storage/src/lineage.cpp",
         "if (alone && alone->commits > whole.commits) {",
         "if (alone && alone->commits > whole.commits + 1000) {",
         ("storage_sqlite a_file_and_a_log",)),
    Edit("older-file-taken",
         "a file without commits that its log lacks too is accepted", "assumption 4",
         "storage/src/lineage.cpp",
         "if (alone && alone->commits < whole.in_file) {",
         "if (alone && alone->commits + 1000 < whole.in_file) {",
         ("storage_sqlite a_file_and_a_log",)),
    Edit("log-of-another-store-taken",
         "the commits of another store's log are read as this store's",
         "assumption 4: one node, one store",
         "storage/src/lineage.cpp",
         "if (alone && alone->store != whole.store)",
         "if (alone && alone->store == 0)",
         ("storage_sqlite a_file_and_a_log",)),
    Edit("log-of-another-store-taken-by-a-part-of-a-file",
         "a truncated file, whose identity can still be read, is opened with another store's log",
         "assumption 4: one node, one store",
         "storage/src/opening.cpp",
         "if (in_file_ && !in_file_->contains(lineage_.store))",
         "if (in_file_ && lineage_.store == 0)",
         ("storage_sqlite a_file_and_a_log",)),
    Edit("cell-not-compared-with-its-checksum",
         "a damaged cell is read", "assumption 4",
         "storage/src/format.cpp",
         """    if (cells->number(2) != checksum_of(cells->blob(0), cells->blob(1)))
      return damaged(file, "the checksum of a cell is wrong");
""",
         """    if (cells->blob(0).empty())
      return damaged(file, "the checksum of a cell is wrong");
""",
         ("storage_sqlite refused",)),
    Edit("lock-not-taken",
         "two processes open one store", "assumption 4: one node, one store",
         "storage/src/files.cpp",
         "if (::fcntl(file.number(), F_OFD_SETLK, &whole) != 0) {",
         "if (::fcntl(file.number(), F_OFD_GETLK, &whole) != 0) {",
         ("storage_sqlite who_holds_it",)),
    Edit("file-identity-not-watched",
         "a store whose file was replaced goes on writing to the old file, which is lost",
         "assumption 4",
         "storage/src/sqlite_storage.cpp",
         "    if (auto done = still_there(); !done) return poisoned(done.error());\n",
         "",
         ("storage_sqlite a_store_stops_when",)),
    Edit("store-of-another-node",
         "a node opens another node's store", "assumption 4: one node, one store",
         "storage/src/format.cpp",
         "if (found.cluster == wanted.cluster && found.node == wanted.node) return {};",
         "if (found.cluster == wanted.cluster) return {};",
         ("storage_sqlite refused",)),
)  # fmt: skip
