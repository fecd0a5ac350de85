// Reads the options of the command agent as it uses them, and checks them. Pure.
import { canonicalAddress, type Cidr, families, type Family, parseCidr, widthOf } from '../cidr/set/cidr.ts';
import { type OptionSources, refusalLine } from './option-source.ts';
import type { Options } from './option-table.ts';
import { type AgentMode, builtAgentModes } from './options/agent-options.ts';

export interface AgentSettings {
  readonly mode: AgentMode;
  readonly nodeName: string;
  readonly socketPath: string;
  readonly stateDir: string;
  readonly bootIdFile: string;
  /** Undefined: if the family has a block. */
  readonly enabled: Readonly<Record<Family, boolean | undefined>>;
  readonly ranges: readonly Cidr[];
  /** In canonical text. */
  readonly excluded: readonly string[];
  readonly createsCiliumNode: boolean;
  /** In ms. */
  readonly expiration: number;
}

const rangeOptions = { ipv4: 'ipv4-range', ipv6: 'ipv6-range' } as const;

/** Call it with options that were accepted. */
export function agentSettings(options: Options): AgentSettings {
  const { nodeName, socketPath, stateDir, bootIdFile, excludeIps, ipamExpiration } = options;
  return {
    mode: modeOf(options),
    nodeName,
    socketPath,
    stateDir,
    bootIdFile,
    enabled: { ipv4: options.enableIpv4, ipv6: options.enableIpv6 },
    ranges: families.flatMap((family) => {
      const reading = parseCidr(rangeText(options, family) ?? '');
      return reading.kind === 'cidr' ? [reading.cidr] : [];
    }),
    excluded: excludeIps.flatMap((text) => canonicalAddress(text) ?? []),
    createsCiliumNode: options.autoCreateCiliumNodeResource,
    expiration: ipamExpiration,
  };
}

/** One line for each broken rule. */
export function agentProblems(options: Options, sources: OptionSources): readonly string[] {
  const mode = modeOf(options);
  if (!builtAgentModes.includes(mode)) {
    const because = 'it is not built yet';
    const accepted = builtAgentModes.join(', ');
    return [refusalLine({ name: 'ipam', source: sources.ipam, text: mode, because, accepted })];
  }
  const ranges = families.flatMap((family) => rangeProblems(family, options, sources));
  const hasNone = families.every((family) => rangeText(options, family) === undefined);
  if (mode === 'host-scope' && hasNone) {
    const because = 'ipam=host-scope has no addresses without it, or without ipv6-range';
    const accepted = 'an IPv4 CIDR, such as 10.10.0.0/24';
    return [refusalLine({ name: 'ipv4-range', source: sources['ipv4-range'], text: '', because, accepted })];
  }
  return [...ranges, ...excludeProblems(options, sources)];
}

/** The option has values of its own for this command. */
function modeOf(options: Options): AgentMode {
  return options.ipam as string as AgentMode;
}

function rangeText(options: Options, family: Family): string | undefined {
  return family === 'ipv4' ? options.ipv4Range : options.ipv6Range;
}

/** The first and the last address of a block are not usable, and one is its router. */
const leastHostBits = 2;
/** Of a prefix: a block of more is a mistake. */
const shortest = { ipv4: 8, ipv6: 32 } as const;

/** Why a block cannot be one of a node, worded to follow "because"; undefined if it can. */
export function blockProblem({ family, length }: Cidr): string | undefined {
  const longest = widthOf[family] - leastHostBits;
  if (length >= shortest[family] && length <= longest) return undefined;
  return `its prefix length is not from ${shortest[family]} to ${longest}`;
}

function rangeProblems(family: Family, options: Options, sources: OptionSources): readonly string[] {
  const text = rangeText(options, family);
  if (text === undefined) return [];
  const name = rangeOptions[family];
  const reading = parseCidr(text);
  const because = reading.kind === 'cidr' ? whyNoRange(reading, family) : reading.why;
  if (because === undefined) return [];
  const accepted = `an ${family === 'ipv4' ? 'IPv4' : 'IPv6'} CIDR of a prefix length from ${shortest[family]} to ${widthOf[family] - leastHostBits}`;
  return [refusalLine({ name, source: sources[name], text, because, accepted })];
}

function whyNoRange(
  { cidr, hasHostBits }: { readonly cidr: Cidr; readonly hasHostBits: boolean },
  family: Family,
): string | undefined {
  if (cidr.family !== family) return 'it is of the other family';
  return hasHostBits ? 'it has bits set beyond its prefix length' : blockProblem(cidr);
}

function excludeProblems(options: Options, sources: OptionSources): readonly string[] {
  const name = 'exclude-ips';
  return options.excludeIps.flatMap((text) => {
    if (canonicalAddress(text) !== undefined) return [];
    return [
      refusalLine({ name, source: sources[name], text, because: 'it is no address', accepted: 'addresses' }),
    ];
  });
}
