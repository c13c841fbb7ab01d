// The failure of a call, in words, and what to check.

import { type Html, html } from '../../base/text/html.ts'
import { entries } from '../../errors/docs/entry.ts'
import { notice, isolated } from '../../pages/parts/components.ts'
import type { PageRequest } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import type { WholeLog } from './log.ts'

/** Makes the notice of a failed call, with its ray; null for a successful one. */
export function troubleOf(request: PageRequest, log: WholeLog): Html | null {
  if (log.success) return null
  return notice(html`${whatFailed(request, log)} Ray <code>${log.id}</code>.`, 'bad')
}

function whatFailed({ account, may }: PageRequest, log: WholeLog): Html {
  const { error, status_code: status } = log
  if (error === null) return html`${status < 400 ? unfinished : refusalOf(log)}`
  const entry = entries.find(({ name }) => name === error)
  if (entry === undefined) return html`<b>The gateway responded with ${status}</b> (<code>${error}</code>).`
  const title = `Error ${entry.code}: ${entry.title}`
  const code = paths.errorCode(account.id, String(entry.code))
  return html`<b>${may('Custom Errors Read') ? html`<a href="${code}">${title}</a>` : title}</b> (<code>${error}</code>). ${entry.remedy}`
}

const unfinished = 'The response ended before it was complete: the client left, or the provider stopped.'

function refusalOf(log: WholeLog): Html {
  const message = messageIn(log.provider_response_head ?? log.response_head)
  return html`<b>The provider responded with ${log.status_code}</b>${message === null ? '.' : html`: ${isolated(message)}${/[.!?…]$/.test(message) ? '' : '.'}`}`
}

/** Maximum of characters of a body in which a message is searched for, and of a message. */
const maxRead = 100_000
const maxMessage = 500

/**
 * Returns a provider's error message in the form of OpenAI, Anthropic and others: `{ error: { message } }`;
 * null for other forms.
 */
function messageIn(body: unknown): string | null {
  if (typeof body !== 'string' || body.length > maxRead) return null
  try {
    const { error, message } = JSON.parse(body)
    const text = error?.message ?? message ?? error
    if (typeof text !== 'string' || text === '') return null
    return text.length > maxMessage ? `${text.slice(0, maxMessage).toWellFormed()}…` : text
  } catch {
    return null
  }
}
