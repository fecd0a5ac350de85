// Which alert explains which others, so that one cause wakes somebody once.
import type { AlertGroup, Inhibition } from './alert.ts';
import { blockAlerts } from './alerts/blocks.ts';
import { cloudAlerts } from './alerts/cloud.ts';
import { controllerAlerts } from './alerts/controller.ts';
import { nodeAlerts } from './alerts/nodes.ts';
import { subnetAlerts } from './alerts/subnets.ts';

export const alertGroups: readonly AlertGroup[] = [
  subnetAlerts,
  blockAlerts,
  nodeAlerts,
  cloudAlerts,
  controllerAlerts,
];

export const inhibitions: readonly Inhibition[] = [
  {
    cause: 'HeadwaterNoLeader',
    effects: [
      'HeadwaterPodsPending',
      'HeadwaterNodesInDeficit',
      'HeadwaterNodesBlocked',
      'HeadwaterNodesWaitForBlock',
      'HeadwaterResyncFailing',
      'HeadwaterReleaseStuck',
      'HeadwaterOrphansNotDeleted',
      'HeadwaterWritesFailing',
      'HeadwaterWithdrawalsHeld',
    ],
    equal: ['cluster'],
    why: 'Only the leader acts: without one nothing is assigned, written or read.',
  },
  {
    cause: 'HeadwaterTwoLeaders',
    effects: [
      'HeadwaterConflictingWriter',
      'HeadwaterCiliumNodeEdited',
      'HeadwaterPodsPending',
      'HeadwaterNodesInDeficit',
      'HeadwaterNodesWaitForBlock',
    ],
    equal: ['cluster'],
    why: 'Each leader takes the other for a conflicting writer and stops.',
  },
  {
    cause: 'HeadwaterConflictingWriter',
    effects: [
      'HeadwaterCiliumNodeEdited',
      'HeadwaterPodsPending',
      'HeadwaterNodesInDeficit',
      'HeadwaterNodesBlocked',
      'HeadwaterNodesWaitForBlock',
      'HeadwaterReleaseStuck',
      'HeadwaterOrphansNotDeleted',
    ],
    equal: ['cluster'],
    why: 'Nothing is changed until the other writer is quiet.',
  },
  {
    cause: 'HeadwaterNodesUnknown',
    effects: ['HeadwaterPodsPending', 'HeadwaterNodesInDeficit', 'HeadwaterResyncFailing'],
    equal: ['cluster'],
    why: 'While the cloud is not read, nothing is assigned.',
  },
  {
    cause: 'HeadwaterPodsPending',
    effects: ['HeadwaterNodesInDeficit'],
    equal: ['cluster'],
    why: 'Both say that nodes lack addresses, and this one that pods feel it.',
  },
  {
    cause: 'HeadwaterNodesWaitForBlock',
    effects: ['HeadwaterNodesInDeficit'],
    equal: ['cluster'],
    why: 'Both say that nodes wait, and this one of which pool.',
  },
  {
    cause: 'HeadwaterSubnetNearlyFull',
    effects: ['HeadwaterSubnetFullWithin24Hours'],
    equal: ['cluster', 'subnet_id'],
    why: 'The subnet is already nearly full.',
  },
];
