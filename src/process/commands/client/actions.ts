// What `gatehouse client` does to one client besides changing its settings.

import { setTimeout as sleep } from 'node:timers/promises'
import { visible } from '../../../base/text/visible.ts'
import { columns, json } from '../../terminal/format.ts'
import { print, tell, printResult, tellDone } from '../../terminal/output.ts'
import { type ApiClient, type ApiMistake, ApiRefusal, isPassing } from '../api/api-client.ts'
import { confirmed } from '../api/confirm.ts'
import { changeAsRead, withClient } from '../api/session.ts'
import type { Input } from '../input.ts'
import { answerInWords, failedSentence, proofText, type ShownClient, type ShownVerification } from './view.ts'

/** Writes only the new secret to stdout, so that a script can capture it. */
export function rotate(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const result = await another(api, path)
    if (result === null) {
      tell(
        `gatehouse: the client ${id} already has two secrets; once the older one is unused, run gatehouse client drop-old-secret ${id}`,
      )
      return 1
    }
    tell(
      `The new secret is shown only once. The old one works until you run gatehouse client drop-old-secret ${id}`,
    )
    return printResult(input, result, `${visible(result.client_secret)}\n`)
  })
}

/** Returns null if there are two already. */
async function another(api: ApiClient, path: string): Promise<{ readonly client_secret: string } | null> {
  try {
    return (await api.ask<{ client_secret: string }>('POST', `${path}/rotate_secret`, { once: true })).result
  } catch (cause) {
    if (!(cause instanceof ApiRefusal) || !cause.isFor('two_secrets')) throw cause
    return null
  }
}

export function dropOldSecret(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const { result } = await api.ask('DELETE', `${path}/rotate_secret`)
    return tellDone(input, result, `Only the newer secret of ${id} works now.`)
  })
}

/** Ms between two checks. */
const firstPause = 250
const maxPause = 5_000

export function verify(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const current = await ask(api, path)
    const client = input.wait ? await end(api, path, current) : current
    const proof = client.client_uri_verification
    if (!proof) {
      tell(
        `gatehouse: the client ${id} has no client_uri, so there is no domain to prove; first run gatehouse client update ${id} --client-uri URI`,
      )
      return 1
    }
    print(input.json ? json(client) : proofText(proof))
    if (proof.status === 'failed') tell(failedSentence(id))
    else if (proof.status !== 'verified' && !input.wait)
      tell(`Checking DNS. To see the result, run gatehouse client show ${id}`)
    return proof.status === 'failed' ? 1 : 0
  })
}

/** With If-Match, so that a newer client_uri is not overwritten. */
async function ask(api: ApiClient, path: string): Promise<ShownClient> {
  const { after } = await changeAsRead<ShownClient>(
    api,
    path,
    ({ client_uri, client_uri_verification: proof }) =>
      client_uri === undefined || proof?.status === 'verified' ? undefined : { client_uri },
  )
  return after
}

async function end(api: ApiClient, path: string, current: ShownClient): Promise<ShownClient> {
  let client = current
  let pause = firstPause
  let shown = ''
  for (;;) {
    const proof = client.client_uri_verification
    if (!proof || proof.status === 'verified' || proof.status === 'failed') return client
    const news = newsOf(proof)
    if (news !== shown) tell(visible(news))
    shown = news
    await sleep(pause)
    pause = Math.min(pause * 1.5, maxPause)
    client = (await look(api, path)) ?? client
  }
}

/** Returns null while the gateway is unreachable: it may be restarting. */
async function look(api: ApiClient, path: string): Promise<ShownClient | null> {
  try {
    return (await api.ask<ShownClient>('GET', path)).result
  } catch (cause) {
    if (!isPassing(cause)) throw cause
    return null
  }
}

function newsOf({ host, status, last_answer: answer, deadline }: ShownVerification): string {
  const said = answer ? answerInWords(answer) : 'not checked yet'
  return `${host}: ${status}, ${said}${deadline ? ` (until ${deadline})` : ''}`
}

const publication = {
  consequence: 'publishing a client is irreversible',
  question:
    'Any user may authorize a public client, and publishing is irreversible. Type its id to publish it: ',
  refrained: 'Nothing was published.',
} as const

/** Returns 1 when declined, or when preconditions are missing, with how to meet each. */
export function publish(input: Input): Promise<number> {
  return confirmed(withClient, input, publication, async (api, path, id) => {
    try {
      const { result } = await api.ask('PATCH', path, { body: { visibility: 'public' } })
      return tellDone(
        input,
        result,
        `The client ${id} is now public: any user may authorize it, and it cannot become private again.`,
      )
    } catch (cause) {
      if (!(cause instanceof ApiRefusal) || !cause.isFor('not_ready_for_public')) throw cause
      const { result } = await api.ask<ShownClient>('GET', path)
      tell(`The client ${id} cannot become public yet. Missing:`)
      tell(columns(cause.mistakes.map(mistake => rowOf(mistake, result))).trimEnd())
      return 1
    }
  })
}

/** In terms of the command line, or in those of the API for unknown faults. */
function rowOf({ message }: ApiMistake, client: ShownClient): string[] {
  const [member = ''] = /\b(?:client_name|logo_uri|client_uri|scopes)\b/.exec(message) ?? []
  const { client_id: id, client_uri_verification: proof } = client
  const update = (option: string) => `gatehouse client update ${id} ${option}`
  switch (member) {
    case 'client_name':
      return ['  a name', update('--name NAME')]
    case 'logo_uri':
      return ['  a logo', update('--logo-uri URI')]
    case 'scopes':
      return ['  a scope that is not an identity scope', update('--scope ID')]
    case 'client_uri':
      return proof
        ? [`  proof that ${proof.host} is yours (${proof.status})`, `gatehouse client verify ${id}`]
        : ['  a home page, whose host must then be proven', update('--client-uri URI')]
    default:
      return [`  ${message}`]
  }
}

const deletion = {
  consequence: 'deleting a client revokes all of its grants',
  question: 'This revokes all grants of the client. Type its id to delete it: ',
  refrained: 'Nothing was deleted.',
} as const

export function remove(input: Input): Promise<number> {
  return confirmed(withClient, input, deletion, async (api, path, id) => {
    const { result } = await api.ask('DELETE', path)
    return tellDone(input, result, `Deleted the client ${id}.`)
  })
}
