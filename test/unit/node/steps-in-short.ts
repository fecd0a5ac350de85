// Steps of a plan as short texts, for tables.
import { type PlannedStep } from '../../../src/node/allocate/planned-step.ts';
import { prepareIPAllocation } from '../../../src/node/allocate/prepare-ip-allocation.ts';
import { facts } from './allocation-facts.ts';

/** Steps in short; what brings an IPv6 prefix ends with `+ipv6`: `eni-0+3`, `adopt eni-8@1`, or `new@1:subnet-1+9`; with prefixes `eni-0+2x16`, or `new@1:subnet-1+2x16`. */
export function inShort(steps: readonly PlannedStep[]): string[] {
  return steps.map((step) => {
    switch (step.kind) {
      case 'allocateIPs':
        return `${step.interfaceId}+${step.count}`;
      case 'allocatePrefixes':
        return `${step.interfaceId}+${step.count}x16`;
      case 'allocateIpv6Prefix':
        return `${step.interfaceId}+ipv6`;
      case 'adoptInterface':
        return `adopt ${step.interfaceId}@${step.deviceIndex}${step.ipv6Prefix === true ? '+ipv6' : ''}`;
      case 'createInterface': {
        const content = step.prefixCount > 0 ? `${step.prefixCount}x16` : step.count;
        const ipv6 = step.ipv6Prefix === true ? '+ipv6' : '';
        return `new@${step.deviceIndex}:${step.subnetId}+${content}${ipv6}`;
      }
    }
  });
}

/** The steps of the plan for these facts, in short. */
export function steps(change: Parameters<typeof facts>[0]): string[] {
  return inShort(prepareIPAllocation(facts(change)).steps);
}
