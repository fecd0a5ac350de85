// Validates the fixed fields of a CiliumNode outside its cloud's section. cilium-node-entries.ts reads the maps that the
// agent or we fill (pool, used, releases): one bad entry there must not block the node.
import * as z from 'zod';
import { isIPv4, isIPv6 } from 'node:net';
import {
  cidrWording,
  cloudName,
  noTexts,
  tags,
  wholeNumber,
} from '../../providers/section/section-fields.ts';
import type { AllocatedPool, IpamSpec, RequestedPool } from './cilium-node.ts';
import { isObject, type JsonObject } from '../../runtime/json.ts';

/** The largest 32-bit integer; the API server accepts more, but only a typo asks for it. */
const largestCount = 2 ** 31 - 1;

const count = wholeNumber(largestCount);

/** A fault in a demand for IPv6 costs the node no IPv4: the demand is left out, and read again for a warning. */
export function readCount(value: unknown): number | undefined {
  const read = count.safeParse(value);
  return read.success ? read.data : undefined;
}

export const countWording = `a whole number from 0 to ${largestCount}`;

const identity = z.string('a text that is not empty').min(1, 'a text that is not empty');

const text = z
  .string('a text')
  .nullish()
  .transform((value) => value || undefined);

const map = z
  .custom<JsonObject>(isObject, 'a map')
  .nullish()
  .transform((value) => value ?? undefined);

const requested = z
  .object(
    {
      pool: identity,
      needed: z.object({ 'ipv4-addrs': count, 'ipv6-addrs': z.unknown().optional() }, 'an object').nullish(),
    },
    'an object',
  )
  .transform(
    ({ pool, needed }): RequestedPool => ({
      pool,
      ipv4: needed?.['ipv4-addrs'] ?? 0,
      ipv6: readCount(needed?.['ipv6-addrs']) ?? 0,
    }),
  );

/**
 * Whether `text` is an IPv4 or IPv6 address with a prefix length. Host bits may be set. It is strict: Go, and so Cilium, rejects
 * leading zeros, and some parsers read 010.0.0.1 as 8.0.0.1.
 */
export function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  const [address, length] = [text.slice(0, Math.max(0, slash)), text.slice(slash + 1)];
  if (slash < 0 || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return false;
  if (isIPv4(address)) return Number(length) <= 32;
  return isIPv6(address) && !address.includes('%') && Number(length) <= 128;
}

/** Validated in one pass: an agent may hold hundreds of CIDRs, each a single address. */
const cidrList = z
  .custom<readonly string[]>(Array.isArray, 'a list')
  .superRefine((items: readonly unknown[], context) => {
    for (const [index, item] of items.entries()) {
      if (typeof item !== 'string' || !isCidr(item))
        context.addIssue({ code: 'custom', path: [index], message: cidrWording });
    }
  });

const allocated = z
  .object({ pool: identity, cidrs: cidrList.nullish() }, 'an object')
  .transform(({ pool, cidrs }): AllocatedPool => ({ pool, cidrs: cidrs ?? noTexts }));

const pools = z.object(
  {
    requested: z.array(requested, 'a list').nullish(),
    allocated: z.array(allocated, 'a list').nullish(),
  },
  'an object',
);

const ipam = z
  .object(
    {
      pool: map,
      'pre-allocate': count,
      'min-allocate': count,
      'max-allocate': count,
      'max-above-watermark': count,
      pools: pools.nullish(),
      'static-ip-tags': tags,
    },
    'an object',
  )
  .transform((spec) => ({
    pool: spec.pool,
    settings: {
      preAllocate: spec['pre-allocate'],
      minAllocate: spec['min-allocate'],
      maxAllocate: spec['max-allocate'],
      maxAboveWatermark: spec['max-above-watermark'],
      requested: spec.pools?.requested ?? [],
      allocated: spec.pools?.allocated ?? [],
      staticIpTags: spec['static-ip-tags'],
    } satisfies Omit<IpamSpec, 'pool'>,
  }));

const noIpam = ipam.parse({});

const metadata = z.object(
  {
    name: identity,
    uid: identity,
    resourceVersion: identity,
    creationTimestamp: text,
    deletionTimestamp: text,
    annotations: map,
    ownerReferences: z
      .array(z.object({ kind: z.string('a text'), uid: z.string('a text') }, 'an object'), 'a list')
      .nullish(),
  },
  'an object',
);

/** The schema of a CiliumNode. Messages name the accepted values, in the format of field-problem.ts. */
export const ciliumNodeSchema = z.object(
  {
    metadata,
    spec: z.object(
      {
        'instance-id': cloudName,
        ipam: ipam.nullish().transform((spec) => spec ?? noIpam),
      },
      'an object',
    ),
    status: z
      .object(
        {
          ipam: z.object({ used: map, 'release-ips': map }, 'an object').nullish(),
        },
        'an object',
      )
      .nullish(),
  },
  'an object',
);

export type CiliumNodeFields = z.infer<typeof ciliumNodeSchema>;
