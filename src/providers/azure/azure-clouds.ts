// The clouds of Azure, each with its own endpoints and its own directory of identities.

export interface AzureCloud {
  /** The endpoint of Azure Resource Manager. */
  readonly management: string;
  /** The audience of tokens. */
  readonly audience: string;
  /** Where identities are proved. */
  readonly authority: string;
}

export const azureClouds = {
  AzurePublicCloud: {
    management: 'https://management.azure.com',
    audience: 'https://management.azure.com',
    authority: 'https://login.microsoftonline.com',
  },
  AzureUSGovernmentCloud: {
    management: 'https://management.usgovcloudapi.net',
    audience: 'https://management.usgovcloudapi.net',
    authority: 'https://login.microsoftonline.us',
  },
  AzureChinaCloud: {
    management: 'https://management.chinacloudapi.cn',
    audience: 'https://management.chinacloudapi.cn',
    authority: 'https://login.chinacloudapi.cn',
  },
} as const satisfies Record<string, AzureCloud>;

export type AzureCloudName = keyof typeof azureClouds;

export function isAzureCloudName(name: string): name is AzureCloudName {
  return Object.hasOwn(azureClouds, name);
}
