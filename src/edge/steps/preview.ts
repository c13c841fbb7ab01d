// The error that a client asked to see. Rules and limits apply to previews too, so this step comes after.

import { withoutQuery } from '../../base/path/path.ts'
import { field } from '../../http1/fields/fields.ts'
import { errorsPrefix } from '../../errors/catalogue/problem.ts'
import { type Refusal, refusalFor, refuse } from '../../errors/catalogue/refusal.ts'
import { permits } from '../../permissions/permit.ts'
import type { Token } from '../../store/records/records.ts'
import { bearerOf } from '../../tokens/bearer.ts'
import type { TokenFault } from '../../tokens/verify.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'

export function asksForPreview(x: Exchange): boolean {
  return x.head.target.startsWith(errorsPrefix)
}

/** 404 if the code is unknown or the client may not see it. */
export function preview(x: Exchange): Verdict {
  if (!x.asksForPreview) return null
  switch (x.snapshot.previews) {
    case 'on':
      return showPreview(x)
    case 'operators':
      return showToOperators(x)
    default:
      return notFound
  }
}

function showPreview(x: Exchange): Refusal {
  const refusal = refusalFor(withoutQuery(x.head.target).slice(errorsPrefix.length))
  x.isPreview = refusal.error !== 'not_found'
  return refusal
}

/** A token is required: a proxy or tunnel on this machine lends its address to everyone. */
function showToOperators(x: Exchange): Verdict {
  const value = tokenIn(x)
  if (value === null || x.plane.ai === null) return notFound
  const token = x.plane.ai.tokens.verify(value, x.clientAddress, 'management')
  return token instanceof Promise ? token.then(verified => judge(x, verified)) : judge(x, token)
}

function judge(x: Exchange, token: Token | TokenFault): Refusal {
  if (typeof token === 'string') return notFound
  const account = x.zone?.config.account ?? token.account
  return permits(token, 'Custom Errors Read', account) ? showPreview(x) : notFound
}

function tokenIn({ head: { fields, ids } }: Exchange): string | null {
  const at = ids.indexOf(field.authorization)
  if (at === -1 || ids.includes(field.authorization, at + 1)) return null
  return bearerOf(fields[2 * at + 1]!)
}

const notFound = refuse('not_found')
