// `gatehouse certificates renew` over a store of its own; test/journeys/acme.test.ts has it beside a gateway.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { acmeOwner, type HostCertificate } from '../../../src/store/records/acme.ts'
import { openStore } from '../../../src/store/open.ts'

import { quickGatehouse, type Outcome } from '../../help/command.ts'
import { writeConfig } from '../../help/gateway.ts'
import { hostCertificate } from '../../store/contract-specimens.ts'

const hour = 3_600_000

/** Asks for a renewal where the store has such a record; returns what was said, and when one was asked for. */
async function renew(
  t: TestContext,
  more: Partial<HostCertificate>,
): Promise<Outcome & { at: number | null }> {
  const config = writeConfig(
    t,
    `listen: ['127.0.0.1:0', { address: '127.0.0.1:0', tls: true }]
store: '\${STORE}'
tls: { auto: { terms_agreed: true, directory: 'https://127.0.0.1:1/directory' } }
pools: { a: { origins: ['http://127.0.0.1:9'] } }
zones: [{ hosts: [site.example], routes: [{ path: /, pool: a }] }]`,
  )
  const url = `sqlite:${join(config, '../gatehouse.db')}`
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  const record = hostCertificate({
    id: 'site.example',
    restUntil: null,
    lastError: null,
    lease: null,
    ...more,
  })
  await store.certificates.insert(record)
  const outcome = await quickGatehouse(
    ['certificates', 'renew', 'site.example', '--json', '--config', config],
    {
      STORE: url,
    },
  )
  const kept = await store.certificates.get(acmeOwner, 'site.example')
  return { ...outcome, at: kept!.record.requestedAt }
}

function issuedAgo(ms: number): Pick<HostCertificate, 'issued'> {
  return { issued: { ...hostCertificate().issued!, issuedAt: Date.now() - ms } }
}

test('a certificate that is older than an hour is renewed', async t => {
  const begun = Date.now()
  const { code, at, stdout, stderr } = await renew(t, issuedAgo(hour + 1))
  assert.equal(code, 0, stderr)
  assert.ok(at! >= begun)
  assert.deepEqual(JSON.parse(stdout), { host: 'site.example', requested_at: new Date(at!).toISOString() })
})

test('a certificate younger than an hour is not renewed, also while a gateway asks the authority when to renew it', async t => {
  const { code, at, stderr } = await renew(t, { ...issuedAgo(0), lease: { holder: 'another', beat: 1 } })
  assert.deepEqual([code, at], [1, null])
  assert.match(stderr, /the certificate of site\.example is less than an hour old/)
})

test('a certificate that a gateway is renewing is not renewed', async t => {
  const { code, at, stderr } = await renew(t, { ...issuedAgo(hour), lease: { holder: 'another', beat: 1 } })
  assert.deepEqual([code, at], [1, null])
  assert.match(stderr, /a gateway is at work on the certificate of site\.example: try again/)
})
