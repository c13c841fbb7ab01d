// Looks at the request of an AI call before anything of it leaves: the guard of its gateway may note, redact
// or block what it finds.

import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { CompiledCheck, CompiledGuard } from '../../guard/compiled-guard.ts'
import { readJson } from '../../guard/readable.ts'
import { redactJson } from '../../guard/redact.ts'
import { GuardReport } from '../../guard/report.ts'
import { matchesIn } from '../../guard/text-scanner.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import { askWebhook } from './ask-webhook.ts'
import { noteFindings } from './note-findings.ts'
import { replaceBody } from './replace-body.ts'
import { refuseBlocked, refuseUnreadable } from './refusals.ts'

/**
 * Refuses a call (403) that has what is blocked, or that cannot be looked at where that matters. What the
 * patterns let pass, the webhook of the gateway is asked about.
 */
export function inspect(x: Exchange): Verdict {
  const { ai } = x
  if (ai === null || ai.guard === null) return null
  return findPatterns(x, ai, ai.guard) ?? askWebhook(x, ai, ai.guard)
}

function findPatterns(x: Exchange, ai: AiExchange, guard: CompiledGuard): Refusal | null {
  const check = x.upgrade === 'requested' ? guard.strictest : guard.request
  if (check === null) return null
  ai.findings ??= new GuardReport()
  const verdict = inspectRequest(x, ai, ai.findings, check)
  noteFindings(x, ai)
  return verdict
}

function inspectRequest(
  x: Exchange,
  ai: AiExchange,
  findings: GuardReport,
  check: CompiledCheck,
): Refusal | null {
  if (x.upgrade === 'requested') return unreadable(findings, check, 'the frames of a WebSocket')
  const body = ai.received ?? ai.body
  if (body === null || body.length === 0) return null
  const text = readJson(body, ai.fields, ai.received !== null)
  if (text === null) return unreadable(findings, check, 'a body that is no plain JSON in UTF-8')
  const matches = matchesIn(text, check.patterns)
  if (matches.length === 0) return null
  for (const { name } of matches) findings.note('request', name, check.actionOf(name))
  const blocked = matches.filter(({ name }) => check.actionOf(name) === 'block')
  if (blocked.length > 0) return refuseBlocked('request', [...new Set(blocked.map(({ name }) => name))])
  if (matches.some(({ name }) => check.actionOf(name) === 'redact'))
    replaceBody(x, ai, body => redactedBody(body, check))
  return null
}

/** Redacts JSON that was looked at, or was made of that. */
function redactedBody(body: Buffer, check: CompiledCheck): Buffer {
  const text = body.toString()
  const matches = matchesIn(text, check.patterns).filter(({ name }) => check.actionOf(name) === 'redact')
  return matches.length === 0 ? body : Buffer.from(redactJson(text, matches))
}

function unreadable(findings: GuardReport, check: CompiledCheck, what: string): Refusal | null {
  findings.note(check.check, 'unreadable', check.isEnforced ? 'block' : 'flag')
  return check.isEnforced ? refuseUnreadable(check.check, what) : null
}
