// The actions and resources of the audit log, and their words.

export const auditActions = [
  ['create', 'Created'],
  ['update', 'Changed'],
  ['delete', 'Deleted'],
  ['reorder', 'Reordered'],
  ['deploy', 'Deployed'],
  ['roll', 'Rolled'],
  ['rotate_secret', 'Secret rotated'],
  ['delete_rotated_secret', 'Old secret deleted'],
  ['delete_logs', 'Logs deleted'],
  ['delete_responses', 'Stored responses deleted'],
  ['reset', 'Budget reset'],
  ['drop', 'Removed for age or number'],
  ['invite', 'Invited'],
  ['accept', 'Accepted'],
  ['revoke', 'Revoked'],
  ['change_password', 'Password changed'],
  ['sign_in', 'Signed in'],
  ['second_step', 'Second step of signing in'],
  ['confirm', 'Confirmed who they are'],
  ['sign_out', 'Signed out'],
] as const

export const auditKinds = [
  ['oauth_client', 'OAuth client'],
  ['gateway', 'AI gateway'],
  ['dynamic_route', 'Dynamic route'],
  ['policies', 'Policies'],
  ['provider_config', 'Key of a provider'],
  ['custom_provider', 'Custom provider'],
  ['token', 'API token'],
  ['error_rules', 'Error rules'],
  ['error_page', 'Error page'],
  ['access_rules', 'Access rules'],
  ['audit_entries', 'Audit entries'],
  ['account', 'Account'],
  ['user', 'User'],
  ['member', 'Member'],
  ['session', 'Session'],
  ['oauth_grant', 'Consent'],
] as const

/** Proofs of identity, in words that follow `by`. */
export const proofMethods: Readonly<Record<string, string>> = {
  password: 'password',
  passkey: 'a passkey',
  openid: 'the OpenID provider',
  invitation: 'the link of an invitation',
  recovery: 'a link for a lost password',
  set_up: 'the set-up link',
  code: 'a code of the app',
  recovery_code: 'a recovery code',
}

export const proofFailures: Readonly<Record<string, string>> = {
  wrong: 'wrong',
  throttled: 'not looked at, after too many wrong ones',
  other_identity: 'another person than before',
  old_counter: 'its counter went back, as that of a copy does',
}
