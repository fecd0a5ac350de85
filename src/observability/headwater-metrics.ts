// Defines Headwater's own metrics.
import { conflictReaches, pauseReasons } from '../providers/gate/mutation-permission.ts';
import { counter, gauge, histogram } from './metric-definition.ts';

const callSeconds = [0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 20, 30, 60];
const supplySeconds = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 120, 300, 600];

const resyncSeconds = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300];

const action = { action: "name of the cloud's action, such as CreateNetworkInterface" } as const;
const limit = { action: 'name of the limit: the action, where the cloud limits each action' } as const;
const subnet = { subnet_id: 'id of the subnet', availability_zone: 'zone of the subnet' } as const;
const pool = { pool: 'name of the pool: default', family: 'ipv4 or ipv6' } as const;
const resource = { resource: 'plural name of the Kubernetes resource, such as ciliumnodes' } as const;

/** Those that are absent where nodes get blocks. */
export const addressMetrics: ReadonlySet<string> = new Set([
  'headwater_addresses',
  'headwater_interfaces',
  'headwater_prefixes',
  'headwater_ipv6_prefixes',
  'headwater_node_needed_addresses',
  'headwater_allocation_calls',
  'headwater_subnet_free_addresses',
  'headwater_subnet_size_addresses',
  'headwater_subnet_reserved_addresses',
  'headwater_subnet_free_blocks',
  'headwater_subnet_fragmentation_ratio',
  'headwater_subnet_assigned_addresses',
  'headwater_subnet_nodes',
  'headwater_orphaned_interfaces',
  'headwater_orphan_adoptions_total',
  'headwater_orphan_deletions_total',
  'headwater_inventory_age_seconds',
  'headwater_unreadable_items',
  'headwater_resync_interval_seconds',
  'headwater_resync_duration_seconds',
  'headwater_withdrawals_held',
]);

export const headwaterMetrics = {
  headwater_build_info: gauge('1, labeled with the version of Headwater and of the Node.js that runs it.', {
    version: 'version of Headwater',
    node_version: 'version of Node.js',
  }),
  headwater_addresses: gauge(
    'Addresses of all nodes together: available (offered to agents, used or not), used, needed (lacking), releasing (hidden from agents, not unassigned yet).',
    { state: ['available', 'used', 'needed', 'releasing'] },
  ),
  headwater_pending_pods: gauge(
    'Pods that wait for an address, on all nodes that Headwater manages; where nodes get blocks, on nodes that wait for one.',
    {},
  ),
  headwater_interfaces: gauge(
    'Interfaces of the nodes that are served: with_room (can take further addresses), full, excluded (carry no pods), unreadable (not understood).',
    { state: ['with_room', 'full', 'excluded', 'unreadable'] },
  ),
  headwater_prefixes: gauge('Prefixes (/28 blocks) that nodes have.', {}),
  headwater_ipv6_prefixes: gauge(
    'IPv6 prefixes (/80 blocks) that nodes have: one for each node whose agent asks for IPv6.',
    {},
  ),
  headwater_nodes: gauge(
    'Nodes: total, which is the sum of satisfied (need no address and no block, and their CiliumNodes hold what they have), in_deficit (need some, or may not be written), blocked (not served until its reason ends, mostly until an operator acts; headwater_blocked counts more) and unknown (not read yet); and at_capacity, those among them that can take no more.',
    { state: ['total', 'satisfied', 'in_deficit', 'at_capacity', 'blocked', 'unknown'] },
  ),
  headwater_blocked: gauge(
    'By reason: every node with a condition, served nodes and nodes in deficit too, or, where nodes get blocks, every node with a condition that lacks one; interfaces that are not understood; subnets that are exhausted or refused a prefix.',
    {
      resource: ['node', 'interface', 'subnet'],
      reason: 'stable name of the reason, as in Events',
    },
  ),
  headwater_warnings: gauge(
    'Nodes that are served and have a warning, by its reason; where nodes get blocks, those that have their blocks and a condition.',
    {
      reason: 'stable name of the reason, as in Events',
    },
  ),
  headwater_node_needed_addresses: gauge(
    'Addresses that a node lacks, for the 20 nodes that lack the most: at most 20 series in a fleet of any size.',
    { target_node: 'name of the CiliumNode' },
  ),
  headwater_allocation_latency_seconds: histogram(
    'Seconds from noticing a deficit until Kubernetes acknowledges the pool, or the block, that ends it.',
    {},
    supplySeconds,
  ),
  headwater_oldest_deficit_seconds: gauge(
    'Age of the oldest deficit that has not ended, by priority: critical (pods wait, and no address is free, or their node is not served, or its CiliumNode cannot be written), high (more pods wait than addresses are free, or the node has no address or block yet), normal (the warm buffer is to be filled, or a further block is asked for); 0 if no node is in deficit at this priority.',
    { priority: ['critical', 'high', 'normal'] },
  ),
  headwater_allocation_calls: histogram(
    'Cloud operations that start for a node from noticing its deficit until Kubernetes acknowledges the pool that ends it.',
    {},
    [0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 50],
  ),

  headwater_cloud_calls_total: counter('Cloud calls that have ended.', {
    ...action,
    outcome: 'ok, or the kind of the failure',
  }),
  headwater_audit_lines_total: counter(
    'Lines of the audit of changes in the cloud (option audit), by whether they were written.',
    { outcome: ['written', 'lost'] },
  ),
  headwater_cloud_call_duration_seconds: histogram(
    'Seconds that a cloud call was in flight, without the wait for its turn.',
    action,
    callSeconds,
  ),
  headwater_cloud_calls_queued: gauge('Cloud calls that wait for their turn, by priority.', {
    ...limit,
    priority: ['critical', 'high', 'normal', 'release', 'housekeeping'],
  }),
  headwater_cloud_rate_limit_tokens: gauge(
    'Calls that may be made at once; below zero after a group of calls larger than the bucket.',
    limit,
  ),
  headwater_cloud_rate_limit_refill_per_second: gauge(
    'Calls a second that the rate limit sustains: the configured share, less what throttling has taken.',
    limit,
  ),
  headwater_cloud_rate_limit_learned_ratio: gauge(
    'Part of the configured rate limit that throttling has left: 1 unless calls were throttled.',
    limit,
  ),
  headwater_cloud_calls_in_flight: gauge('Cloud calls sent and not answered yet.', {}),
  headwater_subnet_free_addresses: gauge(
    'Addresses of the subnet that may still be assigned: what the cloud last counted, less reserved ones; 0 while the subnet is blocked because it is exhausted. Absent until the cloud has answered.',
    subnet,
  ),
  headwater_subnet_size_addresses: gauge(
    "Addresses of the subnet's block, those that the cloud keeps for itself included.",
    subnet,
  ),
  headwater_subnet_reserved_addresses: gauge(
    'Addresses of the subnet that calls have taken or may take since the cloud last counted.',
    subnet,
  ),
  headwater_subnet_free_blocks: gauge(
    'Whole /28 blocks of the subnet that are free, at most: as the last full listing showed them, less the prefixes assigned since, and no more than there are free addresses for. Detached interfaces are not listed and may be in some of them; 0 for 2 minutes after the subnet refused a single prefix. Absent until the first listing, and where the cloud has no prefixes.',
    subnet,
  ),
  headwater_subnet_fragmentation_ratio: gauge(
    'Part of the free addresses of the subnet that lies in no whole free /28 block, so that no prefix can be made of it: 0 for none, 1 for all.',
    subnet,
  ),
  headwater_subnet_assigned_addresses: gauge(
    'Addresses of the subnet that the interfaces of nodes have for pods, those of prefixes included.',
    subnet,
  ),
  headwater_subnet_nodes: gauge('Nodes with an interface in the subnet.', subnet),
  headwater_orphaned_interfaces: gauge(
    "Detached interfaces with this cluster's tags, as last read, including those that are being attached.",
    {},
  ),
  headwater_orphan_adoptions_total: counter(
    'Attempts to attach an orphaned interface to a node instead of a new one, by result.',
    { result: ['attached', 'failed'] },
  ),
  headwater_orphan_deletions_total: counter(
    'Attempts to delete orphaned interfaces: deleted; would_delete (dry run); changed, in_use, not_found (since they were listed); failed.',
    { result: ['deleted', 'would_delete', 'changed', 'in_use', 'not_found', 'failed'] },
  ),
  headwater_inventory_age_seconds: gauge(
    'Time since the last full listing of the cloud started, or since there was nothing to list, as without nodes.',
    {},
  ),
  headwater_unreadable_items: gauge(
    'Interfaces and parts of the network that the last full listing of the cloud could not read and skipped.',
    {},
  ),
  headwater_resync_interval_seconds: gauge(
    'Time from the end of one full listing of the cloud to the start of the next, as configured.',
    {},
  ),
  headwater_resync_duration_seconds: histogram(
    'Seconds that a full listing of the cloud took.',
    { outcome: ['success', 'failed'] },
    resyncSeconds,
  ),

  headwater_ciliumnode_writes_total: counter('Writes of CiliumNodes, by the part that was written.', {
    part: ['status', 'spec'],
    outcome: 'written, or why not',
  }),
  headwater_conflicting_writes_total: counter(
    'Writes of another program to what only Headwater writes: the pool of a CiliumNode, the interfaces in its status, and the podCIDRs of a CiliumNode or Node.',
    { part: ['pool', 'status', 'podCIDRs'] },
  ),
  headwater_conflicting_writer: gauge(
    '1 for what conflicting writes stop now: releases (nothing is released), node (also, the nodes that were written get nothing), fleet (no node gets anything).',
    { stops: conflictReaches },
  ),
  headwater_mutations_paused: gauge(
    '1 while changes are paused for this reason: dryRun (all changes), conflictingWriter (what headwater_conflicting_writer says, until 5 minutes pass without a conflicting write), paused (as --pause says), withdrawalsHeld (releases, because too much is missing in the cloud).',
    { reason: pauseReasons },
  ),
  headwater_withdrawals_held: gauge(
    'Nodes that keep interfaces or addresses that the cloud does not show, because too much is missing at once; 0 while nothing is held.',
    {},
  ),
  headwater_cidr_blocks: gauge(
    'Blocks of the networks that nodes get them from: held (a node has any part of them, or they are reserved) or free. With ipam=multi-pool also orphaned: blocks that nodes have of a pool which does not have them any longer.',
    { ...pool, state: ['held', 'free', 'orphaned'] },
  ),
  headwater_cidr_waiting_nodes: gauge(
    'Nodes that wait for a block; with CloudAllocator, of the pool cloud. The pool unknown: of a pool that is not there.',
    pool,
  ),
  headwater_ciliumnode_gc_total: counter(
    'CiliumNodes without a Node, by what came of them: deleted; would_delete (dry run); kept (the live Node or CiliumNode says otherwise); failed.',
    { outcome: ['deleted', 'would_delete', 'kept', 'failed'] },
  ),
  headwater_heap_limit_bytes: gauge('Heap size at which Node.js ends the process.', {}),
  headwater_leader: gauge('1 while this process holds the Lease, else 0.', {}),
  headwater_watch_restarts_total: counter(
    'Watches that ended before their time-out and resumed where they were.',
    resource,
  ),
  headwater_watch_relists_total: counter(
    'Lists read again in full because a watch could not resume.',
    resource,
  ),
  headwater_kubernetes_requests_total: counter('Requests to the API server that have ended.', {
    verb: 'verb of the request, as access rules name it',
    ...resource,
    code: 'HTTP status code, or error if there was no answer',
  }),
};
