// What operators learn of automatic certificates, and when what is known is published.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import type { AutomaticTls } from '../../../src/certificates/acme/automatic.ts'
import type { AcmeConfig } from '../../../src/config/model/config.ts'
import { createLogger } from '../../../src/log/log.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import { AutomaticCertificates } from '../../../src/process/certificates/automatic-certificates.ts'
import { acmeOwner } from '../../../src/store/records/acme.ts'
import { openStore } from '../../../src/store/open.ts'
import { LeapingClock, Machine } from '../../certificates/acme/machine.ts'
import { AcmeServer } from '../../help/acme-server.ts'
import { until } from '../../help/until.ts'

const day = 86_400_000

test('a renewal that fails is seen in metrics at once, and in the log from two weeks before the end', async t => {
  const server = await AcmeServer.start(t)
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000 })
  t.after(() => store.close())
  const machine = await Machine.start(t, { server, store })
  const { notAfter } = await machine.settled()
  const { config } = machine
  await machine.stop()
  const lines: Record<string, unknown>[] = []
  const metrics = new Metrics('0')
  const published: AutomaticTls[] = []
  const clock = new LeapingClock()
  const automatic = new AutomaticCertificates({
    store,
    secrets: new SecretKeys(Buffer.alloc(32, 7)),
    log: createLogger('info', { write: line => void lines.push(JSON.parse(line)) }),
    metrics,
    publish: async given => void published.push(given),
    copyPath: null,
    clock,
  })
  t.after(() => automatic.close())
  metrics.automaticCertificates = () => automatic.states
  metrics.certificates = () => automatic.expiries
  metrics.renewals = () => automatic.renewals
  await automatic.prepare(config)
  await automatic.serve(config)
  assert.deepEqual([published.length, published[0]!.identities.length], [1, 1])
  clock.advance(notAfter! - clock.now() - 20 * day)
  server.refusals.push({
    path: '/order',
    problem: { status: 500, type: 'serverInternal', detail: 'on fire' },
  })
  automatic.start()
  await until(() => automatic.statuses[0]!.state === 'failing')
  const warnings = () => lines.filter(({ msg }) => String(msg).startsWith('certificate expire'))
  automatic.warn()
  assert.deepEqual(warnings(), [], 'three weeks ahead')
  const text = await metrics.expose()
  assert.match(text, /^gatehouse_tls_automatic_certificates\{state="failing"\} 1$/m)
  assert.match(text, /^gatehouse_tls_automatic_certificates\{state="valid"\} 0$/m)
  const [, renewal] =
    /^gatehouse_tls_certificate_renewal_timestamp_seconds\{name="site\.test"\} (\S+)$/m.exec(text)!
  assert.equal(Number(renewal) * 1000, automatic.statuses[0]!.nextAt)
  assert.match(text, /^gatehouse_acme_orders_total\{result="unreachable"\} 1$/m)
  assert.match(
    text,
    /^gatehouse_tls_certificate_expiry_timestamp_seconds\{name="site\.test",key_type="ec"\} \d+$/m,
  )
  await automatic.close()
  clock.advance(7 * day)
  automatic.warn()
  clock.advance(14 * day)
  automatic.warn()
  assert.deepEqual(
    warnings().map(({ level, msg, host, reason }) => [level, msg, host, reason]),
    [
      ['warn', 'certificate expires soon, and its renewal fails', 'site.test', 'serverInternal: on fire'],
      [
        'error',
        'certificate expired: clients refuse it, and its renewal fails',
        'site.test',
        'serverInternal: on fire',
      ],
    ],
  )
  assert.equal(published.length, 1, 'the old certificate is kept')
})

test('nothing is read, and nobody is asked, where nothing is configured', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000 })
  t.after(() => store.close())
  await store.certificates.insert({
    ...{ account: acmeOwner, id: 'site.test', createdAt: 1, issued: null, order: null, renewal: null },
    ...{ failures: 0, restUntil: null, lastError: null, requestedAt: null, lease: null },
  } as const)
  const published: AutomaticTls[] = []
  const automatic = new AutomaticCertificates({
    store,
    secrets: new SecretKeys(Buffer.alloc(32, 7)),
    log: createLogger('info', { write: () => {} }),
    metrics: new Metrics('0'),
    publish: async given => void published.push(given),
    copyPath: null,
  })
  t.after(() => automatic.close())
  await automatic.serve(null satisfies AcmeConfig | null)
  automatic.start()
  assert.deepEqual([automatic.statuses, published], [[], []])
})
