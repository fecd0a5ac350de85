// Asks the cloud what instances of a type can hold that no node of the cluster has.
import { isCloudMode } from '../../config/clouds/clouds.ts';
import type { RawFlags } from '../../config/raw-option.ts';
import type { InstanceLimits } from '../../providers/contract/facts.ts';
import { askCloud, problemWithCloud } from '../cloud-access.ts';
import { optionsAmong } from '../flag-values.ts';
import { cloudOptions } from '../plan-description.ts';

/** Resolves to why they are not known, in words. */
export async function readTypeLimits(
  given: RawFlags,
  { type, ipam }: { readonly type: string; readonly ipam: string },
): Promise<InstanceLimits | string> {
  if (!isCloudMode(ipam)) return 'this headwater does not know its cloud';
  const loaded = optionsAmong(new Map([...given, ['ipam', [ipam]]]), ['ipam', ...cloudOptions]);
  if (typeof loaded === 'string') return loaded;
  const { options, outbound } = loaded;
  const warn = (message: string): void => void process.stderr.write(`headwater plan: ${message}\n`);
  try {
    const found = await askCloud({ options, outbound, warn }, ({ implementation }, signal) =>
      implementation.readLimits([type], { caller: { priority: 'high' }, signal }),
    );
    const limits = found.get(type);
    if (limits === undefined) return 'the cloud knows no such type';
    return 'problem' in limits ? `what the cloud says of it cannot be used: ${limits.problem}` : limits;
  } catch (error) {
    return problemWithCloud(error);
  }
}
