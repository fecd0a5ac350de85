// Decides whether a dry run says to go live: it does unless something would not be served. Pure.
import type { NeededAccess } from '../../kubernetes/access/needed-access.ts';

export interface DryRunVerdict {
  readonly verdict: 'go' | 'no-go';
  /** The verdict and its reasons, in a sentence. */
  readonly sentence: string;
  /** Known nodes, and those of which everything that matters is read. */
  readonly nodes: { readonly total: number; readonly read: number };
  /** Nodes that would not be served, counted by reason. */
  readonly notServed: Readonly<Record<string, number>>;
}

/** Findings beside the nodes on which a verdict rests. */
export interface DryRunFindings {
  /** Reasons against going live, beside nodes. */
  readonly obstacles: readonly string[];
  /** Things that somebody has to look at first. */
  readonly looks: readonly string[];
  /** Nodes whose owners ask that they are left alone: they are none of the total. */
  readonly leftAlone?: number;
  /** Told beside every verdict. */
  readonly notes?: readonly string[];
  /** Things that a `go` does not rest on. */
  readonly caveats?: readonly string[];
}

export function verdictOn(
  facts: Pick<DryRunVerdict, 'nodes' | 'notServed'>,
  { obstacles: others, looks, leftAlone = 0, notes = [], caveats = [] }: DryRunFindings,
): DryRunVerdict {
  const { total } = facts.nodes;
  const alone = leftAlone === 0 ? [] : [`${counted(leftAlone, 'node')} left alone`];
  const none = alone.length === 0 ? 'no node is known' : 'no node would be served';
  const obstacles = [...(total === 0 ? [none, ...alone] : []), ...unservedInWords(facts), ...others];
  if (obstacles.length > 0)
    return { verdict: 'no-go', sentence: [`no-go: ${obstacles.join(', ')}`, ...notes].join('; '), ...facts };
  const served = [`${counted(total, 'node')} would be served`, ...alone].join(', ');
  const look = looks.length === 0 ? '' : `, after a look at ${looks.join(' and ')}`;
  return { verdict: 'go', sentence: [`go: ${served}${look}`, ...notes, ...caveats].join('; '), ...facts };
}

function unservedInWords({
  nodes: { total, read },
  notServed,
}: Pick<DryRunVerdict, 'nodes' | 'notServed'>): readonly string[] {
  const unserved = onNodes(notServed);
  return unserved.length > 0 || total === read
    ? unserved
    : [`${counted(total - read, 'instance')} not read yet`];
}

/** Counts by reason, in words. */
export function onNodes(counts: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(counts).map(([reason, count]) => `${reason} on ${counted(count, 'node')}`);
}

/** Permissions that are missing. */
export interface MissingAccess {
  /** In the cloud. */
  readonly denied: number;
  /** In Kubernetes; undefined while nobody has asked. */
  readonly missing: readonly Pick<NeededAccess, 'resource' | 'verb'>[] | undefined;
}

/** Missing permissions that are named. */
const maxNamed = 3;

export function accessInWords({ denied, missing }: MissingAccess): readonly string[] {
  const cloud = denied === 0 ? [] : [`${counted(denied, 'permission')} denied`];
  if (missing === undefined) return [...cloud, 'permissions in Kubernetes not asked yet'];
  if (missing.length === 0) return cloud;
  const named = missing.slice(0, maxNamed).map(({ verb, resource }) => `${verb} ${resource}`);
  const more = missing.length > maxNamed ? [`${missing.length - maxNamed} more`] : [];
  const list = [...named, ...more].join(', ');
  return [...cloud, `${counted(missing.length, 'permission')} in Kubernetes missing (${list})`];
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
