// Options that only AWS has: where its network is, and how interfaces are made there.
import type { OptionRow } from '../option-row.ts';
import { boolean, duration, endpoint, tagsToSet, text } from '../value-kinds.ts';

const minute = 60_000;

export const awsOptions = {
  'aws-region': {
    kind: text('region', /^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/, 'the name of an AWS region, such as eu-central-1'),
    origin: 'headwater',
    group: 'aws',
    help: "The region of the nodes. Unset, it is what the AWS SDK's own chain finds (AWS_REGION, a profile), else what the metadata service of the instance says. Set it where there is no metadata service.",
    fromConfigDir: true,
  },
  'vpc-id': {
    kind: text('vpc-...', /^vpc-([\da-f]{8}|[\da-f]{17})$/, 'vpc- and 8 or 17 hexadecimal digits'),
    origin: 'headwater',
    group: 'aws',
    help: 'The only VPC whose nodes are served. Unset, nodes are served in whichever VPC their agents say they are. Set it where several installations share a region, or to keep Headwater out of the rest of the account.',
    fromConfigDir: true,
  },
  'ec2-api-endpoint': {
    kind: endpoint,
    origin: 'operator',
    group: 'aws',
    help: "Where EC2 is spoken to. Unset, the region's public endpoint. Set it for a VPC endpoint (a bare host name is spoken to by https) or for an emulator (http://localhost:4566).",
    fromConfigDir: true,
  },
  'aws-use-primary-address': {
    kind: boolean,
    origin: 'operator',
    group: 'aws',
    help: "Whether an interface's primary address may be given to a pod too, which makes one address more of every interface. Nodes whose own spec.eni.use-primary-address says so get it without this option.",
    default: 'false',
    fromConfigDir: true,
  },
  'aws-enable-prefix-delegation': {
    kind: boolean,
    origin: 'operator',
    group: 'aws',
    help: 'Whether nodes get whole /28 prefixes in the place of single addresses: 16 times the pods per interface and a sixteenth of the calls, from instances built on Nitro and subnets that have whole blocks left. Where a subnet has none, other subnets that suit the node are tried, then single addresses, and prefixes again later. A node with spec.eni.disable-prefix-delegation keeps single addresses.',
    default: 'false',
    fromConfigDir: true,
  },
  'eni-tags': {
    kind: tagsToSet,
    origin: 'operator',
    group: 'aws',
    help: 'Tags for every interface that Headwater creates, besides those by which it finds its own again. For cost reports and policies.',
    default: '',
    fromConfigDir: true,
  },
  'eni-gc-tags': {
    kind: tagsToSet,
    origin: 'operator',
    group: 'aws',
    help: "The tags by which interfaces that belong to this cluster are known, set on creation and looked for when leftovers are collected. Empty means io.cilium/cilium-managed=true and io.cilium/cluster-name with the cluster's name. Only change it to go on with tags that cilium-operator was given.",
    default: '',
    fromConfigDir: true,
  },
  'eni-gc-interval': {
    kind: duration({ least: minute, most: 24 * 60 * minute, never: true }),
    origin: 'operator',
    group: 'aws',
    help: "How often interfaces that belong to this cluster and are attached to nothing are looked for, and how long one must have been seen detached before it is deleted. At most 25 are deleted each time. 0 leaves them all where they are; those made for an instance that needs an interface are attached to it all the same. Nothing is deleted while neither cluster-name nor eni-gc-tags says which interfaces are this cluster's.",
    default: '5m',
    fromConfigDir: true,
  },
  'eni-gc-dry-run': {
    kind: boolean,
    origin: 'headwater',
    group: 'aws',
    help: 'Whether interfaces that would be deleted because they are attached to nothing are only logged and counted. Set it for a while before you trust the tags.',
    default: 'false',
    fromConfigDir: true,
  },
} as const satisfies Record<string, OptionRow>;
