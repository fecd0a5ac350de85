// Deliberate mistakes with IPv6 prefixes, and what detects them: only some seeds have IPv6.
import type { Mutant } from './mutant.ts';

const seeds = '4,7,9,16,32,35,48,50,52,55,3,12,15,22,23,54,59,186';

const one = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  edits: [{ file, from, to }],
  seeds,
});

export const ipv6Mutants: readonly Mutant[] = [
  one(
    'an IPv6 prefix that was refused is never asked for again',
    'node/allocate/pool-maintainer.ts',
    '.finally(() => {\n        this.#waiting[kind]--;',
    ".finally(() => {\n        if (kind !== 'allocateIpv6Prefix') this.#waiting[kind]--;",
  ),
  one(
    'an IPv6 prefix is asked for again after a lost answer',
    'providers/aws/perform.ts',
    'allocateIpv6Prefix,\n  releaseIPs: release,',
    "allocateIpv6Prefix: (call: Call, operation: AllocateIpv6Prefix) =>\n    allocateIpv6Prefix(call, operation).then((outcome) =>\n      outcome.kind === 'done' ? outcome : allocateIpv6Prefix(call, operation),\n    ),\n  releaseIPs: release,",
  ),
  one(
    'IPv6 prefixes are withdrawn with addresses of IPv4',
    'providers/aws/cilium-node-section.ts',
    'isShown(prefix) && !context.excluded.has(prefix)),',
    'isShown(prefix) && context.excluded.size === 0),',
  ),
  one(
    'IPv4 waits for the IPv6 prefix',
    'node/allocate/prepare-ip-allocation.ts',
    'this.#missing = Math.max(0, Math.min(need.wanted - coming, this.#max));',
    "this.#missing = need.ipv6 === 'wanted' ? 0 : Math.max(0, Math.min(need.wanted - coming, this.#max));",
  ),
  one(
    'an interface is idle whatever IPv6 prefix it has',
    'node/release/idle-interfaces.ts',
    'return secondaryAssignments(item).length === 0 &&',
    'return secondaryAssignments({ ...item, ipv6Prefixes: [] }).length === 0 &&',
  ),
  one(
    'a node with an IPv6 prefix adopts an interface with another',
    'node/allocate/prepare-ip-allocation.ts',
    '(item.ipv6Prefixes === undefined || mayBringIpv6(this.#facts, this.steps))',
    "(item.ipv6Prefixes === undefined || item.id !== '')",
  ),
  {
    name: 'an IPv6 prefix counts on an interface that is excluded by its tags',
    edits: [
      {
        file: 'node/demand/ipv6.ts',
        from: 'exclusionOf(item, requirements) !== undefined ? none : ipv6Prefixes',
        to: 'exclusionOf(item, { ...requirements, excludeInterfaceTags: {} }) !== undefined\n      ? none\n      : ipv6Prefixes',
      },
    ],
    seeds: 'ipv6-excluded-by-tags.json',
  },
  one(
    'members of others are dropped beside IPv6 prefixes',
    'node/publish/status-section.ts',
    'const merged = ours === undefined ? before : mergedField',
    'const merged = ours === undefined ? undefined : mergedField',
  ),
];
