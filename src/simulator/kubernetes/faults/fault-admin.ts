// Admin endpoint under `/_headwater/`: small JSON commands to inject faults, count requests and time writes
// from outside the process.
import type { KubernetesRequest, KubernetesResponse } from '../exchange.ts';
import { type Failure, failureStatus } from '../api-status.ts';
import { isJsonObject, type JsonObject, type JsonValue, textAt, valueAt } from '../json-value.ts';
import { jsonAnswer, nothingThere } from '../serving/answers.ts';
import type { RequestCounts } from '../serving/request-counts.ts';
import type { VersionTimes } from '../storage/version-times.ts';
import type { FaultEffect, FaultRule, Faults } from './faults.ts';
import { refusalWith } from './refusals.ts';

export const adminPrefix = '/_headwater/';

export interface Administered {
  readonly faults: Faults;
  readonly requests: RequestCounts;
  readonly versions: VersionTimes;
}

/**
 * Serves one command:
 *
 * - `GET faults` lists the active rules, `POST faults` injects one, `DELETE faults` removes all;
 * - `POST close-watches`, `POST cut-watches` end or break open watches, all or those whose URL matches
 *   `path`;
 * - `POST expire-history` drops every older version;
 * - `GET requests` counts requests by client, method and resource, `DELETE requests` resets the counts;
 * - `GET versions` shows when each recent resource version was written.
 *
 * A rule is `{ "method", "path", "times", "effect": { "kind", ... } }`; `path` is a regular expression.
 */
export function serveAdmin(
  path: string,
  request: KubernetesRequest,
  administered: Administered,
): KubernetesResponse {
  const command = `${request.method} ${path.slice(adminPrefix.length)}`;
  try {
    return carryOut(command, bodyOf(request.body ?? ''), administered);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    return jsonAnswer(400, { error: error.message });
  }
}

function carryOut(
  command: string,
  body: JsonObject,
  { faults, requests, versions }: Administered,
): KubernetesResponse {
  switch (command) {
    case 'GET faults':
      return jsonAnswer(200, { rules: faults.rules().map(shown) });
    case 'POST faults':
      faults.inject(ruleOf(body));
      return jsonAnswer(201, { rules: faults.rules().map(shown) });
    case 'DELETE faults':
      faults.clear();
      return jsonAnswer(200, { rules: [] });
    case 'POST close-watches':
      return jsonAnswer(200, { watches: faults.closeWatches(patternOf(body)) });
    case 'POST cut-watches':
      return jsonAnswer(200, { watches: faults.cutWatches(patternOf(body)) });
    case 'POST expire-history':
      faults.expireHistory();
      return jsonAnswer(200, {});
    case 'GET requests':
      return jsonAnswer(200, { requests: requests.all().map((count) => ({ ...count })) });
    case 'DELETE requests':
      requests.reset();
      return jsonAnswer(200, {});
    case 'GET versions':
      return jsonAnswer(200, { versions: versions.all().map((version) => ({ ...version })) });
    default:
      return nothingThere();
  }
}

function bodyOf(text: string): JsonObject {
  const parsed = text === '' ? {} : (JSON.parse(text) as JsonValue);
  if (!isJsonObject(parsed)) throw new TypeError('expected a JSON object');
  return parsed;
}

function patternOf(body: JsonObject): RegExp | undefined {
  const path = textAt(body, 'path');
  return path === '' ? undefined : new RegExp(path);
}

function ruleOf(body: JsonObject): FaultRule {
  const path = patternOf(body);
  const method = textAt(body, 'method');
  return {
    ...(method === '' ? {} : { method: method.toUpperCase() }),
    ...(path === undefined ? {} : { path }),
    times: numberAt(body, 'times') ?? 1,
    effect: effectOf(valueAt(body, 'effect')),
  };
}

function effectOf(effect: JsonValue | undefined): FaultEffect {
  const kind = textAt(effect, 'kind');
  switch (kind) {
    case 'refuse':
      return { kind, failure: failureOf(effect) };
    case 'delay':
    case 'delayEvents':
      return { kind, ms: numberAt(effect, 'ms') ?? 0 };
    case 'dropBefore':
    case 'dropAfter':
    case 'duplicateEvents':
    case 'emptyList':
      return { kind };
    default:
      throw new TypeError(`unknown effect "${kind}"`);
  }
}

function numberAt(value: JsonValue | undefined, name: string): number | undefined {
  const found = valueAt(value, name);
  return typeof found === 'number' ? found : undefined;
}

/** A refusal for which only the code is required. */
function failureOf(effect: JsonValue | undefined): Failure {
  const code = numberAt(effect, 'code') ?? 500;
  const retryAfterSeconds = numberAt(effect, 'retryAfterSeconds');
  return refusalWith(code, {
    ...(textAt(effect, 'message') === '' ? {} : { message: textAt(effect, 'message') }),
    ...(textAt(effect, 'reason') === '' ? {} : { reason: textAt(effect, 'reason') }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function shown({ method, path, times, effect }: FaultRule): JsonObject {
  const limited = times === undefined || !Number.isFinite(times) ? {} : { times };
  const where = {
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path: path.source }),
  };
  return { ...where, ...limited, effect: shownEffect(effect) };
}

function shownEffect(effect: FaultEffect): JsonObject {
  return effect.kind === 'refuse'
    ? { kind: effect.kind, status: failureStatus(effect.failure) }
    : { ...effect };
}
