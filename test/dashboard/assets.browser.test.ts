import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { type Html, html } from '../../src/base/text/html.ts'
import { scriptPaths } from '../../src/dashboard/assets.ts'
import { Draft } from '../../src/dashboard/parts/draft.ts'
import { filterBox } from '../../src/dashboard/parts/fields.ts'
import { confirmation } from '../../src/dashboard/parts/forms.ts'
import { copyable, time } from '../../src/dashboard/parts/values.ts'
import { complaintsOf, launchBrowser } from '../help/browser.ts'
import { openDashboard } from './site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

/** Opens a page with this content and all scripts; `contents` has what it is made of, each time that it is loaded, the last one ever after. With `isStill`, time passes there only as the test says. */
async function open(
  t: TestContext,
  contents: readonly Html[],
  options: BrowserContextOptions = {},
  isStill = false,
) {
  const { browse } = await openDashboard(t)
  const context = await browse(browser, options)
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  let loads = 0
  await page.route('**/page*', route => {
    if (route.request().method() !== 'GET') return route.fulfill({ status: 204 })
    const content = contents[Math.min(loads++, contents.length - 1)]!
    const scripts = scriptPaths.map(path => html`<script type="module" src="${path}"></script>`)
    return route.fulfill({
      contentType: 'text/html',
      body: html`<!doctype html><title>x</title>${scripts}${content}`.markup,
    })
  })
  if (isStill) await page.clock.install()
  await page.goto('/page?a=1&done=x')
  return { page, context, complaints, loads: () => loads }
}

const live = (text: string) =>
  html`<p id="a" data-live="60">${text} ${time('2026-01-01T00:00:00.000Z')}</p><div id="b" data-live="60">${copyable('Id', text)}</div>`

test('parts that live are swapped, with all that scripts add, until the page is another one', async t => {
  const contents = [live('one'), live('two'), html`<p>Sign in</p>`]
  const { page, complaints } = await open(t, contents, { timezoneId: 'Asia/Tokyo' }, true)
  const part = page.locator('#a')
  assert.match((await part.textContent())!, /^one/)
  await page.clock.runFor(60_000)
  await page.locator('#a', { hasText: 'two' }).waitFor()
  assert.match((await part.textContent())!, /9:00/)
  assert.equal(await page.locator('#b button').count(), 1)
  assert.deepEqual(complaints, [])
})

test('a page is not fetched any more once it has no part that lives', async t => {
  const contents = [html`<p id="a" data-live="60">one</p>`, html`<p id="a">two</p>`]
  const { page, loads } = await open(t, contents, {}, true)
  await page.clock.runFor(60_000)
  await page.locator('#a', { hasText: 'two' }).waitFor()
  await page.clock.runFor(600_000)
  // What was fetched before this is counted before it.
  await page.evaluate(() => fetch('/page').then(response => response.text()))
  assert.equal(loads(), 3)
})

test('a part in which somebody works is left alone', async t => {
  const content = (text: string) =>
    html`<div id="a" data-live="60"><input value="${text}"></div><p id="b" data-live="60">${text}</p>`
  const { page } = await open(t, [content('one'), content('two')], {}, true)
  await page.locator('input').focus()
  await page.clock.runFor(60_000)
  await page.locator('#b', { hasText: 'two' }).waitFor()
  assert.equal(await page.locator('input').inputValue(), 'one')
})

test('a part in which something was opened is left alone until it is closed', async t => {
  const content = (text: string) =>
    html`<div id="a" data-live="60"><details><summary>${text}</summary>more</details></div><p id="b" data-live="60">${text}</p>`
  const { page } = await open(t, [content('one'), content('two')], {}, true)
  const summary = page.locator('summary')
  await summary.click()
  await summary.blur()
  await page.clock.runFor(60_000)
  await page.locator('#b', { hasText: 'two' }).waitFor()
  assert.equal(await summary.textContent(), 'one')
  await summary.click()
  await summary.blur()
  await page.clock.runFor(60_000)
  await page.locator('summary', { hasText: 'two' }).waitFor()
})

test('the message about a completed action is shown once, and is not in the URL', async t => {
  const { page } = await open(t, [html`<p>x</p>`])
  assert.match(page.url(), /\/page\?a=1$/)
})

test('a long list is filtered by words, and what is ticked is counted', async t => {
  const option = (name: string) =>
    html`<div class="option"><input type="checkbox" id="${name}"><label for="${name}">${name}</label></div>`
  const { page } = await open(t, [
    html`<fieldset id="list">${filterBox('list', 'Find')}<div data-group>${option('zone read')}</div><div data-group>${option('token read')}${option('token write')}</div></fieldset>`,
  ])
  await page.getByLabel('Find').fill('read TOK')
  assert.deepEqual(await page.locator('.option:visible').allTextContents(), ['token read'])
  assert.equal(await page.locator('[data-group]:visible').count(), 1)
  await page.getByLabel('token read').check()
  assert.equal(await page.locator('output').textContent(), '1 selected')
})

test('the most dangerous actions need the name to be typed, and can be sent once', async t => {
  const frame = { action: '/page', token: 't' }
  const parts = { frame, draft: new Draft(), what: html`Gone.`, send: 'Delete', cancel: '/' }
  const { page } = await open(t, [confirmation({ ...parts, typed: { label: 'Name', word: 'Shop' } })])
  const sent: string[] = []
  page.on('request', request => request.method() === 'POST' && sent.push(request.url()))
  const button = page.locator('button.danger')
  assert.equal(await button.isDisabled(), true)
  await page.getByLabel('Name').fill('Shop')
  assert.equal(await button.isDisabled(), false)
  await button.click()
  await button.click()
  assert.equal(sent.length, 1)
})

test('a value is copied where the clipboard is closed, too', async t => {
  const { page, context } = await open(t, [copyable('Id', 'the value')], { permissions: ['clipboard-read'] })
  await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))')
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'the value')
  await context.close()
})
