// The recipes of the pages as they are written, with only ports and files put in their place.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { freePort } from '../help/free-port.ts'
import { startGateway } from '../help/gateway.ts'
import { mmdb } from '../help/mmdb.ts'
import { deadOrigin, ok, type Origin, startResponder } from '../help/origin.ts'
import { connectTo } from '../help/raw.ts'

/** Returns the configuration under the heading of a recipe. */
function recipe(heading: string, page: string): string {
  const [block] = blocksOf(section(readPage(page), heading)).filter(({ language }) => language === 'yaml')
  return block!.text
}

/** Starts a gateway by a recipe before these origins; what asks it gives fields of the request and gets the answer. */
async function follow(
  t: TestContext,
  heading: string,
  origins: readonly Pick<Origin, 'port'>[],
  page = 'docs/rules-and-limits.md',
) {
  const yaml = recipe(heading, page)
    .replace(/(?<=127\.0\.0\.1:)300([01])\b/g, (_, number) => `${origins[Number(number)]!.port}`)
    .replace('GeoLite2-Country.mmdb', writeCountries(t))
  const { edge } = await startGateway(t, yaml)
  return async (...fields: string[]) => {
    const client = await connectTo(t, Number(new URL(edge).port))
    await client.send(`${['GET / HTTP/1.1', 'Host: localhost', ...fields].join('\r\n')}\r\n\r\n`)
    const answer = await client.response()
    client.leave()
    return answer
  }
}

function writeCountries(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-geo-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'countries.mmdb')
  const country = (iso_code: string) => ({ country: { iso_code } })
  writeFileSync(file, mmdb({ '192.0.2.0/24': country('AQ'), '198.51.100.0/24': country('DE') }))
  return file
}

test('JSON for agents, a page for people', async t => {
  const ask = await follow(t, 'JSON for agents, a page for people', [deadOrigin()])
  const [agent, person] = [await ask('Accept: application/json'), await ask('Accept: text/html')]
  assert.deepEqual(JSON.parse(agent.text), { error: 'unavailable', ray_id: agent.field('svc-ray') })
  assert.match(person.text, new RegExp(`<.*Error 521.*${person.field('svc-ray')}`, 's'))
  for (const answer of [agent, person, await ask()]) {
    assert.equal(answer.status, 521)
    assert.equal(answer.field('retry-after'), '120')
  }
})

test('ban a country', async t => {
  const ask = await follow(t, 'Ban a country', [await startResponder(t, ok())])
  const banned = await ask('X-Forwarded-For: 192.0.2.7', 'Accept: application/json')
  assert.equal(JSON.parse(banned.text).error_code, 1009)
  assert.equal((await ask('X-Forwarded-For: 198.51.100.7')).status, 200)
  assert.equal((await ask('X-Forwarded-For: 192.0.2.7, 198.51.100.7')).status, 200)
})

for (const [heading, page] of [
  ['10 requests a second per token', 'docs/rules-and-limits.md'],
  ['4. Restrict and limit access', 'README.md'],
] as const)
  test(`10 requests a second per token, in ${page}`, async t => {
    const ask = await follow(t, heading, [await startResponder(t, ok())], page)
    const askFor = async (token: string) => {
      const began = performance.now()
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => ask(`Authorization: Bearer ${token}`, 'Accept: application/json')),
      )
      const limited = answers.filter(({ status }) => status === 429)
      for (const answer of limited) {
        assert.equal(JSON.parse(answer.text).error_code, 1015)
        // A second, and what is left of the smallest step in which time is counted, in whole seconds.
        assert.match(answer.field('retry-after') ?? '', /^[12]$/)
        assert.equal(String(JSON.parse(answer.text).retry_after), answer.field('retry-after'))
      }
      const passed = answers.length - limited.length
      // A busy machine may need more than a second for them, and more pass then.
      const most = Math.floor(10 * (1 + (performance.now() - began) / 1_000))
      assert.ok(passed >= 10 && passed <= most, `${passed} of ${most}`)
    }
    await Promise.all([askFor('one'), askFor('another')])
  })

test('two origins, one dies', async t => {
  const origins = [await startResponder(t, ok('a'), await freePort()), await startResponder(t, ok('b'))]
  const ask = await follow(t, 'Two origins, one dies', origins)
  const seen = new Set<string>()
  while (seen.size < 2) seen.add((await ask()).text)
  await origins[0]!.goDown()
  for (let i = 0; i < 50; i++) assert.equal((await ask()).text, 'b')
})
