// Tags on the wire.
import type { Tags } from '../cloud/records.ts';
import { Ec2Refusal } from './ec2-refusal.ts';
import { list, record, text, type Value } from './shape.ts';

const tagShape = record({ Key: text, Value: text });

/** Tags in an answer. */
export const tagSet = { ...list(tagShape), wire: 'tagSet' } as const;

/** Tags for the resources that a request creates. */
export const tagSpecifications = {
  ...list(record({ ResourceType: text, Tags: { ...list(tagShape), wire: 'Tag' } })),
  wire: 'TagSpecification',
} as const;

/** Tags in answer form. */
export function tagsOut(tags: Tags): Value<typeof tagSet> {
  return Object.entries(tags).map(([Key, value]) => ({ Key, Value: value }));
}

/** Tags of a request; for a repeated key the last one counts. */
export function tagsIn(tags: Value<typeof tagSet> | undefined): Tags {
  return Object.fromEntries((tags ?? []).map(({ Key = '', Value: value = '' }) => [Key, value]));
}

/** The tags specified for resources of `type`; refuses other types than `types`. */
export function specifiedTags(
  specifications: Value<typeof tagSpecifications> | undefined,
  type: string,
  types: readonly string[] = [type],
): Tags {
  let tags: Tags = {};
  for (const { ResourceType = '', Tags: given } of specifications ?? []) {
    if (!types.includes(ResourceType)) {
      throw new Ec2Refusal(
        'InvalidParameter',
        `'${ResourceType}' is not a valid taggable resource type for this operation.`,
      );
    }
    if (ResourceType === type) tags = { ...tags, ...tagsIn(given) };
  }
  return tags;
}
