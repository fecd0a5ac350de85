// Changes as JSON. A text that is no change is damage, and never half of one.
import type { Change } from '../ipam/holdings.ts';
import { isObject, objectIn } from '../../runtime/json.ts';

/** Undefined if the text is no change. */
export function parseChange(text: string): Change | undefined {
  const value = objectIn(text);
  const isChange =
    value !== undefined && Object.entries(value).every(([name, part]) => checks.get(name)?.(part) === true);
  return isChange ? value : undefined;
}

type Check = (part: unknown) => boolean;

const text: Check = (part) => typeof part === 'string';
const flag: Check = (part) => typeof part === 'boolean';
const number: Check = Number.isFinite;

function list(item: Check): Check {
  return (part) => Array.isArray(part) && part.every(item);
}

function optional(check: Check): Check {
  return (part) => part === undefined || check(part);
}

/** An object with at least these members. */
function object(members: Readonly<Record<string, Check>>): Check {
  return (part) => isObject(part) && Object.entries(members).every(([name, check]) => check(part[name]));
}

const texts: Check = (part) => isObject(part) && Object.values(part).every(text);
const place = { pool: text, ip: text };
const attachment = { network: text, container: text, interface: text };
const expiry = object({ uuid: text, at: number, timeout: number });
const block = object({ cidr: text, allowsFirst: flag, allowsLast: flag, details: object({}) });

/** The parts of a change, by their names. */
const change: Readonly<Record<keyof Change, Check>> = {
  free: list(object(place)),
  rest: object({ since: number, until: number }),
  detach: list(object(attachment)),
  hold: list(object({ ...place, owner: text, expiry: optional(expiry) })),
  attach: object({ ...attachment, owner: text, since: number, places: list(object(place)) }),
  blocks: texts,
  routers: texts,
  pools: list(object({ pool: text, families: list(text), blocks: list(block) })),
  leaving: object({ version: text, blocks: list(text) }),
  rebuilding: flag,
};

/** The same: a text may have any name, such as one that every object has. */
const checks: ReadonlyMap<string, Check> = new Map(Object.entries(change));
