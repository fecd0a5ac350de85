// Events, served by two groups with different field names: stored in the core form and converted for the other.
import { type JsonObject, textAt } from '../../json-value.ts';
import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { metadataUpdateErrors } from '../../objects/metadata-rules.ts';
import { eventColumns } from '../../printing/event-columns.ts';
import { decodeWire } from '../../schema/wire-decode.ts';
import { struct } from '../../schema/wire-shape.ts';
import { builtInType, unknownOwnField } from '../built-in-type.ts';
import type { ResourceType, SelectableField } from '../resource-type.ts';
import { eventErrors, strictEventErrors, strictEventUpdateErrors } from './event-rules.ts';
import { coreEventFields, eventFields } from './event-shape.ts';

const coreVersion = 'v1';
const eventsVersion = 'events.k8s.io/v1';

/** Core name → name in the events group. */
const renamed: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
};

const coreNames = new Map(Object.entries(renamed).map(([core, other]) => [other, core]));
const coreShape = struct('Event', coreEventFields);
const eventsShape = struct('Event', eventFields);

const selectable = (prefix: string): readonly SelectableField[] => [
  ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => ({
    name: `${prefix}.${field}`,
    valueOf: (event: KubernetesObject) => textAt(toCore(event), 'involvedObject', field),
  })),
  { name: 'reason', valueOf: (event) => textAt(event, 'reason') },
  { name: 'reportingComponent', valueOf: reporterOf },
  { name: 'source', valueOf: reporterOf },
  { name: 'type', valueOf: (event) => textAt(event, 'type') },
];

function reporterOf(event: KubernetesObject): string {
  const core = toCore(event);
  return textAt(core, 'source', 'component') || textAt(core, 'reportingComponent');
}

const names = { kind: 'Event', plural: 'events', shortNames: ['ev'] };

export const coreEvents: ResourceType = builtInType({
  names: { group: '', version: 'v1', ...names },
  namespaced: true,
  createsOnUpdate: true,
  fields: coreEventFields,
  validate: (event) => eventErrors(event, 'reportingComponent'),
  selectableFields: selectable('involvedObject'),
  unknownFieldText: unknownOwnField,
  columns: eventColumns,
});

const ownEvents: ResourceType = builtInType({
  names: { group: 'events.k8s.io', version: 'v1', ...names },
  namespaced: true,
  createsOnUpdate: true,
  fields: eventFields,
  selectableFields: selectable('regarding'),
  unknownFieldText: unknownOwnField,
  columns: eventColumns.map((column) => ({
    ...column,
    cell: (event, now) => column.cell(toCore(event), now),
  })),
});

export const events: ResourceType = {
  ...ownEvents,
  kindGroup: coreEvents.kindGroup,
  collection: coreEvents.collection,
  storagePath: coreEvents.storagePath,
  fromStored: fromCore,
  toStored: toCore,
  create: {
    prepare: (event) => event,
    validate: (event) => [
      ...eventErrors(toCore(event), 'reportingController'),
      ...ownEvents.create.validate(event),
      ...strictEventErrors(toCore(event)),
    ],
  },
  update: {
    prepare: (next) => next,
    validate: (next, current) => [
      ...eventErrors(toCore(next), 'reportingController'),
      ...metadataUpdateErrors(next.metadata, current.metadata),
      ...strictEventUpdateErrors(toCore(next), toCore(current)),
    ],
  },
};

function fromCore(event: KubernetesObject): KubernetesObject {
  if (event.apiVersion !== coreVersion) return event;
  const fields = renamedFields(event, (name) => renamed[name] ?? name);
  return inForm(event, eventsVersion, decodeWire(fields, eventsShape).value);
}

function toCore(event: KubernetesObject): KubernetesObject {
  if (event.apiVersion !== eventsVersion) return event;
  const fields = renamedFields(event, (name) => coreNames.get(name) ?? name);
  return inForm(event, coreVersion, decodeWire(fields, coreShape).value);
}

function renamedFields(event: KubernetesObject, rename: (name: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [rename(name), value]));
}

function inForm(event: KubernetesObject, apiVersion: string, fields: JsonObject): KubernetesObject {
  return { kind: 'Event', apiVersion, metadata: event.metadata, ...fields };
}
