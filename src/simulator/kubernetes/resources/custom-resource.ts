// A resource as its CustomResourceDefinition describes it: one type for each served version.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
import { type FieldError, invalid } from '../field-error.ts';
import { type JsonObject, sameJson, textAt, withoutFields } from '../json-value.ts';
import type { KubernetesObject, ObjectMeta } from '../objects/kubernetes-object.ts';
import { metadataErrors, metadataUpdateErrors } from '../objects/metadata-rules.ts';
import { dnsSubdomain } from '../objects/names.ts';
import { keptMetadata, objectMetaShape, withMetadata } from '../objects/object-meta.ts';
import { customColumns } from '../printing/custom-columns.ts';
import { hasDefaults, withDefaults } from '../schema/default-values.ts';
import { type Pruned, pruneObject } from '../schema/prune.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { validateSchema } from '../schema/validate.ts';
import { decodeWire } from '../schema/wire-decode.ts';
import type { CustomResourceDefinition, CustomResourceVersion } from './custom-resource-definition.ts';
import {
  apiVersionOf,
  type CreateRules,
  type Decoded,
  endsAtOnce,
  metadataFields,
  type ResourceNames,
  type ResourceType,
  type UpdateRules,
} from './resource-type.ts';

/** The types of all served versions of a definition. */
export function customResourceTypes(definition: CustomResourceDefinition): readonly ResourceType[] {
  return definition.spec.versions
    .filter((version) => version.served)
    .map((version) => customResourceType(definition, version));
}

function customResourceType(
  definition: CustomResourceDefinition,
  version: CustomResourceVersion,
): ResourceType {
  const { spec } = definition;
  const names = namesOf(definition, version);
  const schema = version.schema.openAPIV3Schema;
  const namespaced = spec.scope === 'Namespaced';
  const hasStatus = version.subresources?.status !== undefined;
  const own = { names, namespaced, schema, hasStatus };
  const fill = hasDefaults(schema) ? (object: JsonObject) => withDefaults(object, schema) : undefined;
  const storedVersion = spec.versions.find((other) => other.storage)?.name ?? version.name;
  return {
    names,
    namespaced,
    custom: true,
    kindGroup: names.group,
    collection: `${names.plural}.${names.group}`,
    storagePath: `/registry/${names.group}/${names.plural}`,
    decode: (body) => decodeCustomResource(body, own, fill),
    fromStored: (object) => inVersion(object, apiVersionOf(names)),
    toStored: (object) => inVersion(object, apiVersionOf({ group: names.group, version: storedVersion })),
    create: createRules(own),
    update: updateRules(own),
    subresources: hasStatus ? { status: statusRules(own) } : {},
    createsOnUpdate: false,
    updatesUnconditionally: false,
    returnsDeleted: false,
    deletion: endsAtOnce,
    selectableFields: metadataFields(namespaced),
    unknownFieldText: (field) => `field label not supported: ${field}`,
    columns: customColumns(version.additionalPrinterColumns),
    documentation: schema as JsonObject,
  };
}

function namesOf(definition: CustomResourceDefinition, version: CustomResourceVersion): ResourceNames {
  const { group, names } = definition.spec;
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
  };
}

interface Own {
  readonly names: ResourceNames;
  readonly namespaced: boolean;
  readonly schema: StructuralSchema;
  readonly hasStatus: boolean;
}

function decodeCustomResource(
  body: JsonObject,
  { schema, names }: Own,
  fill: ((object: JsonObject) => JsonObject) | undefined,
): Decoded {
  const metadata = decodeWire(keptMetadata(body['metadata'] ?? {}), objectMetaShape, 'metadata');
  const pruned = prunedAs(body, schema, names);
  const object = { ...pruned.object, metadata: metadata.value };
  return {
    object: (fill?.(object) ?? object) as KubernetesObject,
    unknownFields: [...metadata.unknownFields, ...pruned.unknownFields],
  };
}

/** Another version of the kind is pruned to nothing, another kind not at all. Later checks refuse both. */
function prunedAs(body: JsonObject, schema: StructuralSchema, names: ResourceNames): Pruned {
  const [group] = textAt(body, 'apiVersion').split('/');
  if (group !== names.group || body['kind'] !== names.kind) return { object: body, unknownFields: [] };
  return pruneObject(body, body['apiVersion'] === apiVersionOf(names) ? schema : {});
}

function inVersion(object: KubernetesObject, apiVersion: string): KubernetesObject {
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

function createRules({ names, namespaced, schema, hasStatus }: Own): CreateRules {
  return {
    prepare: (object) => {
      const kept = hasStatus ? (withoutFields(object, 'status') as KubernetesObject) : object;
      return withMetadata(kept, { generation: 1 });
    },
    validate: (object) => {
      const wrongType = typeErrors(object, names);
      if (wrongType.length > 0) return wrongType;
      return [
        ...metadataErrors(object.metadata, namespaced, dnsSubdomain),
        ...validateSchema(object, schema),
      ];
    },
  };
}

function updateRules({ names, schema, hasStatus }: Own): UpdateRules {
  return {
    prepare: (next, current) => {
      const prepared = hasStatus ? withStatusOf(next, current) : next;
      const changed = !sameJson(withoutFields(prepared, 'metadata'), withoutFields(current, 'metadata'));
      return withMetadata(prepared, { generation: generationAfter(current.metadata, changed) });
    },
    validate: (next, current) => {
      const wrongType = typeErrors(next, names);
      if (wrongType.length > 0) return wrongType;
      return [...metadataUpdateErrors(next.metadata, current.metadata), ...validateSchema(next, schema)];
    },
  };
}

/** Takes over only the status, not even metadata. */
function statusRules({ names, schema }: Own): UpdateRules {
  return {
    prepare: (next, current) => withStatusOf(current, next),
    validate: (next, current) => {
      const wrongType = typeErrors(next, names);
      if (wrongType.length > 0) return wrongType;
      const { status } = next;
      const statusSchema = schema.properties?.['status'] ?? {};
      const errors = status === undefined ? [] : validateSchema(status, statusSchema, 'status');
      return [...metadataUpdateErrors(next.metadata, current.metadata), ...errors];
    },
  };
}

function generationAfter({ generation = 1 }: ObjectMeta, changed: boolean): number {
  return changed ? generation + 1 : generation;
}

function withStatusOf(object: KubernetesObject, source: KubernetesObject): KubernetesObject {
  const rest = withoutFields(object, 'status') as KubernetesObject;
  return source['status'] === undefined ? rest : { ...rest, status: source['status'] };
}

function typeErrors(object: KubernetesObject, names: ResourceNames): readonly FieldError[] {
  const errors: FieldError[] = [];
  const apiVersion = apiVersionOf(names);
  if (object.kind !== names.kind) errors.push(invalid('kind', object.kind, `must be ${names.kind}`));
  if (object.apiVersion !== apiVersion)
    errors.push(invalid('apiVersion', object.apiVersion, `must be ${apiVersion}`));
  return errors;
}
