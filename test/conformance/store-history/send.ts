// How clients send requests to gateways that may be dead, cut off or slow.

import { setTimeout as sleep } from 'node:timers/promises'

export interface Reply {
  /** 0 where the connection failed, or nothing came in time. */
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

export interface Sent {
  readonly url: string
  readonly method: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** The outcome of a request whose connection failed. */
const nothing: Reply = { status: 0, headers: new Headers(), body: {} }

export async function send({ url, method, token, headers, body }: Sent): Promise<Reply> {
  const isForm = body instanceof URLSearchParams
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(!isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Reply['body'],
    }
  } catch {
    return nothing
  }
}

/** Repeats a request until it is granted. */
export async function granted(ask: () => Promise<Reply>): Promise<Reply> {
  for (let attempt = 0; ; attempt++) {
    const reply = await ask()
    if (reply.status === 200) return reply
    if (attempt === 100) throw new Error(`refused: ${reply.status} ${JSON.stringify(reply.body)}`)
    await sleep(200)
  }
}
