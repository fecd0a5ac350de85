// What Headwater has to be allowed in Kubernetes, and what becomes of it without. The roles of the chart grant this and
// nothing else; a test compares them.

/** A verb that it must be allowed, as access rules name it. */
export interface NeededAccess {
  readonly verb: 'create' | 'get' | 'list' | 'patch' | 'update' | 'watch';
  /** Empty for the core group. */
  readonly group: string;
  /** With its subresource: `ciliumnodes/status`. */
  readonly resource: string;
  /** The only object that is meant. */
  readonly name?: string;
  /** The only namespace that is meant; the whole cluster if not given. */
  readonly namespace?: string;
  /** What does not happen as long as it is missing. */
  readonly without: string;
}

export interface LeaseReference {
  readonly namespace: string;
  readonly name: string;
}

/** `lease`: that by which the leader is elected; undefined where nobody is. */
export function neededAccess(lease: LeaseReference | undefined): readonly NeededAccess[] {
  return lease === undefined ? always : [...always, ...forLease(lease)];
}

const always: readonly NeededAccess[] = [
  ...rules({ group: 'cilium.io', resource: 'ciliumnodes' }, [
    ['get', 'nothing is taken back, and no write that met another is repeated'],
    ['list', 'no node is served'],
    ['watch', 'changes of nodes are not seen'],
    ['patch', 'no node is offered addresses'],
  ]),
  ...rules({ group: 'cilium.io', resource: 'ciliumnodes/status' }, [
    ['patch', 'nodes are not told of their interfaces, and get no addresses'],
  ]),
  ...rules({ group: '', resource: 'pods' }, [
    ['list', 'nodes get no addresses ahead for pods that wait'],
    ['watch', 'nodes get no addresses ahead for pods that wait'],
  ]),
  ...rules({ group: '', resource: 'events' }, [
    ['create', 'no Event says why a node does not get what it needs'],
    ['patch', 'Events do not say that something happened again'],
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
    // The API server cannot limit a creation to a name.
    ...rules(lease, [['create', 'nobody leads where there is no Lease yet']]),
    ...rules({ ...lease, name }, [
      ['get', 'nobody can lead'],
      ['update', 'nobody can keep or take over the Lease'],
    ]),
  ];
}

function rules(
  what: Omit<NeededAccess, 'verb' | 'without'>,
  verbs: readonly (readonly [verb: NeededAccess['verb'], without: string])[],
): readonly NeededAccess[] {
  return verbs.map(([verb, without]) => ({ ...what, verb, without }));
}
