// Defines the metrics of the command agent: those of the Cilium agent under their names, and ours for calls of the plugin.
import { counter, gauge, histogram } from './metric-definition.ts';

const family = { family: ['ipv4', 'ipv6'] } as const;
const ofPool = { pool: 'name of the pool', ...family } as const;
const event = {
  scope: ['Node', 'CiliumNode', 'Pod', 'Namespace', 'CiliumPodIPPool'],
  action: ['create', 'update', 'delete'],
} as const;
const verb = { verb: 'verb of CNI: ADD, DEL, CHECK, GC, STATUS, or none' } as const;

export const agentMetrics = {
  cilium_ipam_events_total: counter('Addresses given out and released.', {
    action: ['allocate', 'release'],
    ...family,
  }),
  cilium_ipam_capacity: gauge('Addresses that this node can give to pods.', family),
  cilium_ipam_multipool_available_ips: gauge('Addresses of a pool that this node has, used or not.', ofPool),
  cilium_ipam_multipool_used_ips: gauge('Addresses of a pool that pods of this node use.', ofPool),
  cilium_ipam_multipool_needed_ips: gauge('Addresses of a pool that this node asks for.', ofPool),
  cilium_ipam_multipool_allocated_blocks: gauge('Blocks of a pool that this node holds.', ofPool),
  cilium_kubernetes_events_received_total: counter('Changes of objects that this agent follows.', {
    ...event,
    valid: ['true'],
    equal: ['false'],
  }),
  cilium_kubernetes_events_total: counter('The same, once they are taken in.', {
    ...event,
    status: ['success'],
  }),
  cilium_k8s_event_lag_seconds: gauge(
    'How long the last new pod had its addresses when the API server showed it; 0: not yet.',
    { source: ['k8s'] },
  ),
  headwater_agent_cni_requests_total: counter('Calls of the plugin.', {
    ...verb,
    code: '0, or the error code of CNI',
  }),
  headwater_agent_cni_request_duration_seconds: histogram(
    'Seconds until a call of the plugin was answered, with the wait for an address.',
    verb,
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10, 60],
  ),
};
