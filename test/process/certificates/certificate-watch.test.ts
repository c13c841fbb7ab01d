import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Logger } from '../../../src/log/log.ts'
import { CertificateWatch } from '../../../src/process/certificates/certificate-watch.ts'
import { selfSigned } from '../../../src/process/demo/self-signed.ts'

const day = 86_400_000

function start(t: TestContext, days: number) {
  t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: Date.now() })
  const lines: string[] = []
  const note = (level: string) => (_facts: object, message: string) => lines.push(`${level} ${message}`)
  const log = { warn: note('warn'), error: note('error') } as unknown as Logger
  const { key, cert } = selfSigned('site.test', days)
  const clock = { now: () => Date.now(), monotonic: () => 0 }
  const tls = { certificates: [{ certificate: cert, key }], minVersion: 'TLSv1.2' } as const
  const watch = new CertificateWatch(tls, log, clock)
  t.after(() => watch.close())
  return { watch, lines, tls }
}

test('a certificate is warned of two weeks ahead, twice a day, and told as an error when it has expired', t => {
  const { lines } = start(t, 15)
  t.mock.timers.tick(day / 2)
  assert.deepEqual(lines, [])
  t.mock.timers.tick(day)
  assert.deepEqual(lines, Array(2).fill('warn certificate expires soon'))
  t.mock.timers.tick(12.5 * day)
  lines.length = 0
  t.mock.timers.tick(2 * day)
  assert.equal(lines.at(-1), 'error certificate expired: clients refuse it')
})

test('one that was replaced is no longer warned of, and one that is not valid yet is an error', t => {
  const { watch, lines } = start(t, 3)
  assert.deepEqual(lines, ['warn certificate expires soon'])
  const [before] = watch.expiries
  assert.deepEqual([before!.name, before!.keyType], ['site.test', 'ec'])
  const next = selfSigned('site.test', 90)
  watch.prepare({ certificates: [{ certificate: next.cert, key: next.key }], minVersion: 'TLSv1.2' })()
  t.mock.timers.tick(day)
  assert.equal(lines.length, 1)
  assert.ok(watch.expiries[0]!.notAfter > before!.notAfter)
  t.mock.timers.setTime(Date.now() - 10 * day)
  watch.prepare({ certificates: [{ certificate: next.cert, key: next.key }], minVersion: 'TLSv1.2' })()
  assert.equal(lines.at(-1), 'error certificate not valid yet: clients refuse it')
})

test('among certificates with the same name and key type only the first to expire is reported', t => {
  const { watch } = start(t, 90)
  const pairs = [30, 20, 60].map(days => selfSigned('site.test', days))
  const other = selfSigned('other.test', 10)
  watch.prepare({
    certificates: [...pairs, other].map(({ cert, key }) => ({ certificate: cert, key })),
    minVersion: 'TLSv1.2',
  })()
  const days = watch.expiries.map(({ name, notAfter }) => [name, Math.round((notAfter - Date.now()) / day)])
  assert.deepEqual(days, [
    ['site.test', 20],
    ['other.test', 10],
  ])
})
