// Lists the Kubernetes permissions that Headwater needs, and what fails without each. The roles of the chart grant
// exactly these; a test compares them.

/** A required verb, in the terms of RBAC rules. */
export interface NeededAccess {
  readonly verb: 'create' | 'delete' | 'get' | 'list' | 'patch' | 'update' | 'watch';
  /** Empty for the core group. */
  readonly group: string;
  /** Includes a subresource: `ciliumnodes/status`. */
  readonly resource: string;
  /** Restricts the rule to one object. */
  readonly name?: string;
  /** Restricts the rule to one namespace; cluster-wide when absent. */
  readonly namespace?: string;
  /** The feature that does not work while the verb is missing. */
  readonly without: string;
}

export interface LeaseReference {
  readonly namespace: string;
  readonly name: string;
  /** Whether other releases serve nodes of the cluster. */
  readonly isShared?: boolean;
}

/** The mode that needs the permissions. */
export type AccessScope = CloudAccessScope | NodeAccessScope | BlockAccessScope;

/** Duties beside giving out addresses, in every mode that has CiliumNodes. */
export interface CiliumNodeDuties {
  /** Whether CiliumNodes without a Node are deleted. */
  readonly gc?: boolean;
  /** Whether Nodes are opened for pods once their agent is ready. */
  readonly managesTaint?: boolean;
}

export interface CloudAccessScope extends CiliumNodeDuties {
  readonly mode: 'eni';
}

/** Blocks to Nodes. */
export interface NodeAccessScope {
  readonly mode: 'nodeipam';
  /** Whether they follow a cloud, so that the condition of their network is set as well. */
  readonly setsConditions?: boolean;
}

/** Blocks to CiliumNodes. */
export interface BlockAccessScope extends CiliumNodeDuties {
  readonly mode: 'cluster-pool' | 'multi-pool';
  readonly createsDefinition: boolean;
  /** Whether pools are created that an option names. */
  readonly createsPools?: boolean;
  /** Whether pods are looked at before blocks go that an agent no longer lists. */
  readonly looksAtPods?: boolean;
}

/** `lease` is the leader election Lease; undefined without leader election. */
export function neededAccess(
  lease: LeaseReference | undefined,
  scope: AccessScope = { mode: 'eni' },
): readonly NeededAccess[] {
  const own = [...accessOf(scope), ...('managesTaint' in scope && scope.managesTaint ? forTaint : [])];
  return lease === undefined ? own : [...own, ...forLease(lease)];
}

function accessOf(scope: AccessScope): readonly NeededAccess[] {
  switch (scope.mode) {
    case 'eni':
      return scope.gc === true ? [...ofEni, ...forCollection] : ofEni;
    case 'nodeipam':
      return ofNodeIpam(scope);
    case 'cluster-pool':
      return [
        ...ofBlocks(scope, ['ciliumnodes.cilium.io']),
        ...ofPods(
          scope.looksAtPods === true &&
            'the block of a deleted CiliumNode may go to another node although pods use it',
        ),
      ];
    case 'multi-pool':
      return [...ofPools(scope), ...ofBlocks(scope, ['ciliumnodes.cilium.io', 'ciliumpodippools.cilium.io'])];
  }
}

const unverified = 'nothing verifies which instance is whose, and nothing is released or detached';
const uncollected = 'CiliumNodes of machines that are gone stay, with their blocks';

const forCollection = rules({ group: 'cilium.io', resource: 'ciliumnodes' }, [['delete', uncollected]]);

const closed = 'new Nodes keep the taint of an agent that is not ready, and get no pods';
const forTaint: readonly NeededAccess[] = [
  ...rules({ group: '', resource: 'nodes' }, [['patch', closed]]),
  ...rules({ group: '', resource: 'nodes/status' }, [
    ['patch', 'Nodes do not say that Cilium is running on them'],
  ]),
  ...rules({ group: '', resource: 'pods' }, [
    ['list', closed],
    ['watch', closed],
  ]),
];

const events = rules({ group: '', resource: 'events' }, [
  ['create', 'no Event says why a node cannot be satisfied'],
  ['patch', 'repeated Events are not counted'],
]);

const definitions = {
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
} as const;

const ofEni: readonly NeededAccess[] = [
  ...rules({ group: 'cilium.io', resource: 'ciliumnodes' }, [
    ['get', 'nothing is released, and a conflicting write is not retried'],
    ['list', 'no node is served'],
    ['watch', 'changes of nodes are not seen'],
    ['patch', 'no node is offered addresses'],
  ]),
  ...rules({ group: 'cilium.io', resource: 'ciliumnodes/status' }, [
    ['patch', 'agents do not see their interfaces, and get no addresses'],
  ]),
  ...rules({ group: '', resource: 'nodes' }, [
    ['get', unverified],
    ['list', unverified],
    ['watch', unverified],
  ]),
  ...rules({ group: '', resource: 'pods' }, [
    ['list', 'nodes get no addresses in advance for pending pods, and nothing is released'],
    ['watch', 'nodes get no addresses in advance for pending pods'],
  ]),
  ...events,
  ...rules({ ...definitions, name: 'ciliumnodes.cilium.io' }, [
    ['get', 'only fields of a CiliumNode that every version of Cilium has are written'],
  ]),
];

function ofNodeIpam({ setsConditions = false }: NodeAccessScope): readonly NeededAccess[] {
  return [
    ...rules({ group: '', resource: 'nodes' }, [
      ['get', 'a conflicting write is not retried'],
      ['list', 'no Node is served'],
      ['watch', 'changes of Nodes are not seen'],
      ['patch', 'no Node gets a CIDR'],
    ]),
    ...(setsConditions
      ? rules({ group: '', resource: 'nodes/status' }, [
          ['patch', 'no Node is said to have its network, so none gets pods where that is waited for'],
        ])
      : []),
    ...ofPods(false),
    ...events,
  ];
}

/** Where nodes get blocks. `unseen`: what follows if pods are not looked at, where they are. */
function ofPods(unseen: string | false): readonly NeededAccess[] {
  const uncounted = 'pods that wait for a block are not counted';
  return rules({ group: '', resource: 'pods' }, [
    ['list', unseen === false ? uncounted : `${uncounted}, and ${unseen}`],
    ['watch', uncounted],
  ]);
}

function ofPools({ createsPools = false, looksAtPods = false }: BlockAccessScope): readonly NeededAccess[] {
  const pools = rules({ group: 'cilium.io', resource: 'ciliumpodippools' }, [
    ['get', 'no pool is known'],
    ['list', 'no pool is known, and no node is served'],
    ['watch', 'changes of pools are not seen'],
    ...(createsPools ? ([['create', 'pools that the options name are not created']] as const) : []),
  ]);
  return [
    ...pools,
    ...ofPods(
      looksAtPods &&
        'no block goes back that an agent drops, and a new leader may give one away that pods use',
    ),
  ];
}

/** `names`: the names of the definitions. */
function ofBlocks(
  { gc, createsDefinition }: BlockAccessScope,
  names: readonly string[],
): readonly NeededAccess[] {
  return [
    ...rules({ group: 'cilium.io', resource: 'ciliumnodes' }, [
      ['get', 'a conflicting write is not retried'],
      ['list', 'no node is served'],
      ['watch', 'changes of nodes are not seen'],
      ['patch', 'no node gets a block'],
    ]),
    ...(gc === true ? forCollection : []),
    ...rules({ group: 'cilium.io', resource: 'ciliumnodes/status' }, [
      ['patch', 'a CiliumNode does not say why it has no block'],
    ]),
    ...rules({ group: '', resource: 'nodes' }, [
      ['get', uncollected],
      ['list', uncollected],
      ['watch', uncollected],
    ]),
    ...events,
    // RBAC cannot restrict `create` to a name.
    ...rules(definitions, createsDefinition ? [['create', 'an absent definition is not created']] : []),
    ...names.flatMap((name) =>
      rules({ ...definitions, name }, [
        ['get', 'nothing shows whether the definition is there'],
        ...(createsDefinition ? ([['update', 'an older definition of Headwater stays']] as const) : []),
      ]),
    ),
  ];
}

function forLease({ namespace, name, isShared = false }: LeaseReference): readonly NeededAccess[] {
  const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace };
  return [
    // RBAC cannot restrict `create` to a name.
    ...rules(lease, [
      ['create', 'no replica can lead until the Lease exists'],
      ...(isShared ? ([['list', 'an overlap with the nodes of another release is not seen']] as const) : []),
    ]),
    ...rules({ ...lease, name }, [
      ['get', 'no replica can lead'],
      ['update', 'no replica can acquire or renew the Lease'],
    ]),
  ];
}

function rules(
  what: Omit<NeededAccess, 'verb' | 'without'>,
  verbs: readonly (readonly [verb: NeededAccess['verb'], without: string])[],
): readonly NeededAccess[] {
  return verbs.map(([verb, without]) => ({ ...what, verb, without }));
}
