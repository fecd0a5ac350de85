// Options that say which API server is spoken to, and how one of several replicas becomes the one that acts.
import type { FoundDefault, OptionRow } from '../option-row.ts';
import { boolean, duration, httpUrl, text } from '../value-kinds.ts';

const second = 1000;
const label = /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/;
const subdomain = /^(?=.{1,253}$)[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/;

/** Where Kubernetes tells a pod its namespace: https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/ */
const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

const ownNamespace: FoundDefault = {
  words: "the pod's own namespace in a cluster, else kube-system",
  find: (surroundings) => {
    try {
      return surroundings.readFile(namespaceFile).trim();
    } catch {
      return 'kube-system'; // without the file this is no pod with a service account
    }
  },
};

export const kubernetesOptions = {
  'k8s-api-server': {
    kind: httpUrl,
    origin: 'operator',
    group: 'kubernetes',
    help: 'The API server, if it is another than the kubeconfig or the cluster says. Set it to reach the API server before the service network works.',
    fromConfigDir: true,
  },
  'k8s-kubeconfig-path': {
    kind: text('path', /./, 'a path'),
    origin: 'operator',
    group: 'kubernetes',
    help: "The kubeconfig to use. Unset, the pod's service account; outside a cluster, what kubectl would use.",
    fromConfigDir: true,
  },
  'k8s-namespace': {
    kind: text('namespace', label, 'the name of a namespace: up to 63 of a-z, 0-9 and -'),
    origin: 'operator',
    group: 'kubernetes',
    help: 'The namespace of the Lease by which replicas elect their leader.',
    default: ownNamespace,
    fromConfigDir: false,
  },
  'leader-election': {
    kind: boolean,
    origin: 'headwater',
    group: 'election',
    help: "Whether to act only while holding the Lease. Switch it off only where nothing else can run beside this process, as on a developer's machine: two that act at once are what the Lease is there to prevent.",
    default: 'true',
    fromConfigDir: true,
  },
  'leader-election-lease-name': {
    kind: text('name', subdomain, 'the name of a Lease: up to 253 of a-z, 0-9, - and .'),
    origin: 'headwater',
    group: 'election',
    help: 'The Lease that replicas contend for. All replicas of one installation need the same.',
    default: 'headwater',
    fromConfigDir: false,
  },
  'leader-election-lease-duration': {
    kind: duration({ least: second, most: 600 * second, wholeSeconds: true }),
    origin: 'operator',
    group: 'election',
    help: 'How long after the last renewal another replica waits before it takes over. Longer means fewer changes of leader when the API server is slow, and a longer gap when a leader dies.',
    default: '15s',
    fromConfigDir: false,
  },
  'leader-election-renew-deadline': {
    kind: duration({ least: second, most: 600 * second }),
    origin: 'operator',
    group: 'election',
    help: 'How long the leader goes on trying to renew before it stops acting. It must be shorter than the lease duration.',
    default: '10s',
    fromConfigDir: false,
  },
  'leader-election-retry-period': {
    kind: duration({ least: second, most: 600 * second }),
    origin: 'operator',
    group: 'election',
    help: 'Time between two tries to get or to renew the Lease. 1.2 times this must be shorter than the renew deadline.',
    default: '2s',
    fromConfigDir: false,
  },
} as const satisfies Record<string, OptionRow>;
