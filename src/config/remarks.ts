// What should be said about options that were accepted: that they do nothing, or what they cost.
import { callCapOf, capInWords, costOfCap } from './call-cap.ts';
import type { GivenFlags } from './given-text.ts';
import { type OptionSources, sourceInWords } from './option-source.ts';
import { collectionOf } from './orphan-collection.ts';
import { givingBackOf } from './giving-back.ts';
import type { Surroundings } from './option-row.ts';
import { environmentNameOf, type Options } from './option-table.ts';
import { optionsWithoutEffect, type OptionWithoutEffect } from './options/options-without-effect.ts';

/** A constant message and what differs, as for a line of log. */
export interface Remark {
  /** A warning is worth acting on, a notice worth knowing. */
  readonly kind: 'notice' | 'warning';
  readonly message: string;
  readonly details: Readonly<Record<string, string | number>>;
}

/**
 * Says which options given by flag or environment have no effect. A directory is not asked: it is shared with the
 * agents, and what it says to others is nobody's mistake.
 */
export function remarksOnIgnored(flags: GivenFlags, { environment }: Surroundings): readonly Remark[] {
  const remarks: Remark[] = [];
  for (const option of Object.keys(optionsWithoutEffect) as OptionWithoutEffect[]) {
    const variable = environmentNameOf(option);
    const from = flags.has(option) ? `the flag --${option}` : `the environment variable ${variable}`;
    const details = { option, from, reason: optionsWithoutEffect[option] };
    if (flags.has(option) || (environment[variable] ?? '') !== '') {
      remarks.push({ kind: 'notice', message: 'option has no effect', details });
    }
  }
  return remarks;
}

/** Says what a cap on all cloud calls together costs, wherever it was set; a warning if it costs time. */
export function remarksOnCallCap(options: Options, sources: OptionSources): readonly Remark[] {
  const cap = callCapOf(options);
  if (cap === undefined) return [];
  const { capped, uncapped } = costOfCap(cap, 1000);
  const option = options.limitIpamApiQps === undefined ? 'limit-ipam-api-burst' : 'limit-ipam-api-qps';
  const from = sourceInWords(option, sources[option]);
  return [
    {
      kind: capped > uncapped ? 'warning' : 'notice',
      message: 'all cloud calls together are capped',
      details: { option, from, ...cap, cost: capInWords(cap) },
    },
  ];
}

/** Says that nothing is collected where that would be wanted, and what to do about it. */
export function remarksOnCollection(options: Options): readonly Remark[] {
  const decision = collectionOf(options);
  if (decision.kind !== 'refused') return [];
  const { because, remedy } = decision;
  return [
    {
      kind: 'warning',
      message: 'interfaces that are attached to nothing are not collected',
      details: { because, remedy },
    },
  ];
}

/** Says that the lease is too short for calls that take something away, and which options to change. */
export function remarksOnGivingBack(options: Options): readonly Remark[] {
  const decision = givingBackOf(options);
  if (decision.kind === 'free') return [];
  const { kind, because, remedy } = decision;
  const message =
    kind === 'never'
      ? 'nothing is ever released, detached or deleted: the lease is too short'
      : 'releases, detachments and deletions are held up: the lease is short for them';
  return [{ kind: 'warning', message, details: { because, remedy } }];
}
