// What goes wrong, which alerts then fire at once, and which of them should page: one at most.

export interface Cause {
  readonly what: string;
  readonly firing: readonly string[];
  /** The critical one that pages; undefined when it waits until the morning. */
  readonly paged: string | undefined;
}

export const causes: readonly Cause[] = [
  {
    what: 'a subnet is full',
    firing: [
      'HeadwaterSubnetNearlyFull',
      'HeadwaterNodesBlocked',
      'HeadwaterNodesInDeficit',
      'HeadwaterPodsPending',
    ],
    paged: 'HeadwaterPodsPending',
  },
  {
    what: 'a cilium-operator still runs',
    firing: [
      'HeadwaterConflictingWriter',
      'HeadwaterCiliumNodeEdited',
      'HeadwaterPodsPending',
      'HeadwaterNodesInDeficit',
      'HeadwaterReleaseStuck',
    ],
    paged: 'HeadwaterConflictingWriter',
  },
  {
    what: 'a person edits a CiliumNode by hand',
    firing: ['HeadwaterCiliumNodeEdited'],
    paged: undefined,
  },
  {
    what: 'two replicas lead',
    firing: ['HeadwaterTwoLeaders', 'HeadwaterConflictingWriter', 'HeadwaterPodsPending'],
    paged: 'HeadwaterTwoLeaders',
  },
  {
    what: 'no block of a pool is free',
    firing: [
      'HeadwaterBlocksNearlyGone',
      'HeadwaterNodesWaitForBlock',
      'HeadwaterNodesBlocked',
      'HeadwaterNodesInDeficit',
      'HeadwaterPodsPending',
    ],
    paged: 'HeadwaterPodsPending',
  },
  {
    what: 'no replica leads',
    firing: [
      'HeadwaterNoLeader',
      'HeadwaterPodsPending',
      'HeadwaterNodesInDeficit',
      'HeadwaterResyncFailing',
    ],
    paged: 'HeadwaterNoLeader',
  },
  {
    what: 'a new leader cannot read the cloud',
    firing: ['HeadwaterNodesUnknown', 'HeadwaterResyncFailing', 'HeadwaterPodsPending'],
    paged: 'HeadwaterNodesUnknown',
  },
  {
    what: 'the role lost a permission',
    firing: [
      'HeadwaterPermissionMissing',
      'HeadwaterNodesBlocked',
      'HeadwaterPodsPending',
      'HeadwaterNodesInDeficit',
    ],
    paged: 'HeadwaterPodsPending',
  },
];
