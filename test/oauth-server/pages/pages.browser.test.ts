import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { errorEntries } from '../../../src/oauth-server/pages/error-entries.ts'
import { errorDocument, errorPage, logoutPage, signedOutPage } from '../../../src/oauth-server/pages/pages.ts'
import type { PageResponse } from '../../../src/pages/parts/layout.ts'
import { violationsOf } from '../../help/axe.ts'
import { launchBrowser, openPage } from '../../help/browser.ts'
import { clientWith } from '../../oauth/clients/client-with.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

const error = {
  status: 400,
  error: 'invalid_request',
  description: 'redirect_uri is not registered: <script>alert(1)</script>',
  uri: 'https://id.example/oauth2/errors/invalid_request',
  ray: '8f3c1e0a9b7d2c46',
}
const form = new URLSearchParams({ id_token_hint: '"><img src=x>', state: '1' })

const pages: Readonly<Record<string, PageResponse>> = {
  error: errorPage({ ...error, app: 'Tea <Ledger>' }),
  'error of an unknown app': errorPage({ ...error, app: null }),
  'sign out': logoutPage(form, clientWith({ name: 'Tea <Ledger>' })),
  'signed out': signedOutPage(null),
  errors: errorDocument(null, 'text/html')!,
  'an error, explained': errorDocument(errorEntries[0]!.error, 'text/html')!,
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`no page of the authorization server excludes anybody, is cut, or causes a complaint: ${colorScheme}`, async t => {
    const viewport = { width: 320, height: 640 }
    for (const [name, { headers, body }] of Object.entries(pages)) {
      const opened = await openPage(t, browser, { headers: headers.flat(), body }, { viewport, colorScheme })
      const { page, complaints } = opened
      assert.deepEqual(await violationsOf(page), [], name)
      const cut = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
      assert.equal(cut, false, `${name} is wider than the screen`)
      assert.equal(await page.evaluate("document.querySelectorAll('main script, main img').length"), 0)
      assert.deepEqual(complaints, [], name)
      await page.context().close()
    }
  })
