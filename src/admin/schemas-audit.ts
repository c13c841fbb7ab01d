// What audit entries look like. schemas-named.ts uses it.

import type { AuditAction, AuditEntry } from '../store/records.ts'
import { about, flag, id, listOf, oneOf, open, text, time } from './schemas.ts'

const actions = [
  'create',
  'update',
  'delete',
  'reorder',
  'roll',
  'rotate_secret',
  'delete_rotated_secret',
  'delete_logs',
] satisfies AuditAction[]

const kinds = [
  'oauth_client',
  'gateway',
  'token',
  'error_rules',
  'error_page',
  'access_rules',
] satisfies AuditEntry['resourceKind'][]

export const auditEntry = open({
  id,
  when: time,
  action: open({ type: oneOf(actions), result: { ...flag, const: true } }),
  actor: open(
    {
      id: about('The token that asked, or `command line`.', text),
      type: about('`admin` for the command line.', oneOf(['user', 'admin'])),
    },
    { ip: about('Not for the command line.', text) },
  ),
  resource: open({ id: text, type: oneOf(kinds) }),
  owner: about('The account; of a zone that which owns it.', open({ id })),
  interface: oneOf(['API', 'CLI']),
  metadata: open({
    ray: about('The ray id of the request; one of its own for a command.', text),
    changed: about('The names of the members that were set or changed.', listOf(text)),
  }),
})
