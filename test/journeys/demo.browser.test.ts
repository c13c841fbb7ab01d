import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { complaintsOf, launchBrowser } from '../help/browser.ts'
import { contrastsIn } from '../help/contrast.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { root } from '../help/source.ts'

const configuration = readFileSync(join(root, 'config/demo.yaml'), 'utf8')
const env = { DEMO_LISTEN: '127.0.0.1:0', DEMO_ADMIN: '127.0.0.1:0' }

let browser: Browser
let demo: RunningGateway
before(async t => {
  browser = await launchBrowser()
  demo = await startGateway(t as TestContext, configuration, { command: 'demo', env })
})
after(() => browser?.close())

async function openDemo(
  t: TestContext,
  options = {},
): Promise<{ page: Page; complaints: readonly string[] }> {
  const context = await browser.newContext(options)
  t.after(() => context.close())
  const page = await context.newPage()
  const complaints = complaintsOf(page, text => text.startsWith('Failed to load resource'))
  await page.goto(demo.edge.replace('127.0.0.1', 'localhost'))
  return { page, complaints }
}

/** Makes room for all of each format, and a border like that of the page. */
const pictured = `
main{max-width:none}
.shown{grid-template-columns:1fr 1fr 1fr!important;margin:0!important;padding:1rem;background:var(--card)}
pre,iframe{height:31rem!important}
pre{font-size:11px!important}
iframe{zoom:.67;height:calc(31rem/.67)!important}`

/** Returns the width of a PNG (PNG 11.2.1). */
const widthOf = (png: Buffer): number => png.readUInt32BE(16)

const caseOf = (page: Page, name: string) =>
  page.locator('article').filter({ has: page.getByRole('link', { name, exact: true }) })

test('each case is shown in three formats side by side', async t => {
  const { page, complaints } = await openDemo(t)
  for (const [name, code, status] of [
    ['/reset', 520, 520],
    ['down.localhost', 521, 521],
    ['nodns.localhost', 1016, 530],
    ['selfsigned.localhost', 526, 526],
    ['nottls.localhost', 525, 525],
    ['paused.localhost', 1004, 409],
    ['unknown.localhost', 1001, 409],
  ] as const) {
    const shown = caseOf(page, name)
    await shown.getByRole('button').click()
    const [json, markdown, html] = [0, 1, 2].map(i => shown.locator('section').nth(i))
    await json!
      .locator('pre')
      .filter({ hasText: `"error_code": ${code},` })
      .waitFor()
    await markdown!
      .locator('pre')
      .filter({ hasText: `error_code: ${code}\n` })
      .waitFor()
    const inFrame = html!.frameLocator('iframe')
    await inFrame.getByText(`Error ${code}`, { exact: true }).waitFor()
    assert.match(
      (await json!.getByRole('status').textContent())!,
      new RegExp(`^${status} · application/json`),
    )
  }
  assert.deepEqual(complaints, [])
})

test('a response that is cut is marked, and one of the origin is shown as it is', async t => {
  const { page, complaints } = await openDemo(t)
  await caseOf(page, '/truncate').getByRole('button').click()
  for (const i of [0, 1, 2])
    await caseOf(page, '/truncate')
      .locator('.cut')
      .nth(i)
      .filter({ hasText: 'the connection was cut' })
      .waitFor()
  await caseOf(page, '/status/503').getByRole('button').click()
  const body = caseOf(page, '/status/503').locator('pre').first()
  await body.filter({ hasText: 'The origin itself responds with 503.' }).waitFor()
  await caseOf(page, '/big?bytes=10485760').getByRole('button').click()
  await caseOf(page, '/big?bytes=10485760').locator('pre').nth(2).filter({ hasText: '…' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('without script the page links to each case, and has no buttons', async t => {
  const { page } = await openDemo(t, { javaScriptEnabled: false })
  assert.equal(await page.getByRole('button').count(), 0)
  await page.getByRole('link', { name: '/reset' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  assert.match(await page.title(), /^Error 520/)
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the ${colorScheme} page can be read, and fits the smallest screen`, async t => {
    const { page } = await openDemo(t, { colorScheme, viewport: { width: 320, height: 640 } })
    await caseOf(page, 'down.localhost').getByRole('button').click()
    await caseOf(page, 'down.localhost').locator('iframe').waitFor()
    assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 320)
    for (const { text, ratio } of await contrastsIn(page)) assert.ok(ratio >= 4.5, text)
  })

for (const colorScheme of ['light', 'dark'] as const)
  test(`the ${colorScheme} picture in docs/images shows a dead origin in three formats; WRITE_DOCS=1 takes it again`, async t => {
    const { page } = await openDemo(t, {
      colorScheme,
      bypassCSP: true,
      viewport: { width: 1200, height: 900 },
    })
    const shown = caseOf(page, 'down.localhost')
    await page.addStyleTag({ content: pictured })
    await shown.getByRole('button').click()
    await shown.locator('pre').filter({ hasText: '"error_code": 521,' }).waitFor()
    await shown.locator('pre').filter({ hasText: '# Error 521: Web server is down' }).waitFor()
    await shown.frameLocator('iframe').getByText('Try now').waitFor()
    const file = join(root, `docs/images/error-${colorScheme}.png`)
    const taken = await shown.locator('.shown').screenshot()
    if (process.env.WRITE_DOCS) writeFileSync(file, taken)
    const kept = readFileSync(file)
    assert.deepEqual(widthOf(kept), widthOf(taken))
    assert.ok(kept.length < 150_000, `${kept.length} bytes`)
  })
