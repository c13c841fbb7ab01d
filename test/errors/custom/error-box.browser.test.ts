// The box of an Error Page as people see it, in pages of every sort.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import type { ErrorResponse } from '../../../src/errors/audience/audience.ts'
import { composeCustom } from '../../../src/errors/custom/compose-custom.ts'
import { CustomContent } from '../../../src/errors/custom/custom-content.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'
import { launchBrowser, openPage } from '../../help/browser.ts'
import { contrastsIn, luminance } from '../../help/contrast.ts'
import { factsFor } from '../../help/custom-errors.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

const boxes = '::SVC_ERROR_500S_BOX::::SVC_ERROR_1000S_BOX::'

const plain = `<!doctype html><html lang="fr"><meta charset="utf-8"><title>Désolé</title>
<body style="margin:0;background:#eee"><h1>Désolé</h1>${boxes}</body></html>`

/** A page whose style sheet spoils everything that it can reach. */
const loud = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Loud</title>
<style>*{color:#333;background:#222;font:italic 44px/3 serif;text-align:right;text-transform:uppercase;letter-spacing:9px;margin:50px}
section{display:flex;float:right;opacity:.1} p,h2{border:9px solid red}</style>
<body dir="rtl"><h1>Loud</h1>${boxes}</body>`

function pageOf(html: string, name: ErrorName): ErrorResponse {
  const occasion = {
    ray: '8f3c1e0a9b7d2c46',
    zone: 'site.test',
    accept: null,
    time: Date.UTC(2026, 4, 6, 7, 8, 9),
  }
  return composeCustom(
    new CustomContent('page', html, 'text/html', null),
    refuse(name),
    occasion,
    factsFor(name),
  )
}

for (const [manner, html] of Object.entries({ plain, loud }))
  test(`the box can be read in a ${manner} page`, async t => {
    for (const [name, width] of [
      ['connection_timeout', 320],
      ['malicious_activity_banned', 1280],
    ] as const) {
      const viewport = { width, height: 640 }
      const { page, complaints } = await openPage(t, browser, pageOf(html, name), { viewport })
      const texts = await contrastsIn(page, 'section')
      assert.equal(texts.length, 6)
      for (const { text, ratio } of texts) assert.ok(ratio >= 4.5, text)
      assert.equal(await page.getByText('8f3c1e0a9b7d2c46').isVisible(), true)
      assert.equal(await page.getByRole('heading', { level: 2, name: errorRows[name].title }).count(), 1)
      assert.deepEqual(complaints, [])
    }
  })

test('the box is dark where the reader prefers it, and can be read', async t => {
  const { page } = await openPage(t, browser, pageOf(plain, 'connection_timeout'), { colorScheme: 'dark' })
  const texts = await contrastsIn(page, 'section')
  assert.equal(texts.length, 6)
  for (const { text, ground, ratio } of texts) assert.ok(luminance(ground) < 0.05 && ratio >= 4.5, text)
})

test('the box looks the same whatever the style sheet of its page', async t => {
  const looksIn = async (html: string) => {
    const { page } = await openPage(t, browser, pageOf(html, 'origin_down'))
    return page.evaluate<readonly string[]>(looks)
  }
  const calm = await looksIn(plain)
  assert.equal(calm.length, 7)
  assert.deepEqual(await looksIn(loud), calm)
})

const looks = `[...document.querySelectorAll('section, section p, section h2, section b')].map(element => {
  const style = getComputedStyle(element)
  const names = ['display', 'color', 'backgroundColor', 'font', 'textAlign', 'textTransform', 'letterSpacing']
  return [...names, 'opacity', 'float', 'direction', 'borderTop', 'marginTop'].map(name => style[name]).join(' ')
})`

test('the box fits the smallest screen for every error', async t => {
  const { page } = await openPage(t, browser, pageOf(plain, 'origin_down'), {
    viewport: { width: 320, height: 640 },
  })
  for (const name of Object.keys(errorRows) as ErrorName[]) {
    const { body } = pageOf(plain, name)
    await page.setContent(Buffer.from(body, 'latin1').toString())
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 320, name)
  }
})
