// Decides whether a dry run says to go live: it does unless something would not be served. Pure.

export interface DryRunVerdict {
  readonly verdict: 'go' | 'no-go';
  /** The verdict and its reasons, in a sentence. */
  readonly sentence: string;
  /** Known nodes, and those of which everything that matters is read. */
  readonly nodes: { readonly total: number; readonly read: number };
  /** Nodes that would not be served, counted by reason. */
  readonly notServed: Readonly<Record<string, number>>;
}

/** `denied`: permissions. `otherwise`: nodes where another program decided otherwise. */
export function verdictOn(
  facts: Pick<DryRunVerdict, 'nodes' | 'notServed'>,
  { denied, otherwise }: { readonly denied: number; readonly otherwise: number },
): DryRunVerdict {
  const { total, read } = facts.nodes;
  const unserved = Object.entries(facts.notServed).map(
    ([reason, count]) => `${reason} on ${counted(count, 'node')}`,
  );
  const obstacles = [
    ...(total === 0 ? ['no node is known'] : []),
    ...unserved,
    ...(total > read && unserved.length === 0 ? [`${counted(total - read, 'instance')} not read yet`] : []),
    ...(denied > 0 ? [`${counted(denied, 'permission')} denied`] : []),
  ];
  if (obstacles.length > 0) return { verdict: 'no-go', sentence: `no-go: ${obstacles.join(', ')}`, ...facts };
  const look =
    otherwise === 0
      ? ''
      : `, after a look at ${counted(otherwise, 'node')} where another program decided otherwise`;
  return { verdict: 'go', sentence: `go: ${counted(total, 'node')} would be served${look}`, ...facts };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
