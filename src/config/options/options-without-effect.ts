// Flags of the programs that Headwater replaces, accepted and ignored, so that an existing command line starts.

const here = 'health, metrics and status are served together on serve-addr';
const limitsFromEc2 = 'limits of instance types are always read from EC2';
const otherDuty = 'cilium-operator does this beside IPAM, and Headwater does not: keep an operator that does';
const byTaintOption = 'set manage-agent-taint instead';
const anyLease = 'the Lease is given by the options leader-election and leader-election-lease-name';
const ownRate =
  'set operator-k8s-client-qps and operator-k8s-client-burst instead; by default there is no limit';
const ownLog = 'the log has JSON lines; log-level and debug say which';
const noDebugger = 'Headwater serves no profiles';
const noServer = `${here}, and no other program calls this one`;
const otherController =
  'it belongs to another controller of kube-controller-manager, which goes on running there';
const routeController = 'the route controller is another program; keep the one that runs';

/** Flags of cilium-operator. Each has the rest of a sentence that starts with the option and says why it has no effect. */
const ofOperator = {
  'update-ec2-adapter-limit-via-api': limitsFromEc2,
  'aws-instance-limit-mapping': limitsFromEc2,
  'operator-prometheus-serve-addr': here,
  'operator-api-serve-addr': here,
  'enable-metrics': 'metrics are always served, on serve-addr',
  'leader-election-resource-lock-timeout':
    'a request about the Lease ends with leader-election-renew-deadline',
  'k8s-client-qps': ownRate,
  'k8s-client-burst': ownRate,
  'k8s-heartbeat-timeout': 'a watch that is silent for too long is always opened again',
  'enable-k8s-api-discovery': 'what the API server serves is always read',
  'remove-cilium-node-taints': byTaintOption,
  'set-cilium-node-taints':
    'Headwater never sets the taint: what registers a Node may, and an operator without IPAM sets it again while the agent is not ready',
  'set-cilium-is-up-condition': byTaintOption,
  'taint-sync-workers': byTaintOption,
  'synchronize-k8s-nodes': otherDuty,
  'synchronize-k8s-services': otherDuty,
  'unmanaged-pod-watcher-interval': otherDuty,
  'pod-restart-selector': otherDuty,
  'cilium-endpoint-gc-interval': otherDuty,
  'identity-gc-interval': otherDuty,
  'identity-gc-rate-interval': otherDuty,
  'identity-gc-rate-limit': otherDuty,
  'identity-heartbeat-timeout': otherDuty,
  'identity-allocation-mode': otherDuty,
  'cluster-id': 'IPAM does not depend on it',
  kvstore: 'IPAM uses the Kubernetes API only',
  'kvstore-opt': 'IPAM uses the Kubernetes API only',
  'log-driver': ownLog,
  'log-opt': ownLog,
  gops: noDebugger,
  'enable-gops': noDebugger,
  'gops-port': noDebugger,
  'operator-pprof': noDebugger,
  'operator-pprof-address': noDebugger,
  'operator-pprof-port': noDebugger,
} as const;

/** Flags of the command nodeipam that are given to run, too. Networks are not among them: run would give out others. */
const ofNodeIpam = {
  'cloud-provider': 'the cloud is that of ipam',
  'node-cidr-mask-size':
    'set cluster-pool-ipv4-mask-size and cluster-pool-ipv6-mask-size instead, or run headwater nodeipam',
  'node-cidr-mask-size-ipv4': 'set cluster-pool-ipv4-mask-size instead, or run headwater nodeipam',
  'node-cidr-mask-size-ipv6': 'set cluster-pool-ipv6-mask-size instead, or run headwater nodeipam',
} as const;

/** Flags that all binaries of Kubernetes have, and programs made like them. */
const ofKubernetes = {
  'leader-elect': 'the leader is always elected: the option leader-election decides',
  'leader-elect-lease-duration': 'set leader-election-lease-duration instead',
  'leader-elect-renew-deadline': 'set leader-election-renew-deadline instead',
  'leader-elect-retry-period': 'set leader-election-retry-period instead',
  'leader-elect-resource-lock': 'a Lease is the only lock',
  'leader-elect-resource-name': anyLease,
  'leader-elect-resource-namespace': 'set k8s-namespace instead',
  'kube-api-qps': 'requests to the API server have no limit here: it protects itself',
  'kube-api-burst': 'requests to the API server have no limit here: it protects itself',
  'kube-api-content-type': 'requests are in JSON',
  v: ownLog,
  vmodule: ownLog,
  logtostderr: ownLog,
  'secure-port': noServer,
  'bind-address': noServer,
} as const;

/** Flags of kube-controller-manager and of the cloud controller managers. */
const ofControllerManager = {
  ...ofKubernetes,
  'logging-format': ownLog,
  'log-flush-frequency': ownLog,
  'log-json-info-buffer-size': ownLog,
  'log-json-split-stream': ownLog,
  'log-text-info-buffer-size': ownLog,
  'log-text-split-stream': ownLog,
  'cert-dir': noServer,
  'client-ca-file': noServer,
  'tls-cert-file': noServer,
  'tls-private-key-file': noServer,
  'tls-min-version': noServer,
  'tls-cipher-suites': noServer,
  'authentication-kubeconfig': noServer,
  'authentication-skip-lookup': noServer,
  'authorization-kubeconfig': noServer,
  'authorization-always-allow-paths': noServer,
  'requestheader-client-ca-file': noServer,
  'requestheader-allowed-names': noServer,
  'requestheader-extra-headers-prefix': noServer,
  'requestheader-group-headers': noServer,
  'requestheader-username-headers': noServer,
  profiling: noDebugger,
  'contention-profiling': noDebugger,
  'feature-gates': 'Headwater has no feature gates',
  'min-resync-period': 'the watch is never read anew without a reason',
  controllers: 'Headwater is the node-ipam-controller and no other',
  master: 'set k8s-api-server instead',
  'cloud-config': 'a cloud is configured by its own options',
  'configure-cloud-routes': routeController,
  'route-reconciliation-period': routeController,
  'cluster-name': 'the CIDRs of Nodes do not depend on it',
  'use-service-account-credentials': 'the process uses the credentials that it is given',
  'cluster-signing-cert-file': otherController,
  'cluster-signing-key-file': otherController,
  'cluster-signing-duration': otherController,
  'root-ca-file': otherController,
  'service-account-private-key-file': otherController,
  'node-monitor-period': otherController,
  'node-monitor-grace-period': otherController,
  'terminated-pod-gc-threshold': otherController,
  'flex-volume-plugin-dir': otherController,
  'cluster-signing-legacy-unknown-cert-file': otherController,
  'cluster-signing-legacy-unknown-key-file': otherController,
  'large-cluster-size-threshold': otherController,
  'unhealthy-zone-threshold': otherController,
  'node-eviction-rate': otherController,
  'secondary-node-eviction-rate': otherController,
  'node-startup-grace-period': otherController,
  'attach-detach-reconcile-sync-period': otherController,
  'pvclaimbinder-sync-period': otherController,
  'namespace-sync-period': otherController,
  'resource-quota-sync-period': otherController,
  'enable-garbage-collector': otherController,
  'enable-dynamic-provisioning': otherController,
  'enable-hostpath-provisioner': otherController,
  'concurrent-deployment-syncs': otherController,
  'concurrent-endpoint-syncs': otherController,
  'concurrent-gc-syncs': otherController,
  'concurrent-namespace-syncs': otherController,
  'concurrent-rc-syncs': otherController,
  'concurrent-replicaset-syncs': otherController,
  'concurrent-resource-quota-syncs': otherController,
  'concurrent-service-syncs': otherController,
  'concurrent-service-endpoint-syncs': otherController,
  'concurrent-serviceaccount-token-syncs': otherController,
  'concurrent-statefulset-syncs': otherController,
  'concurrent-cron-job-syncs': otherController,
  'concurrent-job-syncs': otherController,
  'concurrent-ttl-after-finished-syncs': otherController,
  'horizontal-pod-autoscaler-sync-period': otherController,
  'horizontal-pod-autoscaler-tolerance': otherController,
  'horizontal-pod-autoscaler-downscale-stabilization': otherController,
  'horizontal-pod-autoscaler-cpu-initialization-period': otherController,
  'horizontal-pod-autoscaler-initial-readiness-delay': otherController,
  'concurrent-horizontal-pod-autoscaler-syncs': otherController,
} as const;

export interface OptionsWithoutEffect {
  /** As the help calls the program. */
  readonly program: string;
  /** Whether the program reads them from variables, too. */
  readonly variables: boolean;
  /** Each name with the reason: the rest of a sentence that starts with the option. */
  readonly reasons: Readonly<Record<string, string>>;
}

/** By command, because an option of one program may have an effect in the command that replaces another. */
export const optionsWithoutEffect = {
  run: {
    program: 'cilium-operator',
    variables: true,
    reasons: { ...ofKubernetes, ...ofOperator, ...ofNodeIpam },
  },
  nodeipam: { program: 'kube-controller-manager', variables: false, reasons: ofControllerManager },
} as const satisfies Readonly<Record<string, OptionsWithoutEffect>>;

export function isWithoutEffect(command: string, name: string): boolean {
  return Object.hasOwn(withoutEffectIn(command)?.reasons ?? {}, name);
}

export function withoutEffectIn(command: string): OptionsWithoutEffect | undefined {
  return optionsWithoutEffect[command as keyof typeof optionsWithoutEffect];
}
