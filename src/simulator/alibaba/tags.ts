// The rules of tags: how many, which are reserved, and which a filter asks for
// (https://help.aliyun.com/document_detail/110424.html).
import type { Tags } from '../cloud/records.ts';
import type { GivenTag } from './parameters.ts';
import { RpcRefusal } from './rpc-refusal.ts';

const tagsPerResource = 20;
/** The length limit of a key and of a value, in characters. */
const maxLength = 128;

/** Whether a resource has all tags that a filter gives; without a value, any counts. */
export function hasTags(tags: Tags, wanted: readonly GivenTag[]): boolean {
  return wanted.every(({ key, value }) => tags[key] !== undefined && (value ?? tags[key]) === tags[key]);
}

/** The tags that are added; refuses reserved ones, and more than a resource may have. */
export function newTags(present: Tags, given: readonly GivenTag[]): Tags {
  const reserved = given.find(({ key }) => key.length > maxLength || /^(aliyun|acs:)|https?:\/\//i.test(key));
  if (reserved !== undefined) {
    throw new RpcRefusal('InvalidTagKey.Malformed', `The specified Tag.n.Key ${reserved.key} is not valid.`);
  }
  const odd = given.find(({ value = '' }) => value.length > maxLength || /https?:\/\//i.test(value));
  if (odd !== undefined) {
    throw new RpcRefusal('InvalidTagValue.Malformed', `The specified Tag.n.Value ${odd.value} is not valid.`);
  }
  const added = Object.fromEntries(given.map(({ key, value = '' }) => [key, value]));
  if (Object.keys({ ...present, ...added }).length > tagsPerResource) {
    throw new RpcRefusal('TagsPerResource.QuotaExceeded', 'The maximum number of tags is exceeded.');
  }
  return added;
}
