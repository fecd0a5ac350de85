// Builds the type of a built-in resource from its differences to common defaults.
import type { FieldError } from '../field-error.ts';
import type { JsonObject } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { metadataErrors, metadataUpdateErrors } from '../objects/metadata-rules.ts';
import { dnsSubdomain, type TextRule } from '../objects/names.ts';
import { keptMetadata, objectMetaShape } from '../objects/object-meta.ts';
import type { TableColumn } from '../printing/table-column.ts';
import { decodeWire } from '../schema/wire-decode.ts';
import { text } from '../schema/scalars.ts';
import { always, struct, type WireField, type WireShape } from '../schema/wire-shape.ts';
import {
  type Decoded,
  endsAtOnce,
  metadataFields,
  type ResourceNames,
  type ResourceType,
  type SelectableField,
  type UpdateRules,
} from './resource-type.ts';

export interface BuiltIn {
  readonly names: Pick<ResourceNames, 'group' | 'kind' | 'plural' | 'version'> & Partial<ResourceNames>;
  readonly namespaced: boolean;
  readonly columns: readonly TableColumn[];
  /** Fields besides type and metadata. */
  readonly fields: Readonly<Record<string, WireField | WireShape>>;
  /** Its name in etcd, if not the plural. */
  readonly storageName?: string;
  readonly nameRule?: TextRule;
  readonly createsOnUpdate?: boolean;
  readonly updatesUnconditionally?: boolean;
  readonly returnsDeleted?: boolean;
  readonly deletion?: Partial<ResourceType['deletion']>;
  /** Selectable fields besides name and namespace. */
  readonly selectableFields?: readonly SelectableField[];
  readonly unknownFieldText?: (field: string) => string;
  /** Server-side defaults, on create and on update. */
  readonly fill?: (object: KubernetesObject) => KubernetesObject;
  readonly prepareCreate?: (object: KubernetesObject) => KubernetesObject;
  readonly prepareUpdate?: UpdateRules['prepare'];
  /** Errors in an object besides its metadata. */
  readonly validate?: (object: KubernetesObject) => readonly FieldError[];
  readonly validateUpdate?: UpdateRules['validate'];
  readonly subresources?: Readonly<Record<string, UpdateRules>>;
}

const usual = {
  nameRule: dnsSubdomain,
  createsOnUpdate: false,
  updatesUnconditionally: true,
  returnsDeleted: false,
  deletion: {},
  selectableFields: [],
  unknownFieldText: unknownMetadataField,
  fill: (object: KubernetesObject) => object,
  prepareCreate: (object: KubernetesObject) => object,
  prepareUpdate: (next: KubernetesObject) => next,
  validate: () => [],
  subresources: {},
} as const satisfies Partial<BuiltIn>;

export function builtInType(given: BuiltIn): ResourceType {
  const own = { ...usual, ...given };
  const { group, kind, plural } = own.names;
  const validateUpdate = own.validateUpdate ?? own.validate;
  return {
    names: namesOf(own.names),
    namespaced: own.namespaced,
    custom: false,
    kindGroup: group,
    collection: group === '' ? plural : `${plural}.${group}`,
    storagePath: `/registry/${own.storageName ?? plural}`,
    decode: decoder(own.fields, kind, own.fill),
    fromStored: (object) => object,
    toStored: (object) => object,
    create: {
      prepare: own.prepareCreate,
      validate: (object) => [
        ...metadataErrors(object.metadata, own.namespaced, own.nameRule),
        ...own.validate(object),
      ],
    },
    update: {
      prepare: own.prepareUpdate,
      validate: (next, current) => [
        ...metadataUpdateErrors(next.metadata, current.metadata),
        ...validateUpdate(next, current),
      ],
    },
    subresources: own.subresources,
    createsOnUpdate: own.createsOnUpdate,
    updatesUnconditionally: own.updatesUnconditionally,
    returnsDeleted: own.returnsDeleted,
    deletion: { ...endsAtOnce, ...own.deletion },
    selectableFields: [...metadataFields(own.namespaced), ...own.selectableFields],
    unknownFieldText: own.unknownFieldText,
    columns: own.columns,
    documentation: undefined,
  };
}

function namesOf(given: BuiltIn['names']): ResourceNames {
  const { kind } = given;
  return {
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    ...given,
  };
}

/** The refusal of resources that support only name and namespace. */
function unknownMetadataField(field: string): string {
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** The refusal of resources with their own fields. */
export function unknownOwnField(field: string): string {
  return `field label not supported: ${field}`;
}

function decoder(
  fields: BuiltIn['fields'],
  kind: string,
  fill: (object: KubernetesObject) => KubernetesObject,
): (body: JsonObject) => Decoded {
  const shape = struct(kind, { kind: text, apiVersion: text, metadata: always(objectMetaShape), ...fields });
  return (body) => {
    const { value, unknownFields } = decodeWire(
      { ...body, metadata: keptMetadata(body['metadata'] ?? {}) },
      shape,
    );
    return { object: fill(value as KubernetesObject), unknownFields };
  };
}
