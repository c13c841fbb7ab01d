// Uploads that are refused before they are read: the client gets the refusal, and not the failure of the write that it ended.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Edge, type Member, startEdge } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { type OriginKind, startRefusingOrigin } from '../help/refusing-origin.ts'
import { thorough } from '../help/thorough.ts'

const clients = thorough(15, 5)
const mib = 1024 * 1024

async function uploadByHttp1(edge: Edge, size: number): Promise<string> {
  const client = await edge.connect()
  client.socket.write(`POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: ${size}\r\n\r\n`)
  client.socket.write(Buffer.alloc(size))
  const { status, text } = await client.response()
  client.leave()
  return `${status} ${text}`
}

async function uploadByHttp2(t: TestContext, edge: Edge, size: number): Promise<string> {
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`, { maxSessionMemory: 64 })
  const { status, body } = await ask(session, { ':method': 'POST' }, Buffer.alloc(size))
  session.destroy()
  return `${status} ${body}`
}

for (const kind of thorough<readonly OriginKind[]>(['http', 'https', 'h2c'], ['https'])) {
  for (const version of ['1.1', '2'])
    test(`all clients of HTTP/${version} read how an origin (${kind}) refused their uploads and closed`, async t => {
      const url = await startRefusingOrigin(t, kind)
      const member: Member = { url, tls: { verify: false } }
      const edge = await startEdge(t, [member], {
        h2c: true,
        ...(kind === 'h2c' && { transport: { http: 'h2c', streams: 1 } }),
      })
      for (const size of [mib / 4, 2 * mib, 16 * mib]) {
        const upload = () => (version === '2' ? uploadByHttp2(t, edge, size) : uploadByHttp1(edge, size))
        const outcomes = await Promise.all(Array.from({ length: clients }, upload))
        assert.deepEqual(outcomes, Array(clients).fill('401 refused'), `${size} bytes`)
      }
    })
}
