// docs/production.md as an operator follows it on one machine: its commands and its configuration, with a Redis of its own.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { freePort } from '../help/free-port.ts'
import { main, spawnGateway } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { startSite } from '../help/site.ts'
import { until } from '../help/until.ts'

const run = promisify(execFile)
const [build, secrets, certificates, redis, yaml, start, asks] = blocksOf(
  section(readPage('docs/production.md'), 'One machine'),
)

test('docs/production.md works as written: two workers, TLS and Redis on one machine', async t => {
  const folder = quickFolder(t, 'production')
  const origin = await startSite(t, (_, response) => response.end('hello'))
  const redisPort = await freePort()
  const here = (text: string): string =>
    text
      .replaceAll(/^(openssl|redis-server)/gm, program => process.env[variables[program]!] ?? program)
      .replaceAll('npx gatehouse', `'${process.execPath}' '${main}'`)
      .replaceAll('6379', `${redisPort}`)
  const sh = (text: string) => run('sh', ['-ec', here(text)], { cwd: folder })

  // Done by `npm test` before the tests.
  assert.equal(build!.text, 'npm ci\nnpm run build\n')
  await sh(secrets!.text)
  assert.equal(statSync(join(folder, 'secrets.key')).mode & 0o777, 0o600)
  await sh(certificates!.text)
  t.after(() => run('redis-cli', ['-p', `${redisPort}`, 'shutdown', 'nosave']))
  await sh(redis!.text)
  const settings = here(yaml!.text)
    .replace('http://127.0.0.1:9000', origin)
    .replaceAll(/0\.0\.0\.0:\d+/g, '127.0.0.1:0')
    .replace(':8081', ':0')
  writeFileSync(join(folder, 'my.yaml'), settings)

  const [check, starts] = start!.text.trim().split('\n')
  await sh(check!)
  const [, name, file, args] = /^(\w+)=(\S+) node_modules\/\.bin\/node dist\/main\.js start (.*)$/.exec(
    starts!,
  )!
  const env = { ...process.env, GATEHOUSE_DATA: join(folder, 'data'), [name!]: file }
  const gateway = await spawnGateway(t, [main, 'start', ...args!.split(' ')], { cwd: folder, env })
  const listening = (await gateway.logged('ready')).edge as readonly { port: number }[]
  const ask = async (line: string) => {
    const [program, ...words] = line
      .replace('http://127.0.0.1:8081', gateway.admin)
      .replace('8443', `${listening[1]!.port}`)
      .split(' ')
    assert.equal(program, 'curl')
    return (await run(process.env.CURL ?? program, ['-s', ...words], { cwd: folder })).stdout
  }
  const [site, ready, metrics] = asks!.text.trim().split('\n')
  assert.equal(await ask(site!), 'hello')
  assert.equal(JSON.parse(await ask(ready!)).status, 'ready')
  assert.match(await ask(metrics!), /^gatehouse_store_up 1$/m)

  const token = readFileSync(join(folder, 'first-token'), 'utf8').trim()
  const headers = { Authorization: `Bearer ${token}` }
  const { success } = JSON.parse(
    await (await fetch(`${gateway.admin}/client/v4/accounts`, { headers })).text(),
  )
  assert.equal(success, true)

  writeFileSync(join(folder, 'my.yaml'), settings.replace('hsts: 365d', 'hsts: 30d'))
  await gateway.logged('configuration reloaded')
  await until(async () => /max-age=2592000\b/.test(await ask(`${site!} -i`)))
  gateway.signal('SIGTERM')
  assert.deepEqual(await gateway.exited, { code: 0, signal: null })
})

/** What names another place of a program. */
const variables: Readonly<Record<string, string>> = { openssl: 'OPENSSL', 'redis-server': 'REDIS_SERVER' }
