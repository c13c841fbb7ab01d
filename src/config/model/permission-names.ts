// The names of what can be permitted, for settings that refer to it.

export const permissionNames = [
  'OAuth Clients Read',
  'OAuth Clients Write',
  'AI Gateway Read',
  'AI Gateway Edit',
  'AI Gateway Run',
  'API Tokens Read',
  'API Tokens Write',
  'Custom Errors Read',
  'Custom Errors Write',
  'Access Rules Read',
  'Access Rules Write',
  'Origins Read',
  'Metrics Read',
  'Members Read',
  'Members Write',
  'Zones Read',
  'Analytics Read',
  'Audit Logs Read',
  'Account Settings Write',
] as const
export type PermissionName = (typeof permissionNames)[number]
