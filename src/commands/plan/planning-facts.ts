// Reads what a plan needs from an answer of /status. A report of another version may have more members.
import * as z from 'zod';
import type { PlanningReport } from '../../controller/reporting/planning-report.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import { answerIn } from '../status/served-report.ts';

const text = z.string().transform((given) => sanitizedText(given, 500));
const tags = z.record(z.string(), z.string());
/** More would only make a plan endless. */
const count = z.int().min(0).max(1e9);
const positive = z.number().min(1e-6);

/** Far beyond what any instance has. */
const few = z.int().min(0).max(1024);
const several = z.int().min(0).max(10_000);

const limits = z.object({
  interfaces: few,
  addressesPerInterface: several,
  addressesPerInstance: several.exactOptional(),
  prefixes: z.boolean(),
  ipv6PerInterface: several.exactOptional(),
});

const requirements = z.object({
  instanceType: text,
  networkId: text,
  podNetworkId: text.exactOptional(),
  zone: text,
  nodeSubnetId: text,
  interfaceName: text.optional(),
  firstInterfaceIndex: few,
  sparesPrimary: z.boolean().exactOptional(),
  securityGroupIds: z.array(text),
  securityGroupTags: tags,
  subnetIds: z.array(text),
  subnetTags: tags,
  strictSubnets: z.boolean().exactOptional(),
  excludeInterfaceTags: tags,
  deleteOnTermination: z.boolean(),
  usePrimaryAddress: z.boolean(),
  prefixDelegation: z.boolean(),
  othersInterfaceTags: tags.exactOptional(),
  sparesOthers: z.boolean().exactOptional(),
});

const limitNames = z.array(text).exactOptional();

const kind = z.object({
  nodes: count,
  example: text,
  requirements,
  watermarks: z.object({
    preAllocate: several,
    minAllocate: several,
    maxAllocate: count,
    maxAboveWatermark: several,
  }),
  limits,
  ipv6: z.boolean(),
  given: z
    .array(
      z.object({
        subnet: text,
        deviceIndex: count,
        name: text.exactOptional(),
        ofOthers: several,
        secured: z.boolean(),
      }),
    )
    .min(1)
    .max(64),
  calls: z.object({
    createInterface: limitNames,
    attachInterface: limitNames,
    allocateIPs: limitNames,
    allocatePrefixes: limitNames,
    allocateIpv6Prefix: limitNames,
  }),
});

const planning: z.ZodType<PlanningReport> = z.object({
  ipam: text,
  interfaces: z.enum(['made', 'given']),
  change: z.enum(['perInterface', 'perInstance']),
  maxPerCall: count.min(1).exactOptional(),
  kinds: z.array(kind),
  routeTables: z.array(z.object({ network: text, subnets: z.array(text) })),
  unreadRouteTables: z
    .record(
      z.string(),
      z.object({ action: text, code: text, message: text, permission: text.exactOptional() }),
    )
    .exactOptional(),
  securityGroups: z.array(z.object({ id: text, networkId: text, tags })),
  subnetTags: z.record(z.string(), tags),
  words: z.object({
    fields: z.object({
      instanceType: text,
      networkId: text,
      zone: text,
      interfaceName: text.exactOptional(),
      securityGroupIds: text,
      securityGroupTags: text,
    }),
    remedies: z.object({ fullSubnets: text, fullInstance: text, unseenInstance: text }),
  }),
});

const subnet = z.object({
  id: text,
  name: text.exactOptional(),
  zone: text,
  network: text,
  eligible: z.boolean(),
  cidr: text,
  ipv6Cidr: text.exactOptional(),
  free: count,
  /** Upper bound of free whole blocks for prefixes; absent if unknown. */
  freeBlocks: count.optional(),
});

const bucket = z.object({
  action: text,
  tokens: z.number(),
  capacity: positive,
  refillPerSecond: positive,
  windowSeconds: positive.exactOptional(),
  perThing: z.literal(true).exactOptional(),
});

const schema = z.object({
  identity: text,
  planning,
  subnets: z.array(subnet),
  buckets: z.array(bucket),
  omitted: z.object({ subnets: count.optional() }).optional(),
  addresses: z.object({ needed: count.optional() }).optional(),
});

export type PlanningFacts = z.output<typeof schema>;
export type PlanningSubnet = PlanningFacts['subnets'][number];

/** Undefined if the report does not say what a plan needs. */
export function planningFactsIn(json: string): PlanningFacts | undefined {
  return answerIn(json, schema);
}
