// Parses and validates the query of a write as the server does.
import { invalidObject } from '../api-status.ts';
import { type FieldError, notSupported, notSupportedAs } from '../field-error.ts';
import { goTexts } from '../go-text.ts';
import { type FieldWriter, managerOf } from '../objects/managed-fields.ts';
import type { ResourceCall } from './resource-call.ts';

export type FieldValidation = 'Ignore' | 'Strict' | 'Warn';

export interface WriteParameters {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
}

/** `kind` is the server's name for the options: `CreateOptions`, ... Throws `StatusError`. */
export function writeParametersOf(query: URLSearchParams, kind: string): WriteParameters {
  const dryRun = query.getAll('dryRun');
  const fieldValidation = query.get('fieldValidation') ?? '';
  const errors = [...dryRunErrors(dryRun), ...validationErrors(fieldValidation)];
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', name: kind }, '', errors);
  return { dryRun: dryRun.length > 0, fieldValidation: (fieldValidation || 'Warn') as FieldValidation };
}

/** The field manager of a request. */
export function writerOf({
  query,
  request,
  target,
}: Pick<ResourceCall, 'query' | 'request' | 'target'>): FieldWriter {
  const manager = managerOf(query.get('fieldManager'), request.headers['user-agent']);
  return { manager, subresource: target.subresource };
}

/** Errors in a dry-run parameter. */
export function dryRunErrors(dryRun: readonly string[]): readonly FieldError[] {
  if (dryRun.every((value) => value === 'All')) return [];
  return [notSupportedAs('dryRun', goTexts(dryRun), ['All'])];
}

function validationErrors(value: string): readonly FieldError[] {
  if (['', 'Ignore', 'Strict', 'Warn'].includes(value)) return [];
  return [notSupported('fieldValidation', value, ['', 'Ignore', 'Strict', 'Warn'])];
}
