// A column of the tables that kubectl prints, and columns that many resources share.
import type { JsonValue } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { ageOfObject } from './age.ts';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, higher values only in wide tables. */
  readonly priority: number;
  /** The cell of an object; `now` in ms since the epoch, for ages. */
  readonly cell: (object: KubernetesObject, now: number) => JsonValue;
}

const nameDescription = 'Name, unique within its namespace.';

export const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: nameDescription,
  priority: 0,
  cell: (object) => object.metadata.name ?? '',
};

export const ageColumn: TableColumn = {
  name: 'Age',
  type: 'string',
  format: '',
  description: 'Time since the object was created.',
  priority: 0,
  cell: ageOfObject,
};
