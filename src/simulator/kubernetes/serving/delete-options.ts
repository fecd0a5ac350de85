// Reads the delete options of a request from its body, or from its query without a body.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/delete-options/
import { badRequest, invalidObject, StatusError, unclassifiedError } from '../api-status.ts';
import { type FieldError, invalid, notSupported } from '../field-error.ts';
import { quoted } from '../go-text.ts';
import { isJsonObject, type JsonObject, textAt } from '../json-value.ts';
import { readJson } from '../read-json.ts';
import { DecodeError } from '../schema/decode-error.ts';
import { decodeWire } from '../schema/wire-decode.ts';
import { flag, int64, text, texts } from '../schema/scalars.ts';
import { given, struct } from '../schema/wire-shape.ts';
import type { Deletion } from '../writing/delete-object.ts';
import { checkJsonBody } from './media-types.ts';
import type { ResourceCall } from './resource-call.ts';
import { dryRunErrors } from './write-parameters.ts';

const shape = struct('DeleteOptions', {
  kind: text,
  apiVersion: text,
  gracePeriodSeconds: given(int64),
  preconditions: given(struct('Preconditions', { uid: given(text), resourceVersion: given(text) })),
  orphanDependents: given(flag),
  propagationPolicy: given(text),
  dryRun: texts,
});

const policies = ['Background', 'Foreground', 'Orphan'] as const;

/** Throws `StatusError` for invalid options. */
export function deletionOf({ request, query }: ResourceCall): Deletion {
  const options =
    (request.body ?? '') === '' ? fromQuery(query) : fromBody(request.body ?? '', request.headers);
  const dryRun = [...query.getAll('dryRun'), ...stringsAt(options, 'dryRun')];
  const policy = textAt(options, 'propagationPolicy');
  const errors = [...policyErrors(options, policy), ...dryRunErrors(dryRun)];
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', name: 'DeleteOptions' }, '', errors);
  const orphan = options['orphanDependents'];
  const grace = options['gracePeriodSeconds'];
  return {
    uid: optionalText(options, 'preconditions', 'uid'),
    resourceVersion: optionalText(options, 'preconditions', 'resourceVersion'),
    gracePeriod: typeof grace === 'number' ? Math.max(grace, grace < 0 ? 1 : 0) : undefined,
    propagation: orphan === true ? 'Orphan' : policies.find((known) => known === policy),
    dryRun: dryRun.length > 0,
  };
}

function fromBody(body: string, headers: Readonly<Record<string, string>>): JsonObject {
  checkJsonBody(headers['content-type']);
  const read = readJson(body);
  if ('problem' in read) {
    throw unclassifiedError(`couldn't get version/kind; json parse error: ${read.problem}`);
  }
  const parsed = read.value;
  const kind = textAt(parsed, 'kind');
  if (kind !== '' && kind !== 'DeleteOptions') {
    const version = quoted(textAt(parsed, 'apiVersion'));
    const scheme = 'in scheme "pkg/runtime/scheme.go:100"';
    throw unclassifiedError(`no kind ${quoted(kind)} is registered for version ${version} ${scheme}`);
  }
  return decoded(isJsonObject(parsed) ? parsed : {});
}

function decoded(options: JsonObject): JsonObject {
  try {
    return decodeWire(options, shape).value;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new StatusError({ code: 500, message: error.message });
  }
}

function fromQuery(query: URLSearchParams): JsonObject {
  const grace = query.get('gracePeriodSeconds');
  if (grace !== null && !/^[+-]?\d+$/.test(grace)) {
    throw badRequest(`strconv.ParseInt: parsing ${quoted(grace)}: invalid syntax`);
  }
  const policy = query.get('propagationPolicy');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
  };
}

function policyErrors(options: JsonObject, policy: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (options['propagationPolicy'] !== undefined && options['orphanDependents'] !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push(invalid('propagationPolicy', policy, detail));
  }
  if (policy !== '' && !policies.some((known) => known === policy)) {
    errors.push(notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']));
  }
  return errors;
}

function stringsAt(options: JsonObject, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function optionalText(options: JsonObject, ...path: readonly string[]): string | undefined {
  return textAt(options, ...path) || undefined;
}
