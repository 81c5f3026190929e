#!/bin/sh
# Starts a Docker engine for the tests where none runs, and waits until it answers. Needs root and the packages
# docker.io (or docker-ce) and containerd. Safe to call again. Tried in turn: an engine with its own choice of storage,
# then one that copies layers (vfs), which works inside virtual machines and containers. Containers of the tests have no
# network, so none is set up: no bridge, no iptables.
set -eu

say() { echo "start_docker: $*" >&2; }

if docker info >/dev/null 2>&1; then
    say "an engine already answers"
    exit 0
fi
command -v dockerd >/dev/null || { say "no dockerd: apt-get install docker.io"; exit 1; }
[ "$(id -u)" = 0 ] || { say "no engine answers, and starting one needs root"; exit 1; }

log="$(mktemp -t dockerd-XXXXXX.log)"
for storage in "" "--storage-driver=vfs"; do
    # shellcheck disable=SC2086
    setsid nohup dockerd $storage --iptables=false --ip6tables=false --bridge=none >"$log" 2>&1 </dev/null &
    engine=$!
    tries=0
    while [ "$tries" -lt 120 ]; do
        if docker info >/dev/null 2>&1; then
            say "ready (${storage:-default storage}, log in $log)"
            exit 0
        fi
        kill -0 "$engine" 2>/dev/null || break
        sleep 0.5
        tries=$((tries + 1))
    done
    kill "$engine" 2>/dev/null || true
    wait "$engine" 2>/dev/null || true
    say "no engine with ${storage:-default storage}:"
    tail -n 5 "$log" >&2
done
say "no engine could be started; its log is $log"
exit 1
