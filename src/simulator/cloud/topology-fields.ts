// The fields that the topologies of all clouds are made of. Each error says what is accepted.
import * as z from 'zod';
import { parseIpv4Block } from './ipv4.ts';

/** An object that rejects unknown keys and names the known ones. */
export function section<S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const keys = Object.keys(shape).join(', ');
  const unknown = 'unrecognized_keys';
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === unknown ? `unknown key ${list(issue.keys)}: accepted are ${keys}` : undefined,
  });
}

const list = (keys: readonly string[]): string => keys.map((key) => JSON.stringify(key)).join(', ');

export const text = (accepted: string, accepts: (value: string) => boolean): z.ZodString =>
  z.string(accepted).refine(accepts, accepted);

export const matching = (accepted: string, pattern: RegExp): z.ZodString =>
  text(accepted, (value) => pattern.test(value));

export const block = text(
  'expected an IPv4 block such as 10.0.0.0/16',
  (value) => parseIpv4Block(value) !== undefined,
);
export const name = matching(
  'expected a name of letters, digits, dots, dashes and underscores',
  /^[\w.-]{1,200}$/,
);
export const tags = z.record(z.string(), z.string()).default({});
export const names = z.array(name).default([]);
export const count = (max: number): z.ZodNumber =>
  z.int(`expected a whole number from 0 to ${max}`).min(0).max(max);
export const share = z.number('expected a share from 0 to 1').min(0).max(1);
export const ms = z.number('expected milliseconds').min(0);
export const factor = z.number('expected a factor, 0 or more').min(0);

/** A number, or a range for each draw. */
export const msRange = z
  .union([ms, section({ min: ms, max: ms })], 'expected milliseconds, or min and max in milliseconds')
  .transform((value) => (typeof value === 'number' ? { min: value, max: value } : value))
  .refine(({ min, max }) => min <= max, 'expected min not above max');

/** How long calls take. */
export const latencySection = section({
  /** Multiplies every delay; 0 disables delays. */
  scale: factor.default(1),
  /** Scatter of delays: sigma of the log-normal distribution. */
  spread: factor.default(0.5),
}).prefault({});

/** How far reads are behind. */
export const consistencySection = section({
  /** How long a new record is not found. */
  visibilityDelayMs: msRange.prefault({ min: 0, max: 500 }),
  /** How far a listing lags behind. */
  listingLagMs: msRange.prefault({ min: 0, max: 1000 }),
  /** Chance that a page is cut short although more follows. */
  shortPages: share.default(0),
}).prefault({});

/** The uniform range of a delay, in ms. */
export interface MsRange {
  readonly min: number;
  readonly max: number;
}
