// Parses the body of a request into an object of the type in its path.
import type { KubernetesRequest } from '../exchange.ts';
import { badRequest, entityTooLarge, internalError, type StatusError } from '../api-status.ts';
import { quoted } from '../go-text.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, textAt } from '../json-value.ts';
import { readJson } from '../read-json.ts';
import { apiVersionOf, type Decoded, type ResourceType } from '../resources/resource-type.ts';
import { DecodeError } from '../schema/decode-error.ts';
import type { FieldValidation } from './write-parameters.ts';

const largestBody = 3 * 1024 * 1024;

export interface BodyRules {
  readonly fieldValidation: FieldValidation;
  readonly warn: (text: string) => void;
}

/** Throws `StatusError` for a body that is too long. */
export function checkBodySize(body: string): void {
  if (Buffer.byteLength(body) > largestBody) throw entityTooLarge(largestBody);
}

/** The object in a body; throws `StatusError`. */
export function objectInBody(
  type: ResourceType,
  request: Pick<KubernetesRequest, 'body' | 'value'>,
  rules: BodyRules,
): Decoded['object'] {
  const parsed = request.value ?? parseBody(type, request.body ?? '');
  const complete = withType(type, parsed, request);
  try {
    return strictly(type, complete, rules);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unhandled(type, complete, error.message);
  }
}

/**
 * Decodes a JSON object. Throws `DecodeError` for wrong types and, in strict mode, for unknown fields;
 * `StatusError` for another kind.
 */
export function strictly(type: ResourceType, body: JsonObject, rules: BodyRules): Decoded['object'] {
  checkVersion(type, body);
  const { object, unknownFields } = type.decode(body);
  const problems = unknownFields.map((field) => `unknown field ${quoted(field)}`);
  if (problems.length > 0 && rules.fieldValidation === 'Strict') {
    throw new DecodeError(`strict decoding error: ${problems.join(', ')}`);
  }
  if (rules.fieldValidation === 'Warn') for (const problem of problems) rules.warn(problem);
  return object;
}

function parseBody(type: ResourceType, body: string): JsonObject {
  const read = readJson(body);
  if ('problem' in read) {
    throw unrecognized(type, body, `couldn't get version/kind; json parse error: ${read.problem}`);
  }
  const parsed = read.value;
  if (isJsonObject(parsed)) return parsed;
  const header =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const cannot = `json: cannot unmarshal ${goTypeOf(parsed)} into Go value of type ${header}`;
  throw unrecognized(type, body, `couldn't get version/kind; json parse error: ${cannot}`);
}

function goTypeOf(value: JsonValue): string {
  if (isJsonArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Built-in objects may omit kind and version; custom ones may not. */
function withType(
  type: ResourceType,
  parsed: JsonObject,
  request: Pick<KubernetesRequest, 'body'>,
): JsonObject {
  const kind = textAt(parsed, 'kind');
  const apiVersion = textAt(parsed, 'apiVersion');
  if (type.custom) {
    if (kind === '')
      throw unrecognized(type, request.body ?? '', `Object 'Kind' is missing in '${request.body ?? ''}'`);
    checkSameVersion(type, { ...parsed, apiVersion: apiVersion === '' ? '' : apiVersionOf(type.names) });
    return parsed;
  }
  return { ...parsed, kind: kind || type.names.kind, apiVersion: apiVersion || apiVersionOf(type.names) };
}

function checkVersion(type: ResourceType, object: JsonObject): void {
  const apiVersion = textAt(object, 'apiVersion');
  const kind = textAt(object, 'kind');
  if (type.custom && apiVersion === '') {
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  }
  const expected = apiVersionOf(type.names);
  if (type.custom || (apiVersion === expected && kind === type.names.kind)) return;
  if (apiVersion === expected) {
    throw new DecodeError(`converting (v1.${kind}) to (core.${type.names.kind}): unknown conversion`);
  }
  const scheme = 'in scheme "pkg/runtime/scheme.go:100"';
  throw new DecodeError(`no kind ${quoted(kind)} is registered for version ${quoted(apiVersion)} ${scheme}`);
}

/** Refuses an object of another version than the path's, which a custom resource reports only at this point. */
export function checkSameVersion(type: ResourceType, object: JsonObject): void {
  const expected = apiVersionOf(type.names);
  const given = textAt(object, 'apiVersion');
  if (given === expected) return;
  throw badRequest(
    `the API version in the data (${given}) does not match the expected API version (${expected})`,
  );
}

function unhandled(type: ResourceType, object: JsonObject, because: string): StatusError {
  const expected = type.names.kind;
  const kind = textAt(object, 'kind');
  const version = textAt(object, 'apiVersion').split('/').at(-1) ?? '';
  return badRequest(`${kind} in version ${quoted(version)} cannot be handled as a ${expected}: ${because}`);
}

function unrecognized(type: ResourceType, body: string, because: string): StatusError {
  const subject = `the object provided is unrecognized (must be of type ${type.names.kind})`;
  return badRequest(`${subject}: ${because} (${summary(body)})`);
}

const maxSummaryCharacters = 30;

/** The first characters of a body, or of its bytes if it is not an object. */
function summary(body: string): string {
  if (body === '') return '<empty>';
  const shown = body.startsWith('{') ? body : Buffer.from(body).toString('hex');
  return body.length > maxSummaryCharacters ? `${shown.slice(0, maxSummaryCharacters)} ...` : shown;
}
