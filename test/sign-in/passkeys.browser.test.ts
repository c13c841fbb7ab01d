// People with a browser and an authenticator: Chromium's virtual one makes and uses real keys.

import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { paths } from '../../src/pages/parts/paths.ts'
import { violationsOf } from '../help/axe.ts'
import { complaintsOf, launchBrowser } from '../help/browser.ts'
import { crossingsOf } from '../help/overflow.ts'
import { password } from '../people/settlement.ts'
import { Site } from './site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

/** An authenticator in the device, such as a fingerprint reader. */
const device = {
  protocol: 'ctap2',
  ctap2Version: 'ctap2_1',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const

/** A site at localhost, which browsers trust like https, and a person with a browser there. */
async function arrive(t: TestContext) {
  const site = await Site.open(t)
  site.origin = site.origin.replace('127.0.0.1', 'localhost')
  site.hasDashboard = false
  const context = await browser.newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  const complaints = complaintsOf(page, text => /status of 403/.test(text))
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const user = await site.settle({ firstName: 'Ada' })
  const go = (path: string) => page.goto(site.origin + path)
  const signOut = async () => {
    await go(paths.account)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await titleIs(page, 'You are signed out')
    await page.getByRole('link', { name: 'Sign in again' }).click()
    await titleIs(page, 'Sign in')
  }
  return { site, page, complaints, devtools, user, go, signOut }
}

async function plugIn(devtools: CDPSession): Promise<string> {
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options: device })
  return authenticatorId
}

async function enterPassword(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function titleIs(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
}

/** Looks at a page as people with small and large screens, in light and dark, see it. */
async function look(page: Page, name: string): Promise<void> {
  for (const [width, colorScheme] of [
    [320, 'light'],
    [1280, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    // Only colours and widths differ from one look to the next.
    const rules = colorScheme === 'light' ? null : ['color-contrast']
    assert.deepEqual(await violationsOf(page, rules), [], `${name}, ${width} px`)
    assert.deepEqual(await crossingsOf(page), [], `${name}, ${width} px`)
    const folder = process.env.SCREENSHOTS
    if (folder) await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true })
  }
}

test('a person adds a passkey, signs in with it, takes the second step, confirms and removes it', async t => {
  const { site, page, complaints, devtools, user, go, signOut } = await arrive(t)
  const key = await plugIn(devtools)
  await go(paths.signIn)
  await enterPassword(page, user.email)
  await go(paths.account)
  await page.getByRole('link', { name: 'Add a passkey' }).click()
  await titleIs(page, 'Add a passkey')
  await look(page, 'add')
  await page.getByLabel('Name').fill('Blue laptop')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await titleIs(page, 'Save your recovery codes')
  const code = await page.locator('ol.codes code').first().textContent()
  await page.getByRole('link', { name: 'I have saved them' }).click()
  await page.getByText('The passkey was added.').waitFor()
  await page.getByText('Blue laptop').waitFor()
  await look(page, 'account')
  const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId: key })
  assert.deepEqual([credentials.length, credentials[0]!.isResidentCredential], [1, true])

  await page.getByRole('link', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('This device has a passkey for you already.').waitFor()

  // One that offers no fingerprint, so that the browser does not sign in by itself as the page opens.
  await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: key, enabled: false })
  await signOut()
  await look(page, 'sign-in')
  await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: key, enabled: true })
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await titleIs(page, 'Your profile')
  const [session] = await site.people.sessions.list(user.id)
  assert.deepEqual([session!.method, session!.secondFactor], ['passkey', true])

  site.clock.advance(31 * 60_000)
  await go(paths.passkeys)
  await titleIs(page, 'Confirm that it is you')
  await look(page, 'confirm')
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await titleIs(page, 'Add a passkey')

  await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: key, enabled: false })
  await signOut()
  await enterPassword(page, user.email)
  await titleIs(page, 'Use your passkey')
  await look(page, 'second-step')
  await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: key, enabled: true })
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await titleIs(page, 'Your profile')

  // The device is lost: a recovery code opens the account, and the passkey is removed.
  await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: key })
  await signOut()
  await enterPassword(page, user.email)
  await page.getByText('Use a recovery code instead').click()
  await page.getByLabel('Recovery code').fill(code!)
  await page.getByRole('button', { name: 'Use this code' }).click()
  await titleIs(page, 'Your profile')
  await go(paths.account)
  await page.getByRole('button', { name: 'Remove the passkey Blue laptop' }).click()
  await page.getByText('The passkey was removed').waitFor()
  await look(page, 'removed')
  assert.deepEqual(complaints, [])
})

test('a browser offers passkeys in the field for the address', async t => {
  const { page, devtools, user, go, site, complaints } = await arrive(t)
  await plugIn(devtools)
  await go(paths.signIn)
  await enterPassword(page, user.email)
  await go(paths.passkeys)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await titleIs(page, 'Save your recovery codes')
  await page.context().clearCookies()
  await go(paths.signIn)
  // Somebody touches the virtual authenticator at once.
  await titleIs(page, 'Your profile')
  const sessions = await site.people.sessions.list(user.id)
  assert.ok(sessions.some(({ method }) => method === 'passkey'))
  assert.deepEqual(complaints, [])
})

test('a user who is not verified adds nothing and gets in nowhere', async t => {
  const { page, devtools, user, go, site } = await arrive(t)
  const key = await plugIn(devtools)
  await go(paths.signIn)
  await enterPassword(page, user.email)
  await go(paths.passkeys)
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId: key, isUserVerified: false })
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText(/No passkey was used/).waitFor()
  assert.equal((await site.store.users.get(user.account, user.id))!.record.passkeys, undefined)
})
