// Options for AWS only: its network and how interfaces are created there.
import { makesInterfaces } from '../clouds/clouds.ts';
import { optionRows } from '../option-row.ts';
import { boolean, duration, endpoint, tagFilter, tagsToSet, text } from '../value-kinds.ts';

const second = 1000;
const minute = 60 * second;

export const awsOptions = optionRows(
  { origin: 'operator', group: 'aws' },
  {
    'aws-region': {
      kind: text(
        'region',
        /^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/,
        'the name of an AWS region, such as eu-central-1',
      ),
      origin: 'headwater',
      cloud: 'eni',
      help: "The region of the nodes. If unset, the AWS SDK's own chain finds it (AWS_REGION, a profile), else the instance metadata service. Set it where there is no metadata service.",
    },
    'vpc-id': {
      kind: text('vpc-...', /^vpc-([\da-f]{8}|[\da-f]{17})$/, 'vpc- and 8 or 17 hexadecimal digits'),
      origin: 'headwater',
      cloud: 'eni',
      help: 'The only VPC whose nodes are served. If unset, nodes are served in every VPC that their agents name. Set it if several installations share a region, or to keep Headwater out of the rest of the account.',
    },
    'pod-vpc-id': {
      kind: text('vpc-...', /^vpc-([\da-f]{8}|[\da-f]{17})$/, 'vpc- and 8 or 17 hexadecimal digits'),
      origin: 'headwater',
      cloud: 'eni',
      help: 'The VPC that pods get addresses of, if it is another one than that of the instances, in the same account: new interfaces come from its subnets in the zone of the node. Nodes must name security groups of it. Interfaces elsewhere get no more addresses for pods. If unset, pods are in the VPC of their instance.',
    },
    'ec2-api-endpoint': {
      kind: endpoint,
      cloud: 'eni',
      help: "The EC2 endpoint. If unset, the region's public endpoint. Set it for a VPC endpoint (a bare host name means https) or for an emulator (http://localhost:4566).",
    },
    'network-account-role-arn': {
      kind: text(
        'arn:aws:iam::...:role/...',
        /^arn:aws(-[a-z]+)*:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/,
        'the ARN of an IAM role, such as arn:aws:iam::444455556666:role/headwater-network',
      ),
      origin: 'headwater',
      cloud: 'eni',
      help: 'A role of the account that shares subnets with that of the nodes (AWS RAM). Headwater assumes it to read the tags of these subnets, which only their owner sees, and for nothing else. Set it to select shared subnets by tags.',
    },
    'network-account-external-id': {
      kind: text(
        'id',
        /^[\w+=,.@:/-]{2,1000}[\w+=,.@:/-]{0,224}$/,
        '2 to 1224 letters, digits and characters of _+=,.@:/-',
      ),
      origin: 'headwater',
      cloud: 'eni',
      help: 'The external id that the trust policy of network-account-role-arn requires. If unset, none is sent.',
    },
    'aws-use-primary-address': {
      kind: boolean,
      cloud: 'eni',
      help: 'Lets pods use the primary address of an interface, too: one more address for each interface. Nodes with spec.eni.use-primary-address get this without the option.',
      default: 'false',
    },
    'aws-enable-prefix-delegation': {
      kind: boolean,
      cloud: 'eni',
      help: 'Assigns whole /28 prefixes instead of single addresses: 16 times the pods per interface and a sixteenth of the calls, on Nitro instances and in subnets with free blocks. If a subnet has none, Headwater tries other eligible subnets, then single addresses, and returns to prefixes later. A node with spec.eni.disable-prefix-delegation keeps single addresses.',
      default: 'false',
    },
    'eni-tags': {
      kind: tagsToSet,
      cloud: makesInterfaces,
      help: 'Tags for every interface that Headwater creates, in addition to its own ownership tags. For cost reports and policies.',
      default: '',
    },
    'exclude-interface-tags': {
      kind: tagFilter,
      origin: 'headwater',
      cloud: makesInterfaces,
      help: 'Interfaces that carry any of these tags are those of other controllers: none of their addresses is for pods, and only their slots count. A CiliumNode on AWS may exclude others by spec.eni.exclude-interface-tags: those that carry all of its tags. On Alibaba Cloud, interfaces in high-performance traffic mode and those tagged creator=alibabacloud-erdma-controller, leni_primary=true or terway.alibabacloud.com/excluded=true are excluded anyway.',
      default: '',
    },
    'eni-gc-tags': {
      kind: tagsToSet,
      cloud: makesInterfaces,
      help: "The tags that mark interfaces of this cluster: set on creation, and matched to find orphaned interfaces. Empty means io.cilium/cilium-managed=true and io.cilium/cluster-name with the cluster's name. Change it only to keep tags that cilium-operator already uses.",
      default: '',
    },
    'eni-gc-interval': {
      kind: duration({ min: 5 * second, max: 24 * 60 * minute, never: true }),
      cloud: makesInterfaces,
      help: 'How often Headwater looks for orphaned interfaces of this cluster, and how long one must stay detached before it is deleted (at least 1m). At most 25 are deleted each time. 0 deletes none; an instance that needs an interface still gets an orphaned one. Nothing is deleted unless cluster-name or eni-gc-tags says which interfaces belong to this cluster.',
      default: '5m',
    },
    'eni-gc-dry-run': {
      kind: boolean,
      origin: 'headwater',
      cloud: makesInterfaces,
      help: 'Only logs and counts the orphaned interfaces that would be deleted. Set it for a while before you trust the tags.',
      default: 'false',
    },
  },
);
