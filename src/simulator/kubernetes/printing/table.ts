// Renders objects as the tables that kubectl prints.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
import { badRequest } from '../api-status.ts';
import { invalid } from '../field-error.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { TableColumn } from './table-column.ts';

/** The part of its object that each row includes. */
export type IncludedObject = 'Metadata' | 'None' | 'Object';

export interface TableOptions {
  readonly columns: readonly TableColumn[];
  readonly included: IncludedObject;
  /** Ms since the epoch, for ages. */
  readonly now: number;
  /** False for the rows of a watch after the first. */
  readonly headers: boolean;
}

/** Throws `StatusError` for an invalid value. */
export function includedObjectOf(query: URLSearchParams): IncludedObject {
  const wanted = query.get('includeObject') ?? '';
  if (wanted === '' || wanted === 'Metadata') return 'Metadata';
  if (wanted === 'None' || wanted === 'Object') return wanted;
  const { field, message } = invalid(
    'includeObject',
    wanted,
    "must be 'Metadata', 'Object', 'None', or empty",
  );
  throw badRequest(`Unable to convert to Table as requested: ${field}: ${message}`);
}

/** `metadata` is that of the list, or only the object's resource version. */
export function tableOf(
  objects: readonly KubernetesObject[],
  metadata: JsonObject,
  options: TableOptions,
): JsonObject {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: options.headers ? options.columns.map(columnDefinition) : null,
    rows: objects.map((object) => ({
      cells: options.columns.map((column) => column.cell(object, options.now)),
      object: includedPart(object, options.included),
    })),
  };
}

function columnDefinition({ name, type, format, description, priority }: TableColumn): JsonObject {
  return { name, type, format, description, priority };
}

function includedPart(object: KubernetesObject, included: IncludedObject): JsonValue {
  if (included === 'None') return null;
  return included === 'Object' ? object : partialMetadata(object);
}

/** An object reduced to its metadata. */
export function partialMetadata({ metadata }: { readonly metadata: JsonObject }): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}
