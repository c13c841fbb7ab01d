import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { entryWith, keepEntries } from '../../admin/ai-logs/log-entries.ts'
import { launchBrowser } from '../../help/browser.ts'
import { until } from '../../help/until.ts'
import { openWithEdge } from './open-entrance.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person protects a gateway, sees a 401 turn up, and finds the call that had a token', async t => {
  const { base, browse, logs, ask, kept, clock } = await openWithEdge(t)
  await ask('POST', '/ai-gateway/gateways', { body: { id: 'support', authentication: false } })
  const context = await browse(browser, { viewport: { width: 390, height: 800 } })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => complaints.push(message.text()))
  await page.goto(`${base}/gateways/support/authentication`)
  await page.getByText('No token has been used here yet.').waitFor()
  await page.getByRole('link', { name: 'create a token' }).click()
  await page.getByLabel('Name', { exact: true }).fill('support bot')
  await page.getByRole('button', { name: 'Create the token' }).click()
  await page.getByText('It is shown only now.').waitFor()
  await page.getByRole('link', { name: 'I have saved it' }).click()
  await page.getByRole('link', { name: 'Switch it on…' }).click()
  await page.getByRole('button', { name: 'Switch it on' }).click()
  await page.getByText('Authentication is on: calls without a valid token are refused.').waitFor()

  await page.getByRole('link', { name: 'Send a test request' }).click()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('The gateway refused the call: it had no valid token.').waitFor()
  await page.goto(`${base}/gateways/support/tokens/new`)
  await page.getByRole('button', { name: 'Create the token' }).click()
  await page.getByRole('button', { name: 'Send a test request' }).click()
  await page.getByRole('heading', { name: 'Response 200' }).waitFor()
  const everything = { filters: [], orderBy: 'created_at', descending: true, offset: 0, limit: 9 } as const
  const { result } = (await ask('GET', '')).json
  await until(async () => (await kept.logs.list(result.id, 'support', everything)).total === 1)

  await page.goto(`${base}/gateways/support/logs`)
  await page.getByLabel('Outcome').selectOption('Errors')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByText('No call matches').waitFor()
  await page.getByRole('link', { name: 'Clear the filters' }).click()
  await page.getByText('gateway support').waitFor()
  await page.goto(`${base}/gateways/support/logs/live`)
  await page.getByText('gateway support').waitFor()
  await keepEntries(kept, [entryWith(1, { createdAt: clock.now() - 60_000, model: 'gpt-5' })])
  await page.goto(`${base}/gateways/default/logs`)
  await page.getByRole('link', { name: 'Charts' }).click()
  await page.getByRole('heading', { name: 'Requests 1' }).waitFor()
  await page.getByRole('img', { name: 'Requests over time' }).waitFor()
  await page.getByText('Table of requests').click()
  await page.getByRole('region', { name: 'Requests in figures' }).getByRole('cell', { name: '1' }).waitFor()
  await logs.close()
  assert.deepEqual(complaints, [])
})
