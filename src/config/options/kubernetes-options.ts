// Options for the API server and for leader election among replicas.
import { type FoundDefault, optionRows } from '../option-row.ts';
import { nodeSelector } from '../node-selector.ts';
import { boolean, duration, httpUrl, text } from '../value-kinds.ts';

const second = 1000;
const label = /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/;
const subdomain = /^(?=.{1,253}$)[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/;

/** Where Kubernetes gives a pod its namespace: https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/ */
const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

const ownNamespace: FoundDefault = {
  words: "the pod's own namespace in a cluster, else kube-system",
  find: (processEnvironment) => {
    try {
      return processEnvironment.readFile(namespaceFile).trim();
    } catch {
      return 'kube-system'; // no file: not a pod with a service account
    }
  },
};

export const kubernetesOptions = {
  ...optionRows(
    { origin: 'operator', group: 'kubernetes' },
    {
      'k8s-api-server': {
        kind: httpUrl,
        help: 'The API server, if it is not the one of the kubeconfig or the cluster. Set it to reach the API server before the service network works.',
      },
      'k8s-kubeconfig-path': {
        kind: text('path', /./, 'a path'),
        help: "The kubeconfig to use. If unset, the pod's service account; outside a cluster, the kubeconfig that kubectl uses.",
      },
      'require-node': {
        kind: boolean,
        origin: 'headwater',
        help: 'Serves a CiliumNode only once the Node of the same name names its instance by its provider ID. Set it if every Node has a provider ID: an instance outside this cluster then gets nothing. Without it, such a CiliumNode gets addresses, and nothing is released from its instance.',
        default: 'false',
      },
      'node-selector': {
        kind: nodeSelector,
        origin: 'headwater',
        help: 'Serves only nodes whose Node has these labels, for two releases in one cluster, each with a Lease and a selector of its own. Nothing of other nodes is read in the cloud, written, released or counted. See docs/two-releases.md.',
        fromConfigDir: false,
      },
      'k8s-namespace': {
        kind: text('namespace', label, 'the name of a namespace: up to 63 of a-z, 0-9 and -'),
        help: 'The namespace of the Lease that elects the leader among the replicas.',
        default: ownNamespace,
        fromConfigDir: false,
      },
    },
  ),
  ...optionRows(
    { origin: 'operator', group: 'election' },
    {
      'leader-election': {
        kind: boolean,
        origin: 'headwater',
        help: "Acts only while holding the Lease, which prevents two processes from acting at once. Turn it off only where nothing else can run beside this process, as on a developer's machine.",
        default: 'true',
      },
      'leader-election-lease-name': {
        kind: text('name', subdomain, 'the name of a Lease: up to 253 of a-z, 0-9, - and .'),
        origin: 'headwater',
        help: 'The Lease that replicas compete for. All replicas of one installation need the same name.',
        default: 'headwater',
        fromConfigDir: false,
      },
      'leader-election-lease-duration': {
        kind: duration({ min: second, max: 600 * second, wholeSeconds: true }),
        help: 'How long after the last renewal another replica waits before it takes over. Longer means fewer leader changes when the API server is slow, and a longer gap when a leader dies.',
        default: '15s',
        fromConfigDir: false,
      },
      'leader-election-renew-deadline': {
        kind: duration({ min: second, max: 600 * second }),
        help: 'How long the leader tries to renew the Lease before it stops acting. It must be shorter than the lease duration.',
        default: '10s',
        fromConfigDir: false,
      },
      'leader-election-retry-period': {
        kind: duration({ min: second, max: 600 * second }),
        help: 'Time between two attempts to acquire or renew the Lease. 1.2 times this must be shorter than the renew deadline.',
        default: '2s',
        fromConfigDir: false,
      },
    },
  ),
};
