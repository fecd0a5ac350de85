// Reads from the metadata service of an ECS instance where this process runs
// (https://www.alibabacloud.com/help/ecs/user-guide/view-instance-metadata).
import { askMetadata } from '../../network/metadata-request.ts';
import { isRegion } from './ids.ts';

/** Timeout for all requests together, in ms. */
const timeout = 3000;

/**
 * The region of the instance. Rejects if the service does not answer, or answers something else: this is no ECS instance,
 * or pods cannot reach the service.
 */
export async function regionOfInstance(endpoint: string, signal: AbortSignal): Promise<string> {
  const base = `${endpoint.replace(/\/$/, '')}/latest`;
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  const token = await askMetadata(`${base}/api/token`, {
    method: 'PUT',
    headers: { 'X-aliyun-ecs-metadata-token-ttl-seconds': '60' },
    signal: within,
  }).catch((error: unknown) => {
    // Older instances have only the form without a token.
    if (within.aborted) throw error;
    return undefined;
  });
  const region = await askMetadata(`${base}/meta-data/region-id`, {
    headers: token === undefined ? {} : { 'X-aliyun-ecs-metadata-token': token },
    signal: within,
  });
  if (!isRegion(region)) throw new Error(`it names no region: ${region.slice(0, 80)}`);
  return region;
}
