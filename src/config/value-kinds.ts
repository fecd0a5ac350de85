// Defines the kinds of option values. Each pairs a pure parser with its description, so that refusals, help and
// documentation agree.
import { type ListenAddress, parseListenAddress } from '../observability/listen-address.ts';
import { formatDuration, parseGoDuration } from './go-duration.ts';
import { parsePoolSpecs, type PoolSpecs } from './pool-specs.ts';
import { parseTags, type Tags } from './tag-map.ts';

export interface ValueKind<T> {
  /** Stands for a value in the help: `<duration>`. */
  readonly placeholder: string;
  /** The accepted values, worded to follow "accepted: ". */
  readonly accepts: string;
  /** The same as data, for checks outside this code. */
  readonly shape: ValueShape;
  /** Parses a trimmed, non-empty text; undefined when it is not accepted. */
  parse(text: string): T | undefined;
  /** Combines several occurrences on one command line. Default: the last one counts. */
  combine?(values: readonly T[]): T;
  /** The value of an empty text. Without it, an empty text is not accepted. */
  readonly empty?: T;
  /** The value of the bare flag. Without it, the flag needs a value. */
  readonly bare?: string;
}

/**
 * The form of a value as plain data, from which other checks derive, such as the Helm chart's schema. Those may accept what the
 * parser rejects, and never reject what it accepts.
 */
export type ValueShape =
  | { readonly type: 'boolean'; readonly values: readonly boolean[] }
  /** One of these texts. */
  | { readonly type: 'choice'; readonly values: readonly string[] }
  /** `or`: accepted outside the range. */
  | { readonly type: 'integer'; readonly min: number; readonly max: number; readonly or?: number }
  /** Greater than 0. */
  | { readonly type: 'number'; readonly max?: number }
  | DurationShape
  /** A regular expression. Its only assertions are ^, $ and, right after ^, a maximum length: `(?=.{1,253}$)`. */
  | { readonly type: 'text'; readonly pattern: string }
  /** Items separated by commas or spaces; `item` is a regular expression for one whole item. */
  | { readonly type: 'list'; readonly item: string }
  /** Pairs, or a JSON object of strings. */
  | { readonly type: 'tags' };

/** A Go duration; bounds in ms. */
export interface DurationShape {
  readonly type: 'duration';
  readonly min: number;
  readonly max: number;
  /** Accepts whole numbers as seconds. */
  readonly plainSeconds?: true;
  /** Accepts whole seconds only. */
  readonly wholeSeconds?: true;
  /** Accepts 0 below the bounds. */
  readonly never?: true;
}

/** Go's spellings (https://pkg.go.dev/strconv#ParseBool), plus yes and no. */
const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'true', 'yes'].map((text) => [text, true] as const),
  ...['0', 'f', 'false', 'no'].map((text) => [text, false] as const),
]);

export const boolean: ValueKind<boolean> = {
  placeholder: 'true|false',
  accepts: 'true or false',
  shape: { type: 'boolean', values: [true, false] },
  bare: 'true',
  parse: (text) => booleans.get(text.toLowerCase()),
};

/** For a behavior that cannot be switched off. */
export function onlyTrue(because: string): ValueKind<true> {
  return {
    placeholder: 'true',
    accepts: `true, because ${because}`,
    shape: { type: 'boolean', values: [true] },
    bare: 'true',
    parse: (text) => (booleans.get(text.toLowerCase()) === true ? true : undefined),
  };
}

export function oneOf<const T extends string>(values: readonly T[]): ValueKind<T> {
  return {
    placeholder: values.join('|'),
    accepts: values.join(', '),
    shape: { type: 'choice', values },
    parse: (text) => values.find((value) => value === text),
  };
}

/** An empty text selects none. Separators are those of a list. */
export function severalOf<const T extends string>(values: readonly T[]): ValueKind<readonly T[]> {
  return {
    placeholder: values.join('|'),
    accepts: `${values.join(', ')}, or several of them separated by commas or spaces`,
    shape: { type: 'list', item: `(${values.join('|')})` },
    parse: (text) => {
      const items = text.split(/[\s,]+/).filter((each) => each !== '');
      const known = values.filter((value) => items.includes(value));
      return items.every((item) => known.some((value) => value === item)) ? known : undefined;
    },
    combine: (lists) => values.filter((value) => lists.some((list) => list.includes(value))),
    empty: [],
  };
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

export function integer(range: Range): ValueKind<number> {
  return {
    placeholder: 'number',
    accepts: `a whole number from ${range.min} to ${range.max}`,
    shape: { type: 'integer', ...range },
    parse: (text) => within(parseDigits(text), range),
  };
}

/** 0 requests EC2's maximum page size. */
export const pageSize: ValueKind<number> = {
  placeholder: 'number',
  accepts: 'a whole number from 5 to 1000, or 0 for 1000',
  shape: { type: 'integer', min: 5, max: 1000, or: 0 },
  parse: (text) => within(text === '0' ? 1000 : parseDigits(text), { min: 5, max: 1000 }),
};

export const positiveNumber: ValueKind<number> = {
  placeholder: 'number',
  accepts: 'a number greater than 0, such as 4 or 0.5',
  shape: { type: 'number' },
  parse: (text) => {
    const value = /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : 0;
    return value > 0 ? value : undefined;
  },
};

/** A part of a whole. */
export const share: ValueKind<number> = {
  placeholder: 'share',
  accepts: 'a number greater than 0 and at most 1, such as 0.8',
  shape: { type: 'number', max: 1 },
  parse: (text) => {
    const value = positiveNumber.parse(text);
    return value !== undefined && value <= 1 ? value : undefined;
  },
};

export interface Quota {
  /** Burst: calls at once after a pause. */
  readonly capacity: number;
  /** Sustained calls per second. */
  readonly refill: number;
}

/** By the cloud's name for the call. */
export const quotas: ValueKind<ReadonlyMap<string, Quota>> = {
  placeholder: 'call=capacity:refill,...',
  accepts:
    'calls by their names with capacity and refill per second, separated by commas, such as AttachNetworkInterface=100:10',
  shape: { type: 'list', item: String.raw`[A-Za-z0-9.-]+=\d+(\.\d+)?:\d+(\.\d+)?` },
  parse: (text) => {
    const items = text.split(/[\s,]+/).filter((each) => each !== '');
    const read = items.map((item) => /^([A-Za-z0-9.-]+)=([^:]+):([^:]+)$/.exec(item));
    const entries = read.map((match) => {
      const [, action = '', capacity = '', refill = ''] = match ?? [];
      const quota = {
        capacity: positiveNumber.parse(capacity) ?? 0,
        refill: positiveNumber.parse(refill) ?? 0,
      };
      return [action, quota] as const;
    });
    // A bucket below one token would never admit a call.
    return entries.every(([action, { capacity, refill }]) => action !== '' && capacity >= 1 && refill > 0)
      ? new Map(entries)
      : undefined;
  },
  combine: (maps) => new Map(maps.flatMap((each) => [...each])),
  empty: new Map(),
};

export type DurationRange = Omit<DurationShape, 'type'>;

/** Bounds and value are in ms. */
export function duration(range: DurationRange): ValueKind<number> {
  const orSeconds = range.plainSeconds === true ? ', or a whole number of seconds' : '';
  const orNever = range.never === true ? ', or 0 for never' : '';
  const whole = range.wholeSeconds === true ? ' and in whole seconds' : '';
  return {
    placeholder: 'duration',
    accepts: `a duration from ${formatDuration(range.min)} to ${formatDuration(range.max)} as Go writes it (1m30s, 300ms)${whole}${orSeconds}${orNever}`,
    shape: { type: 'duration', ...range },
    parse: (text) => {
      const seconds = range.plainSeconds === true ? parseDigits(text) : undefined;
      const value = seconds === undefined ? parseGoDuration(text) : seconds * 1000;
      if (range.wholeSeconds === true && (value ?? 0) % 1000 !== 0) return undefined;
      return value === 0 && range.never === true ? 0 : within(value, range);
    },
  };
}

/** A text that `pattern` matches from end to end. */
export function text(placeholder: string, pattern: RegExp, accepts: string): ValueKind<string> {
  return {
    placeholder,
    accepts,
    shape: { type: 'text', pattern: pattern.source },
    parse: (text) => (pattern.test(text) ? text : undefined),
  };
}

/** Items separated by commas, as in flags, or by spaces, as Cilium's chart writes them into cilium-config. */
export function list(placeholder: string, item: RegExp, accepts: string): ValueKind<readonly string[]> {
  return {
    placeholder,
    accepts,
    shape: { type: 'list', item: item.source.replace(/^\^|\$$/g, '') },
    parse: (text) => {
      const items = text.split(/[\s,]+/).filter((each) => each !== '');
      return items.every((each) => item.test(each)) ? [...new Set(items)] : undefined;
    },
    combine: (lists) => [...new Set(lists.flat())],
    empty: [],
  };
}

export const tagFilter: ValueKind<Tags> = {
  placeholder: 'key=value,...',
  accepts:
    'key=value pairs separated by commas, or by spaces where no key or value holds one, or a JSON object of texts',
  shape: { type: 'tags' },
  parse: parseTags,
  combine: (maps) => Object.assign({}, ...maps) as Tags,
  empty: {},
};

/**
 * Tags to set on resources, restricted to what EC2 accepts
 * (https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html).
 */
export const tagsToSet: ValueKind<Tags> = {
  ...tagFilter,
  accepts: `${tagFilter.accepts}; keys of at most 128 characters that do not begin with aws:, values of at most 256`,
  parse: (text) => {
    const tags = parseTags(text);
    const settable = Object.entries(tags ?? {}).every(
      ([key, value]) => key.length <= 128 && !/^aws:/i.test(key) && value.length <= 256,
    );
    return settable ? tags : undefined;
  },
};

/** Pools to create, by name. */
export const poolSpecs: ValueKind<PoolSpecs> = {
  placeholder: 'pool=spec,...',
  accepts:
    'pool=spec pairs separated by commas, or a JSON object of specs, with a spec such as ipv4-cidrs:10.0.0.0/16;ipv4-mask-size:24',
  shape: { type: 'text', pattern: '^.*$' },
  parse: parsePoolSpecs,
  combine: (maps) => new Map(maps.flatMap((each) => [...each])),
  empty: new Map(),
};

export const listenAddress: ValueKind<ListenAddress> = {
  placeholder: 'host:port',
  accepts: 'host:port or :port, such as :9966, 127.0.0.1:9966 or [::1]:9966',
  shape: { type: 'text', pattern: String.raw`^.*:\d{1,5}$` },
  parse: parseListenAddress,
};

/** Yields a URL without a trailing slash. A bare host means https. */
export const endpoint: ValueKind<string> = {
  placeholder: 'host or URL',
  accepts: 'a host name, with a port if need be, or an http or https URL without credentials and query',
  shape: {
    type: 'text',
    pattern: String.raw`^(https?://[^\s?#@]+|(\[[^\s\]]+\]|[^\s?#@:/]+)(:[0-9]+)?(/[^\s?#@]*)?)$`,
  },
  parse: (text) => parseHttpUrl(text.includes('://') ? text : `https://${text}`),
};

export const httpUrl: ValueKind<string> = {
  placeholder: 'URL',
  accepts: 'an http or https URL without credentials and query',
  shape: { type: 'text', pattern: String.raw`^https?://[^\s?#@]+$` },
  parse: parseHttpUrl,
};

function parseHttpUrl(text: string): string | undefined {
  const url = /^https?:\/\/[^\s?#@]+$/.test(text) ? URL.parse(text) : null;
  // URL accepts hosts that DNS does not, such as quotes and braces.
  return url !== null && /^([\w.-]+|\[[\da-f:.]+\])$/.test(url.hostname)
    ? url.href.replace(/\/+$/, '')
    : undefined;
}

function parseDigits(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function within(value: number | undefined, { min, max }: Range): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}
