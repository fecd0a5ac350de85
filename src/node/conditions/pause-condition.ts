// Why nothing is written or changed for a node, although it may be served.
import {
  type ConflictReach,
  type PauseReason,
  pauseWords,
} from '../../providers/gate/mutation-permission.ts';
import type { NodeCondition } from './node-condition.ts';

/** Agents do not see what the node has, so the node counts as lacking it. */
export function refusedWrite(problem: string): NodeCondition {
  return { reason: 'WriteRefused', message: problem };
}

/** The node needs something, and nothing may start. */
export function mutationsPaused(reason: PauseReason): NodeCondition {
  return {
    reason: 'MutationsPaused',
    message: `the node lacks addresses and gets none for now: ${pauseWords[reason]}`,
  };
}

const pausedActivities: Readonly<Record<ConflictReach, string>> = {
  releases: 'nothing is released from any node',
  node: 'this node gets nothing, and nothing is released from any',
  fleet: 'no node gets anything, and nothing is released from any',
};

/** A conflicting writer changed the pool or the interfaces of the CiliumNode. */
export function conflictingWriter(manager: string | undefined, reach: ConflictReach): NodeCondition {
  const who = manager === undefined ? 'another program' : `${manager}, not Headwater,`;
  return {
    reason: 'ConflictingWriter',
    message: `${who} wrote the pool or the interfaces of this CiliumNode: ${pausedActivities[reach]} until there has been no such write for 5 minutes; make sure that no cilium-operator manages it`,
  };
}
