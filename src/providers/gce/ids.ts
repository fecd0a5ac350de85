// Reads the names of things on Google Cloud by their form, so that none of them leads anywhere else in a URL.

/** Where an instance is. */
export interface InstancePath {
  readonly project: string;
  readonly zone: string;
  readonly name: string;
}

const project = String.raw`(?:[a-z\d][a-z\d.-]{0,80}:)?[a-z][a-z\d-]{4,28}[a-z\d]`;
const zone = String.raw`[a-z]+-[a-z]+\d{1,2}-[a-z]`;
const resource = String.raw`[a-z](?:[a-z\d-]{0,61}[a-z\d])?`;

const providerIds = new RegExp(`^gce://(${project})/(${zone})/(${resource})$`);
const operations = /^[a-z][a-z\d-]{0,128}$/;

/**
 * The instance in a Node's provider ID, as the cloud provider writes it: `gce://my-project/us-central1-a/my-instance`.
 * Undefined if it names none.
 */
export function instancePathOf(providerId: string): InstancePath | undefined {
  const [, inProject, inZone, name] = providerIds.exec(providerId) ?? [];
  if (inProject === undefined || inZone === undefined || name === undefined) return undefined;
  return { project: inProject, zone: inZone, name };
}

export function isOperationName(text: unknown): text is string {
  return typeof text === 'string' && operations.test(text);
}
