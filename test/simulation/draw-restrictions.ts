// Draws restrictions of nodes and empty lists, from a random source of their own, so that the other faults stay the
// same.
import type { Random } from '../../src/runtime/random.ts';
import type { FaultPlan, ListedKind, TimedFault } from './scenario.ts';

const second = 1000;

export const listedKinds = ['ciliumnodes', 'nodes', 'pods'] as const satisfies readonly ListedKind[];

export function drawRestrictions(random: Random, minutes: number): readonly TimedFault[] {
  const [start, end] = [120 * second, minutes * 60 * second];
  const count = (share: number, max: number): number => (random.chance(share) ? 1 + random.integer(max) : 0);
  const drawn = [
    ...Array.from({ length: count(0.6, 4) }, () => restriction(random)),
    ...Array.from({ length: count(0.4, 3) }, () => emptyList(random)),
  ];
  return drawn.map((fault) => {
    const at = Math.round(start + random.next() * (end - start));
    // A restriction ends early enough for the node to recover.
    return { at, ...fault, for: Math.min(fault.for, end - at) };
  });
}

type Drawn = Extract<FaultPlan, { readonly kind: 'restrict' | 'empty-list' }>;

function restriction(random: Random): Drawn {
  const node = random.next();
  const ms = (120 + random.integer(1800)) * second;
  return random.chance(0.5)
    ? { kind: 'restrict', what: 'first-interface-index', node, for: ms }
    : { kind: 'restrict', what: 'max-allocate', max: 2 + random.integer(8), node, for: ms };
}

/** Shorter than a controller needs to believe an empty list. */
function emptyList(random: Random): Drawn {
  return {
    kind: 'empty-list',
    what: random.pick(listedKinds),
    restart: random.chance(0.5),
    for: (5 + random.integer(300)) * second,
  };
}
