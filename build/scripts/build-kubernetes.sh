#!/usr/bin/env bash
# Builds the control plane of Kubernetes that TestFleetKubernetes needs, into a folder:
#
#   build/scripts/build-kubernetes.sh FOLDER
#   PROFUSE_KUBERNETES=FOLDER go test ./internal/command -run FleetKubernetes
#
# It takes a quarter of an hour on two cores. etcd comes from Debian's etcd-server.
set -euo pipefail

version=1.35.0
[[ $# == 1 ]] || {
  echo "usage: $0 FOLDER" >&2
  exit 2
}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
etcd=$(command -v etcd) || {
  echo "$0: etcd is missing (Debian: etcd-server)" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The libraries of Kubernetes are replaced by folders of its repository, which its module
# does not have; they are published under version 0.N.
printf 'module control-plane\n\ngo 1.26.0\n' >go.mod
source=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
{
  printf '\nrequire k8s.io/kubernetes v%s\n\ntool (\n' "$version"
  printf '\tk8s.io/kubernetes/cmd/%s\n' kube-apiserver kube-controller-manager
  printf ')\n\n'
  sed -n "s#^\t\(k8s.io/[a-z-]*\) => ./staging.*#replace \1 => \1 v0.${version#*.}#p" "$source"
} >>go.mod
go mod tidy
CGO_ENABLED=0 go build -o "$folder/" k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager
cp "$etcd" "$folder/"
