import { alibabaRig } from './alibaba-rig.ts';
import { describeCloud } from './cloud-contract.ts';

describeCloud('Alibaba Cloud', 'alibabacloud', alibabaRig);
