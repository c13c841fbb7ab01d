// What an outside authorizer learns of a request, and how its own response reaches the client.

import { abroad, field } from '../../http1/fields/fields.ts'
import { STATUS_CODES } from '../../net/http/node-http.ts'
import { valueHoldsOurs } from '../../tokens/misplaced-tokens.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { appended } from '../exchange/forwarded-trust.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'
import type { ForwardGate } from '../gates/forward-gate.ts'
import type { Admission, GateFault, Relayed } from '../gates/gate.ts'
import { HeaderChanges } from '../rewrite/headers.ts'

/** Without the body. An explanation takes it for granted that the request is let in. */
export function askAuthorizer(
  x: Exchange,
  gate: ForwardGate,
): Admission | GateFault | Promise<Admission | GateFault> {
  // Two readers could each believe another one.
  if (isRepeated(x, field.authorization)) return repeated
  return x.plane.isRehearsal ? granted : gate.ask([...ownLines(x), ...linesOf(x, gate.config.send)])
}

function isRepeated({ head: { ids } }: Exchange, id: (typeof field)['authorization']): boolean {
  return ids.indexOf(id) !== ids.lastIndexOf(id)
}

/** By CDN-Loop, a question that comes back here is found. */
function ownLines(x: Exchange): string[] {
  const { head, snapshot, forwarded } = x
  const host = forwarded?.host ?? head.host
  return [
    ...['X-Forwarded-Method', head.method],
    ...['X-Forwarded-Proto', x.scheme],
    ...(host === null ? [] : ['X-Forwarded-Host', host]),
    ...['X-Forwarded-Uri', head.target],
    ...['X-Forwarded-For', x.clientAddress],
    ...['CDN-Loop', appended(head.cdnLoop, snapshot.name)],
    ...['svc-ray', x.ray],
  ]
}

/** Nothing with a credential of ours. */
function linesOf({ head: { fields, ids, hopByHop } }: Exchange, names: readonly string[]): string[] {
  return ids.flatMap((id, i) => {
    const name = fields[2 * i]!.toLowerCase()
    const value = abroad(id, fields[2 * i + 1]!)
    const isSent = value !== null && names.includes(name) && !hopByHop?.has(name) && !valueHoldsOurs(value)
    return isSent ? [name, value] : []
  })
}

/** Responds as the authorizer did. */
export function relay(x: Exchange, { status, lines, body }: Relayed): 'responded' {
  const isEmpty = status === 204 || status === 304
  const length = isEmpty ? '' : `Content-Length: ${body.length}\r\n`
  const date = /^date:/im.test(lines) ? '' : `Date: ${x.plane.date()}\r\n`
  const caching = /^cache-control:/im.test(lines) ? '' : 'Cache-Control: no-store\r\n'
  const content = isEmpty || x.head.method === 'HEAD' ? '' : body
  const all = `${lines}${length}${caching}${x.addedLines}svc-ray: ${x.ray}\r\n${ownStatusLines(x)}${date}`
  x.status = status
  x.bytesOut = content.length
  x.client.respond(x, { status, reason: STATUS_CODES[status] ?? '', lines: all }, content)
  x.client.finish(x)
  return 'responded'
}

const granted: Admission = {
  subject: null,
  claims: {},
  changes: new HeaderChanges(new Set(), [], []),
  isCurrent: () => false,
}

const repeated: GateFault = {
  kind: 'invalid',
  cause: { code: 'GH_AUTHORIZATION_REPEATED' },
  wait: 0,
  challenge: null,
}
