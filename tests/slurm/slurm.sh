#!/usr/bin/env bash
# A small SLURM on this machine, on loopback, for tests: two nodes with a GPU each, the partitions cpu and gpu.
#   slurm.sh start FOLDER   install Debian's packages where they are missing, start the daemons (root)
#   slurm.sh stop FOLDER    end them, by their pid files
# Configuration, keys, sockets, logs and state lie in FOLDER; for use by hand: export SLURM_CONF=FOLDER/etc/slurm.conf
# Status 77: it cannot run here, and the last line says why.
set -euo pipefail

PACKAGES=(slurmctld slurmd slurm-client munge)
NODES=(n1 n2)
FILES=(slurm gres cgroup)
PORT=${SLURM_TEST_PORT:-17000} # the first of three

main() {
  [[ $# == 2 && $1 =~ ^(start|stop)$ ]] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
  DIR=$(realpath -m "$2")
  export SLURM_CONF=$DIR/etc/slurm.conf
  "$1"
}

start() {
  check_machine
  end_orphan
  install_packages
  mkdir -p "$DIR"/{etc,dev,log,run,state,spool}
  chmod 755 "$DIR" # munged wants a path that no one else can write to
  echo "$PPID" >"$DIR/run/owner"
  write_config
  # The inner srun of a job runs without SLURM_CONF, so the files are also linked to where SLURM looks by itself.
  mkdir -p /etc/slurm
  for name in "${FILES[@]}"; do ln -s "$DIR/etc/$name.conf" "/etc/slurm/$name.conf"; done
  start_daemons
}

check_machine() {
  local name path
  [[ $(uname) == Linux ]] || unable "SLURM runs on Linux only"
  [[ $(id -u) == 0 ]] || unable "starting SLURM's daemons needs root"
  mkdir -p "$DIR"
  mknod "$DIR/gpu" c 1 3 2>/dev/null || unable "this machine does not let root make a device file"
  rm "$DIR/gpu"
  for name in "${FILES[@]}"; do
    path=/etc/slurm/$name.conf
    [[ ! -e $path && ! -L $path ]] || [[ -e $(folder_of "$path")/run/owner ]] ||
      unable "$path is there, and not from these tests: this machine belongs to a SLURM already"
  done
}

# The folder that a link in /etc/slurm leads to, where it is one of this script's.
folder_of() {
  local target
  target=$(readlink "$1") || true
  echo "${target%/etc/*.conf}"
}

unable() {
  echo "$1" >&2
  exit 77
}

# A test run that was killed leaves daemons and links: they are ended, unless whoever started them still lives.
end_orphan() {
  local old
  [[ -L /etc/slurm/slurm.conf ]] || return 0
  old=$(folder_of /etc/slurm/slurm.conf)
  if kill -0 "$(<"$old/run/owner")" 2>/dev/null; then
    echo "another SLURM for tests runs in $old; to end it: $0 stop $old" >&2
    exit 1
  fi
  (DIR=$old SLURM_CONF=$old/etc/slurm.conf && stop)
}

install_packages() {
  local missing=() name
  for name in "${PACKAGES[@]}"; do
    [[ $(dpkg-query -Wf '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || unable "SLURM is not installed, and there is no apt-get to install it"
  # Where systemd runs, installing starts services: that is for the machine's owner to decide.
  [[ ! -d /run/systemd/system ]] || unable "SLURM is not installed: apt-get install ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$DIR/apt.log" 2>&1 ||
    unable "SLURM could not be installed: $(tail -n 1 "$DIR/apt.log")"
}

write_config() {
  (umask 077 && head -c 1024 /dev/urandom >"$DIR/etc/munge.key")
  # GPUs are character devices, and a file like /dev/null is one: SLURM hands it out and counts it as any other.
  mknod "$DIR/dev/gpu0" c 1 3
  echo "NodeName=$(join "${NODES[@]}") Name=gpu File=$DIR/dev/gpu0" >"$DIR/etc/gres.conf"
  printf '%s\n' CgroupPlugin=cgroup/v1 CgroupAutomount=no >"$DIR/etc/cgroup.conf"
  { daemon_settings && node_settings; } >"$SLURM_CONF"
}

join() {
  local IFS=,
  echo "$*"
}

daemon_settings() {
  cat <<END
ClusterName=tests
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$PORT
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
# Credentials live for 5 s: a job that SLURM itself runs again has to wait for that long.
AuthInfo=socket=$DIR/run/munge.socket,cred_expire=5
StateSaveLocation=$DIR/state
SlurmdSpoolDir=$DIR/spool/%n
SlurmctldPidFile=$DIR/run/slurmctld.pid
SlurmdPidFile=$DIR/run/slurmd.%n.pid
SlurmctldLogFile=$DIR/log/slurmctld.log
SlurmdLogFile=$DIR/log/slurmd.%n.log
# No cgroups: processes are followed by their parents, and memory is watched every second.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
# Processors and memory are counted, but are not those of this machine.
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
GresTypes=gpu
AccountingStorageType=accounting_storage/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
JobRequeue=0
ReturnToService=1
KillWait=30
# A busy machine is no broken node, and finished jobs are asked about for long.
SlurmdTimeout=600
MessageTimeout=60
MinJobAge=3600
MpiDefault=none
END
}

node_settings() {
  local port=$PORT name
  for name in "${NODES[@]}"; do
    port=$((port + 1))
    echo "NodeName=$name NodeHostname=localhost NodeAddr=127.0.0.1 Port=$port CPUs=16 RealMemory=64000 Gres=gpu:1"
  done
  echo "PartitionName=cpu Nodes=$(join "${NODES[@]}") Default=YES MaxTime=1-0"
  echo "PartitionName=gpu Nodes=$(join "${NODES[@]}") MaxTime=1-0"
}

start_daemons() {
  local name
  munged --force --key-file="$DIR/etc/munge.key" --socket="$DIR/run/munge.socket" --pid-file="$DIR/run/munged.pid" \
    --log-file="$DIR/log/munged.log" --seed-file="$DIR/run/munged.seed"
  slurmctld -i
  for name in "${NODES[@]}"; do slurmd -N "$name"; done
  for ((i = 0; i < 600; i++)); do
    [[ $(sinfo -h -N -p cpu -o %t 2>/dev/null | grep -c -x idle) == "${#NODES[@]}" ]] && return
    sleep 0.1
  done
  echo "SLURM's nodes are not ready after a minute:" >&2
  tail -n 5 "$DIR"/log/*.log >&2
  exit 1
}

stop() {
  local name
  end_jobs >/dev/null 2>&1
  for name in slurmd.n1 slurmd.n2 slurmctld munged; do end_daemon "$name" & done
  wait
  for name in "${FILES[@]}"; do
    [[ $(readlink "/etc/slurm/$name.conf") != "$DIR/etc/$name.conf" ]] || rm "/etc/slurm/$name.conf"
  done
}

end_jobs() {
  timeout 20 scancel --user=root --state=PENDING || return 0
  timeout 20 scancel --user=root --signal=KILL --full || return 0
  for ((i = 0; i < 200; i++)); do
    [[ -n $(timeout 20 squeue --noheader) ]] || return 0
    sleep 0.1
  done
}

end_daemon() {
  local pid
  pid=$(cat "$DIR/run/$1.pid" 2>/dev/null) || return 0
  # A pid file outlives its daemon, and the number may belong to another process by now.
  [[ $(cat "/proc/$pid/comm" 2>/dev/null) == "${1%%.*}" ]] || return 0
  kill "$pid"
  for ((i = 0; i < 200; i++)); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -9 "$pid"
}

main "$@"
