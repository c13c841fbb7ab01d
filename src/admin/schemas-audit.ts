// What audit entries look like. operations-clients.ts and schemas-named.ts use it.

import { about, id, listOf, oneOf, open, text, time } from './schemas.ts'

export const auditActions = [
  'create',
  'update',
  'delete',
  'roll',
  'rotate_secret',
  'delete_rotated_secret',
] as const

export const auditEntry = open({
  id,
  when: time,
  action: open({ type: oneOf(auditActions), result: { const: true } }),
  actor: open({ id: about('The token that asked.', id), type: text, ip: text }),
  resource: open({ id: text, type: oneOf(['oauth_client', 'gateway', 'token']) }),
  owner: open({ id }),
  interface: text,
  metadata: open({
    ray: about('The ray id of the request.', text),
    changed: about('The names of the members that were set or changed.', listOf(text)),
  }),
})
