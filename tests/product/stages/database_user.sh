#!/usr/bin/env bash
# PostgreSQL does not run as root. So root's `muster postgres` runs as the user postgres.
chmod 755 .

muster() {
  local more=()
  case "$(id -u) $1 $2" in
    0\ postgres\ create | 0\ postgres\ join | 0\ postgres\ run) more=(--user postgres) ;;
    0\ postgres\ rejoin | 0\ postgres\ switch-over) more=(--user postgres) ;;
  esac
  if ((BASH_SUBSHELL)); then exec muster "$@" "${more[@]}"; fi
  command muster "$@" "${more[@]}"
}
