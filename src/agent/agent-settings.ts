// Reads the options of the command agent as it uses them, and checks them. Pure.
import {
  type Cidr,
  type CidrReading,
  cidrOf,
  families,
  type Family,
  familyNames,
  familyOf,
  parseCidr,
  widthOf,
} from '../blocks/set/cidr.ts';
import { isCloudMode } from '../config/clouds/clouds.ts';
import type { ReadValues, RoomChecks } from '../config/load-options.ts';
import { type OptionNeed, optionNeeds } from '../config/option-needs.ts';
import { type OptionSources, refusalLine } from '../config/option-source.ts';
import type { Options } from '../config/option-table.ts';
import type { AgentMode } from '../config/options/agent-options.ts';

export interface AgentSettings {
  readonly mode: AgentMode;
  readonly nodeName: string;
  readonly socketPath: string;
  readonly stateDir: string;
  readonly bootIdFile: string;
  /** Undefined: if the family has a block. */
  readonly enabled: Readonly<Record<Family, boolean | undefined>>;
  readonly ranges: readonly Cidr[];
  /** Never given out; of every pool if none is named. */
  readonly excluded: readonly { readonly network: Cidr; readonly pool?: string }[];
  /** Where files of DNS settings may be. */
  readonly dnsDirectories: readonly string[];
  readonly createsCiliumNode: boolean;
  /** A file with the rest of the spec of a CiliumNode that is created. */
  readonly ciliumNodeSpec: string | undefined;
  readonly protocol: 'used' | 'pools';
  /** The time between two writes to the CiliumNode, in ms. */
  readonly updateRate: number;
  readonly defaultPool: string;
  /** Free addresses to hold, by pool. */
  readonly preAllocation: ReadonlyMap<string, number>;
  readonly masqueradesDefaultOnly: boolean;
  /** How long a released address rests while others are free, in ms. */
  readonly cooldown: number;
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
    ranges: families.flatMap((family) => cidrOf(servedRange(options, family) ?? '') ?? []),
    excluded: excludeIps.flatMap((text) => exclusionIn(text)),
    dnsDirectories: options.resolvConfDirectories,
    createsCiliumNode: options.autoCreateCiliumNodeResource,
    ciliumNodeSpec: options.ciliumNodeSpec,
    protocol: options.ciliumNodeProtocol,
    updateRate: options.ipamCiliumNodeUpdateRate,
    defaultPool: options.ipamDefaultIpPool,
    preAllocation: new Map(options.ipamMultiPoolPreAllocation.map(countIn)),
    masqueradesDefaultOnly: options.onlyMasqueradeDefaultPool,
    cooldown: options.ipCooldownPeriod,
    expiration: ipamExpiration,
  };
}

export const agentChecks: RoomChecks = { problems: agentProblems, warnings: () => [] };

function agentProblems({ options, sources }: ReadValues): readonly string[] {
  const mode = modeOf(options);
  const unmet = ({ name, because, accepted }: OptionNeed, text: string): readonly string[] => [
    refusalLine({ name, source: sources[name], text, because, accepted }),
  ];
  if (options.ciliumNodeProtocol === 'pools' && !isCloudMode(mode))
    return unmet(optionNeeds.agentProtocol, 'pools');
  const ranges = families.flatMap((family) => rangeProblems(family, options, sources));
  const hasNone = families.every((family) => servedRange(options, family) === undefined);
  if (mode === 'host-scope' && hasNone) return unmet(optionNeeds.agentRange, '');
  return [...ranges, ...excludeProblems(options, sources)];
}

function countIn(pair: string): readonly [string, number] {
  const [pool = '', count] = pair.split('=');
  return [pool, Number(count)];
}

/** The option has values of its own for this command. */
function modeOf(options: Options): AgentMode {
  return options.ipam as string as AgentMode;
}

function rangeText(options: Options, family: Family): string | undefined {
  return family === 'ipv4' ? options.ipv4Range : options.ipv6Range;
}

/** Undefined if the family is off as well. */
function servedRange(options: Options, family: Family): string | undefined {
  const enabled = { ipv4: options.enableIpv4, ipv6: options.enableIpv6 };
  return enabled[family] === false ? undefined : rangeText(options, family);
}

/** The first and the last address of a block are not usable, and one is its router. */
const minHostBits = 2;
/** The shortest prefix length: a larger block is a mistake. */
const min = { ipv4: 8, ipv6: 32 } as const;

/** Why a block cannot be one of a node, worded to follow "because"; undefined if it can. */
export function blockProblem({ family, length }: Cidr, hostBits = minHostBits): string | undefined {
  const max = widthOf[family] - hostBits;
  if (length >= min[family] && length <= max) return undefined;
  return `its prefix length is not from ${min[family]} to ${max}`;
}

function rangeProblems(family: Family, options: Options, sources: OptionSources): readonly string[] {
  const text = rangeText(options, family);
  if (text === undefined) return [];
  const name = rangeOptions[family];
  const reading = parseCidr(text);
  const because = reading.kind === 'cidr' ? whyNoRange(reading, family) : reading.why;
  if (because === undefined) return [];
  const accepted = `an ${familyNames[family]} CIDR of a prefix length from ${min[family]} to ${widthOf[family] - minHostBits}`;
  return [refusalLine({ name, source: sources[name], text, because, accepted })];
}

const hostBits = 'it has bits set beyond its prefix length';

function whyNoRange(
  { cidr, hasHostBits }: { readonly cidr: Cidr; readonly hasHostBits: boolean },
  family: Family,
): string | undefined {
  if (cidr.family !== family) return 'it is of the other family';
  return hasHostBits ? hostBits : blockProblem(cidr);
}

function excludeProblems(options: Options, sources: OptionSources): readonly string[] {
  const name = 'exclude-ips';
  const accepted = 'addresses and networks, perhaps each with a pool before it, as in default=10.0.0.8/29';
  return options.excludeIps.flatMap((text) => {
    const because = whyNoExclusion(text, modeOf(options));
    return because === undefined
      ? []
      : [refusalLine({ name, source: sources[name], text, because, accepted })];
  });
}

function whyNoExclusion(text: string, mode: AgentMode): string | undefined {
  const { reading, pool = onlyPool } = readExclusion(text);
  if (reading.kind === 'invalid') return 'it is no address and no network';
  if (reading.hasHostBits) return hostBits;
  return mode === 'multi-pool' || pool === onlyPool ? undefined : `ipam=${mode} has the pool default alone`;
}

/** The pool of all modes but multi-pool. */
const onlyPool = 'default';

function exclusionIn(text: string): AgentSettings['excluded'] {
  const { reading, pool } = readExclusion(text);
  return reading.kind === 'cidr' ? [{ network: reading.cidr, ...(pool !== undefined && { pool }) }] : [];
}

/** An address is a network of its own. */
function readExclusion(text: string): { readonly reading: CidrReading; readonly pool: string | undefined } {
  const [named = '', pool] = text.split('=', 2).toReversed();
  const length = widthOf[familyOf(named)];
  return { reading: parseCidr(named.includes('/') ? named : `${named}/${length}`), pool };
}
