// The columns that many resources have.
import { ageOfObject } from './age.ts';
import type { TableColumn } from './table-column.ts';

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
