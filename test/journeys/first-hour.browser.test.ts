// The first hour of a person who has read nothing: from a packed file to a first chat, an app that is published and a gateway that asks for tokens, by what the pages show and link to alone.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { completion } from '../help/ai.ts'
import { complaintsOf, launchBrowser } from '../help/browser.ts'
import { type DnsServer, startDns } from '../help/dns.ts'
import { blocksOf, readPage } from '../help/docs.ts'
import { spawnGateway } from '../help/gateway.ts'
import { installPackage } from '../help/installed-package.ts'
import { say, startProvider } from '../help/provider.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { isThorough } from '../help/thorough.ts'

const email = 'ada@example.com'
const password = 'correct horse battery'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a stranger publishes an app and protects a gateway, in the browser alone', async t => {
  const { dns, setUp } = await start(t)

  await t.test('from the link that the first start prints, at 390 px', async t => {
    const person = await open(t, { viewport: { width: 390, height: 800 } })
    await person.page.goto(setUp)
    await person.type('Email', email)
    await person.type('Password', password)
    await person.press('Create administrator')
    await publishApp(person, dns, 'Shop')
    await registerPublicApp(person, 'Shop for phones')
    await protectGateway(person, 'support')
    await findCall(person, 'support')
    await person.signOut()
    assert.deepEqual(person.complaints, [])
  })

  await t.test('as somebody who comes back, at 1280 px and without script', async t => {
    const person = await open(t, { viewport: { width: 1280, height: 800 }, javaScriptEnabled: false })
    await signIn(person, setUp)
    await publishApp(person, dns, 'Blog')
    if (!isThorough) return
    await registerPublicApp(person, 'Blog on a desk')
    await protectGateway(person, 'summaries')
  })
})

/**
 * Goes from the packed file to a first chat by the commands of its README, and leaves the gateway running; it is as it
 * comes, but for its ports, and the addresses of a provider and a DNS server that are here.
 */
async function start(t: TestContext): Promise<{ readonly dns: DnsServer; readonly setUp: string }> {
  const dns = await startDns(t)
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const began = performance.now()
  // package.test.ts has npm pack what this may only copy.
  const { folder, home, env } = installPackage(quickFolder(t, 'first-hour'), isThorough)
  const [commands, , call] = blocksOf(readPage('build/README.md')).map(({ text }) => text)
  const [, init, run] = commands!.trimEnd().split('\n')
  execFileSync('sh', ['-c', init!], { cwd: home, env, stdio: 'pipe' })
  const file = join(home, 'gatehouse.yaml')
  const written = readFileSync(file, 'utf8')
    .replace('address: 0.0.0.0:8080', 'address: 127.0.0.1:0')
    .replace('    openai:\n', `    openai:\n      url: ${provider.url}\n`)
    .replace('  #resolvers: []', `  resolvers: ['${dns.address}']`)
  writeFileSync(file, written)
  assert.match(run!, /^ORIGIN=\S+ gatehouse start$/)
  const gateway = await spawnGateway(t, [join(folder, 'bin/gatehouse.js'), 'start'], {
    cwd: home,
    env: { ...env, GATEHOUSE_ADMIN: '127.0.0.1:0', OPENAI_API_KEY: 'sk-of-the-provider' },
  })
  const { account, token, setUp } = await gateway.firstStart
  const response = await promisify(execFile)(
    'sh',
    ['-c', call!.replace('http://127.0.0.1:8080', gateway.edge)],
    { env: { ...env, ACCOUNT: account, TOKEN: token } },
  )
  assert.deepEqual(JSON.parse(response.stdout).choices, completion.choices)
  // Five commands with the one that sets ACCOUNT and TOKEN. npm's own part depends on the network.
  assert.ok(performance.now() - began < 3 * 60_000)
  return { dns, setUp: setUp! }
}

async function open(t: TestContext, options: BrowserContextOptions): Promise<Person> {
  const context = await browser.newContext(options)
  t.after(() => context.close())
  // The logos are those of sites that only this test knows.
  await context.route('**/logo.svg', route =>
    route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
  )
  return new Person(await context.newPage(), options.javaScriptEnabled ?? true)
}

/** Somebody at a browser, who clicks and types. */
class Person {
  readonly page: Page
  readonly hasScript: boolean
  /** What the console had to say. */
  readonly complaints: readonly string[]

  constructor(page: Page, hasScript: boolean) {
    this.page = page
    this.hasScript = hasScript
    // Chromium notes each form that is refused.
    this.complaints = complaintsOf(page, text => text.includes('status of 422'))
  }

  async follow(name: string): Promise<void> {
    await this.page.getByRole('link', { name, exact: true }).click()
  }

  async press(name: string): Promise<void> {
    await this.page.getByRole('button', { name, exact: true }).click()
  }

  async type(label: string, text: string): Promise<void> {
    await this.page.getByLabel(label, { exact: true }).fill(text)
  }

  async reads(text: string): Promise<void> {
    await this.page.getByText(text).first().waitFor()
  }

  /** Loads the page again until it shows this, about as often as a person would: loads in a row would keep the processor busy. */
  async reloadUntil(shown: Locator): Promise<void> {
    while (!(await shown.isVisible())) {
      await sleep(300)
      await this.page.reload()
    }
  }

  /** Goes to a section by the navigation, which narrow screens keep behind a button. */
  async section(name: string): Promise<void> {
    await this.#openMenu()
    await this.page
      .getByRole('navigation', { name: 'Sections' })
      .getByRole('link', { name, exact: true })
      .click()
    await this.page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  }

  async signOut(): Promise<void> {
    await this.#openMenu()
    await this.follow('Sign out')
    await this.press('Sign out')
    await this.follow('Sign in again')
    await this.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }

  /** Reads a value that is there to be copied, by its label. */
  async copy(label: string): Promise<string> {
    const block = this.page.locator('.copyable', { has: this.page.getByText(label, { exact: true }) }).first()
    if (this.hasScript) await block.getByRole('button', { name: 'Copy' }).waitFor()
    return (await block.locator('[data-copy]').textContent())!
  }

  async #openMenu(): Promise<void> {
    if (this.page.viewportSize()!.width < 960) await this.page.getByText('Menu', { exact: true }).click()
  }
}

/** Comes by the address that they keep: that of the link, without what follows its host. */
async function signIn(person: Person, link: string): Promise<void> {
  await person.page.goto(new URL('/', link).href)
  await person.type('Email', email)
  await person.type('Password', password)
  await person.press('Sign in')
}

/** Registers an app with a secret, gives it another one, proves its host and publishes it. */
async function publishApp(person: Person, dns: DnsServer, name: string): Promise<void> {
  const { page } = person
  const host = `${name.toLowerCase()}.test`
  await person.section('OAuth clients')
  await person.follow('Create a client')
  await person.type('Name', name)
  await person.type('Redirect URI 1', `http://${host}/callback`)
  await page.getByText('Pages and further URIs').click()
  await page.getByLabel('Home page').fill(`https://${host}/`)
  await page.getByLabel('Logo').fill(`https://${host}/logo.svg`)
  await person.press('Continue to scopes')
  await person.reads('Must begin with https://, or with http:// on 127.0.0.1, [::1] or localhost.')
  await person.type('Redirect URI 1', `https://${host}/callback`)
  await person.press('Continue to scopes')
  if (person.hasScript) {
    await person.type('Find a scope', 'gateway run')
    assert.equal(await page.getByLabel('OpenID').isVisible(), false)
  }
  await page.getByRole('checkbox', { name: 'AI Gateway Run ai_gateway.run' }).check()
  if (person.hasScript) await person.reads('1 selected')
  // The first look-up is a slow one: it ends once the record is there.
  const release = dns.hold(host)
  await person.press('Create the client')
  await page.getByRole('heading', { name: 'Client created' }).waitFor()
  assert.match(await person.copy('Client ID'), /^[0-9a-f]{32}$/)
  const secret = await person.copy('Client secret')
  await person.follow('I have saved it')
  dns.txt(host, await person.copy('Value'))

  await person.press('Create a new secret')
  assert.notEqual(await person.copy('Client secret'), secret)
  await person.follow('I have saved it')
  assert.equal(await page.getByRole('button', { name: 'Create a new secret' }).isDisabled(), true)
  await person.follow('Delete the old secret…')
  await person.press('Delete the old secret')
  await person.reads('The old secret was deleted.')

  release()
  // With script the page finds out by itself.
  if (!person.hasScript) await person.reloadUntil(page.getByText('DNS proved it'))
  await person.follow('Publish…')
  await person.press('Publish it for everybody')
  await person.reads('The client is public: everybody may allow it.')
  await person.section('OAuth clients')
  await page.getByRole('row', { name: new RegExp(`^${name} .*public.* verified`) }).waitFor()
}

async function registerPublicApp(person: Person, name: string): Promise<void> {
  const { page } = person
  await person.section('OAuth clients')
  await person.follow('Create a client')
  await person.type('Name', name)
  await page.getByLabel('Browser, mobile, desktop or command-line app').check()
  await person.type('Redirect URI 1', 'com.example.app:/callback')
  await person.press('Continue to scopes')
  await page.getByRole('checkbox', { name: 'User Read user.read' }).check()
  await person.press('Create the client')
  await page.getByRole('heading', { name: 'Client created' }).waitFor()
  assert.equal(await page.getByText('Client secret').count(), 0)
  await person.follow('Go to the client')
  await person.reads('PKCE')
}

/** Makes a gateway that is open, and a token for it; closes it to calls without one, and finds who was refused. */
async function protectGateway(person: Person, id: string): Promise<void> {
  const { page } = person
  await person.section('AI gateways')
  await person.follow('Create a gateway')
  await person.type('Id', id)
  await page.getByLabel('Authenticated Gateway').uncheck()
  await person.press('Create the gateway')
  await person.reads('Anyone who reaches this gateway can call models at your cost.')
  await person.follow('Create an authentication token')
  await person.type('Name', `${id} bot`)
  await person.press('Create the token')
  const token = await person.copy('Value')
  await person.press('Send a test request')
  await page.getByRole('heading', { name: 'Response 200' }).waitFor()
  await person.follow(id)
  await person.follow('Switch it on…')
  await person.reads('No token has been used here yet.')
  await person.press('Switch it on')
  await person.reads('Authentication is on: calls without a valid token are refused.')

  await person.follow('Send a test request')
  await person.type('Token (optional)', token)
  await person.press('Send')
  await page.getByRole('heading', { name: 'Response 200' }).waitFor()
  await person.press('Send again')
  await page.getByRole('heading', { name: 'Response 401' }).waitFor()
  const refused = (await page.getByText('Ray').locator('xpath=..').locator('code').textContent())!

  await person.section('Overview')
  const row = page.getByRole('row', { name: new RegExp(`^401 .*AI gateway ${id} `) })
  // What is counted is told once a second.
  await person.reloadUntil(row)
  await row.getByRole('link', { name: '401' }).click()
  await row.getByText('The request').click()
  await person.reads(refused)
}

/** Finds the call that went through, in the logs and in the charts of the gateway. */
async function findCall(person: Person, id: string): Promise<void> {
  const { page } = person
  await person.section('AI gateways')
  await person.follow(id)
  await person.follow('Logs')
  await page.getByLabel('Outcome').selectOption('Errors')
  await person.press('Filter')
  await person.reads('No call matches')
  await person.follow('Clear the filters')
  await person.reads(`${id} bot`)
  await person.follow('Live')
  await person.reads(`${id} bot`)
  await person.follow(id)
  await person.follow('Charts')
  await page.getByRole('heading', { name: 'Requests 2' }).waitFor()
  await page.getByRole('img', { name: 'Requests over time' }).waitFor()
  await page.getByText('Table of requests').click()
  await page.getByRole('region', { name: 'Requests in figures' }).getByRole('cell', { name: '2' }).waitFor()
}
