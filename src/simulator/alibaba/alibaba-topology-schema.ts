// The schema of a topology of Alibaba Cloud, field by field, with defaults. Rules across fields are checked elsewhere.
import * as z from 'zod';
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
} from '../cloud/topology-fields.ts';
import { ecsInstanceTypes, maxSecondaryAddresses } from './ecs-instance-types.ts';

const id = (prefix: string): z.ZodString =>
  matching(`expected ${prefix}- and letters or digits`, new RegExp(`^${prefix}-[0-9a-z]{1,40}$`));
const zone = matching('expected a zone such as cn-hangzhou-a', /^[a-z]{2}(-[a-z]+)+(-\d)?-?[a-z]$/);
const instanceType = text('expected one of the instance types of ecs-instance-types.ts', (value) =>
  ecsInstanceTypes.has(value),
);
const secondary = count(maxSecondaryAddresses).default(0);

const networkInterface = section({
  vSwitch: name.optional(),
  /** Secondary addresses. */
  addresses: secondary,
  securityGroups: names,
  name: z.string().default(''),
  description: z.string().default(''),
  deleteOnRelease: z.boolean().default(true),
  serviceManaged: z.boolean().default(false),
  tags,
});

/** The whole topology. */
export const alibabaTopologySchema = section({
  cloud: z.literal('alibabacloud'),
  account: matching('expected an account number of 16 digits', /^\d{16}$/).default('1234567890123456'),
  region: matching('expected a region such as cn-hangzhou', /^[a-z]{2}(-[a-z]+)+(-\d)?$/).default(
    'cn-hangzhou',
  ),
  seed: z.coerce.string().default('headwater'),
  credentials: z
    .array(
      section({
        accessKeyId: matching('expected 8 to 64 letters or digits', /^[\w.]{8,64}$/),
        accessKeySecret: z.string().min(1),
        user: name.default('headwater'),
        /** Only of temporary keys. */
        securityToken: z.string().min(1).optional(),
        /** Actions such as `ecs:DescribeInstances`; without them it may do everything. */
        actions: z.array(matching('expected product:Action', /^(ecs|vpc):[A-Za-z]+$/)).optional(),
      }),
    )
    .default([
      { accessKeyId: 'LTAIHEADWATEREXAMPLE', accessKeySecret: 'headwater-example-secret', user: 'headwater' },
    ]),
  vpcs: z
    .array(section({ id: id('vpc').optional(), name, blocks: z.array(block).min(1), tags }))
    .min(1, 'expected at least one VPC'),
  vSwitches: z
    .array(section({ id: id('vsw').optional(), name, vpc: name.optional(), zone, block, tags }))
    .min(1, 'expected at least one vSwitch'),
  securityGroups: z
    .array(
      section({
        id: id('sg').optional(),
        name,
        vpc: name.optional(),
        description: z.string().default(''),
        tags,
      }),
    )
    .default([]),
  instances: z
    .array(
      section({
        id: id('i').optional(),
        name,
        type: instanceType,
        vSwitch: name,
        count: count(100_000).default(1),
        /** Secondary addresses of the primary interface. */
        addresses: secondary,
        /** The VPC's default group if empty. */
        securityGroups: names,
        interfaces: z.array(networkInterface).default([]),
        tags,
      }),
    )
    .default([]),
  limits: section({
    /** Whether requests are throttled. */
    throttle: z.boolean().default(true),
    /** Multiplies every limit. */
    scale: factor.default(1),
  }).prefault({}),
  latency: latencySection,
  consistency: consistencySection,
  times: section({
    /** From the creation of an interface until it is Available. */
    createMs: msRange.prefault({ min: 0, max: 1000 }),
    attachMs: msRange.prefault({ min: 3000, max: 10_000 }),
    detachMs: msRange.prefault({ min: 2000, max: 5000 }),
    deleteMs: msRange.prefault({ min: 500, max: 3000 }),
    startMs: msRange.prefault({ min: 5000, max: 20_000 }),
    stopMs: msRange.prefault({ min: 5000, max: 20_000 }),
    /** From the release of an instance until it is gone. */
    releaseMs: msRange.prefault({ min: 5000, max: 20_000 }),
  }).prefault({}),
  /** Chance that a recently freed address is handed out before any other. */
  reuse: share.default(0.3),
});

/** A topology with all defaults set. */
export type AlibabaTopology = z.output<typeof alibabaTopologySchema>;
/** An interface besides the primary one. */
export type InterfacePlan = z.output<typeof networkInterface>;
