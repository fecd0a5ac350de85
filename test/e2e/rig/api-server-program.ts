// The program kube-apiserver, built from the module that Kubernetes publishes.
import { join } from 'node:path';
import type { GoProgram } from '../../support/go-program.ts';

/** The version of Kubernetes, the same as in go.mod. */
const version = 'v1.32.13';

const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];

export const apiServerProgram: GoProgram = {
  name: 'kube-apiserver',
  version,
  sources: join(import.meta.dirname, '../servers/kube-apiserver'),
  package: '.',
  files: ['go.mod', 'go.sum', 'main.go'],
  linkerFlags: [
    '-s -w',
    `-X k8s.io/component-base/version.gitVersion=${version}`,
    `-X k8s.io/component-base/version.gitMajor=${major}`,
    `-X k8s.io/component-base/version.gitMinor=${minor}`,
  ].join(' '),
};

/** The kubelet of the same version, from a module of its own. */
export const kubeletProgram: GoProgram = {
  ...apiServerProgram,
  name: 'kubelet',
  sources: join(import.meta.dirname, '../servers/kubelet'),
};

/** The node-ipam-controller of kube-controller-manager, from the same module. */
export const nodeIpamProgram: GoProgram = {
  ...apiServerProgram,
  name: 'node-ipam-controller',
  package: './node-ipam-controller',
  files: ['go.mod', 'go.sum', 'node-ipam-controller/main.go'],
  linkerFlags: '-s -w',
};

/** Measures the CIDR set of the same controller. */
export const cidrSetProgram: GoProgram = {
  ...nodeIpamProgram,
  name: 'cidr-set',
  package: './cidr-set',
  files: ['go.mod', 'go.sum', 'cidr-set/main.go'],
};
