import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { root } from '../help/source.ts'

const configuration = readFileSync(join(root, 'config/demo.yaml'), 'utf8').replace(
  'response: 5s',
  'response: 3s',
)
const env = { DEMO_LISTEN: '127.0.0.1:0', DEMO_ADMIN: '127.0.0.1:0' }

const startDemo = (t: TestContext) => startGateway(t, configuration, { command: 'demo', env })

const siteOf = ({ edge }: RunningGateway) => edge.replace('127.0.0.1', 'localhost')

/** Asks for the JSON record of a path, by the name of a zone. */
async function ask(
  { edge }: RunningGateway,
  path: string,
  host = 'localhost',
): Promise<{ status: number; body: string }> {
  const request = get(edge + path, { headers: { host, accept: 'application/json' } })
  const [response] = await once(request, 'response')
  return { status: response.statusCode, body: Buffer.concat(await response.toArray()).toString() }
}

test('each misdeed of the demo origin shows the error that its front page promises', async t => {
  const gateway = await startDemo(t)
  assert.match((await ask(gateway, '/')).body, /misbehaves on demand/)
  const promises: readonly [path: string, code: number][] = [
    ['/reset', 520],
    ['/garbage', 520],
    ['/huge-headers', 520],
    ['/slow?ms=60000', 524],
  ]
  for (const [path, code] of promises) {
    const { status, body } = await ask(gateway, path)
    assert.deepEqual([path, status, JSON.parse(body).error_code], [path, code, code])
  }
})

test('each zone without a working origin shows the error that the front page promises', async t => {
  const gateway = await startDemo(t)
  const promises: readonly [host: string, code: number][] = [
    ['down.localhost', 521],
    ['nodns.localhost', 1016],
    ['selfsigned.localhost', 526],
    ['nottls.localhost', 525],
    ['paused.localhost', 1004],
    ['unknown.localhost', 1001],
  ]
  for (const [host, code] of promises) {
    const { body } = await ask(gateway, '/', host)
    assert.deepEqual([host, JSON.parse(body).error_code], [host, code])
  }
})

test('a response that is not a failure of the origin passes unchanged', async t => {
  const gateway = await startDemo(t)
  assert.deepEqual(await ask(gateway, '/status/503'), {
    status: 503,
    body: 'The origin itself responds with 503.\n',
  })
  assert.equal((await ask(gateway, '/big?bytes=3000000')).body.length, 3_000_000)
  assert.match((await ask(gateway, '/chunked')).body, /piece 5/)
  assert.match((await ask(gateway, '/sse?n=2&ms=1')).body, /id: 2/)
})

test('a broken response is cut, and a broken event stream ends with the error record', async t => {
  const site = siteOf(await startDemo(t))
  await assert.rejects(fetch(`${site}/truncate`).then(answer => answer.text()))
  const response = await fetch(`${site}/sse-cut`)
  const events: string[] = []
  await assert.rejects(async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) events.push(chunk)
  })
  assert.match(events.join(''), /id: 3\n[\s\S]*event: error\ndata: \{[^\n]*"error_code":520/)
})

test('the WebSocket of the demo origin echoes', async t => {
  const site = siteOf(await startDemo(t))
  const socket = new WebSocket(`${site.replace('http', 'ws')}/ws`)
  socket.on('open', () => socket.send('hello'))
  const [message] = await once(socket, 'message')
  assert.equal(String(message), 'hello')
  socket.close()
  await once(socket, 'close')
})
