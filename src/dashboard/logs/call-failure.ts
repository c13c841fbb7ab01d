// What went wrong with a call, in words, and what to look at.

import { type Html, html } from '../../base/text/html.ts'
import { entries } from '../../errors/docs/entry.ts'
import { notice, isolated } from '../../pages/parts/components.ts'
import type { PageRequest } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import type { WholeLog } from './log.ts'

/** Makes the notice of a call that failed, with its ray; null for one that went well. */
export function troubleOf(request: PageRequest, log: WholeLog): Html | null {
  if (log.success) return null
  return notice(html`${whatFailed(request, log)} Ray <code>${log.id}</code>.`, 'bad')
}

function whatFailed({ account, may }: PageRequest, log: WholeLog): Html {
  const { error, status_code: status } = log
  if (error === null) return html`${status < 400 ? unfinished : refusalOf(log)}`
  const known = entries.find(({ name }) => name === error)
  if (known === undefined) return html`<b>The gateway responded with ${status}</b> (<code>${error}</code>).`
  const title = `Error ${known.code}: ${known.title}`
  const code = paths.errorCode(account.id, String(known.code))
  return html`<b>${may('Custom Errors Read') ? html`<a href="${code}">${title}</a>` : title}</b> (<code>${error}</code>). ${known.remedy}`
}

const unfinished = 'The response ended before it was complete: the client left, or the provider stopped.'

function refusalOf(log: WholeLog): Html {
  const message = messageIn(log.provider_response_head ?? log.response_head)
  return html`<b>The provider responded with ${log.status_code}</b>${message === null ? '.' : html`: ${isolated(message)}${/[.!?…]$/.test(message) ? '' : '.'}`}`
}

/** The most characters of a body in which a message is looked for, and of a message that is shown. */
const mostRead = 100_000
const mostSaid = 500

/** Returns what a provider says of an error, as OpenAI, Anthropic and their like do: `{ error: { message } }`; null if it says nothing like that. */
function messageIn(body: unknown): string | null {
  if (typeof body !== 'string' || body.length > mostRead) return null
  try {
    const { error, message } = JSON.parse(body)
    const said = error?.message ?? message ?? error
    if (typeof said !== 'string' || said === '') return null
    return said.length > mostSaid ? `${said.slice(0, mostSaid).toWellFormed()}…` : said
  } catch {
    return null
  }
}
