// A cloud may answer an id in another case from call to call. Agents compare ids as text, so that each stays as it is
// published.
import { memberOf } from '../kubernetes/transport/json.ts';
import type { CiliumNodeSection } from '../providers/contract/cilium-node-section.ts';
import type { InstanceOwnership } from './claims/instance-ownership.ts';
import type { NodeEntry } from './node-entry.ts';

/**
 * Hands the cloud's section the ids of all CiliumNodes, because one may be served only after the cloud was read. Those of
 * verified nodes count first.
 */
export function keepSpellings(
  section: CiliumNodeSection,
  entries: Iterable<Pick<NodeEntry, 'newest'>>,
  ownership: Pick<InstanceOwnership, 'isVerified'>,
): void {
  if (section.keepSpelling === undefined) return;
  const published = [...entries].flatMap(({ newest }) => (newest?.kind === 'node' ? [newest.node] : []));
  const { verified = [], others = [] } = Object.groupBy(published, ({ name, instanceId = '' }) =>
    ownership.isVerified(name, instanceId) ? 'verified' : 'others',
  );
  for (const { base } of [...verified, ...others]) section.keepSpelling(memberOf(base.status, section.key));
}
