// Validates the ids of ECS and VPC by their form, and reads those in provider IDs.

const forms = {
  eni: /^eni-[0-9a-z-]{1,60}$/,
  i: /^i-[0-9a-z-]{1,60}$/,
  vsw: /^vsw-[0-9a-z-]{1,60}$/,
  vpc: /^vpc-[0-9a-z-]{1,60}$/,
  sg: /^sg-[0-9a-z-]{1,60}$/,
} as const;

export function isIdOf(kind: keyof typeof forms, id: string | undefined): id is string {
  return id !== undefined && forms[kind].test(id);
}

/** Such as `ecs.g7.large`, `ebmc4.8xlarge` and `efg1.nvga1`: the cloud knows which there are. */
export function isInstanceType(text: string): boolean {
  return /^[a-z\d][\w-]{0,40}(?:\.[\w-]{1,40}){1,3}$/i.test(text);
}

/** Such as `cn-hangzhou` and `ap-southeast-1`. */
export function isRegion(text: string): boolean {
  return /^[a-z]{2,}(-[a-z\d]+){1,4}$/.test(text);
}

/**
 * The instance id in a Node's provider ID, as the cloud provider writes it: `cn-hangzhou.i-bp67acfmxazb4ph5`, after
 * `alicloud://` in newer clusters (https://github.com/kubernetes/cloud-provider-alibaba-cloud). Undefined if it names no
 * ECS instance.
 */
export function instanceIdOf(providerId: string): string | undefined {
  const [, region = '', id] = /^(?:alicloud:\/\/)?([^./]+)\.([^./]+)$/.exec(providerId) ?? [];
  return isRegion(region) && isIdOf('i', id) ? id : undefined;
}
