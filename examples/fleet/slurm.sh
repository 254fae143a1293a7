#!/usr/bin/env bash
# A fleet on nodes of Slurm: sbatch slurm.sh [FLEET.TOML [RESULTS]]
#
# Each node needs the same devfix with its extra `fleet`, git, uv and bubblewrap, on a PATH that is set when this is
# submitted. The folder of the results has to be one that the first node can write, and should outlive the job: at the end
# of its time, or when it was cancelled, submit it again, and it goes on with the jobs that have no result.
#
#SBATCH --job-name=devfix-fleet
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
#SBATCH --time=08:00:00

set -euo pipefail

fleet="${1:-fleet.toml}"
results="${2:-fleet-results}"
port="${RAY_PORT:-6379}"
# Ray, and with it all that it starts, gets no other variables of yours: a token that lists repositories is not for it.
passed="PATH,HOME,USER,LANG"

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
first="${nodes[0]}"
address="$(srun --nodes=1 --ntasks=1 --nodelist="$first" hostname --ip-address | cut -d ' ' -f 1):$port"

running=()
stop() {
  for process in "${running[@]}"; do kill "$process" 2> /dev/null || true; done
  wait
}
trap stop EXIT

# Ray must not count the cores and the memory of other jobs on the node.
sizes=("--num-cpus=${SLURM_CPUS_PER_TASK:-1}")
if [ -n "${SLURM_MEM_PER_NODE:-}" ]; then sizes+=("--memory=$((SLURM_MEM_PER_NODE * 800 * 1024))"); fi

srun --nodes=1 --ntasks=1 --nodelist="$first" --export="$passed" --overlap \
  ray start --head --node-ip-address="${address%:*}" --port="$port" "${sizes[@]}" --block &
running+=("$!")
if [ "${#nodes[@]}" -gt 1 ]; then
  others=$((${#nodes[@]} - 1))
  srun --nodes="$others" --ntasks="$others" --exclude="$first" --export="$passed" --overlap \
    ray start --address="$address" "${sizes[@]}" --block &
  running+=("$!")
fi

# Nodes that come later are used, too: what has to be there is the first.
until ray status --address "$address" > /dev/null 2>&1; do
  kill -0 "${running[0]}" || { echo "Ray has ended on $first" >&2; exit 3; }
  sleep 2
done

devfix fleet run "$fleet" --address "$address" --results "$results"
