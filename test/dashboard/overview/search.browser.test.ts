import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { violationsOf } from '../../help/axe.ts'
import { complaintsOf, launchBrowser } from '../../help/browser.ts'
import { oauthClient } from '../../store/contract-specimens.ts'
import { openDashboard } from '../site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person searches by keyboard alone: a slash, words, arrows, Enter', async t => {
  const { base, browse, kept, account } = await openDashboard(t)
  const client = oauthClient({ account, name: 'Tea Ledger', logoUri: null })
  await kept.oauthClients.insert(client)
  for (const width of [1280, 390]) {
    const page = await (await browse(browser, { viewport: { width, height: 800 } })).newPage()
    const complaints = complaintsOf(page)
    await page.goto(`${base}/tokens`)
    await page.keyboard.press('/')
    await page.keyboard.type('ledger')
    await page
      .getByRole('region', { name: 'Search results' })
      .getByRole('link', { name: 'Tea Ledger' })
      .waitFor()
    assert.deepEqual(await violationsOf(page), [])
    await page.keyboard.press('Escape')
    assert.equal(await page.getByRole('region', { name: 'Search results' }).isVisible(), false)
    await page.keyboard.type('ledger')
    await page
      .getByRole('region', { name: 'Search results' })
      .getByRole('link', { name: 'Tea Ledger' })
      .waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${base}/oauth-clients/${client.id}`)
    assert.deepEqual(complaints, [])
  }
})

test('a slash in a field is a slash, and without script the search is a page', async t => {
  const { base, browse } = await openDashboard(t)
  const page = await (await browse(browser)).newPage()
  await page.goto(`${base}/tokens/new`)
  await page.getByLabel('Name', { exact: true }).press('/')
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), '/')
  const plain = await (await browse(browser, { javaScriptEnabled: false })).newPage()
  await plain.goto(`${base}/tokens`)
  await plain.getByRole('search').getByRole('searchbox').fill('main')
  await plain.getByRole('button', { name: 'Find' }).click()
  await plain.getByRole('link', { name: 'main' }).waitFor()
})
