// A provider, and clients with large calls to an AI gateway, in a process of their own, so that only the gateway takes memory in that of the test.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

/** What all clients send at once. */
export interface LargeCalls {
  readonly port: number
  readonly path: string
  readonly token: string
  readonly count: number
  /** Bytes of the prompt. */
  readonly size: number
}

export interface AiCrowd {
  /** The base URL of the provider, which says how many bytes each body has. */
  readonly provider: string
  /** Sends calls and returns what each client read. */
  call(calls: LargeCalls): Promise<readonly string[]>
}

/** Starts the process; it ends after the test. */
export async function startAiCrowd(t: TestContext): Promise<AiCrowd> {
  const child = fork(fileURLToPath(import.meta.url), ['crowd'])
  t.after(() => child.kill('SIGKILL'))
  const [provider] = (await once(child, 'message')) as [string]
  return {
    provider,
    call: async calls => {
      child.send(calls)
      const [responses] = await once(child, 'message')
      return responses as string[]
    },
  }
}

async function callOnce({ port, path, token }: LargeCalls, body: Buffer): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1')
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ai.test\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  socket.write(body)
  let text = ''
  try {
    for await (const piece of socket) text += piece
  } catch (error) {
    text += String(error)
  }
  socket.destroy()
  return text
}

if (process.argv[2] === 'crowd') {
  const server = createServer((request, response) => {
    let size = 0
    request.on('data', (piece: Buffer) => {
      size += piece.length
    })
    // Long enough for the bodies of others to come.
    request.on('end', () =>
      setTimeout(() => {
        const message = { role: 'assistant', content: `${size} bytes` }
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }))
      }, 500),
    )
  }).listen(0, '127.0.0.1', () => process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  process.on('message', async (calls: LargeCalls) => {
    const messages = [{ role: 'user', content: 'x'.repeat(calls.size) }]
    const body = Buffer.from(JSON.stringify({ model: 'openai/gpt-4o-mini', messages }))
    process.send!(await Promise.all(Array.from({ length: calls.count }, () => callOnce(calls, body))))
  })
}
