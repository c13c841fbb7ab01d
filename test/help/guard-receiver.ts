// A receiver of the questions of guards, over https, which takes signed ones alone.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { Authority } from './certificates.ts'
import { startHttps } from './https-server.ts'

const authority = new Authority()
const identity = authority.issue(['localhost'])
/** The secret of all webhooks of tests. */
export const guardSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

export type Say = (
  question: Record<string, unknown>,
  response: ServerResponse,
  request: IncomingMessage,
) => void

export const say =
  (verdict: object): Say =>
  (_, response) =>
    response.end(JSON.stringify(verdict))

export async function startReceiver(t: TestContext, handle: Say) {
  const questions: Record<string, unknown>[] = []
  const { port, connections } = await startHttps(t, identity, async (request, response) => {
    const pieces = await Array.fromAsync(request)
    const body = Buffer.concat(pieces).toString()
    const {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    } = request.headers
    const key = Buffer.from(guardSecret.slice('whsec_'.length), 'base64')
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    assert.equal(signature, `v1,${expected}`)
    questions.push(JSON.parse(body))
    handle(questions.at(-1)!, response, request)
  })
  return { url: `https://localhost:${port}/guard`, port, questions, connections }
}

/** Lets webhooks go to it. */
export const trusting = { isAllowed: () => true, ca: authority.certificate }
