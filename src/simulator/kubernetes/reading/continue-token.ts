// The continue token of a paged list: which state it shows, and after which key. Opaque to clients.
import { badRequest } from '../api-status.ts';
import { type JsonValue, textAt, valueAt } from '../json-value.ts';
import { readJson } from '../read-json.ts';

export interface ListPosition {
  /** The state that the list shows; -1 for the state when the token is used. */
  readonly revision: number;
  /** The last key that was shown. */
  readonly after: string;
}

const encodingVersion = 'meta.k8s.io/v1';

export function encodeContinue({ revision, after }: ListPosition): string {
  const token = { v: encodingVersion, rv: revision, start: `/${after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** Throws `StatusError` for a token of another form. */
export function decodeContinue(token: string): ListPosition {
  const decoded = parsed(token);
  const version = textAt(decoded, 'v');
  if (version !== encodingVersion)
    throw invalidToken(`server does not recognize this encoded version ${version}`);
  const rv = valueAt(decoded, 'rv');
  const start = textAt(decoded, 'start');
  if (typeof rv !== 'number' || rv === 0) {
    throw invalidToken(`incorrect encoded start resourceVersion (version ${encodingVersion})`);
  }
  if (start === '') throw invalidToken(`encoded start key empty (version ${encodingVersion})`);
  return { revision: rv, after: start.replace(/^\//, '').replace(/\0$/, '') };
}

function parsed(token: string): JsonValue {
  const wrong = wrongByte(token);
  if (wrong >= 0) throw invalidToken(`illegal base64 data at input byte ${wrong}`);
  const text = Buffer.from(token, 'base64url').toString();
  const read = readJson(text);
  if ('problem' in read) throw invalidToken(read.problem);
  return read.value;
}

/** Position of the first byte that is not base64, or -1. */
function wrongByte(token: string): number {
  const invalid = token.search(/[^A-Za-z0-9_-]/);
  if (invalid >= 0) return invalid;
  return token.length % 4 === 1 ? token.length - 1 : -1;
}

function invalidToken(because: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${because}`);
}
