# Runs while the command is installed: writes its manual pages, its completions and its systemd unit
# into `made`. `program` is the command. The unit is made from the file `unit`.
file(REMOVE_RECURSE ${made})
file(MAKE_DIRECTORY ${made}/man1)
function(ask)
  execute_process(COMMAND ${program} ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
ask(man ${made}/man1)
ask(completion bash OUTPUT_FILE ${made}/muster)
ask(completion zsh OUTPUT_FILE ${made}/_muster)
ask(completion fish OUTPUT_FILE ${made}/muster.fish)
file(READ ${unit} text)
string(REPLACE /usr/bin/muster ${CMAKE_INSTALL_PREFIX}/bin/muster text "${text}")
file(WRITE ${made}/muster@.service "${text}")
