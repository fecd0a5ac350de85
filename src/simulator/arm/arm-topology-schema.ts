// The schema of a topology of Azure, field by field, with defaults. Rules across fields are checked elsewhere.
import * as z from 'zod';
import {
  block,
  count,
  factor,
  latencySection,
  matching,
  msRange,
  name,
  section,
  share,
  tags,
} from '../cloud/topology-fields.ts';

const guid = matching(
  'expected a GUID such as 00000000-0000-0000-0000-000000000001',
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
);
/** The place of a resource. A part that is left out means the first one of the topology. */
const place = {
  subscription: guid.optional(),
  group: name.optional(),
};

const networkInterface = section({
  name,
  /** `network/subnet`, or the subnet alone where one network has it. */
  subnet: matching('expected a subnet, or network/subnet', /^[\w.-]+(\/[\w.-]+)?$/),
  /** Configurations besides the primary one. */
  addresses: count(255).default(0),
  securityGroup: name.optional(),
  applicationSecurityGroups: z.array(name).default([]),
  /** `loadBalancer/pool`. */
  loadBalancerPools: z.array(z.string()).default([]),
  publicAddress: z.boolean().default(false),
  tags,
});

const machine = {
  name,
  ...place,
  size: name.default('Standard_D4s_v5'),
  count: count(100_000).default(1),
  zones: z.array(z.string()).default([]),
  /** The image's id, as of a gallery; a marketplace image by default. */
  image: z.string().optional(),
  interfaces: z.array(networkInterface).min(1, 'expected at least one interface'),
  tags,
};

/** The whole topology. */
export const armTopologySchema = section({
  cloud: z.literal('azure'),
  seed: z.coerce.string().default('headwater'),
  location: matching('expected a location such as westeurope', /^[a-z0-9]+$/).default('westeurope'),
  environment: z
    .enum(['AzurePublicCloud', 'AzureUSGovernmentCloud', 'AzureChinaCloud'])
    .default('AzurePublicCloud'),
  tenant: guid.default('00000000-0000-0000-0000-0000000000aa'),
  subscriptions: z
    .array(section({ id: guid, groups: z.array(name).min(1, 'expected at least one resource group') }))
    .min(1, 'expected at least one subscription')
    .default([{ id: '00000000-0000-0000-0000-000000000001', groups: ['nodes'] }]),
  /** Who may ask for tokens: by secret, by a federated token, or as an identity of the machines. */
  principals: z
    .array(
      section({
        name,
        clientId: guid,
        secret: z.string().min(1).optional(),
        federated: z.boolean().default(false),
        identity: z.boolean().default(false),
        /** Without roles it may do everything. */
        roles: z
          .array(
            section({
              scope: z.string().startsWith('/'),
              actions: z.array(z.string()).min(1),
              notActions: z.array(z.string()).optional(),
            }),
          )
          .optional(),
      }),
    )
    .default([
      {
        name: 'headwater',
        clientId: '00000000-0000-0000-0000-0000000000cc',
        secret: 'headwater-example-secret',
        federated: true,
        identity: true,
      },
    ]),
  virtualNetworks: z
    .array(
      section({
        name,
        ...place,
        blocks: z.array(block).min(1),
        subnets: z
          .array(
            section({
              name,
              block,
              listed: z.boolean().default(false),
              /** Prefixes that are listed before the block, and of which nothing is used. */
              otherPrefixes: z.array(z.string()).default([]),
            }),
          )
          .min(1, 'expected at least one subnet'),
      }),
    )
    .min(1, 'expected at least one virtual network'),
  publicIpPrefixes: z.array(section({ name, ...place, block, tags })).default([]),
  scaleSets: z
    .array(section({ ...machine, mode: z.enum(['Uniform', 'Flexible']).default('Uniform') }))
    .default([]),
  machines: z.array(section(machine)).default([]),
  limits: section({
    /** Whether requests are throttled. */
    throttle: z.boolean().default(true),
    /** Multiplies the size and the refill of every limit. */
    scale: factor.default(1),
  }).prefault({}),
  latency: latencySection,
  consistency: section({
    /** How far a listing lags behind. */
    listingLagMs: msRange.prefault({ min: 0, max: 1000 }),
    /** Chance that a page is cut short although more follows. */
    shortPages: share.default(0),
  }).prefault({}),
  times: section({
    /** From the PUT of an instance of a scale set until its operation ends. */
    machineMs: msRange.prefault({ min: 10_000, max: 60_000 }),
    /** From the PUT of an interface until its operation ends. */
    interfaceMs: msRange.prefault({ min: 3000, max: 20_000 }),
    startMs: msRange.prefault({ min: 20_000, max: 60_000 }),
    deallocateMs: msRange.prefault({ min: 20_000, max: 60_000 }),
    deleteMs: msRange.prefault({ min: 10_000, max: 60_000 }),
  }).prefault({}),
  /** The answer to a change. */
  operations: section({
    headers: z.enum(['asyncOperation', 'location', 'both']).default('both'),
    /** Retry-After in whole seconds; none if 0. */
    retryAfter: count(600).default(10),
    /** When an instance of a scale set is told that its subnet is full. */
    fullSubnet: z.enum(['atOnce', 'atTheEnd']).default('atOnce'),
  }).prefault({}),
  /** The most configurations that a machine may have on all its interfaces together. */
  configurationsPerMachine: count(4096).min(1).default(256),
  /** The versions of the API that it has; all if empty. */
  apiVersions: z.array(z.string()).default([]),
  /** Results of a page. */
  pageSize: count(1000).min(1).default(100),
  /** Chance that an id in an answer is spelled in another case. */
  respelled: share.default(0),
  /** Chance that a recently freed address is handed out before any other. */
  reuse: share.default(0.3),
});

/** A topology with all defaults set. */
export type ArmTopology = z.output<typeof armTopologySchema>;
export type MachinePlan = ArmTopology['machines'][number];
export type InterfacePlan = z.output<typeof networkInterface>;
