// Changes as JSON. A text that is no change is damage, and never half of one.
import type {
  Attachment,
  AttachmentName,
  Blocks,
  Change,
  Expiry,
  Held,
  Leaving,
  Place,
  RememberedPool,
} from '../ipam/holdings.ts';

export function changeText(change: Change): string {
  return JSON.stringify(change);
}

/** Undefined if the text is no change. */
export function parseChange(text: string): Change | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isChange(value) ? value : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const checks: Readonly<Record<string, (part: unknown) => boolean>> = {
  free: (part) => isListOf(part, isPlace),
  rest: (part) => isFields(part) && Number.isFinite(part['since']) && Number.isFinite(part['until']),
  detach: (part) => isListOf(part, isName),
  hold: (part) => isListOf(part, isHeld),
  attach: isAttachment,
  blocks: isBlocks,
  routers: isBlocks,
  pools: (part) => isListOf(part, isRememberedPool),
  leaving: isLeaving,
  rebuilding: (part) => typeof part === 'boolean',
};

function isChange(value: unknown): value is Change {
  return isFields(value) && Object.keys(value).every((name) => checks[name]?.(value[name]) === true);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, is: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

function hasTexts(value: unknown, names: readonly string[]): value is Fields {
  return isFields(value) && names.every((name) => typeof value[name] === 'string');
}

function isPlace(value: unknown): value is Place {
  return hasTexts(value, ['pool', 'ip']);
}

function isName(value: unknown): value is AttachmentName {
  return hasTexts(value, ['network', 'container', 'interface']);
}

function isHeld(value: unknown): value is Held {
  return (
    hasTexts(value, ['pool', 'ip', 'owner']) && (value['expiry'] === undefined || isExpiry(value['expiry']))
  );
}

function isExpiry(value: unknown): value is Expiry {
  return hasTexts(value, ['uuid']) && Number.isFinite(value['at']) && Number.isFinite(value['timeout']);
}

function isAttachment(value: unknown): value is Attachment {
  return (
    hasTexts(value, ['network', 'container', 'interface', 'owner']) &&
    Number.isFinite(value['since']) &&
    isListOf(value['places'], isPlace)
  );
}

function isBlocks(value: unknown): value is Blocks {
  return isFields(value) && Object.values(value).every((block) => typeof block === 'string');
}

function isRememberedPool(value: unknown): value is RememberedPool {
  const isText = (item: unknown): boolean => typeof item === 'string';
  return (
    hasTexts(value, ['pool']) &&
    isListOf(value['families'], isText) &&
    isListOf(value['blocks'], isBlockOfPool)
  );
}

function isBlockOfPool(value: unknown): boolean {
  return (
    hasTexts(value, ['cidr']) &&
    typeof value['allowsFirst'] === 'boolean' &&
    typeof value['allowsLast'] === 'boolean' &&
    isFields(value['details'])
  );
}

function isLeaving(value: unknown): value is Leaving {
  return hasTexts(value, ['version']) && isListOf(value['blocks'], (block) => typeof block === 'string');
}
