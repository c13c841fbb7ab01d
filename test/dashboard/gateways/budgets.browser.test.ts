import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { complaintsOf, launchBrowser } from '../../help/browser.ts'
import { spendOf } from '../budgets/spending.ts'
import { openDashboard } from '../site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person adds a budget, watches it being spent, raises it and lets it start over', async t => {
  const site = await openDashboard(t)
  const page = await (await site.browse(browser)).newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${site.base}/gateways/default`)
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await page.getByRole('link', { name: 'Add a budget' }).click()
  const [zone, seconds] = [page.getByLabel('Time zone'), page.getByLabel('Seconds', { exact: true })]
  // Only the fields of the chosen time are in view.
  assert.deepEqual([await zone.isVisible(), await seconds.isVisible()], [true, false])
  await page.getByLabel('In which time').selectOption('seconds')
  assert.deepEqual([await zone.isVisible(), await seconds.isVisible()], [false, true])
  await page.getByLabel('Of what').selectOption('concurrency')
  assert.deepEqual([await zone.isVisible(), await seconds.isVisible()], [false, false])
  await page.getByLabel('Of what').selectOption('cost')
  await page.getByLabel('In which time').selectOption('day')
  await page.getByLabel('Limit').fill('2.50')
  await page.getByRole('button', { name: 'Add the budget' }).click()
  await page.getByText('The budget was added.').waitFor()

  const bar = page.getByRole('meter', { name: '$2.50 a day' })
  assert.equal(await bar.getAttribute('aria-valuetext'), '$0 spent of $2.50')
  await spendOf(site, null, { spent: 2_400_000_000, reserved: 50_000_000 })
  await page.getByText('nearly used up').waitFor({ timeout: 20_000 })
  assert.equal(await bar.getAttribute('aria-valuetext'), '$2.40 spent, $0.05 reserved of $2.50')

  await page.getByRole('link', { name: 'Edit $2.50 a day' }).click()
  await page.getByLabel('Limit').fill('5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The budget was changed.').waitFor()
  await page.getByRole('link', { name: 'Reset… $5.00 a day' }).click()
  await page.getByRole('button', { name: 'Start over' }).click()
  await page.getByText('The budget starts over.').waitFor()
  assert.equal(
    await page.getByRole('meter').getAttribute('aria-valuetext'),
    '$0 spent, $0.05 reserved of $5.00',
  )
  assert.deepEqual(complaints, [])
})
