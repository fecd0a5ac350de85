// Reads the region from the EC2 instance metadata service, version 2, if nothing else provides it
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html).

import { askMetadata } from '../../network/metadata-request.ts';

/** The service's address on an instance. */
export const instanceMetadata = 'http://169.254.169.254';

/** Timeout for all requests together, in ms. */
const timeout = 3000;

/**
 * The region of the instance. Rejects if the service does not answer: this is no EC2 instance, or the hop
 * limit keeps pods from reaching the service.
 */
export async function regionOfInstance(endpoint: string, signal: AbortSignal): Promise<string> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  const token = await askMetadata(`${endpoint}/latest/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' },
    signal: within,
  });
  const region = await askMetadata(`${endpoint}/latest/meta-data/placement/region`, {
    headers: { 'x-aws-ec2-metadata-token': token },
    signal: within,
  });
  if (!/^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/.test(region))
    throw new Error(`it names no region: ${region.slice(0, 80)}`);
  return region;
}
