// Validates EC2's ids by their form. EC2 sends no id of another form.

/** EC2's own ids are hexadecimal; those of emulators may not be. */
const forms = {
  eni: /^eni-(?!attach-)[0-9a-z-]{1,60}$/,
  'eni-attach': /^[a-z]{2,4}-attach-[0-9a-z-]{1,60}$/,
  i: /^i-[0-9a-z-]{1,60}$/,
  subnet: /^subnet-[0-9a-z-]{1,60}$/,
  vpc: /^vpc-[0-9a-z-]{1,60}$/,
  sg: /^sg-[0-9a-z-]{1,60}$/,
  rtb: /^rtb-[0-9a-z-]{1,60}$/,
} as const;

export function isIdOf(kind: keyof typeof forms, id: string | undefined): id is string {
  return id !== undefined && forms[kind].test(id);
}

// A value from a CiliumNode joins a batched call only if it can be an EC2 id. Otherwise EC2 rejects the whole
// call (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html).

export function isInstanceId(text: string): boolean {
  return hasShape('i', text);
}

export function isNetworkId(text: string): boolean {
  return hasShape('vpc', text);
}

/** Such as `m5.24xlarge` and `u7in-16tb.224xlarge`. */
export function isInstanceType(text: string): boolean {
  return /^[a-z\d][a-z\d-]{0,31}\.[a-z\d-]{1,32}$/.test(text);
}

/**
 * The instance id in a Node's provider ID, as the AWS cloud provider writes it:
 * `aws:///us-east-1a/i-0123456789abcdef0`
 * (https://github.com/kubernetes/cloud-provider-aws/blob/master/pkg/providers/v1/instances.go). Undefined if
 * it names no EC2 instance, such as a Fargate pod.
 */
export function instanceIdOf(providerId: string): string | undefined {
  const [, id = ''] = /^aws:\/\/\/(?:[^/]*\/)?([^/]+)$/.exec(providerId) ?? [];
  return isInstanceId(id) ? id : undefined;
}

function hasShape(prefix: string, text: string): boolean {
  return text.startsWith(`${prefix}-`) && /^(?:[\da-f]{8}|[\da-f]{17})$/.test(text.slice(prefix.length + 1));
}

/** Such as us-east-1a or us-west-2-lax-1a. */
export function isZoneName(text: string): boolean {
  return /^[a-z]{2}-[a-z0-9-]{5,50}$/.test(text);
}
