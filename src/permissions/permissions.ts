// What can be permitted, one row each. Ids and scopes are part of the API and stored: neither ever changes.

import type { PermissionName } from '../config/model/permission-names.ts'

interface PermissionRow {
  readonly id: string
  readonly scope: string
  readonly name: PermissionName
  /** The category by which the published clients sort permissions. */
  readonly category: string
  readonly description: string
  /** The kinds of resources that it can be granted for. */
  readonly scopes: readonly string[]
}

const scopes = ['svc.api.account'] as const

export const permissions = [
  {
    id: '382b66cb517a04339216acc80f18ef99',
    scope: 'oauth_clients.read',
    name: 'OAuth Clients Read',
    category: 'developer_platform',
    description:
      'See OAuth clients, whether their domains are verified, which users allowed them what, and how these connected, with their addresses.',
    scopes,
  },
  {
    id: '6b58699393c843ca33baafed5ee9285c',
    scope: 'oauth_clients.write',
    name: 'OAuth Clients Write',
    category: 'developer_platform',
    description:
      'See, create, change and delete OAuth clients, rotate their secrets, and end what users allowed them.',
    scopes,
  },
  {
    id: '39bbc5a588267d7551db6ac112ca2290',
    scope: 'ai_gateway.read',
    name: 'AI Gateway Read',
    category: 'ai_and_machine_learning',
    description: 'See AI gateways, their providers, and the logs of their calls, bodies included.',
    scopes,
  },
  {
    id: '48fe95b75bbe98bad1124d76227dfe56',
    scope: 'ai_gateway.edit',
    name: 'AI Gateway Edit',
    category: 'ai_and_machine_learning',
    description: 'See, create, change and delete AI gateways, and delete their logs.',
    scopes,
  },
  {
    id: 'a27621d5ea9af545e8a8cb080c699127',
    scope: 'ai_gateway.run',
    name: 'AI Gateway Run',
    category: 'ai_and_machine_learning',
    description: 'Call models through AI gateways, and test their providers.',
    scopes,
  },
  {
    id: '0abaf97bd1d5a4f891a1995d77fb3079',
    scope: 'api_tokens.read',
    name: 'API Tokens Read',
    category: 'account_and_billing',
    description: 'See API tokens, never their values.',
    scopes,
  },
  {
    id: '3b3c41903e32753205302be26dc5a3e6',
    scope: 'api_tokens.write',
    name: 'API Tokens Write',
    category: 'account_and_billing',
    description: 'See, create, change, roll and delete API tokens that allow no more than the one in use.',
    scopes,
  },
  {
    id: '1e87cd4356e4d882a31fd26e1713d6d2',
    scope: 'custom_errors.read',
    name: 'Custom Errors Read',
    category: 'rules_and_configuration',
    description: 'See custom error rules and error pages.',
    scopes,
  },
  {
    id: 'c1b7bff02cc63aa878672e7d55eb9e96',
    scope: 'custom_errors.write',
    name: 'Custom Errors Write',
    category: 'rules_and_configuration',
    description: 'See, create, change and delete custom error rules and error pages.',
    scopes,
  },
  {
    id: '5421a228d5746a9e9e8074809d73a3cb',
    scope: 'access_rules.read',
    name: 'Access Rules Read',
    category: 'rules_and_configuration',
    description: 'See the access rules of zones, and what would happen to a request.',
    scopes,
  },
  {
    id: 'a625243af08458175572c18f1c8b970b',
    scope: 'access_rules.write',
    name: 'Access Rules Write',
    category: 'rules_and_configuration',
    description: 'See, create, change and delete the access rules of zones.',
    scopes,
  },
  {
    id: '26b346ec70f520ed97a70f5e55e97cdf',
    scope: 'origins.read',
    name: 'Origins Read',
    category: 'rules_and_configuration',
    description: 'See the origins of zones, and how they are doing.',
    scopes,
  },
  {
    id: '0ad1c68d6f0e4a86b5f9c3ab4f6f2f1e',
    scope: 'metrics.read',
    name: 'Metrics Read',
    category: 'analytics',
    description:
      'See the metrics of the gateway, which are those of all its accounts, and how it and its store are.',
    scopes,
  },
  {
    id: '7eac6eca39003088621deac4e788a602',
    scope: 'members.read',
    name: 'Members Read',
    category: 'account_and_billing',
    description: 'See the members of the account, their roles, and what they allowed apps to do.',
    scopes,
  },
  {
    id: '8fc432326a5504d86e5840c9be7d7e29',
    scope: 'members.write',
    name: 'Members Write',
    category: 'account_and_billing',
    description:
      'See, invite, sign out and remove members, give them roles that allow no more than the one in use, and end what they allowed apps to do.',
    scopes,
  },
  {
    id: '1add6f28f2b5d6e5cd3c0869b847cb25',
    scope: 'zones.read',
    name: 'Zones Read',
    category: 'rules_and_configuration',
    description:
      'See the zones of the account, their hosts, routes, settings, certificates and limits, and who is near a limit.',
    scopes,
  },
  {
    id: '9337f451013dfb343164ba4ad7a43062',
    scope: 'analytics.read',
    name: 'Analytics Read',
    category: 'analytics',
    description:
      'See which errors happened in the zones and AI gateways of the account, and at which requests.',
    scopes,
  },
  {
    id: '9eae2320b1c13682c802b22394d9d563',
    scope: 'audit_logs.read',
    name: 'Audit Logs Read',
    category: 'account_and_billing',
    description: 'See the audit log: who signed in and changed what, and from which addresses.',
    scopes,
  },
  {
    id: 'd12f5b8ed3be6cbc3ae6996740e7a14e',
    scope: 'account_settings.write',
    name: 'Account Settings Write',
    category: 'account_and_billing',
    description: 'Rename the account, and decide whether its members must sign in with two steps.',
    scopes,
  },
] as const satisfies readonly PermissionRow[]
