// The fields by which objects of any resource can be selected.
import type { SelectableField } from './resource-type.ts';

const nameField: SelectableField = { name: 'metadata.name', valueOf: (object) => object.metadata.name ?? '' };
const namespaceField: SelectableField = {
  name: 'metadata.namespace',
  valueOf: (object) => object.metadata.namespace ?? '',
};

export function metadataFields(namespaced: boolean): readonly SelectableField[] {
  return namespaced ? [nameField, namespaceField] : [nameField];
}
