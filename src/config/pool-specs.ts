// Reads the pools that an option asks to create, in cilium-operator's format: `pool=spec,...` or a JSON object of specs, where a
// spec is `key:value;...`. Pure.
import { parseTexts } from './tag-map.ts';

/** The spec of a CiliumPodIPPool. */
export interface PoolSpec {
  readonly ipv4?: PoolSpecNetworks;
  readonly ipv6?: PoolSpecNetworks;
  readonly allowFirstIP?: true;
  readonly allowLastIP?: true;
}

export interface PoolSpecNetworks {
  readonly cidrs: readonly string[];
  readonly maskSize: number;
}

export type PoolSpecs = ReadonlyMap<string, PoolSpec>;

/** Undefined if it is not accepted. */
export function parsePoolSpecs(text: string): PoolSpecs | undefined {
  const pairs = text.startsWith('{') ? jsonPairs(text) : textPairs(text);
  const specs = new Map<string, PoolSpec>();
  for (const [name, words] of pairs ?? []) {
    const spec = specOf(words);
    if (!nameForm.test(name) || specs.has(name) || spec === undefined) return undefined;
    specs.set(name, spec);
  }
  return pairs === undefined ? undefined : specs;
}

type Pairs = readonly (readonly [name: string, spec: string])[];

function jsonPairs(text: string): Pairs | undefined {
  const texts = parseTexts(text);
  return texts && Object.entries(texts);
}

/** Lists hold commas, too: one separates pools only before the next `name=`. */
function textPairs(text: string): Pairs | undefined {
  const parts = text.split(/,(?=[^,:;=]+=)/);
  const pairs = parts.map((part) => part.split('=', 2).map((word) => word.trim()));
  return pairs.every((pair): pair is [string, string] => pair.length === 2) ? pairs : undefined;
}

const nameForm = /^(?=.{1,253}$)[\da-z]([\d.a-z-]*[\da-z])?$/;

const keys: ReadonlySet<string> = new Set([
  'ipv4-cidrs',
  'ipv4-mask-size',
  'ipv6-cidrs',
  'ipv6-mask-size',
  'allow-first-ip',
  'allow-last-ip',
]);

function specOf(text: string): PoolSpec | undefined {
  const values = valuesOf(text);
  const ends = values && endsOf(values);
  if (values === undefined || ends === undefined) return undefined;
  const [ipv4, ipv6] = [networksOf(values, 'ipv4', 32), networksOf(values, 'ipv6', 128)];
  if (ipv4 === 'wrong' || ipv6 === 'wrong' || (ipv4 === undefined && ipv6 === undefined)) return undefined;
  return { ...(ipv4 && { ipv4 }), ...(ipv6 && { ipv6 }), ...ends };
}

function valuesOf(text: string): ReadonlyMap<string, string> | undefined {
  const values = new Map<string, string>();
  for (const pair of text.replaceAll(/\s/g, '').split(';')) {
    if (pair === '') continue;
    const at = pair.indexOf(':');
    const key = pair.slice(0, Math.max(0, at));
    if (!keys.has(key) || values.has(key)) return undefined;
    values.set(key, pair.slice(at + 1));
  }
  return values;
}

function endsOf(
  values: ReadonlyMap<string, string>,
): Pick<PoolSpec, 'allowFirstIP' | 'allowLastIP'> | undefined {
  const [first, last] = ['allow-first-ip', 'allow-last-ip'].map((key) => values.get(key) ?? 'false');
  if (![first, last].every((value) => value === 'true' || value === 'false')) return undefined;
  return {
    ...(first === 'true' && { allowFirstIP: true }),
    ...(last === 'true' && { allowLastIP: true }),
  };
}

/** Undefined without the family. */
function networksOf(
  values: ReadonlyMap<string, string>,
  family: string,
  width: number,
): PoolSpecNetworks | 'wrong' | undefined {
  const [cidrs, size] = [values.get(`${family}-cidrs`), values.get(`${family}-mask-size`)];
  if (cidrs === undefined && size === undefined) return undefined;
  const list = (cidrs ?? '').split(',').filter((each) => each !== '');
  const maskSize = /^\d{1,3}$/.test(size ?? '') ? Number(size) : 0;
  return list.length === 0 || maskSize < 1 || maskSize > width ? 'wrong' : { cidrs: list, maskSize };
}
