// Metrics of Headwater's own: what is true, under names that say it.
import { stopReasons } from '../providers/mutation-permission.ts';
import { urgencies as urgency } from '../providers/urgency.ts';
import { counter, gauge, histogram } from './metric-definition.ts';

const callSeconds = [0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 20, 30, 60];
const supplySeconds = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 120, 300, 600];
const resyncSeconds = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300];

const action = { action: "name of the cloud's action, such as CreateNetworkInterface" } as const;
const resource = { resource: 'plural name of the Kubernetes resource, such as ciliumnodes' } as const;

export const headwaterMetrics = {
  headwater_addresses: gauge(
    'Addresses of all nodes together: available (offered to agents, used or not), used, needed (lacking), waiting (for which pods wait right now).',
    { state: ['available', 'used', 'needed', 'waiting'] },
  ),
  headwater_nodes: gauge(
    'Nodes: total, supplied (lacking nothing), short (lacking addresses), at_capacity (can take no more), set_aside (not acted on until somebody acts), unread (not understood).',
    { state: ['total', 'supplied', 'short', 'at_capacity', 'set_aside', 'unread'] },
  ),
  headwater_set_aside: gauge('What is left alone or lacks something for now, and why.', {
    what: ['node', 'interface', 'subnet'],
    reason: 'stable name of the reason, as in Events',
  }),
  headwater_time_to_supply_seconds: histogram(
    'Seconds from noticing that a node lacks addresses until Kubernetes had acknowledged the pool that ends it.',
    {},
    supplySeconds,
  ),
  headwater_oldest_shortage_seconds: gauge(
    'Age of the oldest shortage that has not ended, by how badly the node needs addresses now: starving (pods wait, nothing is free), waiting (pods wait for more than is free, or the node has no address yet), toppingUp (its buffer is to be filled); 0 if no node lacks addresses so.',
    { urgency: ['starving', 'waiting', 'toppingUp'] },
  ),
  headwater_calls_per_supply: histogram(
    'Operations on the cloud that were begun for a node, from noticing that it lacks addresses until Kubernetes had acknowledged the pool that ends it.',
    {},
    [0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 50],
  ),

  headwater_cloud_calls_total: counter('Cloud calls that have ended.', {
    ...action,
    outcome: 'ok, or the kind of the failure',
  }),
  headwater_cloud_call_duration_seconds: histogram(
    'Seconds that a cloud call was in flight, without the wait for its turn.',
    action,
    callSeconds,
  ),
  headwater_cloud_calls_waiting: gauge(
    'Cloud calls that wait for their turn, by how badly they are needed.',
    {
      ...action,
      urgency,
    },
  ),
  headwater_cloud_budget_tokens: gauge(
    'Calls that may be made at once; below zero after a group of calls larger than the bucket.',
    action,
  ),
  headwater_cloud_budget_refill_per_second: gauge(
    'Calls a second that may be made for ever: what is ours by configuration and was not throttled away.',
    action,
  ),
  headwater_cloud_budget_learned_share: gauge(
    "The part of our rate limits that the cloud's own answers have left: 1 unless calls were throttled.",
    action,
  ),
  headwater_cloud_calls_in_flight: gauge('Cloud calls sent and not answered yet.', {}),
  headwater_subnet_free_addresses: gauge(
    'Addresses of the subnet that may still be asked for: as the cloud last counted, less those reserved; 0 while the subnet is set aside because it had nothing left.',
    {
      subnet_id: 'id of the subnet',
      availability_zone: 'zone of the subnet',
    },
  ),
  headwater_subnet_reserved_addresses: gauge(
    'Addresses of the subnet that calls have taken or may take since the cloud counted last, and that are therefore not counted on.',
    { subnet_id: 'id of the subnet' },
  ),
  headwater_orphans: gauge(
    "Interfaces with this cluster's tags that are attached to nothing, as last read; those that are being attached among them.",
    {},
  ),
  headwater_adoptions_total: counter(
    'Interfaces that were left over and a node was to get instead of a new one.',
    { result: ['attached', 'failed'] },
  ),
  headwater_orphan_collections_total: counter(
    'Interfaces that stayed attached to nothing and were to be deleted: deleted; would_delete (dry run); changed, in_use, not_found (by somebody else, since they were listed); failed.',
    { result: ['deleted', 'would_delete', 'changed', 'in_use', 'not_found', 'failed'] },
  ),
  headwater_inventory_age_seconds: gauge('Time since the last full listing of the cloud was begun.', {}),
  headwater_resync_duration_seconds: histogram(
    'Seconds that a full listing of the cloud took.',
    { outcome: ['success', 'failed'] },
    resyncSeconds,
  ),

  headwater_publications_total: counter('Writes of CiliumNodes, by the part that was written.', {
    part: ['status', 'spec'],
    outcome: 'written, or why not',
  }),
  headwater_foreign_writes_total: counter(
    'Writes of somebody else to what only Headwater writes in CiliumNodes: the pool, and the interfaces in the status.',
    { part: ['pool', 'status'] },
  ),
  headwater_mutations_stopped: gauge(
    '1 while something is not begun for this reason: dryRun (nothing is done at all), foreignWriter (nothing until nobody else has written CiliumNodes for 5 minutes; after a single write only takes nothing away), paused (as --pause says).',
    { reason: stopReasons },
  ),
  headwater_leader: gauge('1 while this process holds the Lease, else 0.', {}),
  headwater_watch_restarts_total: counter(
    'Watches that ended and were begun again where they were.',
    resource,
  ),
  headwater_watch_relists_total: counter(
    'Lists read again in full because a watch could not go on.',
    resource,
  ),
  headwater_kubernetes_requests_total: counter('Requests to the API server that have ended.', {
    verb: 'verb of the request, as access rules name it',
    ...resource,
    code: 'HTTP status code, or error if there was no answer',
  }),
};
