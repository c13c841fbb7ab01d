import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../src/dashboard/routes.ts'
import { furnish, states } from './fixtures.ts'
import { furnishMuch } from './much.ts'
import { openDashboard } from './site.ts'

/** The largest page, with its style and scripts, in bytes. */
const largest = 83_000

/** Later pages of lists, and what finds much. */
const more = [
  ...[
    '/oauth-clients?name=LONG',
    '/oauth-clients?page=9',
    '/members?page=9',
    '/tokens?page=9',
    '/audit?page=9',
  ],
  ...['/zones/{zone}/rules?page=3', '/errors/zones/{zone}?page=3', '/gateways?page=3', '/apps?page=9'],
  ...['/gateways/{gateway}/logs/charts', '/gateways/{gateway}/logs/charts?range=7d&by=token'],
]

test('no page is large, however much there is', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  await furnishMuch(site, pathOf('{client}'))
  const assets = new Map<string, Promise<number>>()
  const sizeOf = (path: string) =>
    fetch(site.origin + path).then(async response => (await response.arrayBuffer()).byteLength)
  const shown = routes.filter(({ show }) => show !== undefined).map(({ path }) => path)
  const large: string[] = []
  for (const pattern of [...shown, ...[...states, ...more].map(rest => `/dashboard/{account}${rest}`)]) {
    // A file is as long as what it has.
    if (pattern.endsWith('/export')) continue
    const { status, body } = await site.get(pathOf(pattern))
    assert.ok(status === 200 || status === 303, `${pattern}: ${status}`)
    const links = Array.from(
      body.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]*)"/g),
      ([, path]) => path!,
    )
    for (const path of links) if (!assets.has(path)) assets.set(path, sizeOf(path))
    const sizes = await Promise.all(links.map(path => assets.get(path)!))
    const size = sizes.reduce((sum, one) => sum + one, Buffer.byteLength(body))
    if (size >= largest) large.push(`${pattern}: ${size} bytes, ${Buffer.byteLength(body)} of them its own`)
  }
  assert.deepEqual(large, [])
})
