// Reads the prefixes of primary interfaces: EC2 routes what it assigns to an interface to that interface
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-prefix-eni.html).
import type { Ec2NetworkInterface } from './ec2-api.ts';
import type { Reading } from './read-list.ts';
import { interfacesOf } from './read.ts';
import { readInstances } from './read-instances.ts';
import { holderOf, spoilageOf } from './network-interface.ts';
import type { DescribedInstances } from '../reading/described-instances.ts';
import { refuseUnrequested } from '../reading/plausible.ts';

export type InstancePrefixes =
  /** Prefixes as EC2 writes them, IPv4 first, in EC2's order; empty if the interface has none. */
  | { readonly kind: 'shown'; readonly prefixes: readonly string[] }
  /** EC2 shows no such instance, although it answers. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'terminated' }
  /** The answer does not show its primary interface as EC2 shows one. */
  | { readonly kind: 'unclear'; readonly problem: string };

/** An entry for each instance. Rejects with a CloudError. `ids`: at most 200, in EC2's form. */
export async function readPrefixes(
  from: Pick<Reading, 'client' | 'context'>,
  ids: readonly string[],
  pageSize: number,
): Promise<ReadonlyMap<string, InstancePrefixes>> {
  const found = new Map<string, InstancePrefixes>();
  for await (const { shown } of interfacesOf(from, ids, { pageSize, tolerance: 'few' }))
    for (const item of shown) {
      const holder = holderOf(item);
      if (holder !== undefined && isPrimary(item)) found.set(holder, prefixesOn(item));
    }
  const unseen = ids.filter((id) => !found.has(id));
  if (unseen.length === 0) return found;
  const filters = [{ Name: 'instance-id', Values: unseen }];
  const { described } = await readInstances(from, filters, pageSize);
  refuseUnrequested('DescribeInstances', unseen, [...described.ids], (id) => id);
  for (const id of unseen) found.set(id, withoutInterface(described, id));
  return found;
}

function withoutInterface(described: DescribedInstances, id: string): InstancePrefixes {
  const problem = described.problemWith(id);
  if (problem !== undefined) return { kind: 'unclear', problem };
  const state = described.stateOf(id);
  if (state === undefined) return { kind: 'missing' };
  if (state === 'terminated' || state === 'terminating') return { kind: 'terminated' };
  return { kind: 'unclear', problem: `EC2 shows it as ${state}, and without a primary interface` };
}

function isPrimary({ Attachment: attachment }: Ec2NetworkInterface): boolean {
  return attachment?.DeviceIndex === 0 && (attachment.NetworkCardIndex ?? 0) === 0;
}

function prefixesOn(shown: Ec2NetworkInterface): InstancePrefixes {
  const spoilage = spoilageOf(shown);
  if (spoilage !== undefined) return { kind: 'unclear', problem: `of its primary interface, ${spoilage}` };
  const ofIpv4 = (shown.Ipv4Prefixes ?? []).map(({ Ipv4Prefix }) => Ipv4Prefix ?? '');
  const ofIpv6 = (shown.Ipv6Prefixes ?? []).map(({ Ipv6Prefix }) => Ipv6Prefix ?? '');
  const wrong = ofIpv6.find((prefix) => !prefix.endsWith('/80'));
  if (wrong !== undefined)
    return {
      kind: 'unclear',
      problem: `of its primary interface, ${JSON.stringify(wrong)} is not an IPv6 /80 prefix`,
    };
  return { kind: 'shown', prefixes: [...ofIpv4, ...ofIpv6] };
}
