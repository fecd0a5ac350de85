// Lists the Kubernetes permissions that Headwater needs, and what fails without each. The roles of the chart grant
// exactly these; a test compares them.

/** One required verb, in the terms of RBAC rules. */
export interface NeededAccess {
  readonly verb: 'create' | 'get' | 'list' | 'patch' | 'update' | 'watch';
  /** Empty for the core group. */
  readonly group: string;
  /** Includes a subresource: `ciliumnodes/status`. */
  readonly resource: string;
  /** Restricts the rule to one object. */
  readonly name?: string;
  /** Restricts the rule to one namespace; cluster-wide when absent. */
  readonly namespace?: string;
  /** What does not work while the verb is missing. */
  readonly without: string;
}

export interface LeaseReference {
  readonly namespace: string;
  readonly name: string;
}

/** `lease` is the leader election Lease; undefined without leader election. */
export function neededAccess(lease: LeaseReference | undefined): readonly NeededAccess[] {
  return lease === undefined ? always : [...always, ...forLease(lease)];
}

const unverified = 'nothing verifies which instance is whose, and nothing is released or detached';

const always: readonly NeededAccess[] = [
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
    ['list', 'nodes get no addresses in advance for pending pods'],
    ['watch', 'nodes get no addresses in advance for pending pods'],
  ]),
  ...rules({ group: '', resource: 'events' }, [
    ['create', 'no Event says why a node cannot be satisfied'],
    ['patch', 'repeated Events are not counted'],
  ]),
  ...rules(
    {
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      name: 'ciliumnodes.cilium.io',
    },
    [['get', 'only fields of a CiliumNode that every version of Cilium has are written']],
  ),
];

function forLease({ namespace, name }: LeaseReference): readonly NeededAccess[] {
  const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace };
  return [
    // RBAC cannot restrict `create` to a name.
    ...rules(lease, [['create', 'no replica can lead until the Lease exists']]),
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
