// The clouds that benchmarks can run on.
import { alibaba } from './alibaba.ts';
import { aws } from './aws.ts';
import { azure } from './azure.ts';
import type { BenchCloud, CloudName, FirstInterfaceIndex, Growth } from './bench-cloud.ts';

const known: Readonly<Record<CloudName, BenchCloud>> = { aws, azure, alibaba };

export const cloudNames: readonly CloudName[] = Object.values(known).map(({ name }) => name);

export function cloudOf({ cloud }: { readonly cloud: CloudName }): BenchCloud {
  return known[cloud];
}

/** Throws a RangeError if nodes of the cloud cannot grow in this way. */
export function growthOf(plan: {
  readonly cloud: CloudName;
  readonly firstInterfaceIndex: FirstInterfaceIndex;
}): Growth {
  const { title, growth } = cloudOf(plan);
  const found = growth[plan.firstInterfaceIndex];
  if (found === undefined)
    throw new RangeError(`${title} knows no growth with first-interface-index ${plan.firstInterfaceIndex}`);
  return found;
}
