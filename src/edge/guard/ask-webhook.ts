// Asks the webhook of a gateway about the request of an AI call, and does what it says. Without a verdict
// nothing leaves.

import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { CompiledGuard } from '../../guard/compiled-guard.ts'
import { readJson } from '../../guard/readable.ts'
import { GuardReport } from '../../guard/report.ts'
import { type GuardWebhooks, maxQuestion } from '../../guard/webhook/guard-webhooks.ts'
import { replaceTexts, textsOf } from '../../guard/webhook/json-texts.ts'
import type { Verdict as WebhookVerdict } from '../../guard/webhook/verdict.ts'
import type { GuardAction, GuardCheck, GuardWebhook } from '../../store/records/records.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange, RequestHandler, Verdict } from '../exchange/exchange.ts'
import { countUndecided } from './count-undecided.ts'
import { noteFindings } from './note-findings.ts'
import { refuseBlocked, refuseUndecided, refuseUnreadable } from './refusals.ts'
import { replaceBody } from './replace-body.ts'

/**
 * Refuses what the webhook blocks or cannot be asked about (403), and all that it gives no verdict about
 * (503).
 */
export function askWebhook(
  x: Exchange,
  ai: AiExchange,
  { requestWebhook, responseWebhook }: CompiledGuard,
): Verdict {
  const webhooks = x.plane.ai!.guardWebhooks
  if (webhooks === null) return null
  if (x.upgrade === 'requested' && (requestWebhook ?? responseWebhook) !== null)
    return unreadable(x, ai, requestWebhook === null ? 'response' : 'request', 'the frames of a WebSocket')
  if (requestWebhook === null) return null
  const body = ai.received ?? ai.body
  if (body === null || body.length === 0) return null
  const json = readJson(body, ai.fields, ai.received !== null)
  if (json === null) return unreadable(x, ai, 'request', 'a body that is no plain JSON in UTF-8')
  const texts = textsOf(json)
  if (texts.length === 0) return null
  return ask(x, ai, webhooks, requestWebhook, texts)
}

async function ask(
  x: Exchange,
  ai: AiExchange,
  webhooks: GuardWebhooks,
  webhook: GuardWebhook,
  texts: readonly string[],
): Promise<Refusal | null> {
  const asking = new Asking()
  x.handler = asking
  const question = {
    gateway: ai.gateway!,
    webhook,
    check: 'request',
    ray: x.ray,
    model: ai.model,
    texts,
  } as const
  const outcome = await webhooks.ask(question, asking.signal)
  if (x.handler === asking) x.handler = null
  if (outcome === 'too_large')
    return unreadable(x, ai, 'request', `a request with more than ${maxQuestion} bytes of text`)
  if (typeof outcome !== 'string') return obey(x, ai, outcome)
  countUndecided(x, ai, outcome)
  return refuseUndecided('request', outcome)
}

function obey(x: Exchange, ai: AiExchange, verdict: WebhookVerdict): Refusal | null {
  if (verdict.kind === 'allow') return null
  const { kind, names } = verdict
  const action: GuardAction = kind === 'replace' ? 'redact' : kind
  ai.findings ??= new GuardReport()
  for (const name of names) ai.findings.note('request', name, action)
  noteFindings(x, ai)
  if (kind === 'block') return refuseBlocked('request', names)
  return kind === 'replace' ? replace(x, ai, verdict.texts) : null
}

/** What the provider gets may be made of several texts: then none of them leaves. */
function replace(x: Exchange, ai: AiExchange, texts: ReadonlyMap<string, string>): Refusal | null {
  if (texts.size === 0) return null
  let isReplaced = true
  replaceBody(x, ai, body => {
    const json = replaceTexts(body.toString(), texts)
    if (json === null) isReplaced = false
    return json === null ? body : Buffer.from(json)
  })
  return isReplaced
    ? null
    : unreadable(x, ai, 'request', 'a text that cannot be replaced as its webhook wants')
}

function unreadable(x: Exchange, ai: AiExchange, check: GuardCheck, what: string): Refusal {
  ai.findings ??= new GuardReport()
  ai.findings.note(check, 'unreadable', 'block')
  noteFindings(x, ai)
  return refuseUnreadable(check, what)
}

/** Takes back the question of a caller who leaves. */
class Asking implements RequestHandler {
  readonly deadline = Number.POSITIVE_INFINITY
  readonly #abort = new AbortController()

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  abort(): void {
    this.#abort.abort()
  }

  expire(): void {}
  body(): void {}
  flushBody(): void {}
  bodyEnd(): void {}
  clientDrained(): void {}
}
