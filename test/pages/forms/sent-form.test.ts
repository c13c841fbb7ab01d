import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { html } from '../../../src/base/text/html.ts'
import { writePage } from '../../../src/pages/parts/layout.ts'
import { readSentForm, sendPage } from '../../../src/pages/forms/sent-form.ts'

test('a file that fails on its way looks whole to nobody, a client of HTTP/1.0 included', async t => {
  const failed = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    const stream = async function* () {
      yield 'some'
      await failed.promise
      throw new Error('away')
    }
    sendPage(request, response, { status: 200, headers: [], body: 'head', stream: stream() }).catch(() => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.0\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  const { promise, resolve } = Promise.withResolvers<string>()
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code!)).on('end', () => resolve('ended'))
  failed.resolve()
  assert.equal(await promise, 'ECONNRESET')
})

test('after a form that is too large its connection takes the next request', async t => {
  const server = createServer(async (request, response) => {
    const sent = await readSentForm(request, 'http://x', { href: '/', text: 'On' })
    const page = 'title' in sent ? sent : { title: 'Read', content: html`` }
    await sendPage(request, response, writePage(page))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => socket.destroy())
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n'
  const statuses: string[] = []
  for (const size of [40_000, 300_000, 3]) {
    socket.write(`${head}Content-Length: ${size}\r\n\r\na=${'x'.repeat(size - 2)}`)
    let text = ''
    while (!text.includes('</html>')) text += String((await once(socket, 'data'))[0])
    statuses.push(text.slice(9, 12))
  }
  assert.deepEqual(statuses, ['413', '413', '200'])
})
