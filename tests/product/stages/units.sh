#!/usr/bin/env bash
# Imitates the commands of systemctl. The nodes are jobs of this shell. A node that ends stays down.
declare -A jobs

start_unit() {  # muster@n1
  local command=(muster node) home=/var/lib/muster
  if [[ $1 == muster-postgres@* ]]; then
    command=(muster postgres run --user postgres) home=/var/lib/muster-postgres
  fi
  (exec "${command[@]}" --config "$home/${1#*@}/muster.toml" >> "$1.log" 2>&1) &
  jobs[$1]=$!
}

stop_unit() {  # TERM muster@n1
  kill -"$1" "${jobs[$2]}"
  wait "${jobs[$2]}" || true
}

systemctl() {  # VERB [--now] UNIT
  local unit=${*: -1}
  case $1 in
    start | enable) start_unit "$unit" ;;
    stop | disable) stop_unit TERM "$unit" ;;
    restart) stop_unit TERM "$unit" && start_unit "$unit" ;;
    reload) kill -HUP "${jobs[$unit]}" ;;
    kill) stop_unit KILL "$unit" ;;
    *) return 1 ;;
  esac
}
