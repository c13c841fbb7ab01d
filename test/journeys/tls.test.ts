// TLS as docs/tls.md tells it: its commands and its configuration, with an authority that openssl makes.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { promisify } from 'node:util'
import { Authority } from '../help/certificates.ts'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { main, spawnGateway } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { thorough } from '../help/thorough.ts'
import { Visitor } from '../sign-in/site.ts'

const run = promisify(execFile)
const authority = new Authority()
const [makes, yaml, tries] = blocksOf(
  section(readPage('docs/tls.md'), 'Try it with an authority of your own'),
)

const [makesClient, asksClients, triesClient] = blocksOf(
  section(readPage('docs/tls.md'), 'Certificates of clients'),
)

test('a gateway that must use the FIPS provider does not start without it', async t => {
  const folder = quickFolder(t, 'fips')
  writeFileSync(
    join(folder, 'my.yaml'),
    'admin: 127.0.0.1:0\nlisten: [127.0.0.1:0]\ntls: { fips: true }\nzones: []\n',
  )
  const env = { ...process.env, GATEHOUSE_DATA: join(folder, 'data') }
  const started = run(process.execPath, [main, 'start', '--config', 'my.yaml'], { cwd: folder, env })
  const { code, stdout, stderr } = await started.then(
    () => assert.fail('it started'),
    (failure: { code: number; stdout: string; stderr: string }) => failure,
  )
  assert.equal(code, 1)
  assert.match(stdout + stderr, /tls\.fips requires OpenSSL's FIPS provider/)
})

const modules = process.env.OPENSSL_MODULES
const withoutModule = modules === undefined && 'OPENSSL_MODULES names no folder with fips.so'

test('with the FIPS provider, configured as docs/tls.md says, only what is approved is spoken', {
  skip: withoutModule,
}, async t => {
  const folder = quickFolder(t, 'fips')
  const [settings] = blocksOf(section(readPage('docs/tls.md'), 'FIPS'))
  const installed = join(folder, 'fipsmodule.cnf')
  writeFileSync(join(folder, 'openssl.cnf'), settings!.text.replace('/etc/ssl/fipsmodule.cnf', installed))
  const openssl = process.env.OPENSSL ?? 'openssl'
  execFileSync(openssl, ['fipsinstall', '-module', join(modules!, 'fips.so'), '-out', installed], {
    stdio: 'pipe',
  })
  const identity = authority.issue(['site.test'])
  writeFileSync(
    join(folder, 'my.yaml'),
    `admin: 127.0.0.1:0
listen: [{ address: 127.0.0.1:0, tls: true }]
tls: { fips: true, certificates: [${JSON.stringify(identity)}] }
zones: [{ hosts: [site.test], routes: [] }]
`,
  )
  const env = {
    ...process.env,
    GATEHOUSE_DATA: join(folder, 'data'),
    OPENSSL_CONF: join(folder, 'openssl.cnf'),
    NODE_OPTIONS: '--enable-fips',
  }
  const gateway = await spawnGateway(t, [main, 'start', '--config', 'my.yaml'], { cwd: folder, env })
  const { port } = new URL(gateway.edge)
  const agreed = async (options: ConnectionOptions) => {
    const to = { host: '127.0.0.1', port: Number(port), servername: 'site.test', ca: authority.certificate }
    const socket = connect({ ...to, ...options })
    t.after(() => socket.destroy())
    return once(socket, 'secureConnect').then(
      () => socket.getCipher().standardName,
      ({ code }) => code,
    )
  }
  const usual = { ecdhCurve: 'X25519:P-256' }
  assert.equal(await agreed(usual), 'TLS_AES_128_GCM_SHA256')
  assert.equal(await agreed({ ...usual, maxVersion: 'TLSv1.2' }), 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256')
  for (const other of [{ ecdhCurve: 'X25519' }, { ciphers: 'TLS_CHACHA20_POLY1305_SHA256' }])
    assert.equal(await agreed(other), 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE')
  const { setUp } = await gateway.firstStart
  const { pathname, search } = new URL(setUp!)
  const form = await new Visitor(gateway.admin, gateway.admin).get(pathname + search)
  const fields = { email: 'ada@example.com', password: 'correct horse battery' }
  const refused = await form.submit('/auth/set-up', fields)
  assert.equal(refused.status, 422)
  assert.match(refused.text, /No password can be set here/)
})

for (const workers of thorough([0, 2], [1])) {
  test(`docs/tls.md works as written, with workers: ${workers}`, async t => {
    const folder = quickFolder(t, 'tls')
    const openssl = process.env.OPENSSL ?? 'openssl'
    execFileSync('sh', ['-ec', makes!.text.replaceAll(/^openssl/gm, openssl)], { cwd: folder, stdio: 'pipe' })
    const origin = createServer(({ headers }, response) => {
      const subject = headers['svc-client-subject'] ?? ''
      response.end(`${headers['x-forwarded-proto']}: hello ${subject}`)
    }).listen(0, '127.0.0.1')
    await once(origin, 'listening')
    t.after(() => origin.close())
    const { port } = origin.address() as AddressInfo
    const text = yaml!.text.replace(':9000', `:${port}`).replaceAll(/0\.0\.0\.0:\d+/g, '127.0.0.1:0')
    writeFileSync(join(folder, 'my.yaml'), `workers: ${workers}\nadmin: 127.0.0.1:0\n${text}`)
    const [start, curl, older] = tries!.text.trim().split('\n')
    const [, ...args] = /^npm start -- (--config) (my\.yaml)$/.exec(start!)!
    const env = { ...process.env, GATEHOUSE_DATA: join(folder, 'data') }
    const gateway = await spawnGateway(t, [main, 'start', ...args], { cwd: folder, env })
    const listening = (await gateway.logged('ready')).edge as readonly { port: number; tls: boolean }[]
    assert.deepEqual(
      listening.map(({ tls }) => tls),
      [false, true],
    )
    const ask = async (line: string) => {
      const [program, ...words] = line.replace(':8443', `:${listening[1]!.port}`).split(' ')
      assert.equal(program, 'curl')
      return (await run(process.env.CURL ?? program, words, { cwd: folder })).stdout
    }
    assert.equal(await ask(curl!), 'https: hello ')
    assert.equal(await ask(older!), 'https: hello ')
    const metrics = await gateway.metrics()
    assert.match(metrics, /^gatehouse_tls_handshakes_total\{kind="full"\} 2$/m)
    assert.match(metrics, /^gatehouse_http_versions_total\{version="2"\} 1$/m)
    assert.match(metrics, /^gatehouse_http_versions_total\{version="1\.1"\} 1$/m)
    assert.match(
      metrics,
      /^gatehouse_tls_certificate_expiry_timestamp_seconds\{name="shop\.localhost",key_type="ec"\} \d+$/m,
    )
    execFileSync('sh', ['-ec', makesClient!.text.replaceAll(/^openssl/gm, openssl)], {
      cwd: folder,
      stdio: 'pipe',
    })
    const before = readFileSync(join(folder, 'my.yaml'), 'utf8')
    const zone = asksClients!.text.trim()
    writeFileSync(join(folder, 'my.yaml'), before.replace('hosts: [shop.localhost],', `$& ${zone},`))
    await gateway.logged('configuration reloaded')
    const [withOne, without] = triesClient!.text.trim().split('\n')
    assert.equal(await ask(withOne!), 'https: hello CN=alice,O=Shop')
    assert.match(await ask(`${without!} -HAccept:text/markdown`), /^error_code: 1017$/m)
    gateway.signal('SIGTERM')
    assert.equal((await gateway.exited).code, 0)
  })
}
