// Validates the fixed fields of a CiliumNode. cilium-node-entries.ts reads the maps that the agent or we fill (pool,
// used, releases, interfaces): one bad entry there must not block the node.
import * as z from 'zod';
import { cidrWording, isCidr } from './addresses.ts';
import type { AllocatedPool, EniSpec, IpamSpec, RequestedPool, Tags } from './cilium-node.ts';
import { isObject, type JsonObject } from '../transport/json.ts';

/** The largest 32-bit integer; the API server accepts more, but only a typo asks for it. */
const largestCount = 2 ** 31 - 1;

/** No instance has a higher device index, so a higher one would never yield an interface. */
const largestDeviceIndex = 255;

function wholeNumber(most: number): z.ZodType<number> {
  const wording = `a whole number from 0 to ${most}`;
  return z
    .number(wording)
    .refine((value) => Number.isInteger(value) && value >= 0 && value <= most, wording)
    .nullish()
    .transform((value) => value ?? 0);
}

const count = wholeNumber(largestCount);

const identity = z.string('a text that is not empty').min(1, 'a text that is not empty');

const text = z
  .string('a text')
  .nullish()
  .transform((value) => value || undefined);

/** Goes into calls about many nodes at once: its text must not match other nodes or break the call. */
const cloudNameWording = 'a text of at most 512 characters without spaces and wildcards';
const cloudName = z
  .string('a text')
  .regex(/^[^\s*?\\\p{C}]{0,512}$/u, cloudNameWording)
  .nullish()
  .transform((value) => value || undefined);

const flag = (byDefault: boolean): z.ZodType<boolean> =>
  z
    .boolean('true or false')
    .nullish()
    .transform((value) => value ?? byDefault);

const texts = z
  .array(z.string('a text'), 'a list of texts')
  .nullish()
  .transform((value): readonly string[] => value ?? noTexts);

const tags = z
  .custom<Tags>(isObject, 'a map of texts')
  .superRefine((value, context) => {
    for (const [name, tag] of Object.entries<unknown>(value)) {
      if (typeof tag !== 'string') context.addIssue({ code: 'custom', path: [name], message: 'a text' });
    }
  })
  .nullish()
  .transform((value) => value ?? noTags);

const map = z
  .custom<JsonObject>(isObject, 'a map')
  .nullish()
  .transform((value) => value ?? undefined);

const noTexts: readonly string[] = Object.freeze([]);
const noTags: Tags = Object.freeze({});

const requested = z
  .object(
    {
      pool: identity,
      needed: z.object({ 'ipv4-addrs': count, 'ipv6-addrs': count }, 'an object').nullish(),
    },
    'an object',
  )
  .transform(
    ({ pool, needed }): RequestedPool => ({
      pool,
      ipv4: needed?.['ipv4-addrs'] ?? 0,
      ipv6: needed?.['ipv6-addrs'] ?? 0,
    }),
  );

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

const eni = z
  .object(
    {
      'instance-id': cloudName,
      'instance-type': cloudName,
      'vpc-id': cloudName,
      'availability-zone': cloudName,
      'node-subnet-id': cloudName,
      'first-interface-index': wholeNumber(largestDeviceIndex),
      'security-groups': texts,
      'security-group-tags': tags,
      'subnet-ids': texts,
      'subnet-tags': tags,
      'exclude-interface-tags': tags,
      'delete-on-termination': flag(true),
      'use-primary-address': flag(false),
      'disable-prefix-delegation': flag(false),
    },
    'an object',
  )
  .transform((spec) => ({ instanceId: spec['instance-id'], section: eniSpec(spec) }));

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

/** Its messages say what is accepted, in the format of field-problem.ts. */
export const ciliumNodeSchema = z.object(
  {
    metadata,
    spec: z.object(
      {
        'instance-id': cloudName,
        ipam: ipam.nullish().transform((spec) => spec ?? noIpam),
        eni: eni.nullish(),
      },
      'an object',
    ),
    status: z
      .object(
        {
          eni: z.object({ enis: map }, 'an object').nullish(),
          ipam: z.object({ used: map, 'release-ips': map }, 'an object').nullish(),
        },
        'an object',
      )
      .nullish(),
  },
  'an object',
);

export type CiliumNodeFields = z.infer<typeof ciliumNodeSchema>;

interface EniFields {
  readonly 'instance-type': string | undefined;
  readonly 'vpc-id': string | undefined;
  readonly 'availability-zone': string | undefined;
  readonly 'node-subnet-id': string | undefined;
  readonly 'first-interface-index': number;
  readonly 'security-groups': readonly string[];
  readonly 'security-group-tags': Tags;
  readonly 'subnet-ids': readonly string[];
  readonly 'subnet-tags': Tags;
  readonly 'exclude-interface-tags': Tags;
  readonly 'delete-on-termination': boolean;
  readonly 'use-primary-address': boolean;
  readonly 'disable-prefix-delegation': boolean;
}

function eniSpec(spec: EniFields): EniSpec {
  return {
    instanceType: spec['instance-type'],
    vpcId: spec['vpc-id'],
    availabilityZone: spec['availability-zone'],
    nodeSubnetId: spec['node-subnet-id'],
    firstInterfaceIndex: spec['first-interface-index'],
    securityGroups: spec['security-groups'],
    securityGroupTags: spec['security-group-tags'],
    subnetIds: spec['subnet-ids'],
    subnetTags: spec['subnet-tags'],
    excludeInterfaceTags: spec['exclude-interface-tags'],
    deleteOnTermination: spec['delete-on-termination'],
    usePrimaryAddress: spec['use-primary-address'],
    disablePrefixDelegation: spec['disable-prefix-delegation'],
  };
}
