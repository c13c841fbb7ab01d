import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ClientCertificates, Config } from '../../../src/config/model/config.ts'
import type { Logger } from '../../../src/log/log.ts'
import { ClientTrustWatch } from '../../../src/process/certificates/client-trust-watch.ts'
import { Authority } from '../../help/certificates.ts'
import { zoneTo } from '../../help/edge.ts'

const day = 86_400_000
const authority = new Authority('Clients')

function zoneWith(revocationLists: string | null): Config['zones'][number] {
  const client: ClientCertificates = {
    mode: 'required',
    authorities: authority.certificate,
    revocationLists,
    forward: 'subject',
  }
  const zone = zoneTo([])
  return { ...zone, tls: { ...zone.tls, client } }
}

function start(t: TestContext, zones: Config['zones']) {
  t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: Date.now() })
  const lines: string[] = []
  const note = (level: string) => (facts: object, message: string) =>
    lines.push(`${level} ${message} ${(facts as { name: string }).name}`)
  const log = { warn: note('warn'), error: note('error') } as unknown as Logger
  const clock = { now: () => Date.now(), monotonic: () => 0 }
  const watch = new ClientTrustWatch(zones, log, clock)
  t.after(() => watch.close())
  return { watch, lines }
}

test('a revocation list is warned of in the last quarter of its time, twice a day, then told as an error', t => {
  const { lines, watch } = start(t, [zoneWith(authority.revocationList(4)), zoneTo([])])
  t.mock.timers.tick(2.9 * day)
  assert.deepEqual(lines, [])
  for (let half = 0; half < 2; half++) t.mock.timers.tick(day / 2)
  assert.deepEqual(lines, Array(2).fill('warn revocation list of client certificates expires soon Clients'))
  t.mock.timers.tick(day)
  assert.match(
    lines.at(-1)!,
    /^error revocation list of client certificates expired: all clients .+ Clients$/,
  )
  const before = lines.length
  watch.prepare([zoneWith(authority.revocationList(-1) + authority.revocationList(90))])()
  t.mock.timers.tick(day)
  assert.equal(lines.length, before)
})

test('an authority is warned of two weeks ahead, and what ends first over all zones is reported', t => {
  const { lines, watch } = start(t, [
    zoneWith(authority.revocationList(90)),
    zoneWith(authority.revocationList(60)),
  ])
  const left = watch.expiries.map(({ kind, name, notAfter }) => [
    kind,
    name,
    Math.round((notAfter - Date.now()) / day),
  ])
  assert.deepEqual(left, [
    ['authority', 'CN=Clients', 30],
    ['revocation_list', 'Clients', 60],
  ])
  t.mock.timers.tick(17 * day)
  assert.deepEqual(lines.slice(0, 1), ['warn authority of client certificates expires soon CN=Clients'])
})
