// Schemas of audit entries.

import type { AuditAction, AuditEntry, ProofFailure, ProofMethod } from '../../store/records/records.ts'
import { about, emailVerified, flag, id, listOf, oneOf, open, text, time, whole } from '../schema/schema.ts'

export const auditActions = [
  'create',
  'update',
  'delete',
  'reorder',
  'deploy',
  'roll',
  'rotate_secret',
  'delete_rotated_secret',
  'delete_logs',
  'delete_responses',
  'reset',
  'drop',
  'invite',
  'accept',
  'revoke',
  'change_password',
  'sign_in',
  'second_step',
  'confirm',
  'sign_out',
] as const satisfies AuditAction[]

export const auditKinds = [
  'oauth_client',
  'gateway',
  'dynamic_route',
  'policies',
  'provider_config',
  'custom_provider',
  'token',
  'error_rules',
  'error_page',
  'access_rules',
  'audit_entries',
  'account',
  'user',
  'member',
  'session',
  'oauth_grant',
] as const satisfies AuditEntry['resourceKind'][]

const proofMethods = [
  'password',
  'passkey',
  'openid',
  'invitation',
  'recovery',
  'set_up',
  'code',
  'recovery_code',
] as const satisfies ProofMethod[]

const proofFailures = [
  'wrong',
  'throttled',
  'other_identity',
  'old_counter',
] as const satisfies ProofFailure[]

export const auditEntry = open(
  {
    id,
    when: time,
    action: open({
      type: oneOf(auditActions),
      result: about('`false` for a sign-in, second step or confirmation that failed.', flag),
    }),
    actor: open(
      {
        id: about(
          'The id of the token or of the user who acted, also through an app; `command line`; `gatehouse` for the gateway itself; or `stranger` for a failed attempt to prove to be the user in `resource`.',
          text,
        ),
        type: about('`admin` for the command line.', oneOf(['user', 'admin', 'system'])),
      },
      {
        email: about('Of the user who acted, or for whom an app did.', text),
        email_verified: emailVerified,
        name: about('Of the token, at that time.', text),
        ip: about('Of requests with a token, unless there is `unvouched_proxy`.', text),
      },
    ),
    resource: open(
      { id: text, type: oneOf(auditKinds) },
      { name: about('Its name at that time, or the address of the person; absent where it has none.', text) },
    ),
    owner: about('The account, or the account that owns the zone.', open({ id })),
    interface: about('`UI` for what a person did in the dashboard.', oneOf(['API', 'UI', 'CLI', 'System'])),
    metadata: open(
      {
        ray: about('The ray id of the request, or a new id where there was no request.', text),
        changed: about('The names of the members that were set or changed.', listOf(text)),
      },
      {
        method: about('How somebody proved who they are, or tried to.', oneOf(proofMethods)),
        reason: about('Why that failed; `throttled` once in 10 minutes.', oneOf(proofFailures)),
        oauth_client_id: about('The app that acted, by the id under which it is stored.', text),
        oauth_client_name: about('Its name at that time.', text),
        oauth_grant_id: about('The consent by which it acted.', id),
        dropped: about(
          'How many entries of the actor in `resource` were removed for age or number, and the times of the first and the last.',
          open({ count: whole(1), from: time, to: time }),
        ),
        unvouched_proxy: about(
          'The proxy that forwarded the request, where that is not this gateway: the address of the caller behind it is unknown.',
          text,
        ),
      },
    ),
  },
  {
    oldValue: about(
      'The JSON of an object: the values of changed members before. Only of settings that hold no secret, up to 2,000 characters together with `newValue`.',
      text,
    ),
    newValue: about('The same after the change; a member that was removed is absent.', text),
  },
)
