// Options for Alibaba Cloud only: its region and network, and by which endpoints.
import { optionRows } from '../option-row.ts';
import { boolean, endpoint, httpUrl, text } from '../value-kinds.ts';

export const alibabaOptions = optionRows(
  { origin: 'headwater', group: 'alibaba', cloud: 'alibabacloud' },
  {
    'alibaba-cloud-region': {
      kind: text('region', /^[a-z]{2,}(-[a-z\d]+){1,4}$/, 'the id of a region, such as cn-hangzhou'),
      help: 'The region of the nodes. If unset, the instance metadata service says it. Set it where there is no metadata service.',
    },
    'alibaba-cloud-vpc-id': {
      kind: text('vpc-...', /^vpc-[0-9a-z-]{1,60}$/, 'vpc- and lower-case letters and digits'),
      origin: 'operator',
      help: 'The only VPC whose nodes are served. If unset, nodes are served in every VPC that their agents name. Set it if several installations share a region, or to keep Headwater out of the rest of the account.',
    },
    'alibaba-cloud-release-excess-ips': {
      kind: boolean,
      origin: 'operator',
      help: 'Releases addresses beyond what a node needs, after the delay and with the consent of its agent.',
      default: 'false',
    },
    'alibaba-cloud-endpoint': {
      kind: endpoint,
      help: "The endpoint of ECS and VPC. If unset, each product's own within VPCs, such as ecs-vpc.cn-hangzhou.aliyuncs.com. Set it for a private endpoint (a bare host name means https) or for a model (http://localhost:4596).",
    },
    'alibaba-cloud-ecs-endpoint': {
      kind: endpoint,
      help: 'The endpoint of ECS, if it is another one than that of VPC. If unset, alibaba-cloud-endpoint. Set both where a closed network has a private endpoint for each product.',
    },
    'alibaba-cloud-vpc-endpoint': {
      kind: endpoint,
      help: 'The endpoint of VPC, if it is another one than that of ECS. If unset, alibaba-cloud-endpoint.',
    },
    'alibaba-cloud-metadata-endpoint': {
      kind: httpUrl,
      help: 'Where the instance metadata service is asked for the region, if alibaba-cloud-region is unset, and for the credentials of the RAM role of the instance, if nothing else has any. Set it only if something else stands in for that service.',
      default: 'http://100.100.100.200',
    },
  },
);
