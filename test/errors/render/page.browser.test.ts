import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { home } from '../../../src/admin/service/home.ts'
import type { Operator } from '../../../src/config/model/custom-errors-config.ts'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import { previewOnly } from '../../../src/errors/catalogue/preview-only.ts'
import type { ErrorResponse } from '../../../src/errors/audience/audience.ts'
import { compose } from '../../../src/errors/audience/people.ts'
import { documentError, documentIndex } from '../../../src/errors/docs/document.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'
import { launchBrowser, openPage, type Served } from '../../help/browser.ts'
import { contrastsIn, luminance } from '../../help/contrast.ts'
import { thorough } from '../../help/thorough.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

const ray = '8f3c1e0a9b7d2c46'
const time = Date.UTC(2026, 4, 6, 7, 8, 9)

function pageOf(name: ErrorName, zone = 'www.example.com', operator: Operator | null = null): ErrorResponse {
  return compose(
    refuse(name),
    { ray, zone, accept: 'text/html', time },
    { documentation: 'http://docs.example', operator },
  )
}

test('a page is complete and causes no message in the console, of the policy or otherwise', async t => {
  const { page, complaints } = await openPage(t, browser, pageOf('connection_timeout'))
  await page.getByRole('heading', { level: 1, name: 'Connection timed out' }).waitFor()
  assert.deepEqual(await page.locator('main h2').allTextContents(), [
    'What happened',
    'What you should do',
    'If you report this',
  ])
  assert.deepEqual(complaints, [])
})

test('a page has landmarks, a language, a title, and asks not to be indexed', async t => {
  const { page } = await openPage(t, browser, pageOf('origin_down'))
  assert.equal(await page.getByRole('main').count(), 1)
  assert.equal(await page.getByRole('contentinfo').count(), 1)
  assert.equal(await page.locator('html').getAttribute('lang'), 'en')
  assert.equal(await page.title(), 'Error 521: Web server is down')
  assert.equal(await page.locator('meta[name=robots]').getAttribute('content'), 'noindex')
})

test('the policy stops a script that is not ours', async t => {
  const { body, ...answer } = pageOf('origin_down')
  const spoilt = {
    ...answer,
    body: body.replace('</main>', '<script>document.title = "spoilt"</script></main>'),
  }
  const { page, complaints } = await openPage(t, browser, spoilt)
  assert.equal(await page.title(), 'Error 521: Web server is down')
  assert.match(complaints.join(), /Content Security Policy/)
})

test('a page shows the logo and the contact of its operator, and the name where the logo is gone', async t => {
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="150"></svg>'
  const server = createServer(({ url }, response) => {
    if (url === '/gone.svg') return void response.destroy()
    response.setHeader('content-type', 'image/svg+xml').end(picture)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const open = async (file: string) => {
    const operator = { name: 'Łódź Tea', logo: `${base}/${file}`, contact: 'help@tea.example' }
    return openPage(t, browser, pageOf('origin_down', 'tea.example', operator))
  }
  const { page, complaints } = await open('logo.svg')
  await page.getByRole('img', { name: 'Łódź Tea' }).waitFor()
  assert.deepEqual(
    await page.evaluate('[document.images[0].naturalWidth, document.images[0].height]'),
    [300, 56],
  )
  const contact = page.getByRole('link', { name: 'help@tea.example' })
  assert.equal(await contact.getAttribute('href'), 'mailto:help@tea.example')
  assert.deepEqual(complaints, [])
  const { page: without } = await open('gone.svg')
  assert.equal(await without.getByRole('img', { name: 'Łódź Tea' }).isVisible(), true)
})

test('the countdown runs down, and the page can be tried at any time', async t => {
  const { page, complaints } = await openPage(t, browser, pageOf('connection_timeout'), {}, async page => {
    await page.clock.install({ time: 0 })
    // From then on, time passes only as the test says.
    await page.clock.pauseAt(1_000)
  })
  const again = page.getByRole('link', { name: 'Try now' })
  const bar = page.getByRole('progressbar')
  const timer = page.getByRole('timer')
  assert.equal(await timer.textContent(), 'You can try again in 2:00')
  assert.deepEqual([await again.isVisible(), await again.getAttribute('class')], [true, 'early'])
  assert.equal(await bar.getAttribute('value'), await bar.getAttribute('max'))
  await page.clock.runFor(61_000)
  assert.equal(await timer.textContent(), 'You can try again in 59 seconds')
  assert.equal(await bar.getAttribute('value'), '59')
  await page.clock.runFor(60_000)
  assert.equal(await page.getByRole('status').textContent(), 'You can try again now.')
  assert.deepEqual([await timer.count(), await bar.count()], [0, 0])
  assert.equal(await again.getAttribute('class'), '')
  await again.click()
  await page.getByRole('timer').waitFor()
  assert.deepEqual(complaints, [])
})

test('a countdown shows the right time after the computer slept', async t => {
  const { page } = await openPage(t, browser, pageOf('connection_timeout'), {}, page => page.clock.install())
  await page.clock.fastForward('01:00:00')
  assert.equal(await page.getByRole('status').textContent(), 'You can try again now.')
})

test('a page of an error that is not retryable offers no retry', async t => {
  const { page, complaints } = await openPage(t, browser, pageOf('invalid_ssl_certificate'))
  assert.equal(await page.getByRole('timer').count(), 0)
  assert.equal(await page.getByRole('link').count(), 0)
  assert.deepEqual(complaints, [])
})

test('the copy button copies the ray ID, on a plain HTTP site too', async t => {
  const { page } = await openPage(t, browser, pageOf('origin_down'))
  assert.equal(await page.evaluate('isSecureContext'), false)
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.evaluate("document.body.append(document.createElement('textarea'))")
  await page.locator('textarea').focus()
  await page.keyboard.press('Control+V')
  assert.equal(await page.locator('textarea').inputValue(), ray)
})

test('times are shown in the zone of the reader', async t => {
  const options = { timezoneId: 'Asia/Tokyo', locale: 'en-GB' }
  const { page } = await openPage(t, browser, pageOf('origin_down'), options)
  assert.match((await page.locator('dd time').textContent())!, /16:08:09/)
})

test('without script the page says the same, with the plain wait and a link', async t => {
  const { page, complaints } = await openPage(t, browser, pageOf('connection_timeout'), {
    javaScriptEnabled: false,
  })
  assert.equal(
    await page.locator('#wait').textContent(),
    'You can try again in 120 s, at 2026-05-06 07:10:09 UTC.',
  )
  assert.equal(await page.getByRole('link', { name: 'Try now' }).isVisible(), true)
  assert.equal(await page.getByRole('button').count(), 0)
  assert.equal(await page.getByText(ray).isVisible(), true)
  assert.deepEqual(complaints, [])
})

test('no page scrolls sideways on the smallest screen, whatever the host', async t => {
  const small = { viewport: { width: 320, height: 640 } }
  const { page } = await openPage(t, browser, pageOf('connection_timeout'), small)
  for (const name of Object.keys(errorRows) as ErrorName[]) {
    for (const zone of thorough(['www.example.com', 'a'.repeat(253)], ['a'.repeat(253)])) {
      await page.setContent(pageOf(name, zone).body)
      assert.ok((await widthOf(page)) <= 320, `${name}, ${zone}`)
    }
  }
})

test('the documentation fits the smallest screen too', async t => {
  for (const answer of [documentIndex(null), documentError('1013', null)!, frontPage()]) {
    const { page, complaints } = await openPage(t, browser, answer, { viewport: { width: 320, height: 640 } })
    assert.ok((await widthOf(page)) <= 320)
    assert.deepEqual(complaints, [])
  }
})

test('the list of errors is searched by code, name and words, and shows what is left by category', async t => {
  const { page, complaints } = await openPage(t, browser, documentIndex(null))
  const shown = async () => (await page.locator('tbody tr:visible').allTextContents()).length
  const all = await shown()
  assert.equal(all, Object.keys(errorRows).length)
  const search = page.getByRole('searchbox', { name: /Search/ })
  await search.fill('522')
  assert.equal(await shown(), 1)
  assert.deepEqual(await page.locator('h2:visible').allTextContents(), ['Origins'])
  assert.equal(await page.getByRole('status').textContent(), `1 of ${all}`)
  await search.fill('SSL handshake')
  assert.equal(await page.getByRole('link', { name: '525' }).isVisible(), true)
  await search.fill('no such error')
  assert.equal(await shown(), 0)
  assert.equal(await page.getByRole('status').textContent(), 'No error has all these words.')
  await search.fill('preview only')
  const previews = Object.keys(previewOnly).length
  assert.equal(await shown(), previews)
  await search.fill('')
  assert.equal(await shown(), all)
  assert.deepEqual(complaints, [])
})

test('without script the list of errors is whole, and has no search that does nothing', async t => {
  const { page } = await openPage(t, browser, documentIndex(null), { javaScriptEnabled: false })
  assert.equal(await page.locator('tbody tr:visible').count(), Object.keys(errorRows).length)
  assert.equal(await page.locator('input:visible').count(), 0)
})

test('every text of a page has the contrast of WCAG AA, light and dark', async t => {
  const answers = [
    pageOf('connection_timeout'),
    pageOf('bad_request'),
    pageOf('internal_server_error'),
    pageOf('origin_down', 'a.example', { name: 'Tea', logo: null, contact: 'help@tea.example' }),
    documentError('522', null)!,
    documentIndex(null),
    frontPage(),
  ]
  for (const answer of answers) {
    const { page } = await openPage(t, browser, answer)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const texts = await contrastsIn(page)
      assert.ok(texts.length > 10)
      for (const { text, colour, ground, ratio } of texts)
        assert.ok(ratio >= 4.5, `${text}, ${colorScheme}: rgb(${colour}) on rgb(${ground})`)
    }
  }
})

test('a page is dark where the reader prefers it', async t => {
  const { page } = await openPage(t, browser, pageOf('origin_down'))
  const brightnessOf = async (colorScheme: 'light' | 'dark') => {
    await page.emulateMedia({ colorScheme })
    const [first] = await contrastsIn(page)
    return luminance(first!.ground)
  }
  assert.ok((await brightnessOf('light')) > 0.8)
  assert.ok((await brightnessOf('dark')) < 0.05)
})

function frontPage(): Served {
  const { headers, body } = home(null, 'draining', null)
  return { headers: Object.entries(headers).flat(), body }
}

function widthOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth')
}
