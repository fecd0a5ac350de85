// Checks the pools that an option asks to create: they must be such as work. Pure.
import { blockShape } from '../set/block-set.ts';
import { cidrOf, families, type Family, familyNames, overlaps, parseCidr } from '../set/cidr.ts';
import { type OptionSources, refusalLine } from '../../config/option-source.ts';
import type { Options } from '../../config/option-table.ts';

/** A line for each network of which its pool would give out nothing. */
export function poolSpecProblems(options: Options, sources: OptionSources): readonly string[] {
  const name = 'auto-create-cilium-pod-ip-pools';
  const given = specNetworks(options);
  return given.flatMap(({ pool, family, maskSize, text }, index) => {
    const why = networkProblem(text, family, maskSize) ?? overlapProblem(text, given.slice(0, index));
    if (why === undefined) return [];
    const accepted = `a CIDR for ${family}-cidrs of pool ${pool}`;
    return [refusalLine({ name, source: sources[name], text, because: why, accepted })];
  });
}

interface SpecNetwork {
  readonly pool: string;
  readonly family: Family;
  readonly maskSize: number;
  readonly text: string;
}

function specNetworks(options: Options): readonly SpecNetwork[] {
  return [...options.autoCreateCiliumPodIpPools].flatMap(([pool, spec]) =>
    families.flatMap((family) => {
      const { cidrs = [], maskSize = 0 } = spec[family] ?? {};
      return cidrs.map((text) => ({ pool, family, maskSize, text }));
    }),
  );
}

/** The API server takes networks that overlap, and then one of the two gives out nothing. */
function overlapProblem(text: string, earlier: readonly SpecNetwork[]): string | undefined {
  const own = cidrOf(text);
  const other = earlier.find((each) => {
    const their = cidrOf(each.text);
    return own !== undefined && their !== undefined && overlaps(own, their);
  });
  return other === undefined ? undefined : `it overlaps ${other.text} of pool ${other.pool}`;
}

function networkProblem(text: string, family: Family, maskSize: number): string | undefined {
  const reading = parseCidr(text);
  if (reading.kind === 'invalid') return reading.why;
  if (reading.cidr.family !== family) return `it is an ${familyNames[reading.cidr.family]} network`;
  const shape = blockShape(reading.cidr, maskSize);
  return shape.kind === 'invalid' ? shape.why : undefined;
}
