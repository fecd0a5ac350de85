// The schema of a topology, field by field, with defaults. Rules across fields are checked elsewhere.
import * as z from 'zod';
import { instanceTypes } from './instance-types.ts';
import { parseIpv4 } from './ipv4.ts';
import { parseIpv6Block } from './ipv6.ts';
import {
  block,
  consistencySection,
  count,
  factor,
  latencySection,
  matching,
  msRange,
  name,
  names,
  section,
  share,
  tags,
  text,
} from './topology-fields.ts';

const ipv6Block = text(
  'expected an IPv6 block such as 2001:db8::/56',
  (value) => parseIpv6Block(value) !== undefined,
);
const ipv6SubnetBlock = text(
  'expected an IPv6 block of /64',
  (value) => parseIpv6Block(value)?.length === 64,
);
const address = text('expected an IPv4 address', (value) => parseIpv4(value) !== undefined);
const zone = matching('expected a zone such as us-east-1a', /^[a-z]{2}(-[a-z]+)+-\d[a-z]$/);
const instanceType = text('expected one of the instance types of instance-types.ts', (value) =>
  instanceTypes.has(value),
);
const account = matching('expected an account number of 12 digits', /^\d{12}$/);
const id = (prefix: string): z.ZodString =>
  matching(
    `expected ${prefix}- and 8 or 17 hexadecimal digits`,
    new RegExp(`^${prefix}-([0-9a-f]{8}|[0-9a-f]{17})$`),
  );

const networkInterface = section({
  subnet: name.optional(),
  deviceIndex: count(1000).optional(),
  cardIndex: count(31).default(0),
  type: z.enum(['interface', 'efa', 'efa-only', 'trunk', 'branch']).default('interface'),
  /** Secondary addresses. */
  addresses: count(63).default(0),
  prefixes: count(63).default(0),
  ipv6Prefixes: count(63).default(0),
  securityGroups: names,
  description: z.string().default(''),
  deleteOnTermination: z.boolean().default(true),
  requesterManaged: z.boolean().default(false),
  tags,
});

/** The whole topology. */
export const topologySchema = section({
  account: account.default('123456789012'),
  region: matching('expected a region such as us-east-1', /^[a-z]{2}(-[a-z]+)+-\d$/).default('us-east-1'),
  seed: z.coerce.string().default('headwater'),
  credentials: z
    .array(
      section({
        accessKeyId: matching('expected 16 to 128 letters, digits or underscores', /^\w{16,128}$/),
        secretAccessKey: z.string().min(1),
        user: name.default('headwater'),
        /** The account of the user, if it is another one. */
        account: account.optional(),
      }),
    )
    .default([
      { accessKeyId: 'AKIAHEADWATEREXAMPLE', secretAccessKey: 'headwater-example-secret', user: 'headwater' },
    ]),
  vpcs: z
    .array(
      section({
        id: id('vpc').optional(),
        name,
        /** Another account that owns it and shares its subnets. */
        owner: account.optional(),
        blocks: z.array(block).min(1),
        ipv6Block: ipv6Block.optional(),
        tags,
      }),
    )
    .min(1, 'expected at least one VPC'),
  subnets: z
    .array(
      section({
        id: id('subnet').optional(),
        name,
        vpc: name.optional(),
        zone,
        block,
        ipv6Block: ipv6SubnetBlock.optional(),
        /** The Outpost that contains it; if absent, it is in the zone itself. */
        outpost: name.optional(),
        reservations: z
          .array(
            section({ block, type: z.enum(['explicit', 'prefix']), description: z.string().default('') }),
          )
          .default([]),
        tags,
      }),
    )
    .min(1, 'expected at least one subnet'),
  routeTables: z
    .array(section({ id: id('rtb').optional(), name, vpc: name.optional(), subnets: names, tags }))
    .default([]),
  securityGroups: z
    .array(
      section({
        id: id('sg').optional(),
        name,
        vpc: name.optional(),
        description: z.string().default('-'),
        tags,
      }),
    )
    .default([]),
  publicAddresses: z
    .array(section({ address: address.optional(), count: count(1000).default(1), tags }))
    .default([]),
  instances: z
    .array(
      section({
        id: id('i').optional(),
        name,
        type: instanceType,
        subnet: name,
        count: count(100_000).default(1),
        /** Secondary addresses of the primary interface. */
        addresses: count(63).default(0),
        prefixes: count(63).default(0),
        ipv6Prefixes: count(63).default(0),
        securityGroups: names,
        interfaces: z.array(networkInterface).default([]),
        tags,
      }),
    )
    .default([]),
  limits: section({
    /** Whether requests are throttled. */
    throttle: z.boolean().default(true),
    /** Multiplies the size and the refill of every bucket. */
    scale: factor.default(1),
    /** Whether unpaginated listings without filters are rejected, as for very large accounts. */
    refuseUnpaginated: z.boolean().default(false),
  }).prefault({}),
  latency: latencySection,
  consistency: consistencySection,
  times: section({
    attachMs: msRange.prefault({ min: 1000, max: 3000 }),
    detachMs: msRange.prefault({ min: 2000, max: 3000 }),
    startMs: msRange.prefault({ min: 5000, max: 20_000 }),
    stopMs: msRange.prefault({ min: 5000, max: 20_000 }),
    terminateMs: msRange.prefault({ min: 5000, max: 20_000 }),
    /** How long a terminated instance is still listed. */
    terminatedVisibleMs: msRange.prefault(3_600_000),
  }).prefault({}),
  /** Chance that a recently freed address is handed out before any other. */
  reuse: share.default(0.3),
});

/** A topology with all defaults set. */
export type Topology = z.output<typeof topologySchema>;
/** An interface besides the primary one. */
export type InterfacePlan = z.output<typeof networkInterface>;
