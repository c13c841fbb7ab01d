// A real Chromium for tests of pages: opens one page of an answer, served as the edge would, and watches it for complaints.

import { createHash, X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { TlsIdentity } from '../../src/config/model/config.ts'

/** The host of every page: unlike localhost not a secure context, just as for the visitors of a plain HTTP site. */
const HOST = 'site.test'

/** What a page is served from. */
export interface Served {
  readonly headers: readonly string[]
  readonly body: string
}

export interface OpenedPage {
  readonly page: Page
  /** What the console, the policy or an exception had to say; empty when all is well. */
  readonly complaints: readonly string[]
}

/** Ms that a page may take for anything that a test waits for, on however busy a machine. */
const patience = 120_000

/** The browser without further arguments of all files in this process, and how many have it. */
const shared: { browser: Promise<Browser> | null; users: number } = { browser: null, users: 0 }

/** Starts Chromium, with more arguments where there are any; without, it ends once all have closed it. Fails with a sentence that says how to get it where there is none. */
export function launchBrowser(...args: readonly string[]): Promise<Browser> {
  if (args.length > 0) return launch(args)
  shared.users++
  shared.browser ??= launchShared()
  return shared.browser
}

async function launchShared(): Promise<Browser> {
  const browser = await launch([])
  const close = browser.close.bind(browser)
  browser.close = async () => {
    if (--shared.users > 0) return
    shared.browser = null
    await close()
  }
  return browser
}

async function launch(args: readonly string[]): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // No page lives long enough for code to be optimized: the compilers would take a quarter of all the time of a page.
      '--js-flags=--no-opt,--no-maglev',
      `--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
      ...args,
    ],
  })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async options => {
    const context = await newContext(options)
    context.setDefaultTimeout(patience)
    return context
  }
  return browser
}

/** Returns what has Chromium trust a certificate, whoever issued it. */
export function trusting({ certificate }: Pick<TlsIdentity, 'certificate'>): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' })
  return `--ignore-certificate-errors-spki-list=${createHash('sha256').update(key).digest('base64')}`
}

/** Opens what is served with status 200, in a context of its own; `prepare` sees the page before it loads. */
export async function openPage(
  t: TestContext,
  browser: Browser,
  served: Served,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<unknown> = async () => {},
): Promise<OpenedPage> {
  const context = await browser.newContext(options)
  t.after(() => context.close())
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  await prepare(page)
  await page.goto(await serve(t, served))
  return { page, complaints }
}

/** Collects what the console, an exception or a dialog of a page has to say from now on, without what `isExpected` knows. */
export function complaintsOf(
  page: Page,
  isExpected: (text: string) => boolean = () => false,
): readonly string[] {
  const complaints: string[] = []
  page.on('console', message => {
    const text = message.text()
    // Chromium notes each visitor who is in a field before autofocus was.
    if (text.startsWith('Autofocus processing was blocked') || isExpected(text)) return
    complaints.push(text)
  })
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('dialog', dialog => {
    complaints.push(dialog.message())
    void dialog.dismiss()
  })
  return complaints
}

async function serve(t: TestContext, { headers, body }: Served): Promise<string> {
  const server = createServer((_, response) => response.writeHead(200, [...headers]).end(body))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://${HOST}:${(server.address() as AddressInfo).port}/`
}

/** Returns the program that CHROMIUM names, or else the same engine without windows, which opens pages at a fifth of the cost, or else the whole Chromium. */
function chromiumPath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const names = ['chromium-headless-shell', 'chromium']
  const candidates = [
    process.env.CHROMIUM,
    ...names.flatMap(name => folders.map(folder => join(folder, name))),
  ]
  const found = candidates.find(path => path && existsSync(path))
  if (found) return found
  throw new Error(
    'Chromium is missing: install the package chromium-headless-shell or chromium, or name its path in CHROMIUM.',
  )
}
