import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provokable, startGateway } from '../help/gateway.ts'
import { connectTo } from '../help/raw.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'

test('each request is one line with its ray id, the same that the client and the origin see', async t => {
  const seen: unknown[] = []
  const origin = await startSite(t, (request, response) => {
    seen.push(request.headers['svc-ray'])
    response.end('hello')
  })
  const gateway = await startGateway(t, siteConfig(origin))
  const response = await fetch(`${gateway.edge}/page`, { method: 'POST', body: 'four' })
  const ray = response.headers.get('svc-ray')
  const line = await gateway.logged('request')
  assert.deepEqual(seen, [ray])
  const { zone, client, method, host, path, version, status, error, retries, aborted } = line
  assert.deepEqual(
    { ray: line.ray, zone, client, method, host, path, version, status, error, retries, aborted },
    {
      ray,
      zone: 'site',
      client: '127.0.0.1',
      method: 'POST',
      host: '127.0.0.1',
      path: '/page',
      version: '1.1',
      status: 200,
      error: null,
      retries: 0,
      aborted: false,
    },
  )
  assert.equal(line.bytes_in, 4)
  assert.ok(Number(line.bytes_out) >= 5)
  assert.ok(Number(line.duration) > 0)
})

test('an error is logged by its name; a line is JSON, and its path what the client sent, whatever bytes that has', async t => {
  const gateway = await startGateway(t, siteConfig('http://127.0.0.1:1'))
  await fetch(gateway.edge)
  const { status, error } = await gateway.logged('request')
  assert.deepEqual([status, error], [521, 'origin_down'])
  gateway.lines.length = 0
  const client = await connectTo(t, Number(new URL(gateway.edge).port))
  await client.send('GET /a"b\\c\xe9{"level":60}?x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  const { path, level } = await gateway.logged('request')
  assert.deepEqual([path, level], ['/a"b\\c\xe9{"level":60}', 'info'])
})

test('no secret reaches the log: neither headers nor cookies nor the query, of request and response', async t => {
  const origin = await startSite(t, (_, response) => response.setHeader('set-cookie', 'sid=hush').end('hush'))
  const gateway = await startGateway(t, siteConfig(origin, 'log: {level: debug}'))
  const headers = { authorization: 'Bearer hush', cookie: 'sid=hush', 'x-api-key': 'hush' }
  await fetch(`${gateway.edge}/?token=hush`, { method: 'POST', headers, body: 'hush' })
  await gateway.logged('request')
  assert.equal(JSON.stringify(gateway.lines).includes('hush'), false)
})

for (const workers of thorough([0, 1], [1]))
  for (const numeric of ['off', 'on'])
    test(`levels and times have one form in all lines, of all processes (workers: ${workers}, log.numeric: ${numeric})`, async t => {
      const site = siteConfig('http://127.0.0.1:1', `workers: ${workers}\nlog: {numeric: ${numeric}}`)
      const gateway = await startGateway(t, site, { env: { NODE_OPTIONS: provokable } })
      await fetch(gateway.edge)
      const { pid } = await gateway.logged('request')
      gateway.rewrite(site.replace(`numeric: ${numeric}`, `numeric: ${numeric === 'on' ? 'off' : 'on'}`))
      const { reason } = await gateway.logged('configuration reload failed, keeping the previous one')
      assert.match(String(reason), /^restart required to change log\.numeric:/)
      // A bug in the process that serves.
      process.kill(Number(pid), 'SIGURG')
      await gateway.logged(`${workers === 0 ? 'gateway' : 'worker'} crashed: internal error`)
      gateway.signal('SIGKILL')
      const first = JSON.parse((await gateway.stderr).trim().split('\n')[0]!)
      assert.equal(first.msg, 'first start: the store was empty')
      for (const { level, time } of [...gateway.lines, first])
        if (numeric === 'on') assert.deepEqual([typeof level, typeof time], ['number', 'number'])
        else {
          assert.match(String(level), /^(?:info|warn|error|fatal)$/)
          assert.equal(new Date(String(time)).toISOString(), time)
        }
    })

test('with log.access off no request is written', async t => {
  const origin = await startSite(t, (_, response) => response.end())
  const gateway = await startGateway(t, siteConfig(origin, 'log: {access: off}'))
  await fetch(gateway.edge)
  gateway.signal('SIGTERM')
  await gateway.exited
  assert.equal(
    gateway.lines.some(({ msg }) => msg === 'request'),
    false,
  )
})
