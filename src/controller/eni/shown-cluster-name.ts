// Decides which name instances give their cluster by a tag. A wrong name would hand interfaces of another cluster to the
// collection, so only one name on all of those that carry the tag counts. Pure.
import { acceptedNames, isClusterName } from '../../config/cluster-name.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';

/** The read of a tag. */
export interface ReadTag {
  readonly key: string;
  /** Instances that Nodes name. Agents cannot write Nodes, and instances that no Node names may be those of any cluster. */
  readonly asked: readonly string[];
  /** The values of the tag, of each of them that the cloud shows. */
  readonly shown: ReadonlyMap<string, readonly string[]>;
}

export type ShownClusterName =
  /** `instances`: how many say so. */
  | { readonly kind: 'found'; readonly name: string; readonly instances: number }
  | { readonly kind: 'none'; readonly problem: string; readonly remedy: string };

const sayIt = 'set --cluster-name to the name itself';

export function shownClusterName({ key, asked, shown }: ReadTag): ShownClusterName {
  const said = [...shown].flatMap(([id, values]) => values.map((value) => ({ id, value })));
  const byName = Map.groupBy(said, ({ value }) => value);
  const [first] = byName;
  if (first === undefined) return without({ key, asked, shown });
  const odd = said.find(({ value }) => !isClusterName(value));
  if (odd !== undefined) {
    const found = odd.value === '' ? 'is empty' : `is ${inQuotes(odd.value)}, which is no name of a cluster`;
    return none(`the tag ${key} of ${odd.id} ${found}`, `${sayIt}: ${acceptedNames}`);
  }
  if (byName.size > 1)
    return none(
      `instances of its Nodes carry ${byName.size} names in the tag ${key}: ${namesInWords(byName)}`,
      `${sayIt}, or delete the Nodes of another cluster`,
    );
  const [name, ofName] = first;
  return { kind: 'found', name, instances: new Set(ofName.map(({ id }) => id)).size };
}

function without({ key, asked, shown }: ReadTag): ShownClusterName {
  if (asked.length === 0)
    return none(
      'no Node names an instance by its provider ID',
      `wait until the first Node has joined, or ${sayIt}`,
    );
  if (shown.size === 0)
    return none(
      `the cloud shows none of the instances that Nodes name (${someOf(asked)})`,
      `correct the region and the account, or ${sayIt}`,
    );
  return none(
    `none of the instances that Nodes name carries the tag ${key} (${someOf([...shown.keys()])})`,
    `${sayIt}, unless the tag is about to come: EKS sets it on the instances that join`,
  );
}

function none(problem: string, remedy: string): ShownClusterName {
  return { kind: 'none', problem, remedy };
}

function namesInWords(byName: ReadonlyMap<string, readonly { readonly id: string }[]>): string {
  const words = [...byName]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, ofName]) => `${inQuotes(name)} on ${someOf(ofName.map(({ id }) => id))}`);
  return listed(words, 4);
}

/** Names of instances shown. */
const maxShown = 3;

function someOf(ids: readonly string[]): string {
  return listed(ids.toSorted(), maxShown);
}

function listed(words: readonly string[], max: number): string {
  const more = words.length - max;
  return `${words.slice(0, max).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function inQuotes(value: string): string {
  return JSON.stringify(sanitizedText(value, 130));
}
