// `gatehouse client verify`: requests an immediate DNS check, restarts a failed verification, and waits for
// its end on request.

import { setTimeout as sleep } from 'node:timers/promises'
import { visible } from '../../../base/text/visible.ts'
import { type ApiClient, isPassing } from '../api/api-client.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { print, tell } from '../../terminal/output.ts'
import { changeAsRead, withClient } from '../api/session.ts'
import { answerInWords, failedSentence, proofText, type ShownClient, type ShownVerification } from './view.ts'

/** The first and the longest pause between two checks, in ms. */
const firstPause = 250
const maxPause = 5_000

/** Returns 1 if there is nothing to verify, or the awaited verification has failed. */
export function verify(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const asked = await ask(api, path)
    const client = input.wait ? await end(api, path, asked) : asked
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

/**
 * Sends the client_uri again, unless it is verified; with If-Match, so that a newer one is not overwritten.
 */
async function ask(api: ApiClient, path: string): Promise<ShownClient> {
  const { after } = await changeAsRead<ShownClient>(
    api,
    path,
    ({ client_uri, client_uri_verification: proof }) =>
      client_uri === undefined || proof?.status === 'verified' ? undefined : { client_uri },
  )
  return after
}

/** Polls the client until its verification ends, and prints what is new. */
async function end(api: ApiClient, path: string, asked: ShownClient): Promise<ShownClient> {
  let client = asked
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
