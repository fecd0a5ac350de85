// The table columns of a custom resource: its name, then those of its definition, or its age.
import type { JsonValue } from '../json-value.ts';
import type { PrinterColumn } from '../resources/custom-resource-definition.ts';
import { ageOfText } from './age.ts';
import { compileJsonPath } from './json-path.ts';
import { nameColumn, type TableColumn } from './table-column.ts';

const onlyAge: readonly PrinterColumn[] = [
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since creation' },
];

/** Throws a `SyntaxError` for a column with an unsupported path. */
export function customColumns(columns: readonly PrinterColumn[] = onlyAge): readonly TableColumn[] {
  return [nameColumn, ...columns.map(customColumn)];
}

function customColumn(column: PrinterColumn): TableColumn {
  const path = compileJsonPath(column.jsonPath);
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? '',
    description: column.description ?? '',
    priority: column.priority ?? 0,
    cell: (object, now) => cellOf(path(object)[0], column.type, now),
  };
}

const cellsByType: Readonly<Record<string, (value: JsonValue, now: number) => JsonValue>> = {
  string: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  date: (value, now) => (typeof value === 'string' ? ageOfText(value, now) : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  number: (value) => (typeof value === 'number' ? value : null),
  integer: (value) => (typeof value === 'number' ? Math.trunc(value) : null),
};

/** A column shows the first value found, and nothing if that is of another type. */
function cellOf(value: JsonValue | undefined, type: string, now: number): JsonValue {
  return value === undefined || value === null ? null : (cellsByType[type]?.(value, now) ?? null);
}
