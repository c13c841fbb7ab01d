// What audit entries look like. schemas-named.ts uses it.

import type { AuditAction, AuditEntry } from '../store/records.ts'
import { about, id, listOf, oneOf, open, text, time } from './schemas.ts'

const actions = [
  'create',
  'update',
  'delete',
  'roll',
  'rotate_secret',
  'delete_rotated_secret',
] satisfies AuditAction[]

const kinds = ['oauth_client', 'gateway', 'token'] satisfies AuditEntry['resourceKind'][]

export const auditEntry = open({
  id,
  when: time,
  action: open({ type: oneOf(actions), result: { const: true } }),
  actor: open({ id: about('The token that asked.', id), type: { const: 'user' }, ip: text }),
  resource: open({ id: text, type: oneOf(kinds) }),
  owner: about('The account.', open({ id })),
  interface: { const: 'API' },
  metadata: open({
    ray: about('The ray id of the request.', text),
    changed: about('The names of the members that were set or changed.', listOf(text)),
  }),
})
