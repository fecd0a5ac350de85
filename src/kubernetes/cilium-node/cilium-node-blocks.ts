// Reads of a CiliumNode what matters for blocks: who it is, which blocks it shows, and who owns it. Anyone who may write one
// may write anything into it, so every field is bounded, and none is trusted to be what it should.
import { isIgnored, isKept, type ObjectIdentity, readIdentity } from '../object-identity.ts';
import { isList, type JsonObject, listAt, memberOf, textAt, valueAt } from '../../runtime/json.ts';

export interface CiliumNodeBlocks extends ObjectIdentity {
  /** The owner asks on this object that it is ignored. */
  readonly isIgnored: boolean;
  /** The owner asks that it is kept although its machine is gone. */
  readonly isKept: boolean;
  /** `spec.ipam.podCIDRs`, any text. More entries than `maxBlocksRead` are cut off, except for one. */
  readonly podCidrs: readonly string[];
  /** Why `podCidrs` lacks something; undefined if it does not. */
  readonly problem: string | undefined;
  readonly operatorError: string | undefined;
  /** Whether anything owns it: Kubernetes then deletes it with its owner. */
  readonly isOwned: boolean;
  /** Uid of the Node in the owner reference. */
  readonly nodeUid: string | undefined;
}

/** Entries and characters of an entry. Agents use one CIDR of each family. */
const maxBlocksRead = { entries: 17, characters: 80 };
const maxErrorCharacters = 2000;

export function readCiliumNodeBlocks(raw: JsonObject): CiliumNodeBlocks {
  const owners = listAt(raw, 'metadata', 'ownerReferences');
  const node = owners.find((owner) => memberOf(owner, 'kind') === 'Node');
  const error = textAt(raw, 'status', 'ipam', 'operator-status', 'error');
  return {
    ...readIdentity(raw),
    isIgnored: isIgnored(raw),
    isKept: isKept(raw),
    ...podCidrsOf(raw),
    operatorError: error === '' ? undefined : error?.slice(0, maxErrorCharacters),
    isOwned: owners.length > 0,
    nodeUid: textAt(node, 'uid'),
  };
}

function podCidrsOf(raw: JsonObject): Pick<CiliumNodeBlocks, 'podCidrs' | 'problem'> {
  const list = valueAt(raw, 'spec', 'ipam', 'podCIDRs') ?? [];
  if (!isList(list)) return { podCidrs: [], problem: 'spec.ipam.podCIDRs is not a list' };
  const read = list.slice(0, maxBlocksRead.entries);
  const texts = read.flatMap((entry) =>
    typeof entry === 'string' ? [entry.slice(0, maxBlocksRead.characters)] : [],
  );
  const problem = texts.length === read.length ? undefined : 'spec.ipam.podCIDRs holds what is no text';
  return { podCidrs: texts, problem };
}
