// Comments on accepted options that have no effect or a cost.
import type { CallRate, FirstCalls } from './clouds/cloud-descriptor.ts';
import type { ConfigDirectory } from './config-directory.ts';
import { findRawOption, type Places } from './raw-option.ts';
import { type OptionSources, sourceInWords } from './option-source.ts';
import { minDetachedTime } from '../providers/orphans/orphan-eligibility.ts';
import { formatDuration } from './go-duration.ts';
import { cloudOf, cloudSettings } from './clouds/clouds.ts';
import { releaseWindowOf } from './release-window.ts';
import type { OptionRow } from './option-row.ts';
import { type ConfiguredCommand, optionsOfCommand, type OptionScope } from './option-scope.ts';
import {
  environmentNameOf,
  optionNames,
  type OptionName,
  type Options,
  optionTable,
} from './option-table.ts';
import { withoutEffectIn } from './options/options-without-effect.ts';

/** A constant message and its details, as for a log line. */
export interface OptionWarning {
  /** A warning calls for action; a notice is information. */
  readonly kind: 'notice' | 'warning';
  readonly message: string;
  readonly details: Readonly<Record<string, string | number>>;
}

/**
 * Reports options that have no effect, or not with their value: those of flags and the environment one by one, those of the
 * directory in one notice. It is shared with the agents, so what is not known here is no mistake.
 */
export function warningsOnIgnored(
  command: ConfiguredCommand,
  { flags, processEnvironment: { environment }, directory }: Places,
): readonly OptionWarning[] {
  const { variables, reasons } = withoutEffectIn(command) ?? { variables: false, reasons: {} };
  const ignored = Object.entries(reasons).flatMap(([option, reason]) => {
    const variable = environmentNameOf(option);
    const isSet = variables && (environment[variable] ?? '') !== '';
    if (flags.has(option)) return [noEffect(option, `the flag --${option}`, reason)];
    return isSet ? [noEffect(option, `the environment variable ${variable}`, reason)] : [];
  });
  const unsetting = optionsOfCommand(command).flatMap((option) => {
    const { unsetBy = {} }: OptionRow = optionTable[option];
    const text = flags.get(option)?.findLast((each) => Object.hasOwn(unsetBy, each.trim()));
    if (text === undefined) return [];
    return [noEffect(option, `the flag --${option}`, unsetBy[text.trim()] ?? '')];
  });
  return [...ignored, ...unsetting, ...ignoredInDirectory(command, reasons, directory)];
}

function ignoredInDirectory(
  command: ConfiguredCommand,
  reasons: Readonly<Record<string, string>>,
  directory: ConfigDirectory | undefined,
): readonly OptionWarning[] {
  if (directory === undefined) return [];
  const ignored = Object.entries(reasons).filter(([option]) => directory.names.has(option));
  const unsetting = optionsOfCommand(command).flatMap((option): [string, string][] => {
    const { unsetBy = {} }: OptionRow = optionTable[option];
    const reason = unsetBy[directory.files.get(option)?.text ?? ''];
    return reason === undefined ? [] : [[option, reason]];
  });
  const all = [...ignored, ...unsetting];
  if (all.length === 0) return [];
  const details = { from: `the directory ${directory.path}`, ...Object.fromEntries(all) };
  return [{ kind: 'notice', message: 'options without effect in the directory', details }];
}

function noEffect(option: string, from: string, reason: string): OptionWarning {
  return { kind: 'notice', message: 'option has no effect', details: { option, from, reason } };
}

const ipv6Unserved = {
  kind: 'warning',
  message: 'IPv6 is not served in this mode',
  because:
    'Headwater gives nodes of this cloud IPv4 addresses only; an agent with enable-ipv6 waits for IPv6 and never gets ready',
  remedy: 'set enable-ipv6 to false for the agents',
} as const;

const ipv6OfNewAgents = {
  kind: 'notice',
  message: 'IPv6 needs agents from 1.20 on',
  because:
    'Headwater gives a node an IPv6 prefix if its agent asks for one, which agents up to 1.19 with enable-ipv6 do not: they wait for IPv6 and never get ready',
  remedy: 'upgrade agents up to 1.19, or set enable-ipv6 to false for them',
} as const;

/** Reports options of blocks that are given to a mode without any; the directory is shared with the agents. */
export function warningsOnIdleBlocks(
  idle: readonly OptionName[],
  places: Places,
  { ipam }: Pick<Options, 'ipam'>,
): readonly OptionWarning[] {
  return idle.flatMap((option): OptionWarning[] => {
    const { source, texts } = findRawOption(option, places);
    const from = sourceInWords(option, source);
    if (option === 'enable-ipv6' && texts.some((text) => /^(t|true|1)$/i.test(text)))
      return [warningOfIpv6(cloudOf(ipam)?.ipv6 === true ? ipv6OfNewAgents : ipv6Unserved, { option, from })];
    return source.kind === 'file' ? [] : [noEffect(option, from, 'only other modes and commands use it')];
  });
}

function warningOfIpv6(
  { kind, message, because, remedy }: typeof ipv6OfNewAgents | typeof ipv6Unserved,
  place: { readonly option: OptionName; readonly from: string },
): OptionWarning {
  return { kind, message, details: { ...place, because, remedy } };
}

/** Reports options of another cloud than the chosen one, from flags or the environment, as above. */
export function warningsOnOtherClouds(options: Options, sources: OptionSources): readonly OptionWarning[] {
  return optionNames.flatMap((option): OptionWarning[] => {
    const source = sources[option];
    const clouds = [optionTable[option].cloud ?? options.ipam].flat();
    const isGiven =
      source.kind === 'flag' || (source.kind === 'environment' && source.variable === undefined);
    if (clouds.includes(options.ipam) || !isGiven) return [];
    const theirs = clouds.map((cloud) => `--ipam=${cloud}`).join(' and ');
    const reason = `it is an option of ${theirs}, and this is --ipam=${options.ipam}`;
    return [noEffect(option, sourceInWords(option, source), reason)];
  });
}

/** Reports the options of clouds that are given to a mode without any, in one line. */
export function warningsOnIdle(idle: readonly OptionName[], scope: OptionScope): readonly OptionWarning[] {
  if (idle.length === 0) return [];
  const details = { options: idle.join(', '), mode: scope };
  return [{ kind: 'notice', message: 'options without effect in this mode', details }];
}

/** The default limits of cilium-operator. */
const operatorDefault: CallRate = { perSecond: 4, burst: 20 };

export interface CapOptions {
  readonly limitIpamApiQps: number | undefined;
  readonly limitIpamApiBurst: number | undefined;
}

/** The cap on all calls; undefined unless requested. An unset half of it takes the operator's default. */
export function callCapOf({ limitIpamApiQps, limitIpamApiBurst }: CapOptions): CallRate | undefined {
  if (limitIpamApiQps === undefined && limitIpamApiBurst === undefined) return undefined;
  return {
    perSecond: limitIpamApiQps ?? operatorDefault.perSecond,
    burst: limitIpamApiBurst ?? operatorDefault.burst,
  };
}

/** Minimum seconds until a full bucket admits `calls` calls. */
export function secondsToMake(calls: number, { perSecond, burst }: CallRate): number {
  return Math.max(0, calls - burst) / perSecond;
}

export interface CapCost {
  /** Minimum seconds until `nodes` nodes have their first addresses, under the cap. */
  readonly capped: number;
  /** The same with the cloud's limits only. */
  readonly uncapped: number;
}

export function costOfCap(cap: CallRate, nodes: number, { budgets }: FirstCalls): CapCost {
  const uncapped = Math.max(...budgets.map((budget) => secondsToMake(nodes, budget)));
  return { capped: Math.max(uncapped, secondsToMake(nodes * budgets.length, cap)), uncapped };
}

/** The nodes of the fleet by which the cost is stated. */
const statedNodes = 1000;

/** The cost as a sentence, and whether the cap costs time at all. */
export function capInWords(
  cap: CallRate,
  first: FirstCalls,
): { readonly cost: string; readonly isSlower: boolean } {
  const { capped, uncapped } = costOfCap(cap, statedNodes, first);
  const calls = `at ${cap.perSecond} calls/s and ${cap.burst} at once for all cloud calls together`;
  const fleet = `a fleet of ${statedNodes.toLocaleString('en')} nodes needing ${first.what} each takes at least`;
  const isSlower = capped > uncapped;
  const time = isSlower
    ? `${Math.ceil(capped)} s instead of ${Math.ceil(uncapped)} s`
    : `${Math.ceil(uncapped)} s, as without the cap`;
  return { cost: `${calls}, ${fleet} ${time}`, isSlower };
}

/** Reports what a cap on all cloud calls costs, whatever its source; a warning if it costs time. */
export function warningsOnCallCap(options: Options, sources: OptionSources): readonly OptionWarning[] {
  const cap = callCapOf(options);
  const first = cloudOf(options.ipam)?.firstCalls;
  if (cap === undefined || first === undefined) return [];
  const { cost, isSlower } = capInWords(cap, first);
  const option = options.limitIpamApiQps === undefined ? 'limit-ipam-api-burst' : 'limit-ipam-api-qps';
  const from = sourceInWords(option, sources[option]);
  return [
    {
      kind: isSlower ? 'warning' : 'notice',
      message: 'all cloud calls together are capped',
      details: { option, from, ...cap, cost },
    },
  ];
}

/** Reports why collection is off although it is wanted, and the remedy; or the cost of frequent collection. */
export function warningsOnCollection(options: Options): readonly OptionWarning[] {
  const { collection: decision } = cloudSettings(options);
  if (decision.kind === 'on' && decision.interval < minDetachedTime)
    return [warningOnShortInterval(decision.interval)];
  if (decision.kind !== 'refused') return [];
  const { because, remedy } = decision;
  return [
    {
      kind: 'warning',
      message: 'orphaned interfaces are not deleted',
      details: { because, remedy },
    },
  ];
}

function warningOnShortInterval(interval: number): OptionWarning {
  const min = formatDuration(minDetachedTime);
  const calls = Math.round(3_600_000 / interval);
  return {
    kind: 'notice',
    message: 'orphaned interfaces are looked for very often',
    details: {
      option: 'eni-gc-interval',
      cost: `${calls} calls an hour or more; nothing is deleted before it has been detached for ${min}`,
      remedy: `set --eni-gc-interval to ${min} or more`,
    },
  };
}

/** Reports that the lease is too short for calls that remove something, and which options to change. */
export function warningsOnReleaseWindow(options: Options): readonly OptionWarning[] {
  const decision = releaseWindowOf(options);
  if (decision.kind === 'free') return [];
  const { kind, because, remedy } = decision;
  const message =
    kind === 'never'
      ? 'nothing is ever released, detached or deleted: the lease is too short'
      : 'releases, detachments and deletions are delayed: the lease is barely long enough for them';
  return [{ kind: 'warning', message, details: { because, remedy } }];
}
