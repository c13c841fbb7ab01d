// What audit entries look like.

import type { AuditAction, AuditEntry } from '../../store/records.ts'
import { about, flag, id, listOf, oneOf, open, text, time, whole } from '../openapi/schemas.ts'

const actions = [
  'create',
  'update',
  'delete',
  'reorder',
  'roll',
  'rotate_secret',
  'delete_rotated_secret',
  'delete_logs',
  'drop',
] satisfies AuditAction[]

const kinds = [
  'oauth_client',
  'gateway',
  'token',
  'error_rules',
  'error_page',
  'access_rules',
  'audit_entries',
] satisfies AuditEntry['resourceKind'][]

export const auditEntry = open({
  id,
  when: time,
  action: open({ type: oneOf(actions), result: { ...flag, const: true } }),
  actor: open(
    {
      id: about(
        'The token that asked, `command line`, or `gatehouse` for what is dropped of the trail.',
        text,
      ),
      type: about('`admin` for the command line.', oneOf(['user', 'admin', 'system'])),
    },
    { ip: about('Of a token, unless `unvouched_proxy` stands.', text) },
  ),
  resource: open({ id: text, type: oneOf(kinds) }),
  owner: about('The account; of a zone that which owns it.', open({ id })),
  interface: oneOf(['API', 'CLI', 'System']),
  metadata: open(
    {
      ray: about('The ray id of the request; one of its own for what no request did.', text),
      changed: about('The names of the members that were set or changed.', listOf(text)),
    },
    {
      dropped: about(
        'Entries of the actor that `resource` names, which were too old or too many, and when the first and the last of them were made.',
        open({ count: whole(1), from: time, to: time }),
      ),
      unvouched_proxy: about(
        'The proxy that passed the request on, where that is not this gateway: behind it, nobody knows the address of the caller.',
        text,
      ),
    },
  ),
})
